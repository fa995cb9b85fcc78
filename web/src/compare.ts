// SPDX-License-Identifier: Apache-2.0
// Several results side by side: times, their parts in one scale, and sentences that say which parts make the difference.
import { h, type Child } from "./dom";
import type { Sum } from "./equation";
import * as f from "./format";
import type { Result } from "./result";
import { s } from "./strings";
import { section, table, type Section } from "./widgets";

type Timed = Result & { sum: Sum };

function explain(base: Timed, other: Timed): Child {
  const delta = other.sum.total - base.sum.total;
  const names = { name: other.title, base: base.title };
  const parts = other.sum.parts.map((part) => ({ label: part.label, ns: part.ns - (base.sum.parts.find((one) => one.key === part.key)?.ns ?? 0) }))
    .concat(base.sum.parts.filter((part) => !other.sum.parts.some((one) => one.key === part.key)).map((part) => ({ label: part.label, ns: -part.ns })))
    .filter((part) => Math.abs(part.ns) > 0.002 * base.sum.total).sort((a, b) => Math.abs(b.ns) - Math.abs(a.ns)).slice(0, 3);
  const keys = [...new Set([...Object.keys(base.settings), ...Object.keys(other.settings)])].filter((key) => base.settings[key] !== other.settings[key] && !/dir$|fingerprint/.test(key)).slice(0, 8);
  return h("li", {}, delta === 0 ? s("sameTime", names) : s("faster", { ...names, change: f.percent(other.sum.total / base.sum.total), delta: f.signedTime(delta) }), " ",
    parts.length > 0 && s("because", { list: parts.map((part) => `${part.label} ${f.signedTime(part.ns)}`).join(", ") }), " ",
    keys.length > 0 && h("span", { class: "muted" }, s("settingsDiffer", { list: keys.map((key) => `${key} ${base.settings[key] ?? "–"} → ${other.settings[key] ?? "–"}`).join(", ") })));
}

export function compareSection(results: Result[]): Section | null {
  const timed = results.filter((one): one is Timed => one.sum !== null);
  const base = timed[0];
  if (!base || timed.length < 2) return null;
  const most = Math.max(...timed.map((one) => one.sum.total));
  const keys = [...new Map(timed.flatMap((one) => one.sum.parts.filter((part) => part.ns > 0).map((part) => [part.key, part.label] as const)))];
  const partOf = (one: Timed, key: string): number => one.sum.parts.find((part) => part.key === key)?.ns ?? 0;
  return section(s("compare"), s("compareHint", { name: base.title }),
    h("div", { class: "compare" }, timed.map((one) => h("div", { class: "compare-row" }, h("span", { class: "compare-name" }, one.title, h("small", {}, one.subtitle)),
      h("div", { class: "sum-bar", style: `width:${(100 * one.sum.total) / most}%`, "aria-hidden": "true" }, one.sum.parts.filter((part) => part.ns > 0).map((part) =>
        h("span", { style: `flex:${part.ns / one.sum.total} 1 0;background:${part.colour}`, title: `${part.label} ${f.time(part.ns)}` }))),
      h("span", { class: "compare-time" }, f.time(one.sum.total), one !== base && h("small", {}, f.signed(one.sum.total / base.sum.total - 1)))))),
    h("ul", { class: "because" }, timed.slice(1).map((other) => explain(base, other))),
    table(s("compare"), [
      { head: s("part"), cell: ([, label]) => label },
      ...timed.map((one) => ({ head: one.title, number: true, cell: ([key]: readonly [string, string]) => f.time(key === "" ? one.sum.total : partOf(one, key)) }))],
    [...keys, ["", s("stepTime")] as const]));
}
