/* Labels side by side in as few rows as possible, each near its mark; those there is no room for are left out. */
export interface Label<T> {
  item: T;
  x: number; /* of the mark */
  lines: string[];
}

export interface Placed<T> extends Label<T> {
  left: number;
  width: number;
  row: number;
}

const pen = document.createElement("canvas").getContext("2d")!;

/* As pictures are lettered (style.css). */
function widthOf(text: string): number {
  pen.font = "600 12.8px system-ui, sans-serif";
  return pen.measureText(text).width;
}

const ROWS = 4;

export function place<T>(labels: Label<T>[], width: number): { placed: Placed<T>[]; rows: number } {
  const ends: number[] = [];
  const placed: Placed<T>[] = [];
  for (const label of [...labels].sort((a, b) => a.x - b.x)) {
    const size = Math.max(...label.lines.map(widthOf)) + 12;
    const left = Math.max(2, Math.min(label.x - size / 2, width - size - 2));
    let row = ends.findIndex((end) => end <= left);
    if (row < 0) row = ends.length;
    if (row >= ROWS) continue;
    ends[row] = left + size;
    placed.push({ ...label, left, width: size, row });
  }
  return { placed, rows: ends.length };
}

export interface MapLabel {
  x: number; /* of the mark */
  y: number;
  lines: string[];
  class: string;
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const LINE = 14;
const BESIDE = 14; /* from the middle of a mark to its label */

const apart = (a: Box, b: Box) => a.right < b.left || b.right < a.left || a.bottom < b.top || b.bottom < a.top;

/* Labels beside their marks, on the right where there is room. The first named come first: of two that would overlap,
 * the later says less, then nothing. */
export function placeOnMap(
  labels: MapLabel[],
  width: number,
): (MapLabel & { textX: number; anchor: "start" | "end" })[] {
  const taken: Box[] = labels.map((l) => ({ left: l.x - 8, right: l.x + 8, top: l.y - 8, bottom: l.y + 8 }));
  return labels.flatMap((label) => {
    for (const lines of [label.lines, label.lines.slice(0, 1)]) {
      for (const anchor of ["start", "end"] as const) {
        const size = Math.max(...lines.map(widthOf));
        const textX = label.x + (anchor === "start" ? BESIDE : -BESIDE);
        const left = anchor === "start" ? textX : textX - size;
        const box = { left, right: left + size, top: label.y - 8, bottom: label.y - 8 + LINE * lines.length };
        if (box.left < 0 || box.right > width || taken.some((t) => !apart(t, box))) continue;
        taken.push(box);
        return [{ ...label, lines, textX, anchor }];
      }
    }
    return [];
  });
}
