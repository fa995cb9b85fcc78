// SPDX-License-Identifier: Apache-2.0
// The step as a sum: a bar of parts and the same as a list of buttons; a part that is chosen shows what it is made of.
import { clear, freshId, h, type Child } from "./dom";
import * as f from "./format";
import { s } from "./strings";

export interface Part { key: string; label: string; help: string; ns: number; colour: string }

export interface Sum {
  total: number;
  parts: Part[];
  detail: (part: Part) => Child;
}

export function equation(sum: Sum): HTMLElement {
  const parts = sum.parts.filter((part) => part.ns > 0);
  const panel = h("div", { class: "panel", id: freshId("panel"), "aria-live": "polite" });
  const terms: HTMLButtonElement[] = [];
  let open: Part | null = null;
  const choose = (part: Part | null): void => {
    open = open === part ? null : part;
    terms.forEach((term, i) => term.setAttribute("aria-expanded", String(open !== null && parts[i] === open)));
    clear(panel);
    if (open === null) return;
    panel.append(h("div", { class: "panel-inner", style: `border-color:${open.colour}` },
      h("p", {}, h("strong", {}, open.label), " · ", f.time(open.ns), " · ", f.percent(open.ns / sum.total), h("br"), open.help), sum.detail(open),
      h("button", { type: "button", onclick: () => choose(null) }, s("closePart"))));
  };
  const bar = h("div", { class: "sum-bar", "aria-hidden": "true" }, parts.map((part) =>
    h("span", { style: `flex:${part.ns / sum.total} 1 0;background:${part.colour}`, title: `${part.label} ${f.time(part.ns)}`, onclick: () => choose(part) },
      part.ns / sum.total > 0.09 ? f.percent(part.ns / sum.total, 2) : "")));
  const list = h("div", { class: "terms" }, parts.map((part, i) => {
    const term = h("button", { type: "button", class: "term", "aria-expanded": "false", "aria-controls": panel.id, onclick: () => choose(part) },
      h("span", { class: "sign", "aria-hidden": "true" }, i === 0 ? "=" : "+"),
      h("i", { class: "dot", style: `background:${part.colour}`, "aria-hidden": "true" }),
      h("span", { class: "term-name" }, part.label), h("span", { class: "term-time" }, f.time(part.ns)),
      h("span", { class: "term-share" }, f.percent(part.ns / sum.total)));
    terms.push(term);
    return term;
  }));
  return h("div", { class: "sum" }, bar, list, panel);
}
