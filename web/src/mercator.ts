/* Longitude and latitude on a picture: Web Mercator, which map tiles are cut in, fitted into a frame. */
export interface Fit {
  project: (point: [lon: number, lat: number]) => [x: number, y: number];
  height: number;
  perKm: number; /* pixels, in the middle */
  zoom: number; /* of tiles that look right */
  left: number; /* of the frame on a world of one pixel */
  top: number;
  scale: number; /* pixels to that world */
}

const clamp = (lat: number) => Math.max(-85, Math.min(85, lat));
const worldX = (lon: number) => (lon + 180) / 360;
const worldY = (lat: number) => {
  const s = Math.sin((clamp(lat) * Math.PI) / 180);
  return 0.5 - Math.log((1 + s) / (1 - s)) / (4 * Math.PI);
};

export const TILE = 256;
const EARTH_KM = 40075.017;

/* As wide as given, no higher than `most`, with a margin round every point. */
export function fit(points: [number, number][], width: number, least: number, most: number, edge: number): Fit {
  const x = points.map((p) => worldX(p[0]));
  const y = points.map((p) => worldY(p[1]));
  const least_ = (v: number[]) => v.reduce((a, b) => Math.min(a, b), Infinity);
  const most_ = (v: number[]) => v.reduce((a, b) => Math.max(a, b), -Infinity);
  const [west, east, north, south] = [least_(x), most_(x), least_(y), most_(y)];
  const spanX = Math.max(east - west, 1e-7);
  const spanY = Math.max(south - north, 1e-7);
  const height = Math.max(least, Math.min(most, (width - 2 * edge) * (spanY / spanX) + 2 * edge));
  const scale = Math.min((width - 2 * edge) / spanX, (height - 2 * edge) / spanY);
  const left = (west + east) / 2 - width / 2 / scale;
  const top = (north + south) / 2 - height / 2 / scale;
  const middle = Math.cos(Math.atan(Math.sinh(Math.PI * (1 - (north + south)))));
  return {
    project: ([lon, lat]) => [(worldX(lon) - left) * scale, (worldY(lat) - top) * scale],
    height,
    perKm: scale / (EARTH_KM * middle),
    zoom: Math.max(0, Math.min(18, Math.round(Math.log2(scale / TILE)))),
    left,
    top,
    scale,
  };
}

export interface Tile {
  url: string;
  x: number;
  y: number;
  size: number;
}

/* The tiles behind a frame; `url` has {z}, {x} and {y}. */
export function tilesOf(frame: Fit, width: number, url: string): Tile[] {
  const count = 2 ** frame.zoom;
  const size = frame.scale / count;
  const tiles: Tile[] = [];
  for (
    let ty = Math.max(0, Math.floor(frame.top * count));
    ty < count && (ty / count - frame.top) * frame.scale < frame.height;
    ty++
  ) {
    for (let tx = Math.floor(frame.left * count); (tx / count - frame.left) * frame.scale < width; tx++) {
      const column = ((tx % count) + count) % count;
      const address = url.replace("{z}", String(frame.zoom)).replace("{x}", String(column)).replace("{y}", String(ty));
      tiles.push({
        url: address,
        x: (tx / count - frame.left) * frame.scale,
        y: (ty / count - frame.top) * frame.scale,
        size,
      });
    }
  }
  return tiles;
}
