/* Bundles the dashboard into a folder: node build.mjs FOLDER [EMBED.py OUT.c]
 * With the rest, also into a C file for the program. Nothing is fetched at run time. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const [folder = join(here, "dist"), embed, target] = process.argv.slice(2);
const out = resolve(folder);
mkdirSync(join(out, "assets"), { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: { main: "src/main.tsx" },
  outdir: join(out, "assets"),
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome110", "firefox115", "safari16"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "eof",
  logLevel: "warning",
});
copyFileSync(join(here, "src", "index.html"), join(out, "index.html"));
copyFileSync(join(here, "src", "icon.svg"), join(out, "assets", "icon.svg"));
/* Their licences ask to travel with them. */
const licences = ["preact", "uplot"].map((name) => `${name}\n\n${readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8")}`);
writeFileSync(join(out, "assets", "licences.txt"), licences.join("\n\n"));
if (embed && target) {
  process.exitCode = spawnSync("python3", [embed, out, target], { stdio: "inherit" }).status ?? 1;
}
