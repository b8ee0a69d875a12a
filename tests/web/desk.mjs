/* A duty officer's desk in a real browser: node desk.mjs PROGRAM WEB [PICTURES]
 *
 * Many rivers at a glance, a network as a tree, a spill that takes over whatever is open, alarms that are acknowledged,
 * a slow line and a busy river. Exit 77: no browser here. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { join } from "node:path";
import { cutText, faintText, overlaps } from "./looking.mjs";
import { COLOURS, SIZES, begin, waitForSentence } from "./browser.mjs";
import { followLine, isQuiet, processorOf, untilStill } from "./measuring.mjs";
import { Service, freePort } from "./serving.mjs";

const session = await begin();
const { program, browser, folder } = session;
const openPage = (address, options) => session.openPage(address, options);
const picture = (page, name) => session.picture(page, name);
const check = (name, look) => session.check(name, look);

const RIVERS = 200;
const SLOW = { bytes_s: 50000, latency_s: 0.05 }; /* 400 kbit/s */
const NETWORK = `name: Elm and its brooks
hydraulics: {velocity_m_s: 0.7, dispersion_m2_s: 40, decay_per_s: 0}
branches:
  - {id: stem, name: River Elm, head_m: -40000, reaches: [{to_m: 10000, discharge_m3_s: 8}], centerline: elm.geojson}
  - {id: ash, name: Ash Brook, head_m: -15000, joins: {branch: stem, at_m: -20000},
     reaches: [{to_m: 0, discharge_m3_s: 2}], centerline: ash.geojson}
  - {id: oak, name: Oak Brook, head_m: -12000, joins: {branch: stem, at_m: -9000},
     reaches: [{to_m: 0, discharge_m3_s: 1}], centerline: oak.geojson}
search: {mass_g: [10, 100000], time_s: [-20000, 40000]}
sensors:
  - {id: s1, name: Mill Bridge, branch: ash, location_m: -900}
  - {id: s2, name: Elm Weir, branch: stem, location_m: -2000}
  - {id: s3, name: Oak Ford, branch: oak, location_m: -1000}
candidates:
  - {id: dairy, name: Dairy, branch: ash, location_m: -9000}
  - {id: forge, name: Forge, branch: oak, location_m: -7000}
intakes: [{id: town, name: Elmtown intake, branch: stem, location_m: 5000, alarm_g_m3: 0.001}]
`;
const line = (...coordinates) => JSON.stringify({ type: "LineString", coordinates });

/* A small river of its own, with a line somewhere in the country. */
function brook(i) {
  const [lon, lat] = [6 + (i % 20) * 0.3, 48 + Math.floor(i / 20) * 0.25];
  folder.write(`brook${i}.geojson`, line([lon, lat], [lon + 0.08, lat + 0.06], [lon + 0.2, lat + 0.08]));
  return `name: Brook ${i}
hydraulics: {velocity_m_s: 1.2, dispersion_m2_s: 40, area_m2: 60, decay_per_s: 0}
search: {mass_g: [1000, 200000], location_m: [-30000, -1000]}
sensors: [{id: s1, location_m: 0, noise_absolute_g_m3: 2.0e-5}, {id: s2, location_m: 8000, noise_absolute_g_m3: 2.0e-5}]
intakes: [{id: town, name: Town ${i}, location_m: 15000, alarm_g_m3: 0.001}]
centerline: brook${i}.geojson
`;
}

const simulate = (river, source, every, from, to) =>
  spawnSync(program, ["simulate", river, "--source", source, "--every", every, "--from", from, "--to", to], {
    encoding: "utf8",
  }).stdout;

async function post(service, river, csv) {
  const headers = { "Content-Type": "text/csv" };
  const answer = await fetch(`${service.address}/v1/readings?river=${river}`, { method: "POST", headers, body: csv });
  assert.equal(answer.status, 200, await answer.text());
}

async function story() {
  folder.write("elm.geojson", line([7.0, 50.0], [7.1, 50.1], [7.1, 50.2], [7.2, 50.4]));
  folder.write("ash.geojson", line([6.8, 50.2], [6.95, 50.18], [7.1, 50.18]));
  folder.write("oak.geojson", line([7.35, 50.2], [7.25, 50.26], [7.13, 50.26]));
  const elm = folder.write("elm.yaml", NETWORK);
  const rivers = Array.from({ length: RIVERS }, (_, i) => `b${i}=${folder.write(`b${i}.yaml`, brook(i))}`);
  const port = await freePort();
  const service = new Service(program, folder, port, ["--threads", "1"]);
  service.arguments.splice(1, 1, ...rivers, `elm=${elm}`);
  session.services.push(service);
  await service.start();
  const quiet = "time_s,sensor,concentration_g_m3\n0,s1,1e-5\n300,s1,1e-5\n";
  for (let i = 0; i < 20; i++) await post(service, `b${i}`, quiet);
  await post(service, "b5", "time_s,sensor,concentration_g_m3\n9000,s2,1e-5\n"); /* s1 has fallen silent */
  const page = await openPage(service.address);

  await check("two hundred rivers: the worst first, searchable, on a map", async () => {
    await waitForSentence(page, `No spill is known on any of ${RIVERS + 1} rivers`);
    await page.locator(".sentence.warn").waitFor();
    assert.equal(await page.locator(".rivers li").count(), RIVERS + 1);
    assert.equal(await page.locator(".rivers-map a").count(), RIVERS + 1);
    assert.ok((await page.locator(".places a").count()) < 4, "the bar does not list them all");
    await page.getByLabel("Search rivers").fill("brook 17");
    await page.waitForFunction(() => document.querySelectorAll(".rivers li").length === 12); /* 17, 117, 170 to 179 */
    await page.getByLabel("Search rivers").fill("silent");
    await page.waitForFunction(() => document.querySelector(".rivers li b").innerText === "Brook 5");
    await page.getByLabel("Search rivers").fill("");
    await picture(page, "overview");
  });

  await check("two hundred rivers fit a phone, a desk and a wall, in light and dark", async () => {
    for (const [width, height] of SIZES) {
      for (const colorScheme of COLOURS) {
        const other = await openPage(service.address, { viewport: { width, height }, colorScheme });
        await waitForSentence(other, `No spill is known on any of ${RIVERS + 1} rivers`);
        await other.locator(".rivers-map a").first().waitFor();
        assert.ok(await other.locator(".rivers li").first().isVisible());
        assert.ok(await other.getByText(`${RIVERS + 1 - 30} more`).isVisible(), "the list does not fill the page");
        for (const look of [cutText, overlaps, faintText])
          assert.deepEqual(await other.evaluate(look), [], `${width} ${colorScheme}: ${look.name}`);
        await picture(other, `overview-${width}-${colorScheme}`);
        await other.context().close();
      }
    }
  });

  await check("a network is drawn as a tree and as a map, and says which branch", async () => {
    await page.getByLabel("Search rivers").fill("elm");
    await page.locator(".rivers a").click();
    await page.locator("svg.tree .water-line[data-branch=oak]").waitFor();
    await post(service, "elm", simulate(elm, "20000,ash:-9000,3600", "600", "4000", "17200"));
    await waitForSentence(page, /Elm and its brooks: .*Ash Brook km \u22129\.\d/);
    await page.locator("svg.tree .plume-line").first().waitFor({ state: "attached" });
    await page.locator("svg.tree .interval rect").first().waitFor();
    await page.locator("svg.tree text", { hasText: /Ash Brook .*%/ }).waitFor();
    await page.locator(".sensor-card h3", { hasText: "Mill Bridge" }).waitFor();
    await picture(page, "tree");
    await page.getByRole("button", { name: "as a map" }).click();
    assert.equal(await page.locator("svg.map .water-line").count(), 3);
    await picture(page, "network-map");
  });

  const elmIncident = (await service.get("/v1/incidents?state=open")).incidents[0].id;

  await check("an alarm is acknowledged with a name and a note, and everybody is told", async () => {
    await page.locator(".alarms b.heard").first().waitFor();
    await page.getByRole("button", { name: "Acknowledge" }).click();
    await page.getByLabel("Who", { exact: true }).fill("A. Meier");
    await page.getByLabel("Note").fill("gates closed");
    await page.getByRole("button", { name: "Acknowledge it" }).click();
    await page.locator(".alarms .heard", { hasText: "acknowledged by A. Meier" }).first().waitFor();
    await page.locator(".events li", { hasText: "acknowledged by A. Meier: gates closed" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Acknowledge" }).count(), 0);
    await picture(page, "acknowledged");
  });

  await check("a new and a worse spill take over the banner, the title, the icon and the room", async () => {
    const watcher = await openPage(`${service.address}`);
    await watcher.waitForURL(new RegExp(`#?/?`));
    await waitForSentence(watcher, "Elm and its brooks");
    await watcher.getByRole("switch", { name: "Sound" }).click();
    await watcher.getByText("Sound on").waitFor();
    /* Somebody is at work: what is new stands above it in full, and is heard. */
    await post(service, "b7", simulate(join(folder.path, "b7.yaml"), "50000,-12000,3600", "600", "0", "15000"));
    const above = watcher.locator(".others li", { hasText: "Brook 7" });
    await above.waitFor();
    await watcher.waitForFunction(() => /^\(2\) .*: (Brook 7|Elm and its brooks)/.test(document.title));
    await watcher.waitForFunction(() => Number(document.documentElement.dataset.rang) > 0);
    assert.match(await watcher.locator("link[rel=icon]").getAttribute("href"), /^data:image\/svg/);
    await waitForSentence(watcher, "Elm and its brooks");
    await watcher
      .locator(".others li.alarm.full", { hasText: "Brook 7" })
      .waitFor(); /* as bad, so it is said in full */
    await picture(watcher, "another");
    /* Nobody is: it takes the place, on every screen. */
    const idle = [];
    for (const [width, height] of SIZES) {
      for (const colorScheme of COLOURS) {
        const other = await openPage(service.address, { viewport: { width, height }, colorScheme });
        await other.evaluate((id) => (location.hash = `#/incident/${id}`), elmIncident);
        await waitForSentence(other, "Elm and its brooks");
        idle.push({ other, name: `taken-over-${width}-${colorScheme}` });
      }
    }
    await idle[0].other.waitForTimeout(500);
    await post(service, "b8", simulate(join(folder.path, "b8.yaml"), "90000,-12000,3600", "600", "0", "15000"));
    for (const { other, name } of idle) {
      await waitForSentence(other, "Brook 8");
      await other.waitForFunction(() => document.title.startsWith("(3) Alarm level expected"));
      assert.match(await other.locator("link[rel=icon]").getAttribute("href"), /^data:image\/svg/);
      await picture(other, name);
      await other.context().close();
    }
    await watcher.context().close();
  });

  /* From the first byte asked for until the sentence stands; on a busy machine what line and page need for that. */
  async function openSlowly() {
    const context = await browser.newContext();
    const slow = await context.newPage();
    slow.setDefaultTimeout(60000);
    const session = await context.newCDPSession(slow);
    const line = await followLine(session);
    await session.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 1000 * SLOW.latency_s,
      downloadThroughput: SLOW.bytes_s,
      uploadThroughput: SLOW.bytes_s,
    });
    const used = await processorOf(session);
    const quiet = await isQuiet();
    const started = Date.now();
    await slow.goto(`${service.address}/#/incident/${elmIncident}`, { waitUntil: "commit" });
    await waitForSentence(slow, "Ash Brook km");
    const took_s = (Date.now() - started) / 1000;
    const [bytes, trips, page_s] = [line.bytes(), line.trips(), await used()];
    const needed_s = bytes / SLOW.bytes_s + trips * SLOW.latency_s + page_s;
    const trusted = quiet && (await isQuiet());
    console.log(
      `    ${took_s.toFixed(2)} s by the clock${trusted ? "" : " (disturbed)"}; ${needed_s.toFixed(2)} s ` +
        `needed: ${(bytes / 1000).toFixed(0)} kB, ${trips} trips, ${(1000 * page_s).toFixed(0)} ms of processor`,
    );
    await context.close();
    assert.ok(bytes > 20e3 && trips >= 3 && page_s > 0.01, "what was measured is a page");
    return trusted ? took_s : Math.min(took_s, needed_s);
  }

  await check("on a line of 400 kbit/s the sentence stands within 2.5 s", async () => {
    let best_s = await openSlowly(); /* noise only ever adds: of three the best counts */
    for (let i = 0; i < 2 && best_s >= 2.5; i++) best_s = Math.min(best_s, await openSlowly());
    assert.ok(best_s < 2.5, `${best_s} s`);
  });

  const rows = (from, count) =>
    Array.from({ length: count }, (_, i) => `${from + i * 5},s${1 + (i % 2)},${1e-5 + 1e-6 * (i % 3)}`).join("\n");

  /* Four readings a second for six seconds, as they come, whether or not the one before is answered. */
  async function fourASecond(from_s) {
    const started = Date.now();
    const answers = [];
    for (let i = 0; i < 24; i++) {
      answers.push(post(service, "b30", `time_s,sensor,concentration_g_m3\n${rows(from_s + 5 * i, 1)}\n`));
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, started + 250 * (i + 1) - Date.now())));
    }
    await Promise.all(answers);
    return (Date.now() - started) / 1000;
  }

  await check(
    "a hundred thousand readings and four a second: little travels, less than a tenth of a core",
    async () => {
      await post(service, "b30", `time_s,sensor,concentration_g_m3\n${rows(0, 100000)}\n`);
      const busy = await openPage(service.address, { stay: true });
      const session = await busy.context().newCDPSession(busy);
      const line = await followLine(session);
      await busy.goto(`${service.address}/#/river/b30`);
      await busy.locator(".sensor-card canvas").first().waitFor();
      await untilStill(line);
      const start = line.bytes();
      const used = await processorOf(session);
      let [share, rate] = [Infinity, Infinity]; /* other work only ever adds: of three the best counts */
      for (let i = 0; i < 3 && !(share < 0.1 && rate < 20); i++) {
        const [before, had] = [await used(), line.bytes()];
        const seconds = await fourASecond(500000 + 1000 * i);
        share = Math.min(share, ((await used()) - before) / Math.min(seconds, 6.5)); /* a slower stream is no excuse */
        rate = Math.min(rate, (line.bytes() - had) / 1000 / Math.min(seconds, 6.5));
        console.log(
          `    ${(start / 1000).toFixed(0)} kB at the start, ${rate.toFixed(1)} kB/s, ` +
            `${(100 * share).toFixed(1)} % of a core; 24 readings in ${seconds.toFixed(1)} s`,
        );
      }
      assert.ok(share < 0.1, `${(100 * share).toFixed(1)} %`);
      assert.ok(start < 400e3 && rate < 20, `${start} bytes, ${rate} kB/s`);
      assert.ok(rate > 0.1 && share > 0.001, "the readings came to the page, and it drew them");
      await busy.context().close();
    },
  );

  await check("opened by hand: the readings before it are drawn, and it is answered at once", async () => {
    const rows = Array.from({ length: 60 }, (_, i) => `${300 * i},s1,${(1e-5 + 1e-6 * (i % 3)).toPrecision(3)}`);
    await post(service, "b40", `time_s,sensor,concentration_g_m3\n${rows.join("\n")}\n`);
    const body = JSON.stringify({ river: "b40" });
    const opened = await (await fetch(`${service.address}/v1/incidents`, { method: "POST", body })).json();
    const hand = await openPage(`${service.address}`);
    await hand.evaluate((id) => (location.hash = `#/incident/${id}`), opened.id);
    await waitForSentence(hand, "no spill is seen in 60 readings");
    await hand.locator('[data-sensor="s1"] canvas').waitFor();
    await hand.waitForFunction(() => {
      const canvas = document.querySelector('[data-sensor="s1"] canvas');
      const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      let ink = 0; /* of dots: nothing else is as dark */
      for (let i = 0; i < pixels.length; i += 4)
        ink += pixels[i + 3] > 128 && pixels[i] + pixels[i + 1] + pixels[i + 2] < 150;
      return ink > 300;
    });
    await hand.context().close();
  });

  const everyScreen = async (hash, name) => {
    const pages = [];
    for (const [width, height] of SIZES) {
      for (const colorScheme of COLOURS) {
        const page = await openPage(service.address, { viewport: { width, height }, colorScheme, stay: true });
        await page.goto(`${service.address}/${hash}`);
        pages.push({ page, name: `${name}-${width}-${colorScheme}` });
      }
    }
    return pages;
  };

  await check("a source that is taken back takes its plume, its density and its numbers with it", async () => {
    const [head, ...lines] = simulate(join(folder.path, "b50.yaml"), "50000,-12000,3600", "600", "0", "27000")
      .trim()
      .split("\n");
    const at = (l) => Number(l.split(",")[0]);
    await post(service, "b50", `${[head, ...lines.filter((l) => at(l) <= 17400)].join("\n")}\n`);
    const screens = await everyScreen("#/river/b50", "taken-back");
    for (const { page: screen } of screens) {
      await waitForSentence(screen, "Brook 50: about");
      await screen.locator(".plume .crest").waitFor({ state: "attached" });
      await screen.locator("svg.density .cell").first().waitFor({ state: "attached" });
      await screen.locator("#advice .advice li").first().waitFor();
    }
    /* The second sensor shows thirty times what can have passed it. */
    const wrong = lines
      .filter((l) => at(l) > 17400)
      .map((l) => l.replace(/(s2,)(.*)/, (_, s, c) => `${s}${(30 * Number(c)).toPrecision(6)}`));
    await post(service, "b50", `${[head, ...wrong].join("\n")}\n`);
    const { incidents } = await service.get("/v1/incidents?river=b50");
    for (const { page: screen, name } of screens) {
      await waitForSentence(screen, /Brook 50: .*cannot be explained.* The alarm for Town 50 stands/);
      await screen.locator(".sentence.alarm").waitFor();
      await screen.locator("#density .empty", { hasText: "There is no source to draw." }).waitFor();
      assert.equal(await screen.locator(".plume .crest, svg.density .cell, .slider, .advice-marks path").count(), 0);
      await screen.locator("#advice .empty", { hasText: "there is nothing to advise on" }).waitFor();
      assert.equal(await screen.locator(".history figcaption b").count(), 0, "no number of an answer that is gone");
      assert.deepEqual(await screen.locator(".answers .card .answer").allInnerTexts(), Array(4).fill("Not known"));
      await picture(screen, name);
      await screen.context().close();
    }
    const bulletin = await (await fetch(`${service.address}/v1/incidents/${incidents[0].id}/bulletin`)).text();
    assert.match(bulletin, /NO TRUSTWORTHY ANSWER[^]*changed +Town 50: the alarm stands, its times are not known/);
  });

  await check("a form stays with its river when another spills, which is told above it", async () => {
    const screens = await everyScreen("#/river/b60", "form");
    for (const { page: screen } of screens) {
      await screen.locator(".sensor-card").first().waitFor();
      await screen.getByRole("button", { name: "Open an incident" }).click();
    }
    await post(service, "b61", simulate(join(folder.path, "b61.yaml"), "50000,-12000,3600", "600", "0", "15000"));
    for (const { page: screen, name } of screens) {
      await screen.locator(".others li", { hasText: "Brook 61" }).waitFor();
      assert.match(await screen.locator("dialog h2").innerText(), /Open an incident on Brook 60\?/);
      assert.match(screen.url(), /#\/river\/b60$/);
      await picture(screen, name);
      await screen.context().close();
    }
  });

  await check("tiles are asked for only where the service names them, and its policy lets them in", async () => {
    const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
    const asked = [];
    const server = createServer((request, answer) => {
      asked.push(request.url);
      answer.writeHead(200, { "Content-Type": "image/png", "Cross-Origin-Resource-Policy": "cross-origin" });
      answer.end(Buffer.from(dot, "base64"));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${server.address().port}/{z}/{x}/{y}.png`;
    const mapped = new Service(program, folder, await freePort(), ["--tiles", url]);
    mapped.arguments[mapped.arguments.indexOf("--db") + 1] = join(folder.path, "mapped.db");
    session.services.push(mapped);
    await mapped.start();
    const seen = [];
    const viewer = await openPage(mapped.address, { faults: seen });
    await viewer.getByRole("button", { name: "as a map" }).click();
    await viewer.locator("svg.map .tiles image").first().waitFor({ state: "attached" });
    for (let i = 0; i < 50 && !asked.length; i++) await viewer.waitForTimeout(100);
    assert.match(asked[0] ?? "", /^\/\d+\/\d+\/\d+\.png$/);
    assert.deepEqual(
      seen.filter((s) => !s.startsWith("asked another host")),
      [],
    );
    await viewer.context().close();
    server.close();
  });
}

await session.run(story);
