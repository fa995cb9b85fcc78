// SPDX-License-Identifier: Apache-2.0
// Training steps in WebAssembly against the program: `wasm.mjs ORRERY ORRERY.JS`. The same document, every number of it, for
// jobs over models, machines and ways to divide them; what cannot be is said in the same words. Ends with "N passed, N failed".
import { execFileSync, spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

const module = await createRequire(import.meta.url)(resolve(process.argv[3]))();
let passed = 0;
let failed = 0;

function inBrowser(job) {
  const lines = module.allocateUTF8(Object.entries(job).map(([name, value]) => `${name}=${value}`).join("\n"));
  const answer = module._orrery_train(lines);
  const text = module.UTF8ToString(answer);
  module._free(answer);
  module._free(lines);
  return text;
}

function native(job) {
  const ran = spawnSync(resolve(process.argv[2]), ["train", ...Object.entries(job).flatMap(([name, value]) => [`--${name}`, value]), "--json", "-"], { encoding: "utf8" });
  return ran.status === 0 ? ran.stdout : ran.stderr;
}

const jobs = [];
for (const model of ["llama3-8b", "llama3-70b", "deepseek-v3", "gpt3-175b"]) {
  for (const machine of ["dgx-h100:8", "dgx-a100:16", "dgx-h100:16 > rail:200Gbps"]) {
    for (const [tp, pp, batch] of [[1, 1, 128], [8, 1, 256], [4, 4, 512], [8, 8, 1024]]) {
      jobs.push({ model, machine, tp: String(tp), pp: String(pp), "global-batch": String(batch) });
    }
  }
}
for (const framework of ["megatron", "torchtitan"]) jobs.push({ model: "llama3-8b", machine: "dgx-h100:1", framework, "global-batch": "64", recompute: "selective" });
jobs.push({ model: "no-such-model", machine: "dgx-h100:1" }, { model: "llama3-8b", machine: "dgx-h100:1", tp: "3" });

const times = [];
for (const job of jobs) {
  const want = native(job);
  const begun = performance.now();
  const got = inBrowser(job);
  times.push(performance.now() - begun);
  const same = got.startsWith('{"error"') ? want.includes(JSON.parse(got).error.replace(/parameter '(.*?)'/g, "--$1")) : got === want;
  if (same) passed++;
  else {
    failed++;
    const lines = want.split("\n");
    const first = got.split("\n").findIndex((line, i) => line !== lines[i]);
    console.log(`FAIL ${JSON.stringify(job)}: ${got.split("\n")[first]}, not ${lines[first]}`);
  }
}
// The page beside it, where there is a browser to look at it with: a step is there, and another one when a slider moves.
const browser = process.env.CHROMIUM ? await import("./browser.mjs").catch(() => null) : null;
if (browser) {
  await browser.fact("a page without a server answers a slider", async () => {
    const { page, said } = await browser.open(`file://${join(dirname(resolve(process.argv[3])), "step.html")}#model=llama3-8b`, { alone: true });
    await page.waitForSelector(".answered", { timeout: 30000 });
    const before = await page.locator(".live-head .first b").innerText();
    await page.locator("input[data-name=servers]").press("ArrowRight");
    await browser.until(page, ".live-head .first b", (text) => text !== before);
    browser.must(said.length === 0, said.join("; "));
  });
  await browser.fact("a report with the predictor in it answers a slider", async () => {
    const folder = dirname(resolve(process.argv[3]));
    execFileSync(process.argv[2], ["train", "--model", "llama3-8b", "--machine", "dgx-h100:2", "--tp", "2", "--json", join(folder, "step.json")]);
    execFileSync(process.argv[2], ["report", join(folder, "step.json"), join(folder, "predictor.js"), "-o", join(folder, "report.html")]);
    const { page, said } = await browser.open(`file://${join(folder, "report.html")}`, { alone: true });
    await page.locator(".what-if summary").click();
    await page.waitForSelector(".answered", { timeout: 30000 });
    const before = await page.locator(".what-if .live-head .first b").innerText();
    await page.locator(".what-if input[data-name=servers]").press("ArrowRight");
    await browser.until(page, ".what-if .live-head .first b", (text) => text !== before);
    browser.must(said.length === 0, said.join("; "));
  });
  failed += await browser.finish();
}
times.sort((a, b) => a - b);
console.log(`a step in WebAssembly: ${times[times.length >> 1].toFixed(1)} ms (median of ${times.length})`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
