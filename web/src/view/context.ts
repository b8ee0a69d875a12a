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

/* Width of an element, followed as it changes. */
export function useWidth(): [preact.RefObject<HTMLDivElement | null>, number] {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver((entries) => setWidth(Math.floor(entries[0]!.contentRect.width)));
    observer.observe(ref.current!);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}
