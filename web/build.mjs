// SPDX-License-Identifier: Apache-2.0
// One file of the sources: Vite bundles scripts and styles, and they are put into template.html. A hash of the sources
// goes into it, by which tools/check-web tells whether dist/ is as old as what it was made from.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const here = dirname(fileURLToPath(import.meta.url));
const sources = ["build.mjs", "package.json", "template.html", "tsconfig.json", ...readdirSync(join(here, "src")).map((name) => `src/${name}`)].sort();
const hash = createHash("sha256");
for (const name of sources) hash.update(name).update("\0").update(readFileSync(join(here, name))).update("\0");

const made = await build({
  root: here,
  configFile: false,
  logLevel: "warn",
  build: {
    write: false,
    target: "es2020",
    cssMinify: true,
    minify: "esbuild",
    lib: { entry: join(here, "src/main.ts"), formats: ["iife"], name: "orrery", fileName: "report" },
  },
});
const files = (Array.isArray(made) ? made : [made]).flatMap((one) => one.output);
const script = files.find((file) => file.type === "chunk").code.trim();
const style = files.filter((file) => file.fileName.endsWith(".css")).map((file) => String(file.source)).join("").trim();
if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) throw new Error("a bundle would end its own element");
const parts = { SOURCES: hash.digest("hex"), STYLE: style, SCRIPT: script };
const page = readFileSync(join(here, "template.html"), "utf8").replace(/@([A-Z]+)@/g, (whole, name) => parts[name] ?? whole);
mkdirSync(join(here, "dist"), { recursive: true });
writeFileSync(join(here, "dist/report.html"), page);
console.log(`web/dist/report.html: ${(page.length / 1024).toFixed(0)} KiB`);
