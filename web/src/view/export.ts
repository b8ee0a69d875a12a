/* Files for people to take away. */
import * as api from "../api";
import type { Incident, River } from "../model";
import { shownFrom } from "../store";

export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const asFile = (text: string, type: string, name: string) => download(new Blob([text], { type }), name);

/* Of an incident everything its engine saw, as `headwater identify` reads it, else all of the time on the screen:
 * straight from the service, whole. */
export async function saveReadings(river: River, incident: Incident | undefined): Promise<void> {
  const from_s = shownFrom(river, incident);
  const whole = incident && (await api.readingsCsv(river.id, incident.id, from_s).catch(nothingKept));
  const csv = whole ?? (await api.readingsCsv(river.id, undefined, from_s));
  download(csv, `${river.id}${whole && incident ? `-incident-${incident.id}` : ""}-readings.csv`);
}

/* The incident's readings are no longer all kept: those that are. */
function nothingKept(error: unknown): undefined {
  if (error instanceof api.Refused && error.status === 410) return undefined;
  throw error;
}

export async function savePlaces(river: River, incident: Incident | undefined): Promise<void> {
  asFile(
    await api.places(river.id, incident?.id),
    "application/geo+json",
    `${river.id}${incident ? `-incident-${incident.id}` : ""}.geojson`,
  );
}

export async function saveIncident(id: number): Promise<void> {
  asFile(JSON.stringify(await api.wholeIncident(id), null, 1), "application/json", `incident-${id}.json`);
}

export async function saveBulletin(id: number): Promise<void> {
  asFile(await api.bulletin(id), "text/plain", `incident-${id}.txt`);
}

/* An empty picture in the page's colour. */
function paper(width: number, height: number): [HTMLCanvasElement, CanvasRenderingContext2D] {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d")!;
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--surface");
  context.fillRect(0, 0, width, height);
  return [canvas, context];
}

/* Charts side by side, in the page's colours. */
export function canvasToPng(sources: HTMLCanvasElement[], name: string): void {
  const [canvas, context] = paper(
    sources.reduce((sum, s) => sum + s.width, 0),
    Math.max(...sources.map((s) => s.height)),
  );
  sources.reduce((left, source) => (context.drawImage(source, left, 0), left + source.width), 0);
  canvas.toBlob((blob) => blob && download(blob, name));
}

const DRAWN = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "font",
  "opacity",
  "text-anchor",
];

/* An SVG with its styles written into it, drawn at twice its size. */
export async function svgToPng(svg: SVGSVGElement, name: string): Promise<void> {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const originals = [svg, ...svg.querySelectorAll<SVGElement>("*")];
  [copy, ...copy.querySelectorAll<SVGElement>("*")].forEach((element, i) => {
    const style = getComputedStyle(originals[i]!);
    for (const property of DRAWN) element.setAttribute(property, style.getPropertyValue(property));
    element.setAttribute("font-family", "sans-serif");
    element.setAttribute("font-size", style.fontSize);
    element.setAttribute("font-weight", style.fontWeight);
  });
  copy.setAttribute("width", String(svg.clientWidth));
  copy.setAttribute("height", String(svg.clientHeight));
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const url = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = url;
  await image.decode();
  const [canvas, context] = paper(2 * svg.clientWidth, 2 * svg.clientHeight);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  canvas.toBlob((blob) => blob && download(blob, name));
}
