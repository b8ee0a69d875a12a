/* An alarm's whole life in a real browser: node alarm.mjs PROGRAM WEB [PICTURES]
 *
 * The first readings of a spill raise an alarm at a brewery and suspect a dye works; somebody acknowledges it on a
 * phone; the whole pulse takes both back. Banner, title, cards, alarms, log and webhook must say each step, on a phone,
 * a desk and a wall, in light and dark, and on paper. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { COLOURS, SIZES, begin, plain, waitForSentence } from "./browser.mjs";
import { cutText, faintText, overlaps } from "./looking.mjs";
import { Service, freePort, spill } from "./serving.mjs";

const session = await begin();
const { folder, program } = session;

/* In doubt while the first readings rise: the pulse may have begun at the dye works, and grow beyond what the brewery
 * can live with. The town's level is passed in any case. */
function doubted() {
  const river = readFileSync(folder.river, "utf8")
    .replace("intakes:", "  - {id: dye, name: Dye works, location_m: -9000}\nintakes:")
    .replace("centerline:", "  - {id: brewery, name: Brewery, location_m: 15000, alarm_g_m3: 0.3}\ncenterline:");
  folder.write("river.yaml", river);
}

/* What a webhook is told. */
async function receiver() {
  const told = [];
  const server = createServer((request, answer) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      told.push(JSON.parse(body));
      answer.writeHead(204).end();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { told, server, url: `http://127.0.0.1:${server.address().port}/` };
}

/* Readings up to a time that were not among those up to an earlier one. */
const between = (from_s, to_s) => {
  const [head, ...rows] = spill(to_s).trim().split("\n");
  return [head, ...rows.slice(from_s === null ? 0 : spill(from_s).trim().split("\n").length - 1)].join("\n") + "\n";
};

const row = (page, name) => page.locator(".alarms li", { hasText: name });
const card = (page, words) => page.locator(".answers .card", { hasText: words });
const text = async (locator) => plain(await locator.innerText()).replace(/\s+/g, " ");

async function sound(page, where) {
  for (const look of [cutText, overlaps, faintText])
    assert.deepEqual(await page.evaluate(look), [], `${where}: ${look.name}`);
}

async function story() {
  doubted();
  const hook = await receiver();
  const thresholds = ["--intake-probability", "0.4", "--candidate-probability", "0.2"];
  const service = new Service(program, folder, await freePort(), ["--webhook", hook.url, ...thresholds]);
  session.services.push(service);
  await service.start();
  const screens = [];
  for (const [width, height] of SIZES)
    for (const colorScheme of COLOURS)
      screens.push({
        name: `${width}-${colorScheme}`,
        page: await session.openPage(service.address, { viewport: { width, height }, colorScheme }),
      });
  const everywhere = async (what, look) => {
    for (const { name, page } of screens) {
      await look(page);
      await sound(page, `${what} ${name}`);
      await session.picture(page, `${what} ${name}`);
    }
  };

  await session.check("raised: the banner is red, the title says so, and nobody has acknowledged it", async () => {
    await service.post(between(null, 11700));
    await row(screens[0].page, "Dye works").locator(".badge", { hasText: "raised" }).waitFor();
    await service.post(between(11700, 12600));
    await everywhere("raised", async (page) => {
      await row(page, "Brewery: close from").locator(".badge.alarm", { hasText: "raised" }).waitFor();
      await page.locator(".sentence.alarm").waitFor();
      await page.waitForFunction(
        () =>
          document.title ===
          "(1) Alarm level expected: " + document.querySelector(".sentence h1").innerText.split(": ")[0],
      );
      assert.match(await text(row(page, "Brewery")), /; provisional\. since .* not acknowledged$/);
      assert.match(
        await text(card(page, "Which intake").locator("li", { hasText: "Brewery" })),
        /close from .* until /,
      );
    });
  });

  await session.check("acknowledged on a phone: every screen says by whom", async () => {
    const { page } = screens[0];
    await page.getByRole("button", { name: "Acknowledge" }).click();
    await page.getByLabel("Who", { exact: true }).fill("A. Meier");
    await page.getByLabel("Note").fill("valve shut");
    await page.getByRole("button", { name: "Acknowledge it" }).click();
    await everywhere("acknowledged", async (other) => {
      await row(other, "Brewery").locator(".heard", { hasText: "acknowledged by A. Meier" }).waitFor();
      await other.locator(".events li", { hasText: "acknowledged by A. Meier: valve shut" }).waitFor();
    });
  });

  await session.check("withdrawn: banner, card, alarms and log say so, and who had acted on it", async () => {
    await service.post(between(12600, 16200));
    await everywhere("withdrawn", async (page) => {
      await row(page, "Brewery: the alarm is withdrawn").locator(".badge", { hasText: "withdrawn" }).waitFor();
      const told = await text(row(page, "Brewery"));
      assert.match(
        told,
        /^withdrawn Brewery: the alarm is withdrawn, probability now .*%.*\. since .*, withdrawn .* UTC/,
      );
      assert.match(told, /acknowledged by A\. Meier, .* UTC: valve shut$/);
      const banner = page.locator(".notices", { hasText: "Brewery: the alarm is withdrawn, probability now" });
      assert.match(await text(banner), /UTC; acknowledged by A\. Meier: valve shut\)/);
      await page.locator(".notices", { hasText: "Dye works is no longer suspected: probability" }).first().waitFor();
      assert.match(await text(row(page, "Dye works")), /^withdrawn /);
      await page.locator(".events li", { hasText: "Brewery: the alarm is withdrawn, probability now" }).waitFor();
      await page.locator(".events li", { hasText: "Dye works is no longer suspected" }).waitFor();
      /* The town's alarm stands, so the banner stays red; the brewery need not close. */
      await page.locator(".sentence.alarm").waitFor();
      await waitForSentence(page, /It .*Town intake/);
      assert.ok(!/close from/.test(await text(card(page, "Which intake").locator("li", { hasText: "Brewery" }))));
    });
  });

  await session.check("on paper too", async () => {
    for (const { name, page } of screens) {
      await page.emulateMedia({ media: "print" });
      await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
      for (const words of [
        row(page, "Brewery: the alarm is withdrawn"),
        page.locator(".notices", { hasText: "Brewery" }),
      ])
        assert.ok(await words.first().isVisible(), name);
      await session.picture(page, `paper ${name}`);
      await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
      await page.emulateMedia({ media: null });
    }
  });

  await session.check(
    "closed: what stood has ended, what was withdrawn stays so; the webhook was told every step",
    async () => {
      const { incidents } = await service.get("/v1/incidents");
      await fetch(`${service.address}/v1/incidents/${incidents[0].id}/close`, { method: "POST", body: "{}" });
      await everywhere("closed", async (page) => {
        await row(page, "Town intake").locator(".badge", { hasText: "closed" }).waitFor();
        assert.equal(await row(page, "Brewery").locator(".badge").innerText(), "withdrawn");
      });
      for (let waited = 0; waited < 100 && hook.told.at(-1)?.kind !== "incident_closed"; waited++)
        await screens[0].page.waitForTimeout(100);
      const life = hook.told.filter((e) => e.subject === "brewery" || e.kind.startsWith("incident_"));
      assert.deepEqual(
        life.map((e) => e.kind).filter((k) => !k.endsWith("_changed")),
        ["incident_opened", "intake_alarm", "incident_acknowledged", "intake_alarm_withdrawn", "incident_closed"],
      );
      const withdrawn = life.find((e) => e.kind === "intake_alarm_withdrawn").body;
      assert.match(withdrawn.sentence, /^Brewery: the alarm is withdrawn, probability now .*%/);
      assert.equal(withdrawn.sentence.includes("provisional"), withdrawn.provisional);
    },
  );
  hook.server.close();
}

await session.run(story);
