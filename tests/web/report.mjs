// SPDX-License-Identifier: Apache-2.0
// Reports: every one loads without a word on the console and without asking the network for anything; axe-core finds no
// serious fault in either theme; wide and on a phone nothing is wider than the screen; parts open, languages change, the
// timeline can be moved by keys.
import { readdirSync } from "node:fs";
import { accessible, drawn, each, fact, fits, must, open, picture, until } from "./browser.mjs";

export async function reports(folder) {
  const show = async (name, how = {}) => {
    const made = await open(`file://${folder}/${name}.html`, { alone: true, ...how });
    await drawn(made.page);
    return made;
  };
  const names = readdirSync(folder).filter((name) => name.endsWith(".html")).map((name) => name.slice(0, -5)).sort();
  await each(names.flatMap((name) => [[name, "wide", "light"], [name, "phone", "dark"]]), ([name, size, scheme]) =>
    fact(`${name} ${size} loads without a word`, async () => {
      const { page, said } = await show(name, { size, scheme });
      must(said.length === 0, said.join("; "));
      must((await page.locator("main h2, main h3").count()) > 0, "it shows nothing");
      await fits(page, size);
      for (const term of await page.locator(".term").all()) {
        await term.click();
        must((await term.getAttribute("aria-expanded")) === "true", "a part does not open");
      }
      await picture(page, `${name}-${size}`, name !== "million");
      if (name !== "million") await accessible(page);
      must(said.length === 0, said.join("; "));
      await page.context().close();
    }));

  await fact("parts add up to the whole", async () => {
    const { page } = await show("run");
    const shares = await page.locator(".term-share").allTextContents();
    const sum = shares.reduce((total, text) => total + parseFloat(text), 0);
    must(Math.abs(sum - 100) < 0.5, `they are ${sum} %`);
    await page.context().close();
  });

  await fact("names of documents are never markup", async () => {
    const { page } = await show("compare");
    must((await page.locator("main b", { hasText: "not markup" }).count()) === 0, "an element came out of a text");
    must((await page.getByText("</script><b>not markup</b>").count()) > 0, "the text is not shown");
    await page.context().close();
  });

  await fact("the language changes in place", async () => {
    const { page } = await show("run");
    await page.getByRole("button", { name: "Show this page in Chinese" }).click();
    must((await page.evaluate(() => document.documentElement.lang)) === "zh-TW", "lang");
    must((await page.getByText("時間花在哪裡").count()) > 0, "the heading stays English");
    await page.context().close();
  });

  await fact("what orrery says is told in Chinese too", async () => {
    const { page } = await show("store");
    const said = await page.locator(".bound, .advice .hint, .advice li, .advice td strong").allInnerTexts();
    const english = said.filter((text) => /[A-Za-z]{2,} [a-z]{2,} [a-z]{2,} [a-z]{2,}/.test(text));
    must(said.length > 12, `${said.length} sentences`);
    must(english.length === 0, english.join(" | "));
    await page.context().close();
  });

  await fact("results from files draw their machines, and advice stands with its job", async () => {
    const kept = await show("compare");
    must((await kept.page.locator("svg.machine").count()) === 2, "a machine is missing");
    await kept.page.context().close();
    const job = await show("advice");
    must((await job.page.locator(".advice, .sum-bar, canvas").count()) >= 3, "advice, equation or timeline is missing");
    await job.page.context().close();
  });

  await fact("a page with a predictor answers a slider by itself, beside the step it began with", async () => {
    const { page, said } = await show("whatif");
    await page.locator(".what-if summary").click();
    const time = page.locator(".what-if .live-head .first b");
    const before = await time.first().innerText();
    must((await page.locator(".result .first b").first().innerText()) === before, "it does not begin with the page's step");
    await page.locator(".what-if input[data-name=servers]").press("ArrowRight");
    await until(page, ".what-if .live-head .first b", (text) => text !== before);
    must((await page.locator(".what-if .compare-row").count()) === 2, "the two steps do not stand side by side");
    must(said.length === 0, said.join("; "));
    await page.context().close();
  });

  await fact("what a line of the machine carried is told in the page's language", async () => {
    const { page, said } = await show("packet");
    const lines = page.locator(".machine-line");
    must((await lines.count()) === 8, `${await lines.count()} lines of 8 GPUs at their NVSwitch`);
    await lines.first().dispatchEvent("click");
    const english = await page.locator("figure:has(.machine) .tl-detail").innerText();
    must(/3,600 Gbit\/s.*busy [\d.]+ %/.test(english), english);
    await page.getByRole("button", { name: "Show this page in Chinese" }).click();
    await lines.first().dispatchEvent("click");
    must((await page.locator("figure:has(.machine) .tl-detail").innerText()).includes("忙碌"), "the line stays English");
    must(said.length === 0, said.join("; "));
    await page.context().close();
  });

  await fact("collectives stand beside what was measured, where the machine is one that was", async () => {
    const { page } = await show("packet");
    const measured = page.getByRole("table", { name: "Beside NCCL or RCCL, and what was measured" }).locator("tbody tr td:nth-child(5)");
    must((await measured.allInnerTexts()).every((text) => /^[\d.]+ µs$/.test(text)) && (await measured.count()) === 2, (await measured.allInnerTexts()).join(", "));
    await page.context().close();
    const ring = await show("run");
    must((await ring.page.getByText("Beside NCCL or RCCL").count()) === 0, "a ring has measurements");
    await ring.page.context().close();
  });

  await fact("the timeline answers to keys, search and clicks", async () => {
    const { page, said } = await show("run");
    const canvas = page.locator("canvas[role=application]");
    await canvas.focus();
    for (const key of ["+", "+", "ArrowRight", "ArrowLeft", "-", "Home"]) await page.keyboard.press(key);
    await page.getByRole("searchbox").fill("gather");
    must((await page.getByText("8 match").count()) === 1, "8 all-gathers");
    await page.keyboard.press("Enter");
    must((await page.locator(".tl > .tl-detail").innerText()).includes("all-gather"), "the match is told");
    must(said.length === 0, said.join("; "));
    await page.context().close();
  });
}

/** Processor time of the page's main thread and of its scripts so far, in ms: what others do on the machine is not in it. */
async function spent(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  const of = (name) => 1000 * metrics.find((one) => one.name === name).value;
  return { thread: of("TaskDuration"), script: of("ScriptDuration") };
}

export async function million(folder) {
  await fact("a million events are drawn", async () => {
    const { page, said } = await open("about:blank", { alone: true });
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    await page.goto(`file://${folder}/million.html`);
    await drawn(page);
    const shown = await spent(session);
    const first = await page.locator("canvas[role=application]").evaluate((canvas) => Number(canvas.dataset.firstFrameMs));
    const frames = 60;
    const rate = await page.evaluate(async (count) => {
      const canvas = document.querySelector("canvas[role=application]");
      canvas.focus();
      const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      for (let i = 0; i < 4; i++) press("+");
      const started = performance.now();
      for (let i = 0; i < count; i++) {
        press(i < count / 2 ? "ArrowRight" : "ArrowLeft");
        await new Promise((done) => requestAnimationFrame(done));
      }
      return (1000 * count) / (performance.now() - started);
    }, frames);
    const moved = await spent(session);
    console.log(`a million events: first frame ${first.toFixed(0)} ms after the page was asked for (${shown.thread.toFixed(0)} ms of processor time, ${shown.script.toFixed(0)} of it scripts); ` +
      `while moving ${rate.toFixed(0)} frames/s, ${((moved.thread - shown.thread) / frames).toFixed(1)} ms of processor time a frame (${((moved.script - shown.script) / frames).toFixed(1)} of it scripts)`);
    must(said.length === 0, said.join("; "));
    must(first > 0 && moved.script > shown.script, "nothing was drawn");
    await page.context().close();
  });
}
