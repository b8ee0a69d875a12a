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

/* Pictures are lettered at 0.8 rem (style.css). */
function widthOf(text: string): number {
  pen.font = `600 ${0.8 * parseFloat(getComputedStyle(document.documentElement).fontSize)}px system-ui, sans-serif`;
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
