// SPDX-License-Identifier: Apache-2.0
// Reports: every one loads without a word on the console and without asking the network for anything; axe-core finds no
// serious fault in either theme; wide and on a phone nothing is wider than the screen; parts open, languages change, the
// timeline can be moved by keys.
import { readdirSync } from "node:fs";
import { accessible, drawn, each, fact, fits, must, open, picture } from "./browser.mjs";

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
    must((await page.locator(".tl-detail").innerText()).includes("all-gather"), "the match is told");
    must(said.length === 0, said.join("; "));
    await page.context().close();
  });
}

export async function million(folder) {
  await fact("a million events are drawn", async () => {
    const { page, said } = await open(`file://${folder}/million.html`, { alone: true });
    await drawn(page);
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
    await page.context().close();
  });
}
