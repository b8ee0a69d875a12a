/* Numbers for people: river kilometres, mg/l or ug/l, hours. SI goes in, text with its unit comes out. */
import type { TimeBase } from "./model";

export const MINUS = "\u2212";
const NARROW = "\u202f"; /* between a number and its unit, so that they stay together */

function signed(text: string): string {
  return text.replace("-", MINUS);
}

/* River kilometre of what is estimated: to a hundred metres, to ten where its interval is short. As the text of
 * `headwater identify` has it (src/io/result_text.c), and so are masses and concentrations below. */
export function km(location_m: number, span_m = Infinity): string {
  return fixedKm(location_m, span_m < 2000 ? 2 : 1);
}

/* Of what the river file gives. */
export const givenKm = (location_m: number) => fixedKm(location_m, 2);

/* Half a unit goes away from zero, as people round. */
function rounded(value: number, unit: number): number {
  return (Math.sign(value) * Math.round(Math.abs(value) * unit)) / unit || 0;
}

export function fixedKm(location_m: number, decimals: number): string {
  const tens = rounded(location_m / 10 ** (3 - decimals), 1);
  return signed((tens / 10 ** decimals || 0).toFixed(decimals));
}

/* Never quite none and never quite all: no method is that sure. */
export function percent(probability: number): string {
  if (probability > 0.994) return `>${NARROW}99${NARROW}%`;
  if (probability < 0.006) return `<${NARROW}1${NARROW}%`;
  return `${Math.round(100 * probability)}${NARROW}%`;
}

/* Three digits that mean something, without zeros that mean nothing. */
function digits(value: number): string {
  if (value === 0) return "0";
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return signed(String(Number(rounded(value, 10 ** Math.min(places, 6)).toFixed(6))));
}

export function mass(mass_g: number): string {
  if (mass_g >= 999.5e3) return `${digits(mass_g / 1e6)}${NARROW}t`;
  if (mass_g >= 999.5) return `${digits(mass_g / 1e3)}${NARROW}kg`;
  return `${digits(mass_g)}${NARROW}g`;
}

/* A unit of concentration, one for everything on the screen. */
export interface Unit {
  label: string;
  per_g_m3: number;
}

export function unitFor(max_g_m3: number): Unit {
  return max_g_m3 < 0.1 ? { label: "\u00b5g/l", per_g_m3: 1000 } : { label: "mg/l", per_g_m3: 1 };
}

export function concentration(value_g_m3: number, unit: Unit): string {
  return `${digits(value_g_m3 * unit.per_g_m3)}${NARROW}${unit.label}`;
}

export function duration(seconds: number): string {
  const minutes = Math.round(Math.abs(seconds) / 60);
  if (minutes < 1) return `${Math.round(Math.abs(seconds))}${NARROW}s`;
  if (minutes < 60) return `${minutes}${NARROW}min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${hours}${NARROW}h\u00a0${minutes % 60}${NARROW}min` : `${hours}${NARROW}h`;
  const days = Math.floor(hours / 24);
  return hours % 24 ? `${days}${NARROW}d\u00a0${hours % 24}${NARROW}h` : `${days}${NARROW}d`;
}

const pad = (n: number) => String(n).padStart(2, "0");
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/* To the nearest minute, as every other output of headwater rounds it. */
const minute = (unix_s: number) => new Date(60000 * Math.round(unix_s / 60));

export function utcTime(unix_s: number): string {
  const d = minute(unix_s);
  return `${pad(d.getUTCHours())}:${pad(d.getUTCMinutes())}`;
}

export function utcDate(unix_s: number): string {
  const d = minute(unix_s);
  return `${d.getUTCDate()} ${MONTHS[d.getUTCMonth()]} ${d.getUTCFullYear()}`;
}

/* "+01:00" for where this screen hangs. */
export function localOffset(unix_s: number): string {
  const minutes = -new Date(unix_s * 1000).getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${minutes < 0 ? MINUS : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
}

export function localTime(unix_s: number): string {
  const d = minute(unix_s);
  const sameDay = d.getDate() === d.getUTCDate();
  const day = sameDay ? "" : `${d.getDate()} ${MONTHS[d.getMonth()]} `;
  return `${day}${pad(d.getHours())}:${pad(d.getMinutes())}`;
}

/* On the clock of readings that carry no date, to the minute: with the digits of the text and the alarms. */
export function relativeTime(time_s: number): string {
  const minutes = Math.round(Math.abs(time_s) / 60);
  const sign = time_s < 0 && minutes > 0 ? MINUS : "";
  return `t${NARROW}=${NARROW}${sign}${Math.floor(minutes / 60)}${NARROW}h\u00a0${pad(minutes % 60)}${NARROW}min`;
}

/* The same along an axis, which counts in hours and their hundredths. */
export function axisHours(time_s: number): string {
  return `${time_s < 0 ? MINUS : "+"}${(Math.abs(time_s) / 3600).toFixed(2)}${NARROW}h`;
}

export const isCalendar = (river: { time_base: TimeBase } | undefined) => river?.time_base !== "relative";

/* An instant, both clocks told apart; without dates, hours on the readings' clock. */
export function instant(river: { time_base: TimeBase } | undefined, time_s: number): string {
  if (!isCalendar(river)) return relativeTime(time_s);
  return `${utcDate(time_s)} ${utcTime(time_s)} UTC (${localTime(time_s)} local)`;
}

/* Times that belong together, without the zone: with their days, unless all of them are of the day that is told beside
 * them. */
export function timesBeside(river: { time_base: TimeBase } | undefined, day_s: number, times_s: number[]): string[] {
  if (!isCalendar(river)) return times_s.map(relativeTime);
  const oneDay = times_s.every((t) => utcDate(t) === utcDate(day_s));
  return times_s.map((t) => (oneDay ? utcTime(t) : `${utcDate(t).slice(0, -5)} ${utcTime(t)}`));
}

/* "1 Mar 06:17 UTC": without the year, for lists; never without the day. */
export function shortInstant(river: { time_base: TimeBase } | undefined, time_s: number): string {
  return isCalendar(river) ? `${utcDate(time_s).slice(0, -5)} ${utcTime(time_s)} UTC` : relativeTime(time_s);
}
