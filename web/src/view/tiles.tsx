/* A map behind the lines, where the service names a server of tiles (--tiles); without one nothing is asked for. */
import { tilesOf, type Fit } from "../mercator";

export function Tiles({ frame, width, url }: { frame: Fit; width: number; url: string | null }) {
  if (!url) return null;
  return (
    <g class="tiles" aria-hidden="true">
      {tilesOf(frame, width, url).map((t) => (
        <image key={t.url} href={t.url} x={t.x} y={t.y} width={t.size + 0.5} height={t.size + 0.5} />
      ))}
    </g>
  );
}

/* How long a kilometre is here. */
export function ScaleBar({ frame, width }: { frame: Fit; width: number }) {
  const km = [500, 200, 100, 50, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1].find((n) => n * frame.perKm < width / 4) ?? 0.1;
  return (
    <>
      <path d={`M0 -5V0H${km * frame.perKm}V-5`} />
      <text x={km * frame.perKm + 8} y={2}>
        {km} km, north up
      </text>
    </>
  );
}

export const linePath = (points: [number, number][]) =>
  `M${points.map((p) => `${p[0].toFixed(1)} ${p[1].toFixed(1)}`).join("L")}`;
