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
  const { outputFiles } = buildSync({
    entryPoints: [join(web, "src", `${name}.ts`)],
    bundle: true,
    format: "esm",
    write: false,
  });
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, outputFiles[0].text);
  return import(pathToFileURL(path).href);
}
const names = [
  "alarms",
  "api",
  "attention",
  "forecast",
  "format",
  "geometry",
  "mercator",
  "network",
  "readings",
  "sentence",
  "stream",
  "ticks",
];
const modules = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await load(name)])));
const { alarms, api, attention, forecast, format, geometry, mercator, network, readings, sentence, stream, ticks } =
  modules;
rmSync(folder, { recursive: true });

const reading = (time_s, concentration_g_m3 = 0.37, below_limit = false) => ({
  time_s,
  concentration_g_m3,
  below_limit,
});

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
  const text =
    ': still here\n\nretry: 2000\nid: 7-3\nevent: reading\ndata: {"a": 1,\ndata:  "b": 2}\n\n' +
    "id: 8-3\r\ndata: x\r\n\r\n";
  for (let cut = 0; cut <= text.length; cut++) {
    const seen = [];
    const parser = new stream.Parser((kind, id, data) => seen.push([kind, id, data]));
    parser.feed(text.slice(0, cut));
    parser.feed(text.slice(cut));
    assert.deepEqual(
      seen,
      [
        ["reading", "7-3", '{"a": 1,\n "b": 2}'],
        ["message", "8-3", "x"],
      ],
      `cut at ${cut}`,
    );
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

/* The same pairs are in tests/test_result.c: the text and the dashboard have one rule. */
test("masses and places have the digits that mean something", () => {
  const plain = (text) => text.replaceAll("\u202f", " ").replaceAll("\u2212", "-");
  for (const [mass_g, location_m, span_m, mass, place] of [
    [1314.2, -21904, 5000, "1.31 kg", "-21.9"],
    [999.9, -21904, 1900, "1 kg", "-21.90"],
    [0.37, -14, 2000, "0.37 g", "0.0"],
    [999499, 14250, 100, "999 kg", "14.25"],
    [999500, 14250, 3e4, "1 t", "14.3"],
    [1.2345e9, 370, 1e5, "1235 t", "0.4"],
    [63203.05, -9000.8, 1999, "63.2 kg", "-9.00"],
    [40, 123456, 2001, "40 g", "123.5"],
  ]) {
    assert.equal(plain(format.mass(mass_g)), mass);
    assert.equal(plain(format.km(location_m, span_m)), place);
  }
  assert.equal(plain(format.concentration(1234.4, format.unitFor(1234.4))), "1234 mg/l");
  assert.equal(plain(format.concentration(123456, format.unitFor(123456))), "123456 mg/l");
});

test("what is the same of several sensors is said once, by their names", () => {
  const river = {
    ...brook,
    sensors: [
      { id: "s1", name: "Weir" },
      { id: "s2", name: "" },
      { id: "s3", name: "Ford" },
    ],
  };
  const warnings = [
    "sensor s3: a lone reading of 0.3 g/m3 at 7200 s counts for little",
    "sensor s1 never rose above its background",
    "sensor s2 never rose above its background",
    "sensor s3 never rose above its detection limit",
    "sensors s3 and s1 contradict each other: either may be wrong, and s3 is not believed here",
    "the equation does not explain the pulses, least of all at s3 and s1: this answer is the field model's",
    "sensor s1 rose to 6.06e-05 g/m3, not used",
  ];
  assert.deepEqual(sentence.plainWarnings(river, { origin_s: 0, warnings }, format.unitFor(0.01)).map(unbroken), [
    "sensor Ford: a lone reading of 300 \u00b5g/l at t = 2 h 00 min counts for little",
    "sensors Ford and Weir contradict each other: either may be wrong, and Ford is not believed here",
    "the equation does not explain the pulses, least of all at Ford and Weir: this answer is the field model's",
    "sensor Weir rose to 0.0606 \u00b5g/l, not used",
    "2 sensors never rose above their background: Weir, s2",
    "sensor Ford never rose above its detection limit",
  ]);
  const why = { ...found, estimate: null, trust: "none", spill: null, trust_reason: "sensor s3 contradicts s1." };
  assert.match(
    sentence.spillSentence(river, why, 0, format.unitFor(1)),
    /readings at Weir .* explained: sensor Ford contradicts s1\. No source/,
  );
});

test("every open incident and every sensor is asked for, however many there are", async () => {
  const asked = [];
  globalThis.sessionStorage = { getItem: () => null };
  globalThis.fetch = async (path) => {
    asked.push(path);
    const before = Number(/before=(\d+)/.exec(path)?.[1] ?? 1201);
    const incidents = Array.from({ length: Math.min(500, before - 1) }, (_, i) => ({ id: before - 1 - i }));
    return { ok: true, json: async () => ({ incidents, more: before > 501 }) };
  };
  const open = await api.openIncidents();
  assert.deepEqual([open.length, open[0].id, open[1199].id], [1200, 1200, 1]);
  await api.river("Ouse & Wharfe");
  assert.deepEqual(asked, [
    "/v1/incidents?state=open",
    "/v1/incidents?state=open&before=701",
    "/v1/incidents?state=open&before=201",
    "/v1/rivers/Ouse%20%26%20Wharfe?limit=10000",
  ]);
});

test("a suspect is named at its own place, and what the readings alone say stands beside it", () => {
  const mill = { id: "mill", name: "Paper mill", branch: null, location_m: -12000, extent_m: 0 };
  const river = { ...brook, candidates: [mill] };
  const say = (location_m, change = {}) =>
    unbroken(
      sentence.spillSentence(
        { ...river, candidates: [{ ...mill, ...change }] },
        { ...found, estimate: { ...found.estimate, location_m }, candidates: [{ id: "mill", probability: 0.67 }] },
        0,
        format.unitFor(1),
      ),
    ).replaceAll("\u2212", "-");
  assert.match(say(-12640), / at Paper mill \(67 %\), river km -12\.6, at t/);
  assert.match(
    say(-23700),
    / at Paper mill \(67 %\), river km -12\.00 \(by the readings alone at river km -23\.7\), at t/,
  );
  assert.match(say(-23700, { extent_m: 12000 }), / at Paper mill \(67 %\), river km -23\.7, at t/);
});

test("times of several days have their day, times of one day that is told beside them have not", () => {
  const river = { ...brook, time_base: "calendar" };
  const at = (text) => Date.parse(`2026-11-${text}:00Z`) / 1000;
  const times = ["18T19:46", "18T21:13", "18T23:59"].map(at);
  assert.deepEqual(format.timesBeside(river, at("18T01:00"), times), ["19:46", "21:13", "23:59"]);
  assert.deepEqual(format.timesBeside(river, at("18T01:00"), [...times, at("28T12:26")]), [
    "18 Nov 19:46",
    "18 Nov 21:13",
    "18 Nov 23:59",
    "28 Nov 12:26",
  ]);
  assert.deepEqual(format.timesBeside(river, at("17T23:00"), [at("18T00:10")]), ["18 Nov 00:10"]);
  assert.deepEqual(format.timesBeside(brook, 0, [7200]).map(unbroken), ["t = 2 h 00 min"]);
  assert.deepEqual([-12940, -20, 59 * 60 + 31].map(format.relativeTime).map(unbroken), [
    "t = \u22123 h 36 min",
    "t = 0 h 00 min",
    "t = 1 h 00 min",
  ]);
});

test("a place between two points of the centreline is found by its river metre", () => {
  const coordinates = [
    [7, 50],
    [7, 50.05],
    [7, 50.2],
  ];
  const lines = geometry.centerlinesOf([
    { properties: { at_m: [-1000, 1500, 9000], branch: null }, geometry: { coordinates } },
    { properties: { at_m: [0, 1, 2], branch: "ash" }, geometry: { coordinates } },
  ]);
  assert.deepEqual([...lines.keys()], ["", "ash"]);
  const line = lines.get("");
  const [lon, lat] = geometry.pointAt(line, 4000);
  assert.ok(Math.abs(lat - 50.1) < 1e-9 && lon === 7, `${lon} ${lat}`);
  assert.deepEqual(geometry.pointAt(line, -5000), [7, 50]);
});

const brook = {
  id: "r",
  name: "Demo River",
  time_base: "relative",
  sensors: [],
  candidates: [],
  branches: [],
  intakes: [{ id: "town", name: "Town intake", branch: null, location_m: 15000, alarm_g_m3: 0.001 }],
};
const found = {
  state: "open",
  provisional: false,
  trust: "full",
  spill: 0.99,
  sensor: "s1",
  origin_s: 1000,
  method: "posterior",
  readings: 82,
  estimate: { mass_g: 1314, location_m: -12040, time_s: 3700 },
  interval: null,
  candidates: [],
  arrivals: [],
  alarms: [],
};
const unbroken = (text) => text.replaceAll("\u202f", " ").replaceAll("\u00a0", " ");

test("an intake has passed only when its whole window has, doubt included", () => {
  const arrival = {
    id: "town",
    first_s: [3000, 3600, 4000],
    peak_s: [5000, 5400, 6000],
    last_s: [8000, 9000, 10000],
    peak_g_m3: [0.001, 0.002, 0.003],
    exceeds_alarm: 0.97,
  };
  const at = (now_s) => sentence.threats(brook, { ...found, arrivals: [arrival] }, now_s)[0];
  assert.deepEqual(at(0).window, { from: [4000, 4600, 5000], until: [9000, 10000, 11000] });
  assert.equal(at(7000).passed, false, "the peak has passed, the level is still exceeded");
  assert.equal(at(10999).passed, false);
  assert.equal(at(11001).passed, true);
  const text = unbroken(sentence.spillSentence(brook, { ...found, arrivals: [arrival] }, 0, format.unitFor(1)));
  assert.match(text, /with 97 % probability\. Close from t = 1 h 07 min until t = 3 h 03 min\.$/);
});

test("no spill seen and readings that cannot be explained are answers of their own", () => {
  const nothing = { ...found, estimate: null, arrivals: [] };
  const noticed = "Demo River: readings at s1 have left their background;";
  const say = (change) => unbroken(sentence.spillSentence(brook, { ...nothing, ...change }, 0, format.unitFor(1)));
  assert.equal(say({ spill: 0.02 }), `${noticed} no spill is seen in 82 readings; the probability of one is 2 %.`);
  assert.equal(
    say({ trust: "none", spill: null, trust_reason: "sensor s2 contradicts s1." }),
    `${noticed} the readings cannot be explained: sensor s2 contradicts s1. No source is given.`,
  );
  assert.equal(
    say({ trust: null, spill: null, readings: 0 }),
    "Demo River: readings at s1 have left their background; the source is being worked out.",
  );
  assert.equal(
    say({ trust: null, spill: null, readings: 0, state: "closed", close_reason: "closed by hand" }),
    "Closed by hand. Demo River: readings at s1 have left their background; no source was found.",
  );
});

test("an alarm that was told stands until it is taken back, and then that is said", () => {
  const arrival = { id: "town", first_s: [1, 2, 3], peak_s: [2, 3, 4], last_s: [4, 5, 6], exceeds_alarm: 0.3 };
  const incident = (state) => ({ ...found, arrivals: [arrival], alarms: [{ kind: "intake", subject: "town", state }] });
  assert.equal(sentence.harm(sentence.threats(brook, incident("raised"), 0)[0]), "exceeds");
  assert.equal(sentence.harm(sentence.threats(brook, incident("withdrawn"), 0)[0]), "possible");
  const silent = {
    ...incident("changed"),
    estimate: null,
    trust: "none",
    spill: null,
    trust_reason: "a contradiction",
  };
  assert.match(
    sentence.spillSentence(brook, silent, 0, format.unitFor(1)),
    /No source is given\. The alarm for Town intake stands; its times are not known\.$/,
  );
  const gone = { kind: "intake", subject: "town", state: "withdrawn", at: "2024-03-01T01:00:00Z" };
  const told = { ...gone, sentence: "Town: withdrawn.", acknowledged: { who: "Ann", note: "gate shut" } };
  const dye = { ...gone, kind: "candidate", sentence: "Dye is no longer suspected.", acknowledged: null };
  assert.deepEqual(alarms.withdrawals({ ...found, alarms: [dye, told] }).map(unbroken), [
    "Town: withdrawn. (1 Mar 01:00 UTC; acknowledged by Ann: gate shut)",
    "Dye is no longer suspected. (1 Mar 01:00 UTC)",
  ]);
});

test("a river without dates is spoken of in hours of its readings", () => {
  const river = {
    id: "r",
    name: "Demo River",
    time_base: "relative",
    sensors: [],
    candidates: [],
    branches: [],
    intakes: [],
  };
  const incident = {
    state: "open",
    provisional: true,
    sensor: "s1",
    origin_s: 0,
    method: "posterior",
    estimate: { mass_g: 1314, location_m: -12040, time_s: 3700 },
    interval: null,
    candidates: [],
    arrivals: [],
    alarms: [],
  };
  const text = unbroken(sentence.spillSentence(river, incident, 7200, format.unitFor(1)));
  assert.equal(
    text,
    "Demo River: still provisional, about 1.31 kg most likely entered at river km \u221212.0, at t = 1 h 02 min.",
  );
});

const elm = {
  ...brook,
  branches: [
    { id: "stem", name: "River Elm", head_m: -40000, joins: null, joins_at_m: null },
    { id: "ash", name: "Ash Brook", head_m: -15000, joins: "stem", joins_at_m: -20000 },
    { id: "oak", name: "", head_m: -5000, joins: "ash", joins_at_m: -4000 },
  ],
  sensors: [{ id: "s1", name: "", branch: "stem", location_m: -2000 }],
};

test("the regions of all releases are shown, of one release the answer's", () => {
  const stretch = (branch, ...location_m) => ({ branch, location_m, probability: 0.9 });
  const region = [stretch("ash", -9000, -7000)];
  const second = [stretch("oak", -3000, -1000), stretch("stem", -21000, -20500)];
  const release = (where) => ({ probability: 0.97, estimate: null, region: where });
  assert.deepEqual(network.regionsOf({ region, releases: [release(region)] }), region);
  assert.deepEqual(network.regionsOf({ region, releases: [release(region), release(second)] }), [...region, ...second]);
  assert.deepEqual(network.regionsOf({ region, releases: [{}, {}] }), region); // of a former version
  assert.deepEqual(network.regionsOf(undefined), []);
});

test("places of a network have a branch, a way to the outlet and others below them", () => {
  assert.equal(network.placeText(elm, "ash", -9000), "Ash Brook km \u22129.0");
  assert.equal(network.placeText(elm, "oak", -1000), "oak km \u22121.0");
  assert.equal(network.placeText(brook, null, -9000), "river km \u22129.0");
  assert.deepEqual(
    network.courseFrom(elm, "oak").map((b) => b.id),
    ["oak", "ash", "stem"],
  );
  assert.equal(network.downTo(elm, "oak", -1000), -25000);
  const below = (branch, location_m) =>
    network.liesBelow(elm, { branch: "ash", location_m: -9000 }, { branch, location_m });
  assert.ok(below("ash", -100) && below("stem", -19000) && !below("stem", -21000) && !below("oak", -1));
  const frame = forecast.frameOf(
    elm,
    { ...found, estimate: { ...found.estimate, branch: "ash", location_m: -9000 } },
    0,
  );
  assert.deepEqual(frame.stretches, [
    { branch: "ash", from_m: -9000, to_m: 0 },
    { branch: "stem", from_m: -20000, to_m: -1000 },
  ]);
});

test("of many readings the lowest and the highest of each stretch stay, and the latest as they are", () => {
  const many = Array.from({ length: 5000 }, (_, i) => ({
    ...reading(10 * i, i === 1234 ? 0.9 : 0.1 + 0.001 * (i % 5)),
    seq: i + 1,
  }));
  const few = readings.outline(many, 200);
  assert.ok(few.length <= 200 && few.some((r) => r.concentration_g_m3 === 0.9));
  assert.deepEqual(
    few.map((r) => r.time_s),
    [...few.map((r) => r.time_s)].sort((a, b) => a - b),
  );
  let known = readings.NONE;
  for (let i = 0; i < many.length; i += 50) known = readings.united(known, many.slice(i, i + 50));
  assert.equal(known.total, 5000);
  assert.equal(known.seq, 5000);
  assert.ok(known.list.length <= 1200 && known.list.some((r) => r.concentration_g_m3 === 0.9));
  assert.deepEqual(known.list.slice(-300), many.slice(-300));
  const same = readings.united(known, many.slice(-10)); /* heard a second time */
  assert.equal(same, known);
  const late = readings.united(known, [{ ...reading(49985.5, 0.3), seq: 5001 }]);
  assert.deepEqual(late.list.map((r) => r.time_s).slice(-2), [49985.5, 49990]);
});

test("times are rounded to the minute, and ticks stand where people count", () => {
  assert.equal(format.utcTime(Date.parse("2024-03-01T00:59:40Z") / 1000), "01:00");
  assert.equal(format.utcDate(Date.parse("2024-03-01T23:59:40Z") / 1000), "2 Mar 2024");
  assert.deepEqual(ticks.ticksBy(-12260, -11810, ticks.niceStep(450, 5)), [-12200, -12100, -12000, -11900]);
  assert.deepEqual(ticks.timeTicks(3370, 3790, 5), [3480, 3600, 3720]);
});

test("what is worse has a higher grade, and says so where nobody looks at the page", () => {
  const arrival = { id: "town", first_s: [1, 2, 3], last_s: [4, 5, 6], exceeds_alarm: 0.9 };
  const grade = (change, now_s = 0) => attention.gradeOf({ ...found, ...change }, now_s);
  assert.equal(grade({ arrivals: [arrival] }), 4);
  assert.equal(grade({ arrivals: [arrival] }, 1007), 3); /* its window is over */
  assert.equal(grade({ provisional: true }), 2);
  assert.equal(grade({ estimate: null, trust: "none", spill: null }), 1);
  assert.equal(grade({ estimate: null, spill: 0.01 }), 0);
  assert.equal(grade({ state: "closed" }), 0);
  /* What was told stands until it is taken back; neither a lower probability nor an answer without trust does so. */
  const alarm = { kind: "intake", subject: "town", state: "changed" };
  const doubtful = { arrivals: [{ ...arrival, exceeds_alarm: 0.3 }] };
  const unexplained = { estimate: null, trust: "none", spill: null };
  assert.equal(grade(doubtful), 3);
  assert.equal(grade({ ...doubtful, alarms: [alarm] }), 4);
  assert.equal(grade({ ...doubtful, alarms: [alarm] }, 1007), 3);
  assert.equal(grade({ ...unexplained, alarms: [alarm] }), 4);
  assert.equal(grade({ ...doubtful, alarms: [{ ...alarm, state: "withdrawn" }] }), 3);
  assert.match(decodeURIComponent(attention.iconOf(3, 4)), /<path .*#b3261e.*>3</);
  assert.match(decodeURIComponent(attention.iconOf(12, 2)), /<circle .*>9\+</);
  assert.equal(attention.iconOf(0, 0), "/assets/icon.svg");
});

test("a map fits its points, and its tiles cover it", () => {
  const frame = mercator.fit(
    [
      [7, 50],
      [7.4, 50.2],
    ],
    800,
    200,
    500,
    40,
  );
  const [[x0, y0], [x1, y1]] = [frame.project([7, 50]), frame.project([7.4, 50.2])];
  assert.ok(x0 > 39 && x1 < 761 && y0 > y1 && y1 > 39 && y0 < frame.height - 39, `${[x0, y0, x1, y1, frame.height]}`);
  /* A degree of latitude is 111.2 km. */
  const [[, up], [, down]] = [frame.project([7.2, 50.11]), frame.project([7.2, 50.09])];
  assert.ok(Math.abs((down - up) / frame.perKm - 2.224) < 0.01, `${(down - up) / frame.perKm}`);
  const tiles = mercator.tilesOf(frame, 800, "https://tiles/{z}/{x}/{y}.png");
  assert.ok(Math.min(...tiles.map((t) => t.x)) <= 0 && Math.max(...tiles.map((t) => t.x + t.size)) >= 800);
  assert.ok(Math.min(...tiles.map((t) => t.y)) <= 0 && Math.max(...tiles.map((t) => t.y + t.size)) >= frame.height);
  assert.match(tiles[0].url, /^https:\/\/tiles\/1?\d\/\d+\/\d+\.png$/);
});

test("seconds in a warning become a time that people read", () => {
  const text = "sensor s1: a lone reading of 0.4 g/m3 at 3600 s fits neither the pulse nor the level";
  const river = { ...brook, time_base: "calendar" };
  assert.match(
    unbroken(sentence.plainWarnings(river, { ...found, origin_s: 1709251200, warnings: [text] }, format.unitFor(1))[0]),
    /at 1 Mar 01:00 UTC fits/,
  );
});
