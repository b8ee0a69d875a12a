/* A part of the page that comes after the sentence: its code is asked for when the rest is on its way. */
import { createElement, type FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";

export function later<P extends object>(load: () => Promise<FunctionComponent<P>>): FunctionComponent<P> {
  let made: FunctionComponent<P> | null = null;
  return function Later(props: P) {
    const [, redraw] = useState(0);
    useEffect(() => {
      if (!made)
        void load().then((component) => {
          made = component;
          redraw((n) => n + 1);
        });
    }, []);
    return made ? createElement(made, props) : null;
  };
}
