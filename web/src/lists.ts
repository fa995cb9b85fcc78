// SPDX-License-Identifier: Apache-2.0
// Results of many: plans, sweeps, stores, differences, advice.
import type { AdviceDocument, DifferenceDocument, MachineDocument, PlanDocument, PlanRow, StoredDocument, StoredRun, SweepDocument, SweepPoint, TrainParts } from "./documents";
import { h, type Child } from "./dom";
import { equation, type Part } from "./equation";
import * as f from "./format";
import { drawing } from "./machine";
import type { Result } from "./result";
import { s, told, type Key } from "./strings";
import { partsOf } from "./train";
import { bars, chart, facts, section, table, type Section } from "./widgets";

function planWords(row: PlanRow): string {
  return [`tp ${row.tp}`, `pp ${row.pp}`, row.cp > 1 && `cp ${row.cp}`, row.ep > 1 && `ep ${row.ep}`, `dp ${row.dp}`, row.vpp > 1 && `vpp ${row.vpp}`, row.zero > 0 && `ZeRO ${row.zero}`]
    .filter((word) => word !== false).join(", ");
}

/** The part in each of the plans told of. */
function planPart(document: PlanDocument, part: Part): Child {
  const rows = document.own ? [...document.best.slice(0, 10), document.own] : document.best.slice(0, 10);
  return bars(rows.map((row) => {
    const ns = row[part.key as keyof TrainParts] ?? 0;
    return { label: row === document.own ? s("own") : planWords(row), value: ns, text: f.time(ns), colour: part.colour };
  }));
}

export function planResult(document: PlanDocument, name: string, command: string | null): Result {
  const best = document.best[0];
  const points = [...document.best, ...(document.own ? [document.own] : [])].sort((a, b) => a.memory_bytes - b.memory_bytes);
  const rows = document.own ? [...document.best, document.own] : document.best;
  const job = document.model ? `${document.model} · ${document.gpus} × ${document.device?.toUpperCase()}` : null;
  const sum = best?.forward_ns !== undefined ? { total: best.step_time_ns, parts: partsOf(best), detail: (part: Part) => planPart(document, part) } : null;
  return {
    title: job ?? (best ? planWords(best) : name), subtitle: best ? `${s("best")}: ${planWords(best)}, micro-batch ${best.micro_batch}, ${s("recompute").toLowerCase()} ${best.recompute}` : "", command, settings: {}, sum,
    ...(sum ? { above: () => equation(sum) } : {}),
    figures: best ? [[s("stepTime"), f.time(best.step_time_ns)], ["MFU", f.percent(best.mfu)], [s("memory"), f.bytes(best.memory_bytes)]] : [],
    sections: () => [section(s("plans"), s("planHint", { predicted: f.count(document.predicted), plans: f.count(document.plans), large: f.count(document.too_large), refused: f.count(document.refused), bound: f.time(document.bound_s * 1e9) }),
      points.length > 1 && chart({ label: s("pareto"), x: points.map((row) => row.memory_bytes), xText: f.bytes, xLabel: s("memory"), yText: f.time, height: 300, lines: [
        { label: s("onFront"), colour: "--compute", points: true, values: points.map((row) => (row.on_front ? row.step_time_ns : null)) },
        { label: s("others"), colour: "--idle", points: true, values: points.map((row) => (!row.on_front && row !== document.own ? row.step_time_ns : null)) },
        ...(document.own ? [{ label: s("own"), colour: "--critical", points: true, values: points.map((row) => (row === document.own ? row.step_time_ns : null)) }] : [])] }),
      table(s("plans"), [
        { head: "#", cell: (row) => (row === document.own ? s("own") : document.best.indexOf(row) + 1), number: true },
        ...(["tp", "pp", "cp", "ep", "dp", "vpp", "zero"] as const).map((key) => ({ head: key, cell: (row: PlanRow) => row[key], number: true, sort: (row: PlanRow) => row[key] })),
        { head: "micro", cell: (row) => row.micro_batch, number: true, sort: (row) => row.micro_batch }, { head: s("recompute"), cell: (row) => row.recompute },
        ...(new Set(rows.map((row) => row.order ?? "")).size > 1 ? [{ head: s("order"), cell: (row: PlanRow) => row.order ?? "" }] : []),
        { head: s("stepTime"), cell: (row) => f.time(row.step_time_ns), number: true, sort: (row) => row.step_time_ns },
        { head: s("toBest"), cell: (row) => (best ? f.signed(row.step_time_ns / best.step_time_ns - 1) : ""), number: true },
        { head: "MFU", cell: (row) => f.percent(row.mfu), number: true, sort: (row) => row.mfu },
        { head: s("memory"), cell: (row) => f.bytes(row.memory_bytes), number: true, sort: (row) => row.memory_bytes },
        { head: f.capital(s("onFront")), cell: (row) => (row.on_front ? "●" : "") }, { head: s("boundBy"), cell: (row) => told(row.bound_by) }], rows, 20))],
  };
}

/** A line for every combination of the other keys, over the values of one. */
function sweepChart(document: SweepDocument, key: number): Child {
  const done = document.results.filter((point) => point.time_ns !== null && point.state === "done");
  const values = [...new Set(done.map((point) => point.values[key] ?? ""))];
  if (values.length < 2) return null;
  const numeric = values.every((value) => /^[\d.]+/.test(value) && !/[,:[]/.test(value));
  const amount = (value: string): number => parseFloat(value);
  const order = numeric ? [...values].sort((a, b) => amount(a) - amount(b)) : values;
  const spaced = numeric && new Set(order.map((value) => value.replace(/^[\d.]+/, ""))).size === 1;
  const lines = new Map<string, SweepPoint[]>();
  for (const point of done) {
    const rest = document.keys.map((name, i) => (i === key ? "" : `${name} ${point.values[i]}`)).filter((word) => word !== "").join(", ");
    lines.set(rest, [...(lines.get(rest) ?? []), point]);
  }
  const shown = [...lines].slice(0, 12);
  const ratio = spaced && amount(order[0] ?? "1") > 0 ? amount(order[order.length - 1] ?? "1") / amount(order[0] ?? "1") : 1;
  return chart({ label: s("sweepChart", { key: document.keys[key] ?? "" }), x: order.map((value, i) => (spaced ? amount(value) : i)), logX: ratio > 20, xLabel: document.keys[key] ?? "", yText: f.time,
    ...(spaced ? { xText: (value: number) => f.number(value) } : { xCategories: order }),
    lines: shown.map(([label, points], i) => ({ label: label || s("time"), colour: `--series-${i % 6}`, values: order.map((value) => points.find((point) => point.values[key] === value)?.time_ns ?? null) })) });
}

export function sweepResult(document: SweepDocument, name: string, command: string | null): Result {
  const done = document.results.filter((point) => point.time_ns !== null).sort((a, b) => (a.rank ?? Infinity) - (b.rank ?? Infinity));
  const best = done[0];
  const words = (point: SweepPoint): string => document.keys.map((key, i) => `${key} ${point.values[i]}`).join(", ");
  const number = (key: "comm_ns" | "compute_ns" | "exposed_comm_ns") => ({ cell: (point: SweepPoint) => (point[key] === null ? "–" : f.time(point[key] ?? 0)), number: true, sort: (point: SweepPoint) => point[key] ?? 0 });
  return {
    title: document.name ?? (best ? words(best) : name), subtitle: s("bestOf", { n: document.points }), command, settings: {}, sum: null,
    figures: best ? [[s("stepTime"), f.time(best.time_ns ?? 0)], [s("points"), String(document.points)]] : [],
    sections: () => [section(s("sweep"), s("sweepHint", { points: document.points, done: document.done, stalled: document.stalled, failed: document.failed }),
      document.keys.map((_, key) => sweepChart(document, key)),
      table(s("sweep"), [
        { head: "#", cell: (point) => point.rank ?? "–", number: true, sort: (point) => point.rank ?? Infinity }, { head: s("point"), cell: (point) => point.point, number: true, sort: (point) => point.point },
        ...document.keys.map((key, i) => ({ head: key, cell: (point: SweepPoint) => point.values[i] ?? "", sort: (point: SweepPoint) => parseFloat(point.values[i] ?? "") || (point.values[i] ?? "") })),
        { head: s("time"), cell: (point) => (point.time_ns === null ? point.error ?? told(point.state) : f.time(point.time_ns)), number: true, sort: (point) => point.time_ns ?? Infinity },
        { head: s("communication"), ...number("comm_ns") }, { head: f.capital(s("compute")), ...number("compute_ns") }, { head: s("exposed"), ...number("exposed_comm_ns") },
        { head: s("toBest"), cell: (point) => (best?.time_ns && point.time_ns ? `${f.number(point.time_ns / best.time_ns, 4)}×` : "–"), number: true }],
      [...done, ...document.results.filter((point) => point.time_ns === null)], 20))],
  };
}

export function storeResult(runs: StoredRun[], name: string): Result {
  return { title: name, subtitle: s("store"), command: null, settings: {}, sum: null, figures: [[s("run"), f.count(runs.length)]],
    sections: () => [section(s("store"), null, table(s("store"), [
      { head: s("run"), cell: (run) => run.run, number: true, sort: (run) => run.run }, { head: s("tag"), cell: (run) => run.tag ?? "" , sort: (run) => run.tag ?? "" },
      { head: s("state"), cell: (run) => told(run.state) }, { head: s("machine"), cell: (run) => run.topology ?? "" }, { head: s("network"), cell: (run) => run.backend },
      { head: s("ranks"), cell: (run) => f.count(run.world), number: true, sort: (run) => run.world },
      { head: s("time"), cell: (run) => (run.total_ns === null ? "–" : f.time(run.total_ns)), number: true, sort: (run) => run.total_ns ?? Infinity },
      { head: s("communication"), cell: (run) => (run.comm_ns === null ? "–" : f.time(run.comm_ns)), number: true, sort: (run) => run.comm_ns ?? 0 },
      { head: s("started"), cell: (run) => run.started.replace("T", " ").replace("Z", "") }], [...runs].reverse(), 20))] };
}

export function storedResult(document: StoredDocument, machine?: MachineDocument): Result {
  const median = (key: string): number => {
    const value = document.ranks[key];
    return typeof value === "object" ? value.median_ns : 0;
  };
  const total = document.total_ns ?? 0;
  const parts: Part[] = [
    { key: "compute", label: s("compute"), help: s("computeHelp"), ns: median("compute"), colour: "var(--compute)" },
    { key: "comm", label: s("exposedComm"), help: s("exposedCommHelp"), ns: median("exposed comm."), colour: "var(--comm)" },
    { key: "other", label: s("exposedOther"), help: s("exposedOtherHelp"), ns: median("exposed other"), colour: "var(--memory)" },
    { key: "idle", label: s("idle"), help: s("idleHelp"), ns: median("idle"), colour: "var(--idle)" }];
  const settings = Object.fromEntries(document.settings.map(({ key, value }) => [key, value]));
  const sum = { total: total || 1, parts, detail: (part: Part) => part.key === "comm" && bars(document.collectives.map((row) => ({ label: `${row.type}, ${f.size(row.bytes)}`, value: row.total_ns / Math.max(1, row.count), text: f.time(row.total_ns / Math.max(1, row.count)), colour: "var(--comm)" }))) };
  return { title: `${s("run")} ${document.run}${document.tag ? ` · ${document.tag}` : ""}`, subtitle: [document.topology ?? settings["machine"], document.backend].filter((word) => word).join(" · "), command: document.command, settings, sum,
    figures: [[s("stepTime"), f.time(total)], [s("ranks"), f.count(document.world)]], above: () => equation(sum),
    sections: () => [section(s("what"), null, facts([[s("state"), told(document.state)], [s("machine"), document.topology ?? settings["machine"]], [s("network"), document.backend], [s("ranks"), f.count(document.world)], [s("started"), document.started], [s("error"), document.error]]),
      h("h4", {}, s("inputs")), table(s("inputs"), [{ head: s("type"), cell: (row) => told(row.role) }, { head: s("name"), cell: (row) => row.path }, { head: s("bytes"), cell: (row) => f.bytes(row.bytes), number: true }, { head: s("state"), cell: (row) => told(row.now) }], document.inputs),
      h("h4", {}, s("settings")), facts(document.settings.map(({ key, value }) => [key, value]))),
    ...(machine ? [section(s("links"), null, drawing(machine))] : [])] };
}

export function differenceSection(document: DifferenceDocument, name: string): Section {
  const changed = [...document.settings, ...document.inputs, ...document.collectives];
  // What the simulator itself took, in time and memory, is no result of the machine.
  const results = Object.entries(document.results).filter(([key, [a, b]]) => a !== null && b !== null && a !== b && !key.startsWith("wall") && key !== "peak_bytes");
  const text = (key: string, value: number): string => (key.endsWith("_ns") ? f.time(value) : key.endsWith("bytes") ? f.bytes(value) : f.count(value));
  return section(`${s("differences")}: ${told(name)}`, null,
    table(s("differences"), [{ head: s("name"), cell: ([key]) => told(key.replace(/_ns$|_/g, " ").trim()) },
      { head: s("before"), cell: ([key, [a]]) => text(key, a ?? 0), number: true }, { head: s("after"), cell: ([key, [, b]]) => text(key, b ?? 0), number: true },
      { head: s("change"), cell: ([, [a, b]]) => (a ? f.signed(((b ?? 0) - a) / a) : ""), number: true }], results),
    changed.length > 0 && table(s("settings"), [{ head: s("name"), cell: (row) => row.name }, { head: s("before"), cell: (row) => told(row.before ?? "–") }, { head: s("after"), cell: (row) => told(row.after ?? "–") }], changed));
}

const SEVERITIES: Record<string, Key> = { high: "severityHigh", medium: "severityMedium", low: "severityLow" };

function finding(one: AdviceDocument["findings"][number]): HTMLElement {
  const severity = String(one.severity ?? "").toLowerCase();
  const word = SEVERITIES[severity];
  const about = [word && s(word), one.share ? s("ofStep", { share: f.percent(one.share) }) : null].filter((text) => text).join(" · ");
  return h("li", { class: `severity-${severity}` }, h("strong", {}, told(one.title)), about !== "" && h("span", { class: "muted" }, ` ${about}`),
    (one.evidence ?? []).length > 0 && h("ul", {}, (one.evidence ?? []).map((text) => h("li", {}, typeof text === "string" ? told(text) : JSON.stringify(text)))));
}

export function adviceSection(document: AdviceDocument): Section {
  const gain = (one: AdviceDocument["suggestions"][number]): number => (one.before_ns && one.after_ns !== undefined ? (one.before_ns - one.after_ns) / one.before_ns : one.gain ?? 0);
  const made = section(s("advice"), document.summary ? f.capital(told(document.summary)) : null,
    h("h4", {}, s("findings")), document.findings.length === 0 ? h("p", {}, s("noFindings")) : h("ul", { class: "findings" }, document.findings.map(finding)),
    document.suggestions.length > 0 && [h("h4", {}, s(document.network === null ? "suggestionsPredicted" : "suggestions")), table(s("suggestions"), [
      { head: s("change"), cell: (one) => [h("strong", {}, told(one.title)), one.change ? h("code", { class: "block" }, one.change) : null] },
      { head: s("before"), cell: (one) => (one.before_ns === undefined ? "–" : f.time(one.before_ns)), number: true, sort: (one) => one.before_ns ?? 0 },
      { head: s("after"), cell: (one) => (one.after_ns === undefined ? "–" : f.time(one.after_ns)), number: true, sort: (one) => one.after_ns ?? 0 },
      { head: s("gain"), cell: (one) => h("span", { class: gain(one) > 0 ? "good" : "bad" }, f.percent(gain(one))), number: true, sort: gain }],
    document.suggestions)]);
  made.element.classList.add("advice");
  return made;
}
