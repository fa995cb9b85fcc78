// SPDX-License-Identifier: Apache-2.0
// The pages of the sources, bundled by Vite: that of orrery report as one file, that of orrery serve as three. A hash of
// the sources goes into both, by which tools/check-web tells whether dist/ is as old as what it was made from.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const here = dirname(fileURLToPath(import.meta.url));
function under(folder) {
  return readdirSync(join(here, folder), { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? under(`${folder}/${one.name}`) : [`${folder}/${one.name}`]));
}

const sources = ["build.mjs", "live.html", "package.json", "template.html", "tsconfig.json", ...under("src")].sort();
const hash = createHash("sha256");
for (const name of sources) hash.update(name).update("\0").update(readFileSync(join(here, name))).update("\0");
const SOURCES = hash.digest("hex");

async function bundle(entry) {
  const made = await build({
    root: here,
    configFile: false,
    logLevel: "warn",
    build: {
      write: false,
      target: "es2020",
      cssMinify: true,
      minify: "esbuild",
      lib: { entry: join(here, entry), formats: ["iife"], name: "orrery", fileName: "page" },
    },
  });
  const files = (Array.isArray(made) ? made : [made]).flatMap((one) => one.output);
  const script = files.find((file) => file.type === "chunk").code.trim();
  const style = files.filter((file) => file.fileName.endsWith(".css")).map((file) => String(file.source)).join("").trim();
  return { SOURCES, STYLE: style, SCRIPT: script };
}

function write(name, text) {
  mkdirSync(join(here, "dist"), { recursive: true });
  writeFileSync(join(here, "dist", name), text);
  console.log(`web/dist/${name}: ${(text.length / 1024).toFixed(0)} KiB`);
}

function filled(template, parts) {
  return readFileSync(join(here, template), "utf8").replace(/@([A-Z]+)@/g, (whole, name) => parts[name] ?? whole);
}

// One file, with everything in it.
const report = await bundle("src/main.ts");
if (/<\/script|<!--/i.test(report.SCRIPT) || /<\/style/i.test(report.STYLE)) throw new Error("a bundle would end its own element");
write("report.html", filled("template.html", report));

// The page of orrery serve, whose parts are asked for one by one: nothing stands inside a page that must not run scripts.
const live = await bundle("src/live/main.ts");
write("live.html", filled("live.html", live));
write("live.js", `${live.SCRIPT}\n`);
write("live.css", `${live.STYLE}\n`);
