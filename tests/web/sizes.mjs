/* A duty officer's night on a phone, a desk and a wall, in light and dark, and on paper: node sizes.mjs PROGRAM WEB
 * [PICTURES]
 *
 * One service with everything that can go wrong at once: a spill towards twelve intakes, a network, a river half deaf,
 * an incident opened by hand and one closed without a source, two incidents on one river, a search box of another
 * season, a hundred thousand readings. Every claim is looked at in each of the six; what must hold of any page is in
 * looking.mjs. Exit 77: no browser here. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cutText, faintText, inkOf, overlaps } from "./looking.mjs";
import { COLOURS, SIZES, begin, plain } from "./browser.mjs";
import { Service, freePort } from "./serving.mjs";

const session = await begin();
const { program, folder, pictures } = session;
const NOW_S = Math.floor(Date.now() / 1000);
const MANY = 100000;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/* --- rivers --- */

const list = (count, item) => Array.from({ length: count }, (_, i) => `  - {${item(i)}}`).join("\n");
const PLAIN = `hydraulics: {velocity_m_s: 0.8, dispersion_m2_s: 40, area_m2: 40, decay_per_s: 0}
search: {mass_g: [1000, 200000], location_m: [-30000, -1000]}
`;
const NOISE = "noise_relative: 0.05, noise_absolute_g_m3: 2.0e-5";
const WORKS = ["North", "South-West", "of the Lower Valley Communities", "East"];
const FIRMS = ["Dye house Bolton & Sons, Limited", "Sewage works", "Paper mill", "Tannery", "Creamery, northern plant"];
const intake = (i) =>
  `id: in${i}, name: Waterworks ${WORKS[i % 4]} ${i + 1}, location_m: ${3000 + 3500 * i}, ` +
  `alarm_g_m3: ${i % 3 === 2 ? 0.3 : 0.001}`;
const WHARFE = `name: River Wharfe, lower part, from the weir at Ilkley to the Ouse
${PLAIN}sensors:
${list(8, (i) => `id: p${i}, name: Probe at the old bridge number ${i}, location_m: ${i * 2500}, ${NOISE}`)}
candidates:
${list(8, (i) => `id: c${i}, name: "${FIRMS[i % 5]} ${i + 1}", location_m: ${-4000 - 2500 * i}`)}
intakes:
${list(12, intake)}
centerline: line.geojson
`;
const ELM = `name: Elm and its brooks
hydraulics: {velocity_m_s: 0.7, dispersion_m2_s: 40, decay_per_s: 0}
branches:
  - {id: stem, name: River Elm, head_m: -40000, reaches: [{to_m: 10000, discharge_m3_s: 8}]}
  - {id: ash, name: Ash Brook, head_m: -15000, joins: {branch: stem, at_m: -20000},
     reaches: [{to_m: 0, discharge_m3_s: 2}]}
  - {id: oak, name: Oak Brook, head_m: -12000, joins: {branch: stem, at_m: -9000},
     reaches: [{to_m: 0, discharge_m3_s: 1}]}
search: {mass_g: [10, 100000]}
sensors:
  - {id: s1, name: Mill Bridge, branch: ash, location_m: -900}
  - {id: s2, name: Elm Weir, branch: stem, location_m: -2000}
  - {id: s3, name: Oak Ford, branch: oak, location_m: -1000}
candidates:
  - {id: dairy, name: Dairy, branch: ash, location_m: -9000}
  - {id: forge, name: Forge, branch: oak, location_m: -7000}
intakes: [{id: town, name: Elmtown intake, branch: stem, location_m: 5000, alarm_g_m3: 0.001}]
`;
const beck = (name, sensors, search = "") =>
  `name: ${name}\n${PLAIN.replace("-1000]", `-1000]${search}`)}sensors:\n` +
  `${list(sensors, (i) => `id: h${i}, location_m: ${2000 * i}, ${NOISE}`)}\n`;
const RIVERS = {
  wharfe: WHARFE,
  elm: ELM,
  twice: ELM.replace("Elm and", "Elm twice and"),
  half: beck("Half Deaf Beck", 4),
  hand: beck("Hand Opened Beck", 2),
  over: beck("Closed Beck", 2),
  may: beck("Beck of May", 2, ", time_s: [2024-05-01T00:00:00Z, 2024-05-09T00:00:00Z]"),
  busy: beck("Busy Beck", 1),
  days: `${beck("Slow Beck", 2).replace("0.8, dispersion_m2_s: 40", "0.1, dispersion_m2_s: 5")}intakes:
  - {id: town, name: Town intake, location_m: 9000, alarm_g_m3: 0.001}
  - {id: farm, name: Farm intake, location_m: 9500}
`,
};

/* --- readings --- */

const HEADER = "time,sensor,concentration_g_m3\n";
const iso = (time_s) => new Date(1000 * time_s).toISOString();
const simulate = (river, source, every, from, to) =>
  spawnSync(program, ["simulate", folder[river], "--source", source, "--every", every, "--from", from, "--to", to], {
    encoding: "utf8",
  }).stdout;
/* The same with dates, so that it ends now. */
const dated = (csv, last_s) =>
  HEADER +
  csv
    .trim()
    .split("\n")
    .slice(1)
    .map((l) => l.replace(/^[^,]+/, (t) => iso(NOW_S - last_s + Number(t))))
    .join("\n");
const quiet = (sensors, count, step_s, until_s = NOW_S) =>
  Array.from({ length: count }, (_, i) =>
    sensors
      .map((s) => `${iso(until_s - step_s * (count - 1 - i))},${s},${(1e-5 + 1e-6 * ((7 * i) % 5)).toPrecision(3)}`)
      .join("\n"),
  ).join("\n");
const only = (csv, sensor) =>
  csv
    .split("\n")
    .filter((l, i) => i === 0 || l.includes(`,${sensor},`))
    .join("\n");

const port = await freePort();
const service = new Service(program, folder, port);
session.services.push(service);

async function ask(path, body, kind = "application/json") {
  const answer = await fetch(service.address + path, { method: "POST", headers: { "Content-Type": kind }, body });
  assert.ok(answer.ok, `${path}: ${answer.status}`);
  return answer.json();
}
const post = (river, csv) => ask(`/v1/readings?river=${river}`, csv, "text/csv");

async function openByHand(river, from) {
  return (await ask("/v1/incidents", JSON.stringify({ river, ...(from ? { from } : {}) }))).id;
}

async function set() {
  const named = Object.entries(RIVERS).map(([id, text]) => `${id}=${(folder[id] = folder.write(`${id}.yaml`, text))}`);
  service.arguments.splice(1, 1, ...named);
  await service.start();
  await post("wharfe", dated(simulate("wharfe", "60000,-14000,3600", "1200", "0", "30000"), 30000));
  await post("elm", simulate("elm", "20000,ash:-9000,3600", "600", "4000", "17200"));
  await post("twice", only(simulate("elm", "20000,ash:-9000,3600", "600", "4000", "17200"), "s1"));
  await post("twice", only(simulate("elm", "9000,oak:-7000,3600", "600", "4000", "17200"), "s3"));
  await post("days", dated(simulate("days", "60000,-5000,3600", "1800", "0", "90000"), 90000));
  await post("half", `${HEADER}${quiet(["h2", "h3"], 80, 300, NOW_S - 20000)}\n${quiet(["h0", "h1"], 80, 300)}\n`);
  for (const river of ["hand", "over", "may"]) await post(river, `${HEADER}${quiet(["h0", "h1"], 40, 300)}\n`);
  const busy = quiet(["h0"], MANY, 1).split("\n");
  busy[MANY - 20000] = busy[MANY - 20000].replace(/,[^,]*$/, ",1.9e-5"); /* five and a half hours ago */
  await post("busy", `${HEADER}${busy.join("\n")}\n`);
  const shown = {};
  shown.hand = await openByHand("hand");
  shown.over = await openByHand("over");
  await ask(`/v1/incidents/${shown.over}/close`, "{}");
  shown.may = await openByHand("may");
  shown.busy = await openByHand("busy", iso(NOW_S - 72000));
  return shown;
}

/* Until every river has said what it will. */
async function settled() {
  let before = -1;
  for (let waited = 0; waited < 600; waited++) {
    const { incidents } = await service.get("/v1/incidents?state=open");
    const of = (river) => incidents.filter((i) => i.river_id === river);
    if (
      of("wharfe")[0]?.readings === 8 * 26 &&
      of("elm")[0]?.estimate &&
      of("twice").length === 2 &&
      of("twice").every((i) => i.estimate) &&
      of("busy")[0]?.readings > 70000 &&
      of("days")[0]?.readings === before
    )
      return Object.fromEntries(incidents.map((i) => [i.river_id, i]));
    before = of("days")[0]?.estimate && of("days")[0].readings;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error("the service does not settle");
}

/* --- what is looked at --- */

const sentenceLike = (text) => text.slice(1);
const sentenceOf = async (page) => plain(await page.locator(".sentence h1").innerText());
const at = (page, river, id) => page.evaluate((h) => (location.hash = h), id ? `#/incident/${id}` : `#/river/${river}`);

async function sound(page, where) {
  for (const look of [cutText, overlaps, faintText])
    assert.deepEqual(await page.evaluate(look), [], `${where}: ${look.name}`);
}

async function show(page, river, id, words) {
  await at(page, river, id);
  await page.locator(".sentence h1").filter({ hasText: words }).waitFor();
  await page.locator(".sensor-card").first().waitFor();
}

const SCENES = {
  async rivers(page) {
    await page.evaluate(() => (location.hash = "#/all"));
    const count = Object.keys(RIVERS).length;
    await page.waitForFunction((n) => document.querySelectorAll(".rivers li").length === n, count);
    assert.match(await sentenceOf(page), /^\d incidents are open\. The worst: alarm level expected on /);
    const states = await page.locator(".rivers li").evaluateAll((l) => l.map((e) => e.className));
    const rank = ["alarm", "warn", "calm"];
    assert.deepEqual(
      states,
      [...states].sort((a, b) => rank.indexOf(a) - rank.indexOf(b)),
      "the worst first",
    );
    await page.locator(".rivers-map a").waitFor();
  },

  async wharfe(page, open, { width }) {
    await show(page, "wharfe", open.wharfe.id, "River Wharfe, lower part, from the weir at Ilkley to the Ouse");
    await page.locator(".sentence.alarm").waitFor();
    await page.waitForFunction(() => /^\(\d\) Alarm level expected: /.test(document.title));
    assert.match(await page.locator("link[rel=icon]").getAttribute("href"), /^data:image\/svg/);
    /* Every window, and no intake that has passed before its own is over. */
    const path = plain(await page.locator(".answers .card", { hasText: "Which intake" }).innerText());
    assert.match(path, /close from .* until .*/s);
    const over = open.wharfe.arrivals.filter((a) => a.last_s && a.last_s[2] + open.wharfe.origin_s < Date.now() / 1000);
    assert.equal(path.split("passed").length - 1, over.length, path);
    /* Twelve intakes and eight candidates: all drawn, and what is behind a word says how urgent it is. */
    assert.equal(await page.locator("svg.schematic .intake").count(), 12);
    assert.equal(await page.locator("svg.schematic .candidate").count(), 8);
    assert.match(
      plain(await page.locator(".intakes + .rest summary").first().innerText()),
      /^7 more, \d of them above/,
    );
    /* An alarm that was raised and withdrawn says so, and every sentence of an uncertain answer says that too. */
    const { alarms } = await service.get(`/v1/incidents/${open.wharfe.id}`);
    const withdrawn = alarms.filter((a) => a.state === "withdrawn");
    assert.equal(await page.locator(".alarms .badge", { hasText: "withdrawn" }).count(), withdrawn.length);
    for (const alarm of alarms.filter((a) => a.provisional)) assert.match(alarm.sentence, /provisional/);
    /* On a phone harm and arrival come first; else all stand side by side. */
    await page.waitForFunction((phone) => {
      const top = [...document.querySelectorAll(".answers .card")].map((e) => e.getBoundingClientRect().top);
      return phone ? top[3] < top[2] && top[2] < top[0] : top.every((t) => Math.abs(t - top[0]) < 1);
    }, width < 640);
    /* What is open elsewhere stands above it; of one river with two incidents each has a tab of its own. */
    await page.locator(".others li", { hasText: "Elm twice and its brooks" }).first().waitFor();
    const tabs = (await page.locator(".places a").allInnerTexts()).map((t) => plain(t).replace(/\s+/g, " "));
    assert.equal(new Set(tabs).size, tabs.length, `${tabs}`);
    assert.ok(
      tabs.some((t) => t.includes("Hand Opened Beck no spill seen")),
      `${tabs}`,
    );
    const here = await page.locator(".places [aria-current]").boundingBox();
    assert.ok(here.x >= 0 && here.x < width - 40, `the tab of what is open begins at ${here.x}`);
    /* The bulletin has the same digits. */
    const bulletin = await (await fetch(`${service.address}/v1/incidents/${open.wharfe.id}/bulletin`)).text();
    const card = plain(await page.locator(".answers .card", { hasText: "how sure" }).innerText());
    const [, mass, low, high] = /mass +(\S+ \w+) +(\S+ \w+) to (\S+ \w+)/.exec(bulletin);
    const [, place, from, to] = /place +km (\S+) +km (\S+) to km (\S+)/.exec(bulletin);
    for (const said of [mass, `${low} to ${high}`, `river km ${place}`, `km ${from} to ${to}`])
      assert.ok(card.includes(said), `"${said}" of the bulletin is not in: ${card}`);
    const history = plain(await page.locator(".history figcaption").first().innerText());
    assert.ok(history.endsWith(` ${place}`), history);
  },

  async map(page, open) {
    await show(page, "wharfe", open.wharfe.id, "River Wharfe");
    await page.getByRole("button", { name: "as a map" }).click();
    await page.locator("svg.map .water-line").waitFor();
    assert.equal(await page.locator("svg.map .intake").count(), 12);
    /* The line goes from km -14 to km 16: what lies elsewhere cannot be in its place, and the picture says so. */
    assert.match(plain(await page.locator("svg.map .unit").textContent()), /12 beyond the line, drawn at its ends/);
  },

  /* Windows of days have their days, and the minutes are those of the bulletin. */
  async days(page, open) {
    await show(page, "days", open.days.id, "Slow Beck: ");
    const bulletin = await (await fetch(`${service.address}/v1/incidents/${open.days.id}/bulletin`)).text();
    const DAY = "(\\d+-\\d+-\\d+ \\d+:\\d+) UTC";
    const times = (lead) =>
      new RegExp(`${lead} +${DAY}(?: until| to| \\()? ?(?:${DAY}(?: to ${DAY})?)?`).exec(bulletin).slice(1);
    const short = (text) => `${Number(text.slice(8, 10))} ${MONTHS[Number(text.slice(5, 7)) - 1]} ${text.slice(11)}`;
    const path = await page.locator(".answers .card", { hasText: "Which intake" }).locator("li").allInnerTexts();
    const [town, farm] = path.map((t) => plain(t).replace(/\s+/g, " "));
    for (const lead of ["rises above", "falls below"])
      assert.ok(town.includes(short(times(lead)[0])), `${lead} ${short(times(lead)[0])} is not in: ${town}`);
    assert.equal(
      town.match(/\d\d:\d\d/g).length,
      town.match(/\d \w{3} (\d{4} )?\d\d:\d\d|\d\d:\d\d local/g).length,
      town,
    );
    assert.match(town, /close from .* until /);
    /* What begins and ends on one day, as it does for some hours of the clock, names it once. */
    const [begins, ends] = /in the plume from (\d+ \w{3}) .* until (\d+ \w{3}) /.exec(farm).slice(1);
    const tenth = "above a tenth of its peak from ";
    assert.match(farm, new RegExp(begins === ends ? `${tenth}\\d\\d:\\d\\d ` : `${tenth}\\d+ \\w{3} `));
    const origin = plain(await page.locator(".answers .card", { hasText: "how sure" }).innerText()).replace(
      /\s+/g,
      " ",
    );
    const [middle, from, to] = /released +(\S+ \S+) UTC +(\S+ \S+) UTC to (\S+ \S+) UTC/.exec(bulletin).slice(1);
    const oneDay = [from, to].every((t) => t.slice(0, 10) === middle.slice(0, 10));
    const said = [from, to].map((t) => (oneDay ? t.slice(11) : short(t))).join(" to ");
    assert.ok(origin.includes(`90 %: ${said} UTC`), `${said} is not in: ${origin}`);
    const caption = plain(await page.locator(".history figcaption", { hasText: "Time of release" }).innerText());
    assert.ok(caption.endsWith(`${short(middle)} UTC`), caption);
  },

  async elm(page, open) {
    await show(page, "elm", open.elm.id, /Ash Brook km \u2212[89]\.\d/);
    await page.locator("svg.tree text", { hasText: /^Ash Brook .*%/ }).waitFor();
    assert.equal(await page.locator("svg.tree .candidate").count(), 2);
    await page.locator(".notices", { hasText: "Elm Weir never rose" }).waitFor();
    /* A river without dates: the page has the hours and minutes of the bulletin. */
    const bulletin = await (await fetch(`${service.address}/v1/incidents/${open.elm.id}/bulletin`)).text();
    const [, from, until] = /close from +(\d+ h \d+ min) until (\d+ h \d+ min)/.exec(bulletin);
    const path = plain(await page.locator(".answers .card", { hasText: "Which intake" }).innerText());
    assert.match(path.replace(/\s+/g, " "), new RegExp(`close from t = ${from} until t = ${until}`));
    assert.match(bulletin, new RegExp(`Elmtown intake: close from t = \\d+ h \\d\\d min until t = `));
    /* Where to sample next, for two crews that need an hour: as the service says it, and marked in the picture. */
    const ask = "for=intake&crews=2&delay=3600";
    const choice = (words) => page.locator("#advice").getByLabel(words);
    const advice = await service.get(`/v1/incidents/${open.elm.id}/advice?${ask}`);
    await choice("to learn").selectOption("intake");
    await choice("with").selectOption("2");
    await choice("ready").selectOption("3600");
    if (advice.refusal) await page.locator("#advice .empty", { hasText: sentenceLike(advice.refusal) }).waitFor();
    else {
      await page.locator("#advice .note", { hasText: "what it adds to those before it" }).first().waitFor();
      const listed = await page.locator("#advice .advice li").allInnerTexts();
      assert.equal(listed.length, advice.places.length);
      advice.places.forEach((place, i) => {
        const minutes = Math.round(place.time_s / 60);
        const at = `t = ${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
        assert.ok(place.from_s >= advice.now_s + 3600, "nobody can be there before");
        if (place.from_s === place.until_s) assert.ok(plain(listed[i]).includes(at), `${at}: ${listed[i]}`);
      });
      assert.equal(await page.locator("svg.tree .advice-marks path").count(), advice.places.length);
    }
    await choice("ready").selectOption("0");
    await choice("with").selectOption("1");
    await choice("to learn").selectOption("place");
  },

  async half(page) {
    await show(page, "half", null, "No spill is known on Half Deaf Beck. 2 of 4 sensors are silent.");
    await page.locator(".sentence.warn").waitFor();
    assert.equal(await page.locator("svg.schematic .state-silent").count(), 2);
    /* A duty officer is offered the engine; who wants another method opens Expert. */
    await page.getByRole("button", { name: "Open an incident" }).click();
    assert.equal(await page.getByLabel("Method").isVisible(), false);
    await page.getByText("Expert").click();
    assert.ok(await page.getByLabel("Method").isVisible());
    await page.keyboard.press("Escape");
  },

  async hand(page, open) {
    await show(page, "hand", open.hand.id, "an incident was opened by hand; no spill is seen in");
    await page.waitForFunction(() => document.querySelector('[data-sensor="h0"] canvas'));
    await page.waitForTimeout(200);
    const ink = await page.evaluate(inkOf, '[data-sensor="h0"]');
    assert.ok(ink > 200, `${ink} pixels of readings`);
  },

  async over(page, open, _, ids) {
    await show(page, "over", ids.over, "Closed by hand");
    const answers = await page.locator(".answers").innerText();
    assert.ok(!/next readings|being worked out/i.test(answers), answers);
    await page.getByRole("link", { name: "To the answer" }).focus();
    await page.keyboard.press("Enter");
    await page.locator(".sentence h1").filter({ hasText: "Closed by hand" }).waitFor();
  },

  async may(page, open, _, ids) {
    await show(page, "may", ids.may, "Beck of May: ");
    const { trust, trust_reason, estimate } = await service.get(`/v1/incidents/${ids.may}`);
    assert.deepEqual([trust, estimate], ["none", null], trust_reason);
    assert.match(await sentenceOf(page), /cannot be explained: .*search/);
    await page.locator("#advice", { hasText: "there is nothing to advise on" }).waitFor();
    assert.ok(!/e\+\d/.test(await page.locator("main").innerText()), "no raw number");
  },

  async busy(page, open) {
    await show(page, "busy", open.busy.id, "Busy Beck: ");
    await page.locator(".card p.range", { hasText: "Highest reading so far" }).waitFor();
    assert.match(plain(await page.locator(".card p.range", { hasText: "Highest" }).innerText()), /0\.019 \u00b5g\/l/);
    await page.locator(".readout", { hasText: /^\d+ readings; shown: the lowest and highest/ }).waitFor();
    /* What is taken away is whole: every reading that the engine saw. */
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Readings, CSV" }).click(),
    ]);
    const rows =
      readFileSync(await file.path(), "utf8")
        .trim()
        .split("\n").length - 1;
    const { readings } = await service.get(`/v1/incidents/${open.busy.id}`);
    assert.ok(rows === readings && rows > 90000, `${rows} rows of ${readings} readings`);
  },
};

/* As the browser prints it: by its own menu, not by the page's button. */
async function paper(page, open, name) {
  await at(page, "wharfe", open.wharfe.id);
  await page.locator(".sentence h1").filter({ hasText: "River Wharfe" }).waitFor();
  await page.locator(".sensor-card canvas").first().waitFor();
  await page.waitForTimeout(300);
  const theme = await page.evaluate(() => document.documentElement.dataset.theme);
  await page.pdf({ format: "A4", ...(pictures ? { path: join(pictures, `${name}.pdf`) } : {}) });
  const sheet = await page.evaluate(() => window.sheet);
  assert.equal(sheet.theme, "light");
  assert.equal(sheet.closed, 0, "nothing stays behind a word");
  assert.ok(sheet.ink > 25, `${sheet.ink} pixels of readings on paper`);
  await page.waitForFunction((t) => document.documentElement.dataset.theme === t, theme);
  assert.equal(await page.locator("details.rest[open]").count(), 0, "afterwards the page is as it was");
  /* The same sheet to look at. */
  await page.setViewportSize({ width: 718, height: 1000 });
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  await page.waitForTimeout(300);
  for (let i = 0; i < 12; i++)
    assert.ok(
      await page
        .locator(".intakes li", { hasText: `Waterworks ${WORKS[i % 4]} ${i + 1}` })
        .first()
        .isVisible(),
      `intake ${i + 1} on paper`,
    );
  const advice = await page.locator("#advice").innerText();
  assert.ok(!/River km/.test(advice) || /To learn where it came from, with one crew, ready now\./.test(advice), advice);
  await sound(page, `${name} on paper`);
}

/* The first of all listeners: what is on the sheet when every other has done its work. */
const watchSheet = `addEventListener("afterprint", () => {
  window.sheet = {
    theme: document.documentElement.dataset.theme,
    closed: document.querySelectorAll("details:not([open])").length,
    ink: (${inkOf})('[data-sensor="p1"]'),
  };
});`;

async function look(page, name, see) {
  await session.tell(name, see);
  await session.picture(page, name);
}

await session.run(async () => {
  const ids = await set();
  const open = await settled();
  for (const [width, height] of SIZES) {
    for (const colorScheme of COLOURS) {
      const name = `${width}-${colorScheme}`;
      const screen = { viewport: { width, height }, colorScheme, timezoneId: "Europe/Berlin" };
      const page = await session.openPage(service.address, screen);
      await page.addInitScript(watchSheet);
      await page.reload();
      for (const [scene, see] of Object.entries(SCENES)) {
        await look(page, `${scene} ${name}`, async () => {
          await see(page, open, { width, height }, ids);
          await sound(page, scene);
        });
      }
      await look(page, `paper ${name}`, () => paper(page, open, `paper-${name}`));
      await page.context().close();
    }
  }
});
