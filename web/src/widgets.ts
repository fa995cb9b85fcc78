// SPDX-License-Identifier: Apache-2.0
// What sections are made of: tables, bars, facts, charts. Every chart has its numbers as a table below it, for those who
// cannot see it and those who want to copy them.
import uPlot from "uplot";
import { clear, freshId, h, put, svg, type Child } from "./dom";
import * as f from "./format";
import { s } from "./strings";

export interface Section { id: string; title: string; element: HTMLElement }

export function section(title: string, hint: string | null, ...children: Child[]): Section {
  const id = freshId("s");
  const element = h("section", { class: "card", id, "aria-labelledby": `${id}-t` },
    h("h3", { id: `${id}-t` }, title), hint !== null && h("p", { class: "hint" }, hint), children);
  return { id, title, element };
}

export interface Column<T> {
  head: string;
  cell: (row: T) => Child;
  number?: boolean;
  sort?: (row: T) => number | string;
}

const SHOWN = 12;

/** A table that is sorted by a click on a heading and shows the first rows until all are wanted. */
export function table<T>(caption: string, columns: Column<T>[], rows: T[], shown = SHOWN): HTMLElement {
  let order = [...rows];
  let all = rows.length <= shown + 3;
  let by = -1;
  let down = true;
  const body = h("tbody");
  const more = h("button", { type: "button", class: "more" }, s("showAll", { n: f.count(rows.length) }));
  const heads = columns.map((column, index) => {
    const sort = column.sort;
    const label = sort ? h("button", { type: "button", class: "sort", onclick: () => sortBy(index) }, column.head) : column.head;
    return h("th", { scope: "col", class: column.number && "num" }, label);
  });
  function fillBody(): void {
    clear(body);
    for (const row of all ? order : order.slice(0, shown)) {
      body.append(h("tr", {}, columns.map((column) => h("td", { class: column.number && "num" }, column.cell(row)))));
    }
    more.hidden = all;
  }
  function sortBy(index: number): void {
    const value = columns[index]?.sort;
    if (!value) return;
    down = by === index ? !down : true;
    by = index;
    order = [...rows].sort((a, b) => {
      const x = value(a);
      const y = value(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
    heads.forEach((head, i) => (i === by ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
    fillBody();
  }
  more.addEventListener("click", () => {
    all = true;
    fillBody();
  });
  fillBody();
  return h("div", {}, h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": caption },
    h("table", {}, h("caption", { class: "hidden" }, caption), h("thead", {}, h("tr", {}, heads)), body)), more);
}

export function facts(list: [string, Child][]): HTMLElement {
  return h("dl", { class: "facts" }, list.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([key, value]) => h("div", {}, h("dt", {}, key), h("dd", {}, value))));
}

export interface Bar { label: Child; value: number; text: string; colour?: string; low?: number; high?: number }

/** Horizontal bars with their values written out; `low` and `high` draw a range over the bar. */
export function bars(list: Bar[], most = Math.max(1e-12, ...list.map((bar) => bar.high ?? bar.value))): HTMLElement {
  return h("div", { class: "bars" }, list.map((bar) => h("div", { class: "bar-row" },
    h("span", { class: "bar-label" }, bar.label),
    h("span", { class: "bar-track" },
      h("span", { class: "bar-fill", style: `width:${Math.max(0, Math.min(100, (bar.value / most) * 100))}%;background:${bar.colour ?? "var(--compute)"}` }),
      bar.low !== undefined && bar.high !== undefined &&
        h("span", { class: "bar-range", style: `left:${(bar.low / most) * 100}%;width:${Math.max(0.3, ((bar.high - bar.low) / most) * 100)}%` })),
    h("span", { class: "bar-text" }, bar.text))));
}

/** Numbers as colour: a square matrix of at most a few hundred rows; larger ones are folded by their largest value. */
export function heatmap(label: string, names: string[], cells: Map<number, number>, text: (value: number) => string): HTMLElement {
  const n = names.length;
  const most = Math.max(1e-12, ...cells.values());
  const room = 420;
  const cell = Math.max(2, Math.min(26, Math.floor(room / n)));
  const fold = Math.max(1, Math.ceil(n / Math.floor(room / cell)));
  const rows = Math.ceil(n / fold);
  const folded = new Map<number, { value: number; from: number; to: number }>();
  for (const [key, value] of cells) {
    const from = Math.floor(key / n);
    const to = key % n;
    const at = Math.floor(from / fold) * rows + Math.floor(to / fold);
    const had = folded.get(at);
    if (!had || value > had.value) folded.set(at, { value, from, to });
  }
  const margin = cell >= 12 ? 34 : 8;
  const picture = svg("svg", { viewBox: `0 0 ${margin + rows * cell + 2} ${margin + rows * cell + 2}`, role: "img", "aria-label": label, class: "heat", style: `max-width:${(margin + rows * cell) * 1.2}px` });
  put(picture, svg("rect", { x: margin, y: margin, width: rows * cell, height: rows * cell, class: "heat-back" }));
  if (cell >= 12) {
    for (let i = 0; i < rows; i++) {
      put(picture, svg("text", { x: margin - 4, y: margin + i * cell + cell / 2 + 3, "text-anchor": "end" }, names[i * fold] ?? ""),
        svg("text", { x: margin + i * cell + cell / 2, y: margin - 5, "text-anchor": "middle" }, names[i * fold] ?? ""));
    }
  }
  for (const [at, { value, from, to }] of folded) {
    const x = margin + (at % rows) * cell;
    const y = margin + Math.floor(at / rows) * cell;
    put(picture, svg("rect", { x: x + 0.5, y: y + 0.5, width: cell - 1, height: cell - 1, class: "heat-cell", style: `fill-opacity:${(0.12 + 0.88 * (value / most)).toFixed(3)}` },
      svg("title", {}, `${names[from] ?? ""} → ${names[to] ?? ""}: ${text(value)}`)));
  }
  return h("figure", {}, h("div", { class: "heat-box" }, picture), h("figcaption", {}, label,
    h("span", { class: "scale", "aria-hidden": "true" }, text(0), h("i"), text(most))));
}

export interface Line { label: string; values: (number | null)[]; colour: string; points?: boolean; stepped?: boolean; dash?: boolean }
export interface ChartOptions {
  label: string; x: number[]; lines: Line[]; xText?: (value: number) => string; yText: (value: number) => string; xLabel: string;
  logX?: boolean; height?: number; xCategories?: string[];
}

let charts: { place: HTMLElement; plot: () => void }[] = [];

/** Colours are the theme's: drawn again when it changes. */
export function redrawCharts(): void {
  charts.forEach((one) => one.plot());
}

/** Those that are on the page no more. */
export function forgetCharts(): void {
  charts = charts.filter((one) => one.place.isConnected);
}

export function chart(options: ChartOptions): HTMLElement {
  const place = h("div", { class: "chart", role: "img", "aria-label": options.label });
  let made: uPlot | null = null;
  const plot = (): void => {
    const width = place.clientWidth;
    if (width === 0) return;
    made?.destroy();
    const style = getComputedStyle(place);
    const colour = (name: string): string => (name.startsWith("--") ? style.getPropertyValue(name).trim() : name);
    const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 }, font: "11px system-ui, sans-serif" };
    const xValue = (value: number): string => options.xCategories?.[value] ?? (options.xText ?? f.count)(value);
    const scattered = options.lines.every((line) => line.points === true);
    const step = uPlot.paths.stepped?.({ align: 1 });
    made = new uPlot({
      width, height: options.height ?? 240,
      legend: { live: width > 480 }, cursor: { points: { size: 6 } },
      scales: { x: { time: false, distr: options.logX ? 3 : 1, log: 2, ...(scattered ? { range: (_u: uPlot, low: number, high: number): [number, number] => [low - (high - low || low) * 0.04, high + (high - low || high) * 0.04] } : {}) }, y: { range: (_u, low, high) => (scattered ? [low - (high - low || low) * 0.12, high + (high - low || high) * 0.12] : [0, (high || 1) * 1.06]) } },
      axes: [
        { ...axis, values: (_u, splits) => splits.map((value) => (value === null ? "" : options.xCategories && !Number.isInteger(value) ? "" : xValue(value))), label: options.xLabel, labelFont: "11px system-ui, sans-serif", labelSize: 16, size: 34, space: 70 },
        { ...axis, values: (_u, splits) => splits.map((value) => options.yText(value).replace(/\.0+(?=\D|$)/, "")), size: 74 },
      ],
      series: [
        { label: options.xLabel, value: (_u, value) => (value === null ? "" : xValue(value)) },
        ...options.lines.map((line): uPlot.Series => ({
          label: line.label, stroke: colour(line.colour), width: line.points ? 0 : 2, spanGaps: true,
          ...(line.dash ? { dash: [6, 4] } : {}),
          ...(line.points ? { paths: () => null, points: { show: true, size: 9, fill: colour(line.colour), stroke: colour(line.colour) } } : { points: { show: options.x.length < 40, size: 6 } }),
          ...(line.stepped && step ? { paths: step, points: { show: false } } : {}),
          value: (_u, value) => (value === null || value === undefined ? "" : options.yText(value)),
        })),
      ],
    }, [options.x, ...options.lines.map((line) => line.values)] as uPlot.AlignedData, place);
  };
  let width = 0;
  new ResizeObserver(() => {
    if (Math.abs(place.clientWidth - width) < 2) return;
    width = place.clientWidth;
    plot();
  }).observe(place);
  charts.push({ place, plot });
  return h("figure", {}, h("figcaption", {}, options.label), place);
}

export function command(text: string | null): HTMLElement {
  if (text === null) return h("p", { class: "muted" }, s("notTold"));
  const button = h("button", { type: "button" }, s("copy"));
  button.addEventListener("click", () => {
    void navigator.clipboard?.writeText(text).then(() => (button.textContent = s("copied")));
  });
  return h("div", { class: "command" }, h("pre", { tabindex: 0 }, h("code", {}, text)), button);
}

export function logo(): SVGElement {
  return svg("svg", { viewBox: "0 0 64 64", class: "logo", "aria-hidden": "true" },
    svg("circle", { cx: 32, cy: 32, r: 29, class: "orbit" }), svg("circle", { cx: 32, cy: 32, r: 18, class: "orbit" }), svg("circle", { cx: 32, cy: 32, r: 8, class: "sun" }),
    svg("circle", { cx: 50, cy: 32, r: 3.5, class: "planet" }), svg("circle", { cx: 17.5, cy: 7, r: 4.5, class: "planet-2" }));
}

export function dark(): boolean {
  const set = document.documentElement.dataset["theme"];
  return set ? set === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
}
