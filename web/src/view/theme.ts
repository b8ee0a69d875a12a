/* Light and dark: the system's choice unless somebody chose otherwise on this screen. */
import { useLayoutEffect, useState } from "preact/hooks";

export type Theme = "auto" | "light" | "dark";
const KEY = "headwater-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

export const chosenTheme = (): Theme => (localStorage.getItem(KEY) as Theme | null) ?? "auto";

/* Paper is white (paper.ts). */
export function apply(): void {
  const chosen = chosenTheme();
  const dark =
    !document.documentElement.dataset["printing"] && (chosen === "dark" || (chosen === "auto" && system.matches));
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
  for (const listener of listeners) listener();
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  apply();
}

export function startTheme(): void {
  system.addEventListener("change", apply);
  apply();
}

/* For canvases, which CSS does not reach: the caller draws again when the theme changes. */
export function useTheme(): string {
  const [theme, setTheme] = useState(document.documentElement.dataset["theme"] ?? "light");
  useLayoutEffect(() => {
    const listener = () => setTheme(document.documentElement.dataset["theme"] ?? "light");
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return theme;
}

export const color = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
