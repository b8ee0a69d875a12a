/* Labels side by side in as few rows as possible, each near its mark; those there is no room for are left out, the
 * least urgent first. */
export interface Label<T> {
  item: T;
  x: number; /* of the mark */
  lines: string[];
  rank?: number; /* the lower, the more it matters that it is read */
}

export interface Placed<T> extends Label<T> {
  left: number;
  width: number;
  named: number; /* how many of its lines are its name */
  y: number; /* from the top of all rows to the top of its own */
}

export interface Rows<T> {
  placed: Placed<T>[];
  height: number; /* of all rows */
}

const pen = document.createElement("canvas").getContext("2d")!;

/* As pictures are lettered (style.css). */
function widthOf(text: string): number {
  pen.font = "600 12.8px system-ui, sans-serif";
  return pen.measureText(text).width;
}

/* A text in lines that fit; a single word that does not stays whole. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    if (last !== undefined && widthOf(`${last} ${word}`) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const ROWS = 4;
const LINE = 14;
const MARGIN = 12; /* between two labels */

export function place<T>(labels: Label<T>[], width: number): Rows<T> {
  const rows: Omit<Placed<T>, "y">[][] = [];
  for (const label of [...labels].sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0) || a.x - b.x)) {
    const lines = label.lines.flatMap((l) => wrap(l, width - MARGIN - 4));
    const size = Math.max(...lines.map(widthOf)) + MARGIN;
    const left = Math.max(2, Math.min(label.x - size / 2, width - size - 2));
    const free = (row: Omit<Placed<T>, "y">[]) => row.every((l) => l.left + l.width <= left || left + size <= l.left);
    let row = rows.findIndex(free);
    if (row < 0) row = rows.length;
    if (row >= ROWS) continue;
    const named = wrap(label.lines[0]!, width - MARGIN - 4).length;
    (rows[row] ??= []).push({ ...label, lines, named, left, width: size });
  }
  const placed: Placed<T>[] = [];
  let y = 0;
  for (const row of rows) {
    placed.push(...row.map((l) => ({ ...l, y })));
    y += LINE * Math.max(2, ...row.map((l) => l.lines.length)) + 4;
  }
  return { placed, height: y };
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
