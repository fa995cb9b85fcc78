// SPDX-License-Identifier: Apache-2.0
// The page of orrery serve in a browser: `live.mjs ORRERY [STORE|FOLDER]`. Every tab loads without a word on the console,
// wide and on a phone, and axe-core finds no serious fault; a key on a slider gives another result; a link is a
// configuration; a plan is searched, looked at. Times are printed, not judged.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const web = join(fileURLToPath(import.meta.url), "../../../web/");
const require = createRequire(web);
const { chromium } = require("playwright-core");
const axe = require.resolve("axe-core/axe.min.js");
const shots = resolve(process.env.SHOTS ?? "shots");
mkdirSync(shots, { recursive: true });
const server = spawn(resolve(process.argv[2]), ["serve", ...process.argv.slice(3)], { stdio: ["ignore", "pipe", "inherit"] });
const url = await new Promise((done, fail) => {
  server.stdout.once("data", (data) => done(/http:\S+/.exec(String(data))[0]));
  server.once("exit", () => fail(new Error("the server ended")));
});
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

async function open(hash, { size = "wide", scheme = "light", language = "en-US" } = {}) {
  const context = await browser.newContext({ viewport: sizes[size], colorScheme: scheme, locale: language });
  const page = await context.newPage();
  const said = [];
  page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => said.push(error.message));
  await page.goto(url + hash);
  await page.waitForSelector("[role=tabpanel], .live, .live-side section", { timeout: 30000 });
  return { page, said };
}

const answered = (page) => page.waitForSelector(".answered", { timeout: 30000 });
const headline = (page) => page.locator(".live-head .first b").innerText();
const tabs = process.argv.length > 3 ? ["step", "collective", "plan", "runs"] : ["step", "collective", "plan"];

for (const tab of tabs) {
  for (const [size, scheme, language] of [["wide", "light", "en-US"], ["phone", "dark", "zh-TW"]]) {
    await fact(`${tab} ${size} loads without a word`, async () => {
      const { page, said } = await open(`#tab=${tab}`, { size, scheme, language });
      if (tab === "step" || tab === "collective") await answered(page);
      await page.waitForTimeout(800);
      await page.screenshot({ path: join(shots, `live-${tab}-${size}.png`), fullPage: true });
      must(said.length === 0, said.join("; "));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      must(wide <= sizes[size].width, `it is ${wide} px wide`);
      must((await page.locator("html").getAttribute("lang")) === (language === "zh-TW" ? "zh-TW" : "en"), "it speaks another language");
      await page.context().close();
    });
    await fact(`${tab} ${size} has no serious fault of access`, async () => {
      const { page } = await open(`#tab=${tab}`, { size, scheme, language });
      await page.waitForTimeout(1200);
      const source = require("node:fs").readFileSync(axe, "utf8");
      await page.evaluate(source);
      const found = await page.evaluate(async () => (await window.axe.run()).violations.filter((one) => ["serious", "critical"].includes(one.impact)));
      must(found.length === 0, found.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 120)} ${one.nodes[0].failureSummary ?? ""}`).join("; "));
      await page.context().close();
    });
  }
}

await fact("a key on a slider gives another result, and the link is the configuration", async () => {
  const { page, said } = await open("#servers=128&batch=2048");
  await answered(page);
  must(!page.url().includes("token"), "the token stays in the address");
  const before = await headline(page);
  const times = [];
  for (let i = 0; i < 5; i++) {
    await page.locator("input[data-name=servers]").press("ArrowRight");
    await page.waitForTimeout(400);
    times.push(await page.locator(".answered").innerText());
  }
  const after = await headline(page);
  must(before !== after, `${before} stays`);
  must(page.url().includes("servers=2048"), page.url());
  console.log(`16,384 GPUs, each drag as the page sees it: ${times.join(", ")}`);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await answered(other);
  must((await headline(other)) === after, "the link gives another result");
  must(said.length === 0, said.join("; "));
  await page.context().close();
});

await fact("1,024 ranks are simulated again while one drags", async () => {
  const { page, said } = await open("#tab=collective");
  await answered(page);
  const seen = new Set();
  const times = [];
  for (let i = 0; i < 4; i++) {
    await page.locator("input[data-name=bw]").press("ArrowRight");
    await page.waitForTimeout(400);
    seen.add(await headline(page));
    times.push(await page.locator(".answered").innerText());
  }
  must(seen.size === 4, [...seen].join(", "));
  console.log(`1,024 ranks, each drag as the page sees it: ${times.join(", ")}`);
  must(said.length === 0, said.join("; "));
  await page.context().close();
});

await fact("what cannot be is said in words", async () => {
  const { page } = await open("#servers=1&tp=64");
  await page.waitForSelector(".alert:not([hidden])");
  must((await page.locator(".alert").innerText()).length > 10, "nothing is said");
  await page.context().close();
});

await fact("a plan is searched and its best looked at", async () => {
  const { page, said } = await open("#tab=plan&model=llama3-8b&servers=1&batch=64");
  await page.locator("button.primary").click();
  await page.waitForSelector(".live-head:not([hidden])", { timeout: 60000 });
  const best = await headline(page);
  await page.locator(".live-side p > button").click();
  await answered(page);
  await page.waitForTimeout(300);
  must((await headline(page)) === best, `${await headline(page)}, not ${best}`);
  must(said.length === 0, said.join("; "));
  await page.context().close();
});

await browser.close();
server.kill("SIGINT");
const code = await new Promise((done) => server.once("exit", done));
await fact("it ends when asked to", () => must(code === 0, `exit code ${code}`));
console.log(`screenshots: ${shots}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
