/* The dashboard in a real browser against the real program: node dashboard.mjs PROGRAM WEB [PICTURES]
 *
 * Replays a spill, watches the estimate appear and narrow, and holds what the screen says against
 * `headwater identify` on the readings the screen exports. Then a sensor falls silent, the service is
 * killed and comes back, and tokens are asked for. Exit 77: no browser here. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { begin, plain, waitForSentence } from "./browser.mjs";
import { DAY_S, Service, freePort, identify, quiet, spill, tokenLine } from "./serving.mjs";

const session = await begin();
const { program, folder, pictures, services } = session;
const LAST_S = 6 * 3600;
/* The service is killed on the way, and tokens are refused. */
const quietly = /ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|status of 40[13]/;
const openPage = (address, options) =>
  session.openPage(address, {
    viewport: { width: 1280, height: 800 },
    timezoneId: "America/New_York",
    quietly,
    ...options,
  });
const picture = (page, name) => session.picture(page, name);
const check = (name, look) => session.check(name, look);

/* To the nearest minute, as the screen says it. */
const clock = (unix_s) => new Date(60000 * Math.round(unix_s / 60)).toISOString().slice(11, 16);

/* "90 %: km -12.10 to -11.85" of the first card, as numbers. */
async function shownInterval(page) {
  const card = plain(await page.locator(".answers .card").first().innerText());
  const found = /90 %: km (-?[\d.]+) to (-?[\d.]+)/.exec(card);
  return found && [Number(found[1]), Number(found[2])];
}

/* The number of readings the cards of the sensors show. */
const shownReadings = (page) =>
  page
    .locator(".sensor-card")
    .evaluateAll((cards) => cards.reduce((sum, card) => sum + Number(card.dataset.readings), 0));

const waitForReadings = (page, count) =>
  page.waitForFunction(
    (n) =>
      [...document.querySelectorAll(".sensor-card")].reduce((sum, card) => sum + Number(card.dataset.readings), 0) ===
      n,
    count,
  );

/* What the screen and the service say, and what identify says of the readings the screen exports. */
async function agrees(page, service) {
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Readings, CSV" }).click(),
  ]);
  const found = identify(program, folder, readFileSync(await file.path(), "utf8"));
  /* The screen counts readings as they are stored; the engine may be a moment behind. */
  let stored;
  for (let waited = 0; waited < 100; waited++) {
    stored = (await service.get("/v1/incidents")).incidents[0];
    if (stored.readings >= found.readings) break;
    await page.waitForTimeout(100);
  }
  assert.equal(stored.readings, found.readings);
  assert.deepEqual(stored.estimate, found.estimate);
  assert.deepEqual(stored.interval, found.interval);
  const span = found.interval.location_m[1] - found.interval.location_m[0];
  const place = `river km ${(found.estimate.location_m / 1000).toFixed(span < 2000 ? 2 : 1)}`;
  const time = `${clock(Date.parse(found.estimate.time) / 1000)} UTC`;
  const card = page.locator(".answers .card").first().filter({ hasText: time });
  await card
    .filter({ hasText: place.replace("-", "\u2212") })
    .waitFor()
    .catch(async () =>
      assert.fail(
        `expected ${place}, ${time} on the screen, which says ${await page.locator(".card").first().innerText()}`,
      ),
    );
}

let service;
await session.run(async () => {
  const readings = folder.write("readings.csv", spill(LAST_S));
  const port = await freePort();
  service = new Service(program, folder, port, ["--replay", `demo=${readings}`, "--speed", "1200"]);
  services.push(service);
  await service.start();
  const page = await openPage(service.address);

  await check("a quiet river is calm", async () => {
    await waitForSentence(page, "No spill is known on Demo River");
    await picture(page, "calm");
  });

  let widest = 0;
  await check("the estimate appears, says how sure it is, and narrows", async () => {
    await waitForSentence(page, "most likely entered");
    const ends = Date.now() + 60000;
    let interval = null;
    while (
      Date.now() < ends &&
      Number(await page.locator("main").getAttribute("data-readings")) < 2 * (LAST_S / 300 + 1)
    ) {
      interval = (await shownInterval(page)) ?? interval;
      if (interval) widest = Math.max(widest, interval[1] - interval[0]);
      await page.waitForTimeout(150);
    }
    await waitForSentence(page, "Paper mill");
    const [lo, hi] = await shownInterval(page);
    /* A busy machine may show few steps of it; the history on the page has every one. */
    const { id } = (await service.get("/v1/incidents")).incidents[0];
    for (const step of (await service.get(`/v1/incidents/${id}`)).history) {
      if (step.interval) widest = Math.max(widest, (step.interval.location_m[1] - step.interval.location_m[0]) / 1000);
    }
    assert.ok(hi - lo < 0.5 * widest, `interval ${hi - lo} km wide at the end, ${widest} km at its widest`);
    assert.ok(lo <= -11.9 && hi >= -12.1 && hi - lo < 2, `the true place, km -12, within ${lo} to ${hi}`);
    await page.locator("svg.schematic text", { hasText: "<i>works</i> & Co" }).waitFor(); /* a name is never markup */
    await picture(page, "spill");
  });

  await check("every reading of the file is on the screen", () => waitForReadings(page, 2 * (LAST_S / 300 + 1)));

  await check("the screen agrees with identify on the readings it exports", () => agrees(page, service));

  await check("the next sample has a place on the card and on the picture, or a sentence why not", async () => {
    const { id } = (await service.get("/v1/incidents")).incidents[0];
    const { places, refusal } = await service.get(`/v1/incidents/${id}/advice`);
    if (refusal) await page.locator("#advice .empty", { hasText: refusal.slice(1) }).waitFor();
    else {
      assert.match(
        plain(await page.locator("#advice .advice li").first().innerText()),
        /^River km .*bit\. Expect .* seen with /s,
      );
      assert.ok((await page.locator("svg.schematic .advice-marks path").count()) <= places.length);
      const numbered = await page.locator("#advice .advice").evaluate((e) => getComputedStyle(e).listStyleType);
      assert.equal(numbered, "decimal", "the list has the numbers of the flags");
    }
  });

  await check("an intake is told from when until when to stay closed, and has passed only after that", async () => {
    const { arrivals, origin_s } = (await service.get("/v1/incidents")).incidents[0];
    const at = (time_s) => clock(time_s + origin_s);
    const row = page.locator(".intakes li", { hasText: "close from" });
    const words = plain(await row.innerText()).replace(/\s+/g, " ");
    assert.match(
      words,
      new RegExp(`close from .*${at(arrivals[0].first_s[0])} UTC .* until .*${at(arrivals[0].last_s[2])} UTC`),
    );
    assert.ok(!words.includes("passed"), words);
  });

  /* The same service, with another answer put in its mouth. */
  async function withAnswer(change, look) {
    const other = await openPage(service.address, { stay: true });
    await other.route(/\/v1\/incidents(\/\d+)?(\?(?!brief).*)?$/, async (route) => {
      const answer = await (await route.fetch()).json();
      for (const incident of answer.incidents ?? [answer])
        Object.assign(
          incident,
          { estimate: null, interval: null, candidates: [], arrivals: [], region: [], releases: [] },
          change,
        );
      await route.fulfill({ json: answer });
    });
    await other.goto(service.address);
    await look(other);
    await other.unrouteAll({ behavior: "ignoreErrors" }); // answers still on their way when the page closes
    await other.context().close();
  }

  await check("without trust there is a sentence and no number; no spill seen is an answer too", async () => {
    await withAnswer({ trust: "none", spill: null, trust_reason: "sensor bridge contradicts weir" }, async (other) => {
      await waitForSentence(
        other,
        "the readings cannot be explained: sensor bridge contradicts weir. No source is given. " +
          "The alarm for Town intake stands; its times are not known.",
      );
      await other.locator(".sentence.alarm").waitFor(); /* nothing has taken it back */
      assert.deepEqual(await other.locator(".answers .card .answer").allInnerTexts(), [
        "Not known",
        "Not known",
        "Not known",
        "Not known",
      ]);
      await picture(other, "no-trust");
    });
    await withAnswer({ trust: "full", spill: 0.02, trust_reason: null }, async (other) => {
      await waitForSentence(other, /no spill is seen in \d+ readings; the probability of one is 2/);
      assert.equal(await other.locator(".answers .card .answer").first().innerText(), "No spill seen");
    });
  });

  await check("the plume moves with the slider, by keyboard", async () => {
    const slider = page.getByRole("slider");
    await slider.waitFor();
    for (let i = 0; i < 60 && !(await slider.evaluate((e) => e === document.activeElement)); i++)
      await page.keyboard.press("Tab");
    assert.ok(await slider.evaluate((e) => e === document.activeElement), "the slider is reached with Tab");
    const before = await page.locator(".slider output").innerText();
    for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
    await page.waitForFunction((was) => document.querySelector(".slider output").innerText !== was, before);
    assert.match(await page.locator(".slider output").innerText(), /^in /);
    await page.getByRole("button", { name: "Now", exact: true }).click();
  });

  await check("the river is drawn as a map from its centreline", async () => {
    await page.getByRole("button", { name: "as a map" }).click();
    await page.locator("svg.map .water-line").waitFor();
    await picture(page, "map");
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "PNG" }).first().click(),
    ]);
    assert.deepEqual([...readFileSync(await file.path()).subarray(1, 4)], [...Buffer.from("PNG")]);
    const [places] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Places, GeoJSON" }).click(),
    ]);
    const source = JSON.parse(readFileSync(await places.path(), "utf8")).features.find(
      (f) => f.properties.kind === "source",
    );
    assert.ok(Math.abs(source.geometry.coordinates[1] - 50.6) < 0.1, "the source lies on the line");
    await page.getByRole("button", { name: "by kilometre" }).click();
  });

  await check("a sensor that stops is told to be silent", async () => {
    await service.post(quiet("weir", LAST_S + 300, 12));
    await page.getByText(/Sensor bridge is silent, last reading 1.h ago/).waitFor();
    await waitForReadings(page, 2 * (LAST_S / 300 + 1) + 12);
    await picture(page, "silent");
  });

  await check("killed and back: reconnects and has lost nothing", async () => {
    const before = await shownReadings(page);
    await service.stop("SIGKILL");
    await page.getByText(/Connection lost/).waitFor();
    await picture(page, "lost");
    service = new Service(program, folder, port);
    services.push(service);
    await service.start();
    await service.post(quiet("weir", LAST_S + 300 * 13, 4));
    await page.locator(".line.live").waitFor();
    await waitForReadings(page, before + 4);
    await agrees(page, service);
  });

  await check("a phone shows it without scrolling sideways, in the dark", async () => {
    const phone = await openPage(service.address, { viewport: { width: 390, height: 844 }, colorScheme: "dark" });
    await waitForSentence(phone, "most likely entered");
    await phone.locator(".sensor-card canvas").first().waitFor();
    assert.ok((await phone.evaluate(() => document.documentElement.scrollWidth)) <= 390, "wider than the phone");
    await picture(phone, "phone");
    /* What is on paper then is looked at in sizes.mjs. */
    await phone.evaluate(() => (window.print = () => (window.asked = true)));
    await phone.getByRole("button", { name: "Print" }).click();
    await phone.waitForFunction(() => window.asked);
    await phone.context().close();
  });

  await check("on a wall letters and pictures grow together, on paper pictures fit the sheet", async () => {
    const wall = await openPage(service.address, { viewport: { width: 2560, height: 1440 } });
    await wall.locator("svg.schematic").waitFor();
    const [drawn, shown] = await wall
      .locator("svg.schematic")
      .evaluate((svg) => [svg.viewBox.baseVal.width, svg.clientWidth]);
    assert.ok(Math.abs(shown / drawn - 1.5) < 0.01, `drawn ${drawn} wide, shown ${shown} wide`);
    await picture(wall, "wall");
    await wall.evaluate(() =>
      addEventListener("beforeprint", () =>
        queueMicrotask(() => (window.sheet = document.querySelector("svg.schematic").viewBox.baseVal.width)),
      ),
    );
    await wall.pdf(pictures ? { path: join(pictures, "paper.pdf"), format: "A4" } : { format: "A4" });
    assert.equal(await wall.evaluate(() => window.sheet), 820);
    await wall.waitForFunction((was) => document.querySelector("svg.schematic").viewBox.baseVal.width === was, drawn);
    await wall.context().close();
  });

  await check(
    "a token is asked for when the service wants one, a wrong one refused; incidents opened and closed by hand",
    async () => {
      const tokens = folder.write("tokens", tokenLine("let me read") + tokenLine("let me decide", "admin"));
      const guarded = new Service(program, folder, await freePort(), ["--token-file", tokens, `brook=${folder.river}`]);
      guarded.arguments[guarded.arguments.indexOf("--db") + 1] = join(folder.path, "guarded.db");
      services.push(guarded);
      await guarded.start();
      const visitor = await openPage(guarded.address);
      await visitor.getByLabel("Token").fill("guess");
      await visitor.getByRole("button", { name: "Continue" }).click();
      await visitor.getByText("That token was not accepted").waitFor();
      await picture(visitor, "token");
      await visitor.getByLabel("Token").fill("let me read");
      await visitor.keyboard.press("Enter");
      await waitForSentence(visitor, "No spill is known on any of 2 rivers. No readings have come in yet");
      await visitor.getByRole("navigation").getByRole("link").nth(2).click();
      await visitor.waitForURL(/#\/river\/brook$/);

      /* An incident opened and closed by hand: the administrator's token is asked for once. */
      await visitor.getByRole("button", { name: "Open an incident" }).click();
      await visitor.getByLabel("The rise began").fill("2024-03-01T02:00");
      await visitor.getByText("Expert").click();
      await visitor.getByLabel("Method").selectOption("atgd");
      await visitor.getByRole("button", { name: "Open it" }).click();
      await visitor.getByLabel("Administrator's token").fill("let me read");
      await visitor.getByRole("button", { name: "Open it" }).click();
      await visitor.getByText("That token may not do this").waitFor();
      await picture(visitor, "order");
      await visitor.getByLabel("Administrator's token").fill("let me decide");
      await visitor.keyboard.press("Enter");
      await waitForSentence(visitor, "an incident was opened by hand; the source is being worked out");
      const opened = (
        await (
          await fetch(`${guarded.address}/v1/incidents`, { headers: { Authorization: "Bearer let me read" } })
        ).json()
      ).incidents[0];
      assert.equal(opened.method, "atgd");
      assert.equal(opened.onset_s, DAY_S + 2 * 3600);
      await visitor.getByRole("button", { name: "Close incident" }).click();
      await visitor.getByRole("button", { name: "Close it" }).click();
      await waitForSentence(visitor, "Closed by hand");
      assert.equal(await visitor.locator(".answers .card .answer").first().innerText(), "No source was found");
      await visitor.getByRole("link", { name: "To the answer" }).focus();
      await visitor.keyboard.press("Enter");
      await waitForSentence(visitor, "Closed by hand"); /* the skip link does not leave the incident */

      /* A new one takes the place of the past one on the screen, and a second one stands on top of it. */
      const order = async (river) =>
        (
          await fetch(`${guarded.address}/v1/incidents`, {
            method: "POST",
            headers: { Authorization: "Bearer let me decide" },
            body: JSON.stringify({ river, method: "atgd" }),
          })
        ).json();
      const next = await order("brook");
      await visitor.waitForURL(new RegExp(`#/incident/${next.id}$`));
      await waitForSentence(visitor, "the source is being worked out");
      await visitor.waitForFunction(() => document.title.startsWith("(1) Incident, no source yet: Demo River"));
      const another = await order("demo");
      await visitor.locator(".others li.full a", { hasText: "Incident, no source yet on Demo River" }).waitFor();
      await visitor.waitForFunction(() => document.title.startsWith("(2) Incident"));
      await visitor.locator(".others a").click();
      await visitor.waitForURL(new RegExp(`#/incident/${another.id}$`));
      assert.equal(await visitor.evaluate(() => localStorage.length), 0, "nothing outlives the tab");
    },
  );
});
