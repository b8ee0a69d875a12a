/* Bundles the dashboard into a folder: node build.mjs FOLDER [EMBED.py OUT.c]
 * With the rest, also into a C file for the program. Nothing is fetched at run time. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const [folder = join(here, "dist"), embed, target] = process.argv.slice(2);
const out = resolve(folder);
rmSync(join(out, "assets"), { recursive: true, force: true }); /* names of parts change with what is in them */
mkdirSync(join(out, "assets"), { recursive: true });
const { metafile } = await build({
  absWorkingDir: here,
  entryPoints: { main: "src/main.tsx" },
  outdir: join(out, "assets"),
  bundle: true,
  minify: true,
  format: "esm",
  splitting: true,
  metafile: true,
  chunkNames: "[name]-[hash]",
  target: ["chrome110", "firefox115", "safari16"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "eof",
  logLevel: "warning",
});
/* What the main file needs at once is asked for beside it, not after it. */
const [, main] = Object.entries(metafile.outputs).find(([path]) => path.endsWith("/main.js"));
const needed = main.imports.filter((i) => i.kind === "import-statement").map((i) => `/assets/${basename(i.path)}`);
const preload = needed.map((path) => `<link rel="modulepreload" href="${path}">\n    `).join("");
const page = readFileSync(join(here, "src", "index.html"), "utf8");
writeFileSync(join(out, "index.html"), page.replace('<link rel="stylesheet"', `${preload}<link rel="stylesheet"`));
copyFileSync(join(here, "src", "icon.svg"), join(out, "assets", "icon.svg"));
/* Their licences ask to travel with them. */
const licences = ["preact", "uplot"].map(
  (name) => `${name}\n\n${readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8")}`,
);
writeFileSync(join(out, "assets", "licences.txt"), licences.join("\n\n"));
if (embed && target) {
  process.exitCode = spawnSync("python3", [embed, out, target], { stdio: "inherit" }).status ?? 1;
}
