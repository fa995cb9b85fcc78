// SPDX-License-Identifier: Apache-2.0
// The page: what each document is drawn by, in which order, and what belongs to the whole page: language, theme, print.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import "./live/live.css";
import { compareSection } from "./compare";
import { readReport, type Named, type Report } from "./documents";
import { clear, freshId, h } from "./dom";
import * as f from "./format";
import { adviceSection, differenceSection, planResult, storedResult, storeResult, sweepResult } from "./lists";
import { drawing } from "./machine";
import type { Result } from "./result";
import { runResult, timelineSection, views, type Besides } from "./run";
import { languageTag, s, setLanguage } from "./strings";
import { decode, fromChrome, type Timeline } from "./timeline-data";
import { trainResult } from "./train";
import { whatIf } from "./whatif";
import { command, dark, logo, redrawCharts, section, type Section } from "./widgets";

const timelines = new Map<Named, Timeline>();

function timelineOf(entry: Named | undefined): Timeline | null {
  if (entry?.kind !== "timeline" && entry?.kind !== "chrome") return null;
  const known = timelines.get(entry) ?? (entry.kind === "timeline" ? decode(entry.document) : fromChrome(entry.document));
  timelines.set(entry, known);
  return known;
}

const OWNED = ["machine", "times", "timeline", "chrome"];

/** What follows a run and belongs to it. */
function behind(entries: Named[], index: number): Named[] {
  const next = entries.findIndex((entry, i) => i > index && !OWNED.includes(entry.kind));
  return entries.slice(index + 1, next < 0 ? undefined : next);
}

function besidesOf(own: Named[]): Besides {
  const besides: Besides = {};
  for (const one of own) {
    if (one.kind === "machine") besides.machine = one.document;
    else if (one.kind === "times") besides.times = one.document;
    else besides.timeline ??= timelineOf(one);
  }
  return besides;
}

/** Advice and differences stand below the first result's equation. */
function collect(report: Report): { results: Result[]; loose: Section[] } {
  const results: Result[] = [];
  const loose: Section[] = [];
  const owned = new Set(report.entries.flatMap((entry, index) => (entry.kind === "run" || entry.kind === "stored" ? behind(report.entries, index) : [])));
  report.entries.forEach((entry, index) => {
    switch (entry.kind) {
      case "run": results.push(runResult(entry.document, besidesOf(behind(report.entries, index)), entry.name, entry.command)); break;
      case "machine":
        if (!owned.has(entry)) loose.push(section(s("links"), null, drawing(entry.document)));
        break;
      case "train": results.push(trainResult(entry.document, entry.command)); break;
      case "plan": results.push(planResult(entry.document, entry.name, entry.command)); break;
      case "sweep": results.push(sweepResult(entry.document, entry.name, entry.command)); break;
      case "store": results.push(storeResult(entry.document, entry.name)); break;
      case "stored": results.push(storedResult(entry.document, besidesOf(behind(report.entries, index)).machine)); break;
      case "difference": loose.push(differenceSection(entry.document, entry.name)); break;
      case "advice": loose.push(adviceSection(entry.document)); break;
      case "timeline":
      case "chrome": {
        const timeline = timelineOf(entry);
        if (!owned.has(entry) && timeline) {
          results.push({ title: f.fileName(entry.name), subtitle: s("timeline"), command: entry.command, settings: {}, sum: null, figures: [[s("time"), f.time(timeline.end)]],
            sections: () => [timelineSection(timeline, entry.name)] });
        }
      }
    }
  });
  return { results, loose };
}

function resultBlock(result: Result, open: boolean, besides: Section[]): { element: HTMLElement; sections: Section[]; id: string } {
  const id = freshId("r");
  const sections: Section[] = [];
  const body = h("div", { class: "result-body" });
  const fill = (): void => {
    if (body.childElementCount > 0) return;
    if (result.above) body.append(h("section", { class: "card", "aria-label": s("equation") }, h("h3", {}, s("equation")), h("p", { class: "hint" }, s("equationHint")), ...[result.above()].flat().filter((one): one is HTMLElement => one instanceof HTMLElement)));
    const made = [...besides, ...result.sections()];
    if (result.command !== null) made.push(section(s("repeat"), null, command(result.command)));
    made.forEach((one) => body.append(one.element));
    sections.push(...made);
  };
  if (open) fill();
  const element = h("details", { class: "result", id, open }, h("summary", {}, h("div", { class: "headline" },
    h("div", {}, h("h2", {}, result.title), h("p", { class: "muted" }, result.subtitle)),
    h("div", { class: "figures" }, result.figures.map(([label, value], i) => h("div", { class: i === 0 && "first" }, h("span", {}, label), h("b", {}, value)))))), body);
  element.addEventListener("toggle", () => {
    if (element.open) fill();
  });
  return { element, sections, id };
}

function themed(): void {
  views.forEach((view) => view.themed());
  redrawCharts();
}

function build(report: Report): void {
  const app = document.getElementById("app");
  if (!app) return;
  clear(app);
  views.length = 0;
  document.documentElement.lang = languageTag();
  const { results, loose } = collect(report);
  document.title = results[0] ? `${results[0].title} · ${s("title")}` : s("title");
  const theme = h("button", { type: "button", "aria-label": s("themeLabel"), title: s("themeLabel") }, "◐");
  theme.addEventListener("click", () => {
    document.documentElement.dataset["theme"] = dark() ? "light" : "dark";
    themed();
  });
  const language = h("button", { type: "button", "aria-label": s("languageLabel"), lang: languageTag() === "en" ? "zh-TW" : "en" }, s("language"));
  language.addEventListener("click", () => {
    setLanguage(languageTag() === "en" ? "zh-TW" : "en");
    build(report);
  });
  const compare = compareSection(results);
  const blocks = results.map((result, i) => resultBlock(result, i === 0 || results.length <= 3, i === 0 ? loose : []));
  const steps = window.orreryAlone ? report.entries.flatMap((entry) => (entry.kind === "train" ? [whatIf(entry.document, trainResult(entry.document, entry.command))] : [])) : [];
  const links = [...(compare ? [compare] : []), ...(blocks.length === 1 ? [] : loose), ...(blocks.length === 1 ? blocks[0]?.sections ?? [] : blocks.map((block, i) => ({ id: block.id, title: results[i]?.title ?? "" }))), ...steps];
  app.append(
    h("a", { class: "skip", href: "#results" }, s("skip")),
    h("header", { class: "top" }, logo(), h("div", { class: "brand" }, h("h1", {}, s("title")), h("p", {}, s("lead"))), h("span", { class: "grow" }), language, theme,
      h("button", { type: "button", onclick: () => window.print() }, s("print"))),
    h("nav", { class: "contents", "aria-label": s("contents") }, links.map((one) => h("a", { href: `#${one.id}` }, one.title))),
    h("main", { id: "results", tabindex: -1 }, results.length + loose.length === 0 && h("p", { class: "card" }, s("empty")),
      compare?.element, blocks.length === 0 && loose.map((one) => one.element), blocks.map((block) => block.element), steps.map((one) => one.element)),
    h("footer", {}, s("madeBy", { generator: report.generator })));
}

const report = readReport();
setLanguage(report.language);
build(report);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themed);
window.addEventListener("beforeprint", () => document.querySelectorAll("details.result").forEach((one) => one.setAttribute("open", "")));
