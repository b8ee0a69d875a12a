/* The page on paper, however it gets there: by the button, the browser's menu or its keys.
 *
 * Paper is white and cannot be clicked: before it is printed the page takes the light colours, pictures are drawn again
 * in them and for the width of a sheet, and whatever stands behind a word is opened. All of that is done within the
 * event itself, for the browser prints what is there when its listeners are through. */
import { apply } from "./theme";

const opened = new Set<HTMLDetailsElement>();

function prepare(): void {
  document.documentElement.dataset["printing"] = "yes";
  for (const details of document.querySelectorAll<HTMLDetailsElement>("details:not([open])")) {
    details.open = true;
    opened.add(details);
  }
  apply();
}

function restore(): void {
  delete document.documentElement.dataset["printing"];
  for (const details of opened) details.open = false;
  opened.clear();
  apply();
}

export function startPaper(): void {
  window.addEventListener("beforeprint", prepare);
  window.addEventListener("afterprint", restore);
}
