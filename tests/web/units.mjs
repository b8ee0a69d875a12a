/* The parts of the dashboard that need no browser: node units.mjs WEB */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const web = resolve(process.argv[2]);
const { buildSync } = createRequire(join(web, "package.json"))("esbuild");
const folder = mkdtempSync(join(tmpdir(), "headwater-units-"));

/* A module of the dashboard, as it is bundled into the page. */
function load(name) {
  const { outputFiles } = buildSync({ entryPoints: [join(web, "src", `${name}.ts`)], bundle: true, format: "esm", write: false });
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, outputFiles[0].text);
  return import(pathToFileURL(path).href);
}
const [forecast, format, geometry, sentence, stream] = await Promise.all(["forecast", "format", "geometry", "sentence", "stream"].map(load));
rmSync(folder, { recursive: true });

const reading = (time_s, concentration_g_m3 = 0.37, below_limit = false) => ({ time_s, concentration_g_m3, below_limit });

test("a gap of more than three usual steps is drawn as one", () => {
  const trace = forecast.withGaps([0, 300, 600, 1500, 2700, 3000].map((t) => reading(t)));
  assert.deepEqual(trace.time_s, [0, 300, 600, 1500, 2100, 2700, 3000]);
  assert.deepEqual(trace.value, [0.37, 0.37, 0.37, 0.37, null, 0.37, 0.37]);
});

test("a value below the limit is not drawn as a value", () => {
  const trace = forecast.withGaps([reading(0), reading(300, 2e-5, true)]);
  assert.deepEqual(trace.value, [0.37, null]);
  assert.deepEqual(trace.below, [null, 2e-5]);
});

test("events survive being cut anywhere on the way", () => {
  const text = ": still here\n\nretry: 2000\nid: 7-3\nevent: reading\ndata: {\"a\": 1,\ndata:  \"b\": 2}\n\nid: 8-3\r\ndata: x\r\n\r\n";
  for (let cut = 0; cut <= text.length; cut++) {
    const seen = [];
    const parser = new stream.Parser((kind, id, data) => seen.push([kind, id, data]));
    parser.feed(text.slice(0, cut));
    parser.feed(text.slice(cut));
    assert.deepEqual(seen, [["reading", "7-3", '{"a": 1,\n "b": 2}'], ["message", "8-3", "x"]], `cut at ${cut}`);
  }
});

test("numbers carry their unit and never claim certainty", () => {
  const plain = (text) => text.replaceAll("\u202f", " ").replaceAll("\u00a0", " ");
  assert.equal(plain(format.mass(1314.2)), "1.31 kg");
  assert.equal(plain(format.mass(999.9)), "1 kg");
  assert.equal(plain(format.percent(1)), "> 99 %");
  assert.equal(plain(format.percent(0)), "< 1 %");
  assert.equal(plain(format.percent(0.372)), "37 %");
  assert.equal(plain(format.duration(4700)), "1 h 18 min");
  assert.equal(plain(format.duration(3599)), "1 h");
  assert.equal(plain(format.duration(49.5 * 3600)), "2 d 1 h");
  assert.equal(format.km(-21904), "\u221221.9");
  assert.equal(format.km(-14), "0.0");
  assert.equal(plain(format.concentration(0.00632, format.unitFor(0.0127))), "6.32 \u00b5g/l");
  assert.equal(plain(format.concentration(0.247, format.unitFor(0.365))), "0.247 mg/l");
});

test("a place between two points of the centreline is found by its river metre", () => {
  const line = geometry.centerlineOf({ properties: { at_m: [-1000, 1500, 9000] }, geometry: { coordinates: [[7, 50], [7, 50.05], [7, 50.2]] } });
  const [lon, lat] = geometry.pointAt(line, 4000);
  assert.ok(Math.abs(lat - 50.1) < 1e-9 && lon === 7, `${lon} ${lat}`);
  assert.deepEqual(geometry.pointAt(line, -5000), [7, 50]);
  assert.equal(geometry.centerlineOf(null), null);
});

const brook = { id: "r", name: "Demo River", time_base: "relative", sensors: [], candidates: [], intakes: [{ id: "town", name: "Town intake", location_m: 15000, alarm_g_m3: 0.001 }] };
const found = { state: "open", provisional: false, trust: "full", spill: 0.99, sensor: "s1", origin_s: 1000, method: "posterior", readings: 82, estimate: { mass_g: 1314, location_m: -12040, time_s: 3700 }, interval: null, candidates: [], arrivals: [] };
const unbroken = (text) => text.replaceAll("\u202f", " ").replaceAll("\u00a0", " ");

test("an intake has passed only when its whole window has, doubt included", () => {
  const arrival = { id: "town", first_s: [3000, 3600, 4000], peak_s: [5000, 5400, 6000], last_s: [8000, 9000, 10000], peak_g_m3: [0.001, 0.002, 0.003], exceeds_alarm: 0.97 };
  const at = (now_s) => sentence.threats(brook, { ...found, arrivals: [arrival] }, now_s)[0];
  assert.deepEqual(at(0).window, { from: [4000, 4600, 5000], until: [9000, 10000, 11000] });
  assert.equal(at(7000).passed, false, "the peak has passed, the level is still exceeded");
  assert.equal(at(10999).passed, false);
  assert.equal(at(11001).passed, true);
  const text = unbroken(sentence.spillSentence(brook, { ...found, arrivals: [arrival] }, 0, format.unitFor(1)));
  assert.match(text, /with 97 % probability\. Close from t = \+1\.11 h until t = \+3\.06 h\.$/);
});

test("no spill seen and readings that cannot be explained are answers of their own", () => {
  const nothing = { ...found, estimate: null, arrivals: [] };
  const say = (change) => unbroken(sentence.spillSentence(brook, { ...nothing, ...change }, 0, format.unitFor(1)));
  assert.equal(say({ spill: 0.02 }), "Demo River: readings at s1 have left their background; no spill is seen in 82 readings; the probability of one is 2 %.");
  assert.equal(say({ trust: "none", spill: null, trust_reason: "sensor s2 contradicts s1." }),
    "Demo River: readings at s1 have left their background; the readings cannot be explained: sensor s2 contradicts s1. No source is given.");
  assert.equal(say({ trust: null, spill: null, readings: 0 }), "Demo River: readings at s1 have left their background; the source is being worked out.");
  assert.equal(say({ trust: null, spill: null, readings: 0, state: "closed", close_reason: "closed by hand" }),
    "Closed by hand. Demo River: readings at s1 have left their background; no source was found.");
});

test("a river without dates is spoken of in hours of its readings", () => {
  const river = { id: "r", name: "Demo River", time_base: "relative", sensors: [], candidates: [], intakes: [] };
  const incident = { state: "open", provisional: true, sensor: "s1", origin_s: 0, method: "posterior", estimate: { mass_g: 1314, location_m: -12040, time_s: 3700 }, interval: null, candidates: [], arrivals: [] };
  const text = sentence.spillSentence(river, incident, 7200, format.unitFor(1)).replaceAll("\u202f", " ");
  assert.equal(text, "Demo River: still provisional, about 1.31 kg most likely entered at river km \u221212.0, at t = +1.03 h.");
});
