// SPDX-License-Identifier: Apache-2.0
// The page of orrery serve: every tab loads without a word on the console, wide and on a phone, and axe-core finds no
// serious fault; a key on a slider gives another result; a link is a configuration; a plan is searched, looked at.
import { spawn } from "node:child_process";
import { accessible, drawn, each, fact, fits, must, open, picture, until } from "./browser.mjs";

const answered = (page) => page.waitForSelector(".answered", { timeout: 30000 });
const first = ".live-head .first b";
const headline = (page) => page.locator(first).innerText();

/** A key on a slider: the result that follows, another than `before`, and how long the page says it took. */
async function drag(page, name, before) {
  await page.locator(`input[data-name=${name}]`).press("ArrowRight");
  return [await until(page, first, (text) => text !== before), await page.locator(".answered").innerText()];
}

async function start(orrery, folder) {
  const server = spawn(orrery, ["serve", folder], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((done, fail) => {
    server.stdout.once("data", (data) => done(/http:\S+/.exec(String(data))[0]));
    server.once("exit", () => fail(new Error("the server ended")));
  });
  return { server, url };
}

export async function served(orrery, folder) {
  const { server, url } = await start(orrery, folder);
  const show = async (hash, how) => {
    const made = await open(url + hash, how);
    await made.page.waitForSelector("[role=tabpanel], .live, .live-side section", { timeout: 30000 });
    return made;
  };

  const ways = [["wide", "light", "en-US"], ["phone", "dark", "zh-TW"]];
  const tabs = ["step", "collective", "plan", "runs"].flatMap((tab) => ways.map((way) => [tab, ...way]));
  await each(tabs, async ([tab, size, scheme, language]) => {
    const { page, said } = await show(`#tab=${tab}`, { size, scheme, language });
    await fact(`${tab} ${size} loads without a word`, async () => {
      if (tab === "step" || tab === "collective") await answered(page);
      await page.waitForLoadState("networkidle");
      await drawn(page);
      await picture(page, `live-${tab}-${size}`);
      must(said.length === 0, said.join("; "));
      await fits(page, size);
      must((await page.locator("html").getAttribute("lang")) === (language === "zh-TW" ? "zh-TW" : "en"), "it speaks another language");
    });
    await fact(`${tab} ${size} has no serious fault of access`, () => accessible(page));
    await page.context().close();
  });

  await fact("a key on a slider gives another result, and the link is the configuration", async () => {
    const { page, said } = await show("#servers=128&batch=2048");
    await answered(page);
    must(!page.url().includes("token"), "the token stays in the address");
    const times = [];
    let last = await headline(page);
    for (let i = 0; i < 4; i++) {
      const [now, time] = await drag(page, "servers", last);
      last = now;
      times.push(time);
    }
    must(page.url().includes("servers=2048"), page.url());
    console.log(`16,384 GPUs, each drag as the page sees it: ${times.join(", ")}`);
    const other = await page.context().newPage();
    await other.goto(page.url());
    await answered(other);
    must((await headline(other)) === last, "the link gives another result");
    must(said.length === 0, said.join("; "));
    await page.context().close();
  });

  await fact("1,024 ranks are simulated again while one drags", async () => {
    const { page, said } = await show("#tab=collective");
    await answered(page);
    const seen = [await headline(page)];
    const times = [];
    for (let i = 0; i < 4; i++) {
      const [now, time] = await drag(page, "bw", seen[i]);
      seen.push(now);
      times.push(time);
    }
    must(new Set(seen).size === 5, seen.join(", "));
    console.log(`1,024 ranks, each drag as the page sees it: ${times.join(", ")}`);
    must(said.length === 0, said.join("; "));
    await page.context().close();
  });

  await fact("what cannot be is said in words", async () => {
    const { page } = await show("#servers=1&tp=64");
    await page.waitForSelector(".alert:not([hidden])");
    must((await page.locator(".alert").innerText()).length > 10, "nothing is said");
    await page.context().close();
  });

  await fact("a plan is searched and its best looked at", async () => {
    const { page, said } = await show("#tab=plan&model=llama3-8b&servers=1&batch=64");
    await page.locator("button.primary").click();
    await page.waitForSelector(".live-head:not([hidden])", { timeout: 60000 });
    const best = await headline(page);
    await page.locator(".live-side p > button").click();
    await answered(page);
    await until(page, first, (text) => text === best);
    must(said.length === 0, said.join("; "));
    await page.context().close();
  });

  server.kill("SIGINT");
  const code = await new Promise((done) => server.once("exit", done));
  await fact("it ends when asked to", () => must(code === 0, `exit code ${code}`));
}
