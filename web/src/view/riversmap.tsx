/* Where all rivers lie, coloured by how bad it is there. */
import { fit } from "../mercator";
import type { CenterlineFeature } from "../model";
import { nameOf } from "../sentence";
import { placeOnMap } from "./labels";
import type { Entry } from "./overview";
import { linePath, ScaleBar, Tiles } from "./tiles";

const EDGE = 30;
const NAMED = 40; /* of rivers that are quiet no more than so many are named */

export function RiversMap({
  entries,
  lines,
  tiles,
  width,
}: {
  entries: Entry[];
  lines: CenterlineFeature[];
  tiles: string | null;
  width: number;
}) {
  const frame = fit(
    lines.flatMap((l) => l.geometry.coordinates),
    width,
    220,
    460,
    EDGE,
  );
  const drawn = entries
    .map((entry) => ({
      entry,
      parts: lines
        .filter((l) => l.properties.river === entry.river.id)
        .map((l) => l.geometry.coordinates.map(frame.project)),
    }))
    .filter((d) => d.parts.length)
    .reverse(); /* the worst on top */
  const named = [...drawn].reverse().filter((d, i) => d.entry.tone !== "calm" || i < NAMED);
  const labels = placeOnMap(
    named.map((d) => {
      const longest = d.parts.reduce((a, b) => (b.length > a.length ? b : a));
      const [x, y] = longest[Math.floor(longest.length / 2)]!;
      return {
        x,
        y,
        lines: [nameOf(d.entry.river), d.entry.tone === "calm" ? "" : d.entry.word].filter(Boolean),
        class: `label ${d.entry.tone}`,
      };
    }),
    width,
  );
  return (
    <svg
      class="schematic rivers-map"
      viewBox={`0 0 ${width} ${frame.height}`}
      role="group"
      aria-label="Map of all rivers"
    >
      <Tiles frame={frame} width={width} url={tiles} />
      {drawn.map(({ entry, parts }) => (
        <a
          key={entry.river.id}
          href={entry.href}
          aria-label={`${nameOf(entry.river)}: ${entry.word}`}
          class={entry.tone}
        >
          {parts.map((points, i) => (
            <g key={i}>
              <path class="hit" d={linePath(points)} />
              <path class="line" d={linePath(points)} />
            </g>
          ))}
          {entry.tone === "alarm" && (
            <path class="mark" d={`M${parts[0]![Math.floor(parts[0]!.length / 2)]!.join(" ")}m0 -8l8 8l-8 8l-8 -8Z`} />
          )}
        </a>
      ))}
      {labels.map((l) => (
        <text
          key={`${l.lines[0]} ${l.x}`}
          class={l.class}
          x={l.textX}
          y={l.y + 4}
          text-anchor={l.anchor}
          aria-hidden="true"
        >
          {l.lines.map((line, i) => (
            <tspan key={i} x={l.textX} dy={i ? 14 : 0} class={i ? "second" : "first"}>
              {line}
            </tspan>
          ))}
        </text>
      ))}
      <g class="axis" transform={`translate(16 ${frame.height - 12})`}>
        <ScaleBar frame={frame} width={width} />
      </g>
    </svg>
  );
}
