/* The one store, for every view. */
import { createContext } from "preact";
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
