// SPDX-License-Identifier: Apache-2.0
// A simulated run: the equation of its ranks, what they did, what the network carried, what they held in memory.
import type { CollectiveRow, LinkRow, MachineDocument, NetworkFigures, RankRow, RunDocument, RunPart, TimesDocument } from "./documents";
import { clear, h, type Child } from "./dom";
import { equation, type Part, type Sum } from "./equation";
import * as f from "./format";
import { drawing } from "./machine";
import type { Result } from "./result";
import { s, told, type Key } from "./strings";
import { TimelineView } from "./timeline";
import type { Timeline } from "./timeline-data";
import { besideTimes } from "./times";
import { bars, chart, facts, heatmap, section, table, type Section } from "./widgets";

const PARTS: [RunPart, Key, Key, string][] = [
  ["compute_ns", "compute", "computeHelp", "var(--compute)"],
  ["exposed_comm_ns", "exposedComm", "exposedCommHelp", "var(--comm)"],
  ["exposed_other_ns", "exposedOther", "exposedOtherHelp", "var(--memory)"],
  ["idle_ns", "idle", "idleHelp", "var(--idle)"],
];

export const views: TimelineView[] = [];

function partsOf(value: (part: RunPart) => number): Part[] {
  return PARTS.map(([key, label, help, colour]) => ({ key, label: s(label), help: s(help), ns: value(key), colour }));
}

/** Time of each name on a rank in which nothing of class compute runs (comm), or its own time (compute). */
function nodesOf(timeline: Timeline, rank: number, part: RunPart): { name: string; type: string; ns: number; count: number }[] {
  const wanted = part === "compute_ns" ? ["compute"] : part === "exposed_comm_ns" ? ["comm"] : part === "exposed_other_ns" ? ["memory", "cpu"] : [];
  const tracks = timeline.tracks.filter((track) => track.rank === rank);
  const busy: [number, number][] = [];
  const classOf = (i: number): string => timeline.types[timeline.type[i] ?? 0]?.class ?? "";
  const covers = part === "exposed_comm_ns" ? ["compute"] : part === "exposed_other_ns" ? ["compute", "comm"] : [];
  for (const track of tracks) {
    for (let i = track.from; i < track.to; i++) {
      if (covers.includes(classOf(i))) busy.push([timeline.start[i] ?? 0, timeline.finish[i] ?? 0]);
    }
  }
  busy.sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const [from, to] of busy) {
    const last = merged[merged.length - 1];
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  const covered = (from: number, to: number): number => {
    let low = 0;
    let high = merged.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((merged[middle]?.[1] ?? 0) <= from) low = middle + 1;
      else high = middle;
    }
    let sum = 0;
    for (let i = low; i < merged.length; i++) {
      const span = merged[i];
      if (!span || span[0] >= to) break;
      sum += Math.max(0, Math.min(to, span[1]) - Math.max(from, span[0]));
    }
    return sum;
  };
  const rows = new Map<string, { name: string; type: string; ns: number; count: number }>();
  for (const track of tracks) {
    for (let i = track.from; i < track.to; i++) {
      if (!wanted.includes(classOf(i))) continue;
      const from = timeline.start[i] ?? 0;
      const to = timeline.finish[i] ?? 0;
      const type = timeline.types[timeline.type[i] ?? 0]?.name ?? "";
      const name = timeline.names[timeline.name[i] ?? 0] || type;
      const row = rows.get(name) ?? { name, type, ns: 0, count: 0 };
      row.ns += to - from - covered(from, to);
      row.count++;
      rows.set(name, row);
    }
  }
  return [...rows.values()].filter((row) => row.ns > 0).sort((a, b) => b.ns - a.ns);
}

function rankProfile(document: RunDocument, part: Part): Child {
  const rows = document.per_rank;
  const key = part.key as RunPart;
  if (rows.length <= 1) return null;
  const spread = document.rank_time[key];
  const summary = facts([
    [s("least"), `${f.time(spread.min)} (${s("rank", { n: spread.min_rank })})`], [s("mean"), f.time(spread.mean)],
    [s("most"), `${f.time(spread.max)} (${s("rank", { n: spread.max_rank })})`]]);
  if (rows.length <= 24) {
    return [h("h4", {}, s("ranksOf", { part: part.label })), summary,
      bars(rows.map((row) => ({ label: s("rank", { n: row.rank }), value: row[key], text: f.time(row[key]), colour: part.colour })), spread.max || 1)];
  }
  return [summary, chart({ label: s("ranksOf", { part: part.label }), x: rows.map((row) => row.rank), xLabel: s("rankHead"), yText: f.time,
    lines: [{ label: part.label, values: rows.map((row) => row[key]), colour: part.colour.replace(/var\((.*)\)/, "$1") }] })];
}

function collectiveName(row: { type: string; bytes: number }): string {
  return `${row.type}, ${f.size(row.bytes)}`;
}

function partDetail(document: RunDocument, timeline: Timeline | null, part: Part, rank: number | null): Child {
  const spread = document.rank_time[part.key as RunPart];
  const shown = rank ?? spread.max_rank;
  const nodes = timeline ? nodesOf(timeline, shown, part.key as RunPart) : [];
  const comm = part.key === "exposed_comm_ns" && document.collectives.length > 0;
  return h("div", {}, rankProfile(document, part),
    comm && [h("h4", {}, s("collectivesOf")), bars([...document.collectives].sort((a, b) => b.total_ns - a.total_ns).slice(0, 12)
      .map((row) => ({ label: collectiveName(row), value: row.total_ns / document.ranks, text: f.time(row.total_ns / document.ranks), colour: "var(--comm)" })))],
    nodes.length > 0 && [h("h4", {}, s("nodesOf", { n: shown })), h("p", { class: "hint" }, s("nodesOfHint")),
      table(s("nodesOf", { n: shown }), [
        { head: s("name"), cell: (row) => row.name, sort: (row) => row.name }, { head: s("type"), cell: (row) => row.type },
        { head: s("occurrences"), cell: (row) => f.count(row.count), number: true, sort: (row) => row.count },
        { head: s("time"), cell: (row) => f.time(row.ns), number: true, sort: (row) => row.ns },
        { head: s("share"), cell: (row) => f.percent(row.ns / document.time_ns), number: true }], nodes)]);
}

function sumOf(document: RunDocument, timeline: Timeline | null): Sum {
  return { total: document.time_ns, parts: partsOf((key) => document.rank_time[key].mean), detail: (part) => partDetail(document, timeline, part, null) };
}

/** The equation of one rank instead of the mean. */
function equationByRank(document: RunDocument, timeline: Timeline | null): HTMLElement {
  const place = h("div");
  const select = h("select", { "aria-label": s("ofRank") }, h("option", { value: "" }, s("meanRank")));
  const interesting = new Set<number>();
  for (const [key] of PARTS) {
    interesting.add(document.rank_time[key].min_rank);
    interesting.add(document.rank_time[key].max_rank);
  }
  const rows = document.per_rank.length <= 256 ? document.per_rank : document.per_rank.filter((row) => interesting.has(row.rank));
  rows.forEach((row) => select.append(h("option", { value: row.rank }, s("rank", { n: row.rank }))));
  const show = (): void => {
    clear(place);
    const row: RankRow | undefined = select.value === "" ? undefined : document.per_rank.find((one) => one.rank === Number(select.value));
    place.append(equation(row
      ? { total: document.time_ns, parts: partsOf((key) => row[key]), detail: (part) => partDetail(document, timeline, part, row.rank) }
      : sumOf(document, timeline)));
  };
  select.addEventListener("change", show);
  show();
  return h("div", {}, document.per_rank.length > 1 && h("label", { class: "choose" }, `${s("ofRank")} `, select), place);
}

/** What the fastest link of the machine can carry, in GB/s. */
function linkRate(document: RunDocument): number {
  const wires = (document.network?.links ?? []).map((link) => link.rate_bps / 8e9);
  const dims = document.dimensions.map((dim) => dim.bandwidth_gibytes_per_s * 1.073741824);
  return Math.max(0, ...wires.slice(0, 100000), ...dims);
}

function collectives(document: RunDocument, times: TimesDocument | null): Section | null {
  if (document.collectives.length === 0) return null;
  const rate = linkRate(document);
  const rows = [...document.collectives].sort((a, b) => b.total_ns - a.total_ns);
  const several = new Map<string, CollectiveRow[]>();
  rows.filter((row) => row.bus_bandwidth_gbytes_per_s > 0).forEach((row) => {
    const key = `${row.type} × ${row.group_size}`;
    several.set(key, [...(several.get(key) ?? []), row]);
  });
  const curves = [...several].filter(([, list]) => list.length > 2);
  const sizes = [...new Set(curves.flatMap(([, list]) => list.map((row) => row.bytes)))].sort((a, b) => a - b);
  return section(s("collectives"), s("collectivesHint"),
    table(s("collectives"), [
      { head: s("type"), cell: (row) => collectiveName(row), sort: (row) => row.type },
      { head: s("groupSize"), cell: (row) => f.count(row.group_size), number: true, sort: (row) => row.group_size },
      { head: s("count"), cell: (row) => f.count(row.operations), number: true, sort: (row) => row.operations },
      { head: s("meanTime"), cell: (row) => f.time(row.mean_ns), number: true, sort: (row) => row.mean_ns },
      { head: s("range"), cell: (row) => `${f.time(row.min_ns)} – ${f.time(row.max_ns)}`, number: true },
      { head: s("algbw"), cell: (row) => (row.algorithm_bandwidth_gbytes_per_s > 0 ? f.number(row.algorithm_bandwidth_gbytes_per_s) : "–"), number: true, sort: (row) => row.algorithm_bandwidth_gbytes_per_s },
      { head: s("busbw"), cell: (row) => (row.bus_bandwidth_gbytes_per_s > 0 ? f.number(row.bus_bandwidth_gbytes_per_s) : "–"), number: true, sort: (row) => row.bus_bandwidth_gbytes_per_s },
      { head: s("ofLink"), cell: (row) => rate > 0 && row.bus_bandwidth_gbytes_per_s > 0 && h("span", { class: "meter" },
        h("span", { style: `width:${Math.min(100, (100 * row.bus_bandwidth_gbytes_per_s) / rate)}%` }), h("b", {}, f.percent(row.bus_bandwidth_gbytes_per_s / rate))) }], rows),
    curves.length > 0 && chart({ label: s("busChart"), x: sizes, logX: true, xText: f.size, xLabel: s("bytes"), yText: (value) => `${f.number(value)}`,
      lines: curves.map(([label, list], i) => ({ label, colour: `--series-${i % 6}`, values: sizes.map((size) => list.find((row) => row.bytes === size)?.bus_bandwidth_gbytes_per_s ?? null) })) }),
    times && besideTimes(document, times, rate));
}

function wires(network: NetworkFigures): Child {
  const used = network.links.filter((link) => link.bytes > 0);
  const nodes = [...new Set(used.flatMap((link) => [link.from, link.to]))].sort((a, b) => a - b);
  if (nodes.length === 0) return null;
  const place = new Map(nodes.map((node, i) => [node, i]));
  const busy = new Map<number, number>();
  const carried = new Map<number, number>();
  for (const link of used) {
    const at = (place.get(link.from) ?? 0) * nodes.length + (place.get(link.to) ?? 0);
    busy.set(at, Math.max(busy.get(at) ?? 0, link.utilisation));
    carried.set(at, (carried.get(at) ?? 0) + link.bytes);
  }
  const names = nodes.map(String);
  return [h("div", { class: "pair" }, heatmap(s("linkHeat"), names, busy, (value) => f.percent(value)), heatmap(s("trafficMatrix"), names, carried, f.bytes)),
    h("h4", {}, s("busiest")), table(s("busiest"), [
      { head: s("link"), cell: (link: LinkRow) => `${link.from} → ${link.to}` },
      { head: s("rate"), cell: (link) => `${f.number(link.rate_bps / 1e9)} Gbit/s`, number: true, sort: (link) => link.rate_bps },
      { head: s("bytes"), cell: (link) => f.bytes(link.bytes), number: true, sort: (link) => link.bytes },
      { head: s("busy"), cell: (link) => f.percent(link.utilisation), number: true, sort: (link) => link.utilisation },
      { head: s("queue"), cell: (link) => `${f.bytes(link.queue_p50_bytes)} / ${f.bytes(link.queue_p99_bytes)} / ${f.bytes(link.queue_max_bytes)}`, number: true, sort: (link) => link.queue_p99_bytes },
      { head: s("marks"), cell: (link) => f.count(link.ecn_marks), number: true, sort: (link) => link.ecn_marks },
      { head: s("pauses"), cell: (link) => f.count(link.pauses), number: true, sort: (link) => link.pauses },
      { head: s("losses"), cell: (link) => f.count(link.losses + link.drops), number: true, sort: (link) => link.losses + link.drops }],
    [...used].sort((a, b) => b.utilisation - a.utilisation), 8)];
}

function machine(document: RunDocument, drawn: MachineDocument | null): Section | null {
  const dims = document.network ? [] : document.dimensions.filter((dim) => dim.size > 1); // wires tell by themselves
  if (dims.length === 0 && !document.network) return null;
  return section(s("links"), null, drawn && drawing(drawn),
    dims.length > 0 && [h("h4", {}, s("dimensions")), table(s("dimensions"), [
      { head: s("dimension"), cell: (dim) => `${document.dimensions.indexOf(dim)}: ${dim.kind} ${dim.size}` },
      { head: f.capital(s("bandwidth")), cell: (dim) => `${f.number(dim.bandwidth_gibytes_per_s)} GiB/s`, number: true },
      { head: s("latency"), cell: (dim) => f.time(dim.latency_ns), number: true },
      { head: s("messages"), cell: (dim) => f.count(dim.messages), number: true },
      { head: s("bytes"), cell: (dim) => f.bytes(dim.bytes), number: true },
      { head: s("busy"), cell: (dim) => h("span", { class: "meter" }, h("span", { style: `width:${Math.min(100, dim.utilisation * 100)}%` }), h("b", {}, f.percent(dim.utilisation))) }], dims)],
    document.network && wires(document.network));
}

function packets(network: NetworkFigures | null): Section | null {
  if (!network) return null;
  const used = network.links.filter((link) => link.queue_max_bytes > 0).sort((a, b) => b.queue_p99_bytes - a.queue_p99_bytes).slice(0, 64);
  const marked = network.links.filter((link) => link.ecn_marks + link.pauses > 0).sort((a, b) => b.ecn_marks + b.pauses - a.ecn_marks - a.pauses).slice(0, 64);
  const categories = (links: LinkRow[]): string[] => links.map((link) => `${link.from}→${link.to}`);
  const index = (links: LinkRow[]): number[] => links.map((_, i) => i);
  const quantiles = (q: { p50: number; p95: number; p99: number; max: number }, text: (value: number) => string): string => [q.p50, q.p95, q.p99, q.max].map(text).join(" / ");
  return section(s("packets"), null, facts([
    [s("messages"), f.count(network.messages_arrived)], [s("messageTimes"), quantiles(network.message_time_ns, f.time)],
    [s("slowdown"), quantiles(network.message_slowdown, (value) => `${f.number(value)}×`)],
    [s("packets"), network.transmissions > 0 ? f.count(network.transmissions) : null], [s("marks"), f.count(network.ecn_marks)],
    [s("pauses"), f.count(network.pauses)], [s("drops"), f.count(network.drops)], [s("losses"), f.count(network.losses)], [s("timeouts"), f.count(network.timeouts)]]),
  used.length > 1 && chart({ label: s("queueChart"), x: index(used), xCategories: categories(used), xLabel: s("link"), yText: f.bytes, lines: [
    { label: "p50", colour: "--series-0", values: used.map((link) => link.queue_p50_bytes) }, { label: "p95", colour: "--series-3", values: used.map((link) => link.queue_p95_bytes) },
    { label: "p99", colour: "--series-1", values: used.map((link) => link.queue_p99_bytes) }, { label: s("most"), colour: "--series-2", values: used.map((link) => link.queue_max_bytes) }] }),
  marked.length > 1 && chart({ label: s("marksChart"), x: index(marked), xCategories: categories(marked), xLabel: s("link"), yText: f.count, lines: [
    { label: s("marks"), colour: "--series-1", values: marked.map((link) => link.ecn_marks) }, { label: s("pauses"), colour: "--series-2", values: marked.map((link) => link.pauses) }] }));
}

function memory(document: RunDocument): Section | null {
  const rows = document.memory?.per_rank.filter((row) => row.steps.length > 0) ?? [];
  const worst = [...rows].sort((a, b) => b.peak_bytes - a.peak_bytes)[0];
  if (!worst) return null;
  const shown = [...new Set([worst, ...rows.slice(0, 5)])].slice(0, 6);
  const times = [...new Set(shown.flatMap((row) => row.steps.map(([at]) => at)))].sort((a, b) => a - b);
  const held = shown.map((row) => {
    let at = 0;
    let bytes = 0;
    return times.map((when) => {
      for (let step = row.steps[at]; step && step[0] <= when; step = row.steps[++at]) bytes = step[1];
      return bytes;
    });
  });
  const capacity = document.memory?.capacity_bytes;
  return section(s("memory"), null,
    chart({ label: s("memoryOverTime"), x: times, xText: f.time, xLabel: s("time"), yText: f.bytes, lines: [
      ...shown.map((row, i) => ({ label: s("rank", { n: row.rank }), colour: `--series-${i % 6}`, values: held[i] ?? [], stepped: true })),
      ...(capacity ? [{ label: s("capacity"), colour: "--critical", values: times.map(() => capacity), dash: true }] : [])] }),
    h("h4", {}, s("holders", { n: worst.rank })),
    bars(worst.largest_at_peak.map((tensor) => ({ label: tensor.tensor, value: tensor.bytes, text: f.bytes(tensor.bytes), colour: "var(--memory)" }))));
}

export function timelineSection(timeline: Timeline, title: string): Section {
  const view = new TimelineView(timeline, title);
  views.push(view);
  const made = section(s("timeline"), s("timelineHint"), timeline.leftOut > 0 && h("p", { class: "hint" }, s("leftOut", { n: f.count(timeline.leftOut) })), view.element);
  view.draw();
  return made;
}

function criticalSection(timeline: Timeline): Section | null {
  if (timeline.critical.length === 0) return null;
  const rows = new Map<string, { name: string; type: string; kind: string; ns: number; count: number }>();
  let covered = 0;
  for (const [event, from, to] of timeline.critical) {
    const type = timeline.types[timeline.type[event] ?? 0];
    const name = timeline.names[timeline.name[event] ?? 0] || type?.name || "?";
    const row = rows.get(name) ?? { name, type: type?.name ?? "", kind: type?.class ?? "compute", ns: 0, count: 0 };
    row.ns += to - from;
    row.count++;
    covered += to - from;
    rows.set(name, row);
  }
  const list = [...rows.values()].sort((a, b) => b.ns - a.ns);
  const byKind = new Map<string, number>();
  list.forEach((row) => byKind.set(row.kind, (byKind.get(row.kind) ?? 0) + row.ns));
  const gap = Math.max(0, timeline.end - covered);
  const label: Record<string, Key> = { compute: "compute", comm: "communication", memory: "exposedOther", cpu: "exposedOther" };
  return section(s("critical"), s("criticalHint"),
    bars([...[...byKind].sort((a, b) => b[1] - a[1]).map(([kind, ns]) => ({ label: f.capital(s(label[kind] ?? "compute")), value: ns, text: `${f.time(ns)} · ${f.percent(ns / timeline.end)}`, colour: `var(--${kind})` })),
      ...(gap > 0 ? [{ label: s("gap"), value: gap, text: `${f.time(gap)} · ${f.percent(gap / timeline.end)}`, colour: "var(--idle)" }] : [])], timeline.end),
    table(s("critical"), [
      { head: s("name"), cell: (row) => row.name, sort: (row) => row.name }, { head: s("type"), cell: (row) => row.type },
      { head: s("occurrences"), cell: (row) => f.count(row.count), number: true, sort: (row) => row.count },
      { head: s("time"), cell: (row) => f.time(row.ns), number: true, sort: (row) => row.ns },
      { head: s("share"), cell: (row) => f.percent(row.ns / timeline.end), number: true }], list, 8));
}

function stall(document: RunDocument): Child {
  if (!document.stall) return null;
  return h("div", { class: "alert", role: "alert" }, h("strong", {}, `${s("warnings")}: ${document.stall.kind}`),
    h("ul", {}, document.stall.findings.map((one) => h("li", {}, one.text, one.fix !== null && h("em", {}, ` ${one.fix}`)))));
}

function untimed(document: RunDocument): Child {
  return (document.compute_nodes_without_time ?? 0) > 0 && h("p", { class: "alert", role: "note" }, h("strong", {}, s("untimed")));
}

/** What belongs to a run and stands in documents of its own. */
export interface Besides { timeline?: Timeline | null; machine?: MachineDocument; times?: TimesDocument }

export function runResult(document: RunDocument, besides: Besides, name: string, command: string | null): Result {
  const timeline = besides.timeline ?? null;
  const settings: Record<string, string> = {};
  for (const [key, value] of Object.entries(document.settings)) if (value !== null) settings[key] = String(value);
  const workload = settings["workload"]?.split("/").pop();
  const shape = document.dimensions.map((dim) => `${dim.kind} ${dim.size}`).join(" × ");
  const machineName = settings["machine"] ?? shape;
  const steps = Math.max(1, document.steps);
  const what = (): Section => section(s("what"), null, facts([
    [s("state"), told(document.state)], [s("workload"), settings["workload"] ?? null], [s("ranks"), f.count(document.ranks)],
    [s("machine"), machineName], [s("dimensions"), machineName === shape ? null : shape], [s("network"), settings["backend"] ?? null], [s("policy"), settings["policy"] ?? null],
    [s("nodes"), f.count(document.nodes)], [s("messages"), f.count(document.messages)],
    [s("optimum"), document.optimum ? s("optimumText", { time: f.time(document.optimum.ns), times: f.number(document.optimum.times, 3) }) : null]]),
  document.bound && h("p", { class: "bound" }, told(document.bound.text)));
  return {
    title: /^orrery /.test(name) ? workload ?? name : f.fileName(name), subtitle: [`${f.count(document.ranks)} ranks`, machineName, settings["backend"]].filter((word) => word).join(" · "), command, settings,
    sum: sumOf(document, timeline), figures: [[s("stepTime"), f.time(document.time_ns / steps)], ...(steps > 1 ? [[s("steps"), s("ofSteps", { n: f.count(steps), time: f.time(document.time_ns) })] as [string, string]] : []), [s("ranks"), f.count(document.ranks)],
      ...(document.optimum ? [[s("optimum"), f.time(document.optimum.ns)] as [string, string]] : [])],
    above: () => [stall(document), untimed(document), equationByRank(document, timeline)],
    sections: () => [what(), timeline && timelineSection(timeline, name), timeline && criticalSection(timeline), collectives(document, besides.times ?? null), machine(document, besides.machine ?? null), packets(document.network), memory(document)]
      .filter((one): one is Section => one !== null),
  };
}
