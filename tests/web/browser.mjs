// SPDX-License-Identifier: Apache-2.0
// What the tests of the pages share: one browser, facts that hold or not, pages opened at a size and in a theme with all
// that they say on the console, and what axe-core finds in them.
import axe from "axe-core";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";

export const sizes = { wide: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };
const shots = resolve(process.env.SHOTS ?? "shots");
mkdirSync(shots, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
let passed = 0;
let failed = 0;

export async function fact(name, check) {
  try {
    await check();
    passed++;
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}: ${error.message}`);
  }
}

export function must(condition, text) {
  if (!condition) throw new Error(text);
}

/** Every job of the list, two at a time: a page draws in a process of its own. */
export async function each(jobs, work) {
  const left = [...jobs];
  const one = async () => {
    for (let job = left.shift(); job; job = left.shift()) await work(job);
  };
  await Promise.all([one(), one()]);
}

/** A page, and whatever it says; one `alone` that asks a network for anything says so too. */
export async function open(url, { size = "wide", scheme = "light", language = "en-US", alone = false } = {}) {
  const context = await browser.newContext({ viewport: sizes[size], colorScheme: scheme, locale: language });
  const page = await context.newPage();
  const said = [];
  page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => said.push(error.message));
  page.on("request", (request) => {
    if (alone && !/^(file|data|blob):/.test(request.url())) said.push(`asked for ${request.url()}`);
  });
  await page.goto(url);
  return { page, said };
}

/** Until what was asked to be drawn is drawn: sizes are told in one frame, charts follow in the next. */
export function drawn(page) {
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))));
}

/** Until the first element of a selector reads as wanted. */
export async function until(page, selector, wanted) {
  const end = Date.now() + 10000;
  for (let text = null; ; ) {
    text = await page.locator(selector).first().innerText();
    if (wanted(text)) return text;
    must(Date.now() < end, `it stays ${text}`);
    await page.waitForTimeout(20);
  }
}

export function picture(page, name, fullPage = true) {
  return page.screenshot({ path: join(shots, `${name}.png`), fullPage });
}

export async function fits(page, size) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  must(wide <= sizes[size].width, `it is ${wide} px wide`);
}

/** axe-core's serious and critical findings are failures. */
export async function accessible(page) {
  await page.evaluate(axe.source);
  const faults = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ["violations"] })).violations
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map((one) => `${one.id}: ${one.nodes[0]?.html.slice(0, 160)} ${one.nodes[0]?.failureSummary ?? ""}`));
  must(faults.length === 0, faults.join("; "));
}

/** Closes the browser and says the sums; the exit status. */
export async function finish() {
  await browser.close();
  console.log(`screenshots: ${shots}`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}
