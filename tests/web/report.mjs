// SPDX-License-Identifier: Apache-2.0
// Pages in a browser: `report.mjs FOLDER`, the pages that tools/test-web made. Every one loads without a word on the
// console and without asking the network for anything; axe-core finds no serious fault in either theme; wide and on a
// phone nothing is wider than the screen; parts open, languages change, the timeline can be moved by keys. Times are
// printed, not judged.
import { mkdirSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const web = join(fileURLToPath(import.meta.url), "../../../web/");
const require = createRequire(web);
const { chromium } = require("playwright-core");
const axe = require.resolve("axe-core/axe.min.js");
const folder = resolve(process.argv[2]);
const shots = resolve(process.env.SHOTS ?? join(folder, "shots"));
mkdirSync(shots, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
let passed = 0;
let failed = 0;

async function fact(name, check) {
  try {
    await check();
    passed++;
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}: ${error.message}`);
  }
}

function must(condition, text) {
  if (!condition) throw new Error(text);
}

const sizes = { wide: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

async function open(name, { size = "wide", scheme = "light" } = {}) {
  const page = await browser.newPage({ viewport: sizes[size], colorScheme: scheme });
  const said = [];
  page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => said.push(error.message));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) said.push(`asked for ${request.url()}`);
  });
  await page.goto(`file://${join(folder, name)}.html`);
  await page.waitForTimeout(250);
  return { page, said };
}

const names = readdirSync(folder).filter((name) => name.endsWith(".html")).map((name) => name.slice(0, -5)).sort();
for (const name of names) {
  for (const [size, scheme] of [["wide", "light"], ["phone", "dark"]]) {
    await fact(`${name} ${size} loads without a word`, async () => {
      const { page, said } = await open(name, { size, scheme });
      must(said.length === 0, said.join("; "));
      must((await page.locator("main h2, main h3").count()) > 0, "it shows nothing");
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      must(wide <= sizes[size].width, `it is ${wide} px wide`);
      for (const term of await page.locator(".term").all()) {
        await term.click();
        must((await term.getAttribute("aria-expanded")) === "true", "a part does not open");
      }
      await page.screenshot({ path: join(shots, `${name}-${size}.png`), fullPage: name !== "million" });
      if (name !== "million") {
        await page.addScriptTag({ path: axe });
        const faults = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ["violations"] })).violations
          .filter((one) => one.impact === "serious" || one.impact === "critical").map((one) => `${one.id}: ${one.nodes[0]?.html.slice(0, 160)}`));
        must(faults.length === 0, faults.join("; "));
      }
      must(said.length === 0, said.join("; "));
      await page.close();
    });
  }
}

await fact("parts add up to the whole", async () => {
  const { page } = await open("run");
  const shares = await page.locator(".term-share").allTextContents();
  const sum = shares.reduce((total, text) => total + parseFloat(text), 0);
  must(Math.abs(sum - 100) < 0.5, `they are ${sum} %`);
  await page.close();
});

await fact("names of documents are never markup", async () => {
  const { page } = await open("compare");
  must((await page.locator("main b", { hasText: "not markup" }).count()) === 0, "an element came out of a text");
  must((await page.getByText("</script><b>not markup</b>").count()) > 0, "the text is not shown");
  await page.close();
});

await fact("the language changes in place", async () => {
  const { page } = await open("run");
  await page.getByRole("button", { name: "Show this page in Chinese" }).click();
  must((await page.evaluate(() => document.documentElement.lang)) === "zh-TW", "lang");
  must((await page.getByText("時間花在哪裡").count()) > 0, "the heading stays English");
  await page.close();
});

await fact("the timeline answers to keys, search and clicks", async () => {
  const { page, said } = await open("run");
  const canvas = page.locator("canvas[role=application]");
  await canvas.focus();
  for (const key of ["+", "+", "ArrowRight", "ArrowLeft", "-", "Home"]) await page.keyboard.press(key);
  await page.getByRole("searchbox").fill("gather");
  must((await page.getByText("8 match").count()) === 1, "8 all-gathers");
  await page.keyboard.press("Enter");
  must((await page.locator(".tl-detail").innerText()).includes("all-gather"), "the match is told");
  must(said.length === 0, said.join("; "));
  await page.close();
});

await fact("a million events are drawn", async () => {
  const { page, said } = await open("million");
  const first = await page.locator("canvas[role=application]").evaluate((canvas) => Number(canvas.dataset.firstFrameMs));
  const frames = await page.evaluate(async () => {
    const canvas = document.querySelector("canvas[role=application]");
    canvas.focus();
    const draws = [];
    const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    for (let i = 0; i < 4; i++) press("+");
    const started = performance.now();
    for (let i = 0; i < 60; i++) {
      press(i < 30 ? "ArrowRight" : "ArrowLeft");
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      draws.push(Number(canvas.dataset.drawMs));
    }
    draws.sort((a, b) => a - b);
    return { median: draws[30], worst: draws[59], rate: (60000 * 2) / (performance.now() - started) };
  });
  console.log(`a million events: first frame ${first.toFixed(0)} ms after the page was asked for; while moving, a frame takes ${frames.median.toFixed(1)} ms (worst ${frames.worst.toFixed(1)}), ${frames.rate.toFixed(0)} frames/s`);
  must(said.length === 0, said.join("; "));
  must(first > 0 && frames.median > 0, "nothing was drawn");
  await page.close();
});

await browser.close();
console.log(`screenshots: ${shots}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
