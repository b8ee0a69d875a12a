/* The pictures of the dashboard in the documents: node pictures.mjs PROGRAM WEB FOLDER
 *
 * Plays the bundled spill in and takes dashboard.jpg, phone.jpg and network.jpg as they stand after it. `make pictures`
 * runs it. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "../tests/web/browser.mjs";
import { freePort } from "../tests/web/serving.mjs";

const [program, web, out] = process.argv.slice(2);
const browser = await launch(web);
if (!browser) {
  console.error("pictures: no Chromium, or its driver is not fetched (packages.txt, web/fetch)");
  process.exit(3);
}
const folder = mkdtempSync(join(tmpdir(), "headwater-pictures-"));
const NETWORK = `name: Elm and its brooks
hydraulics: {velocity_m_s: 0.7, dispersion_m2_s: 40, decay_per_s: 0}
branches:
  - {id: stem, name: River Elm, head_m: -40000, reaches: [{to_m: 10000, discharge_m3_s: 8}]}
  - {id: ash, name: Ash Brook, head_m: -15000, joins: {branch: stem, at_m: -20000},
     reaches: [{to_m: 0, discharge_m3_s: 2}]}
  - {id: oak, name: Oak Brook, head_m: -12000, joins: {branch: stem, at_m: -9000},
     reaches: [{to_m: 0, discharge_m3_s: 1}]}
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

/* A service that plays these readings in; stopped by the caller. */
async function serve(river, readings) {
  const port = await freePort();
  const options = ["--listen", `127.0.0.1:${port}`, "--db", join(folder, `${port}.db`), "--speed", "100000"];
  const service = spawn(program, ["serve", `it=${river}`, "--replay", `it=${readings}`, ...options], { stdio: "pipe" });
  await new Promise((resolve) => service.stdout.once("data", resolve));
  return { service, address: `http://127.0.0.1:${port}` };
}

/* What is on the screen, or a part of the page. When the plume is drawn all has been answered. */
async function take(address, name, viewport, part) {
  const context = await browser.newContext({ viewport, timezoneId: "Europe/Berlin" });
  const page = await context.newPage();
  page.setDefaultTimeout(120000);
  await page.goto(address);
  await page.locator(".plume .crest, .plume-line").first().waitFor({ state: "attached" });
  await page.locator(".sensor-card canvas").first().waitFor();
  await page.waitForTimeout(9000); /* one more round of forecasts, with every reading */
  const what = part ? page.locator(part) : page;
  await what.screenshot({ path: join(out, name), type: "jpeg", quality: 45 });
  await context.close();
}

const truckee = await serve("examples/truckee/river.yaml", "examples/truckee/readings.csv");
await take(truckee.address, "dashboard.jpg", { width: 1280, height: 1440 });
await take(truckee.address, "phone.jpg", { width: 390, height: 844 });
truckee.service.kill();

const river = join(folder, "elm.yaml");
const readings = join(folder, "readings.csv");
writeFileSync(river, NETWORK);
const made = [
  "simulate",
  river,
  "--source",
  "20000,ash:-9000,3600",
  "--every",
  "600",
  "--from",
  "4000",
  "--to",
  "17200",
];
writeFileSync(readings, spawnSync(program, made, { encoding: "utf8" }).stdout);
const elm = await serve(river, readings);
await take(elm.address, "network.jpg", { width: 1280, height: 1000 }, "#river");
elm.service.kill();

await browser.close();
rmSync(folder, { recursive: true, force: true });
