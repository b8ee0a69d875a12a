/* What calls for attention: how bad each incident is, whether somebody has seen it, and the tab's title, icon and
 * sound, which say it to whoever does not look at the page. */
import { stands, warned } from "./alarms";
import type { Incident } from "./model";

/* 4: an alarm level is expected to be passed at an intake, or one was told so and nothing takes it back. 3: a
 * dependable answer. 2: a provisional one. 1: no source yet. 0: over, or no spill is seen. */
export type Grade = 0 | 1 | 2 | 3 | 4;

export const GRADE_WORD: Record<Grade, string> = {
  4: "Alarm level expected",
  3: "Spill",
  2: "Spill, provisional",
  1: "Incident, no source yet",
  0: "No spill seen",
};

export function gradeOf(incident: Incident, now_s: number): Grade {
  if (incident.state === "closed") return 0;
  const told = warned(incident);
  if (!incident.estimate) {
    if (incident.trust === "none" && told.size) return 4;
    return incident.trust === "full" && typeof incident.spill === "number" ? 0 : 1;
  }
  const ahead = incident.arrivals.some(
    (a) => ((a.exceeds_alarm ?? 0) >= 0.5 || told.has(a.id)) && !(a.last_s && a.last_s[2] + incident.origin_s < now_s),
  );
  return ahead ? 4 : incident.provisional ? 2 : 3;
}

/* Alarms that stand and that nobody has acknowledged. */
export const unheard = (incident: Incident) => incident.alarms.filter((a) => stands(a) && !a.acknowledged);

const COLOURS: Record<Grade, string> = { 4: "#b3261e", 3: "#b3261e", 2: "#b26b00", 1: "#b26b00", 0: "#5a6b78" };

/* The tab's icon: a drop while nothing is open, else how many in the colour of the worst. */
export function iconOf(count: number, worst: Grade): string {
  if (!count) return "/assets/icon.svg";
  const shape = worst >= 3 ? '<path d="M16 1L31 16L16 31L1 16Z" ' : '<circle cx="16" cy="16" r="15" ';
  const digits = count > 9 ? "9+" : String(count);
  const size = digits.length > 1 ? 14 : 18;
  const font = `font-family="sans-serif" font-weight="700" font-size="${size}" fill="#fff"`;
  const text = `<text x="16" y="22" text-anchor="middle" ${font}>${digits}</text>`;
  const open = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">';
  return `data:image/svg+xml,${encodeURIComponent(`${open}${shape}fill="${COLOURS[worst]}"/>${text}</svg>`)}`;
}

export function showIcon(href: string): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (link && link.getAttribute("href") !== href) link.setAttribute("href", href);
}

/* --- sound --- */

const KEY = "headwater-sound";
let context: AudioContext | null = null;

export type Sound = "off" | "on" | "waiting"; /* waiting: the browser wants a click before it lets a page be heard */

export function sound(): Sound {
  if (localStorage.getItem(KEY) !== "on") return "off";
  return context?.state === "running" ? "on" : "waiting";
}

/* On a click: browsers let a page be heard only after one. */
export async function chooseSound(on: boolean): Promise<void> {
  if (on) localStorage.setItem(KEY, "on");
  else localStorage.removeItem(KEY);
  if (on) await wake();
}

export async function wake(): Promise<void> {
  if (localStorage.getItem(KEY) !== "on") return;
  context ??= new AudioContext();
  await context.resume().catch(() => undefined);
}

const BEEP_S = 0.16;

/* Two tones a beep, the more of them the worse it is. */
export function ring(grade: Grade): void {
  if (sound() !== "on" || !context || grade === 0) return;
  const root = document.documentElement;
  root.dataset["rang"] = String(Number(root.dataset["rang"] ?? 0) + 1);
  for (let i = 0; i < 2 * grade; i++) {
    const tone = context.createOscillator();
    const volume = context.createGain();
    const at = context.currentTime + i * 1.25 * BEEP_S;
    tone.frequency.value = i % 2 ? 660 : 880;
    volume.gain.setValueAtTime(0.25, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + BEEP_S);
    tone.connect(volume).connect(context.destination);
    tone.start(at);
    tone.stop(at + BEEP_S);
  }
}

/* --- is somebody at work on this page? --- */

let touched_ms = -Infinity;
export const IDLE_MS = 20000;
export const isIdle = () => performance.now() - touched_ms > IDLE_MS && !isOrdering();
/* A form is open: what it is about must not change under whoever fills it in. */
export const isOrdering = () => document.querySelector("dialog[open]") !== null;

export function watchHands(): void {
  for (const kind of ["pointerdown", "keydown", "wheel"]) {
    window.addEventListener(
      kind,
      () => {
        touched_ms = performance.now();
        void wake();
      },
      { passive: true },
    );
  }
}
