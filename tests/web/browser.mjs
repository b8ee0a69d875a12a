/* A real browser for the dashboard's tests, pages that are watched, and how such a test begins and ends. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { Folder } from "./serving.mjs";

const SKIPPED = 77;

export const SIZES = [
  [390, 844],
  [1440, 900],
  [2560, 1440],
];
export const COLOURS = ["light", "dark"];

/* Debian's Chromium through playwright-core; null where one of them is missing. */
export async function launch(web) {
  const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
  if (!executablePath || !existsSync(join(web, "node_modules", "playwright-core"))) return null;
  const { chromium } = createRequire(resolve(web, "package.json"))("playwright-core");
  return chromium.launch({
    executablePath,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/* Minus signs and narrow spaces as a keyboard has them. */
export const plain = (text) => text.replaceAll("\u2212", "-").replace(/[\u202f\u00a0]/g, " ");

export const waitForSentence = (page, pattern) => page.locator(".sentence h1").filter({ hasText: pattern }).waitFor();

/* What one test has: node TEST.mjs PROGRAM WEB [PICTURES]. Services that it starts and pushes on `services` are stopped
 * with it. */
class Session {
  constructor(browser, [program, web, pictures]) {
    Object.assign(this, { browser, program, web, pictures });
    this.folder = new Folder();
    this.faults = []; /* what the browser complained about */
    this.services = [];
    this.failed = false;
  }

  /* A page whose complaints are collected: errors, and whatever it asks of another host. Of the options those of the
   * browser's context go to it; `faults`: a list of one's own; `quietly`: errors on the console that belong to the
   * test; `stay`: the page is sent somewhere later, by whoever opened it. */
  async openPage(address, { faults = this.faults, quietly = null, stay = false, ...options } = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(60000);
    page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error" && !quietly?.test(message.text())) faults.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (!["blob:", "data:"].includes(url.protocol) && url.origin !== address)
        faults.push(`asked another host: ${url}`);
    });
    if (!stay) await page.goto(address);
    return page;
  }

  async picture(page, name) {
    const path = this.pictures && join(this.pictures, `${name.replaceAll(" ", "-")}.png`);
    if (path) await page.screenshot({ path, fullPage: true });
  }

  /* One claim, and how long it took to see that it holds. */
  async check(name, look) {
    const started = Date.now();
    await look();
    console.log(`ok  ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  }

  /* The same, but one that fails does not keep the others from being looked at. */
  async tell(name, look) {
    try {
      await this.check(name, look);
    } catch (error) {
      this.failed = true;
      console.error(`no  ${name}`, error);
    }
  }

  /* The whole test; the process ends with it. */
  async run(story) {
    try {
      await story();
      assert.deepEqual(this.faults, [], "the browser has nothing to complain about");
    } catch (error) {
      this.failed = true;
      console.error(error, this.faults);
      for (const [i, context] of this.browser.contexts().entries())
        await this.picture(context.pages()[0], `failed-${i}`);
      for (const service of this.services) console.error(service.errors?.split("\n").slice(-6).join("\n"));
    }
    await this.browser.close();
    for (const service of this.services) await service.stop();
    this.folder.remove();
    process.exit(this.failed ? 1 : 0);
  }
}

/* Exit 77: no browser here. */
export async function begin() {
  const words = process.argv.slice(2);
  const browser = await launch(words[1]);
  if (!browser) {
    console.log("skipped: no Chromium, or its driver is not fetched (packages.txt, web/fetch)");
    process.exit(SKIPPED);
  }
  return new Session(browser, words);
}
