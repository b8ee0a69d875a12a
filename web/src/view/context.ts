/* The one store, for every view. */
import { Component, createContext, createElement, type FunctionComponent } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { State, Store } from "../store";

export const StoreContext = createContext<Store>(null as unknown as Store);

export function useStore(): [Store, State] {
  const store = useContext(StoreContext);
  const [, redraw] = useState(0);
  const drawn = store.state;
  useEffect(() => {
    const listener = () => redraw((n) => n + 1);
    if (store.state !== drawn) listener(); /* it changed before anybody listened */
    return store.subscribe(listener);
  }, [store]);
  return [store, drawn];
}

const SHEET = 820; /* across a printed page */

/* Pictures are drawn in pixels of a page lettered at 16 px and scaled with its letters: on a wall both grow. */
const scale = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

/* Width to draw an element's picture at, followed as it changes; on paper that of a sheet. */
export function useWidth(): [preact.RefObject<HTMLDivElement | null>, number] {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current!;
    const measure = () => setWidth(Math.floor(element.clientWidth / scale()));
    const shrink = () => setWidth(SHEET);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    window.addEventListener("beforeprint", shrink);
    window.addEventListener("afterprint", measure);
    return () => {
      observer.disconnect();
      window.removeEventListener("beforeprint", shrink);
      window.removeEventListener("afterprint", measure);
    };
  }, []);
  return [ref, width];
}

/* The same component, drawn again only when a prop differs: charts are dear. `same` compares those that are made anew
 * though they say the same. */
export function steady<P extends object>(
  draw: FunctionComponent<P>,
  same: { [K in keyof P]?: (a: P[K], b: P[K]) => boolean },
): FunctionComponent<P> {
  const alike = <K extends keyof P>(key: K, a: P[K], b: P[K]) => a === b || (same[key]?.(a, b) ?? false);
  class Steady extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      return (Object.keys(next) as (keyof P)[]).some((key) => !alike(key, (this.props as P)[key], next[key]));
    }
    override render() {
      return createElement(draw, this.props as P);
    }
  }
  return Steady as unknown as FunctionComponent<P>;
}
