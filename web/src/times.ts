// SPDX-License-Identifier: Apache-2.0
// The collectives of a run beside what NCCL or RCCL takes for them on such a machine and what was measured there.
import type { CollectiveRow, RunDocument, TimesDocument, TimesRow, TimesSeries } from "./documents";
import { h, type Child } from "./dom";
import * as f from "./format";
import { s } from "./strings";
import { chart, table } from "./widgets";

/** As nccl-tests counts: of an all-gather what all ranks get. */
function sizeOf(row: CollectiveRow): number {
  return row.type === "all-gather" ? row.bytes * row.group_size : row.bytes;
}

/** The measured time as bus bandwidth: the factor between both is the one of the predicted row. */
function measured(row: TimesRow): number | null {
  return row.measured_us ? (row.busbw_GBps * row.us) / row.measured_us : null;
}

function seriesChart(document: RunDocument, machine: string, series: TimesSeries, rate: number): HTMLElement {
  const simulated = document.collectives.filter((row) => row.type === series.all.op && row.group_size === series.ranks && row.bytes > 0);
  const sizes = simulated.map(sizeOf);
  const library = [...series.all.times, ...series.own.flatMap((one) => one.times)]
    .filter((row) => row.bytes >= Math.min(65536, ...sizes) && row.bytes <= Math.max(2 ** 30, ...sizes.map((size) => size * 2)));
  const at = new Map(library.map((row) => [row.bytes, row]));
  const x = [...new Set([...at.keys(), ...sizes])].sort((a, b) => a - b);
  return chart({ label: s("besideChart", { op: series.all.op, n: f.count(series.ranks), machine }), x, logX: true, xText: f.size, xLabel: s("messageSize"), yText: (value) => f.number(value), lines: [
    { label: s("asLibrary"), colour: "--series-0", values: x.map((size) => at.get(size)?.busbw_GBps ?? null) },
    { label: s("measured"), colour: "--series-2", points: true, values: x.map((size) => { const row = at.get(size); return row ? measured(row) : null; }) },
    { label: s("simulated"), colour: "--critical", points: true, values: x.map((size) => simulated.find((row) => sizeOf(row) === size)?.bus_bandwidth_gbytes_per_s ?? null) },
    ...(rate > 0 ? [{ label: s("ofMachine"), colour: "--muted", dash: true, values: x.map(() => rate) }] : [])] });
}

export function besideTimes(document: RunDocument, times: TimesDocument, rate: number): Child {
  const rows = times.series.flatMap((series) => series.own.flatMap((one) => one.times.map((row) => ({
    row, series, run: document.collectives.find((own) => own.type === series.all.op && own.group_size === series.ranks && sizeOf(own) === row.bytes) }))));
  return [h("h4", {}, s("beside")), h("p", { class: "hint" }, s("besideHint")), times.series.map((series) => seriesChart(document, times.machine, series, rate)),
    table(s("beside"), [
      { head: s("type"), cell: (one) => `${one.series.all.op}, ${f.size(one.row.bytes)}`, sort: (one) => one.series.all.op },
      { head: s("groupSize"), cell: (one) => f.count(one.series.ranks), number: true, sort: (one) => one.series.ranks },
      { head: s("simulated"), cell: (one) => (one.run ? f.time(one.run.mean_ns) : "–"), number: true, sort: (one) => one.run?.mean_ns ?? 0 },
      { head: s("asLibrary"), cell: (one) => `${f.time(one.row.us * 1000)} (${one.row.algorithm} ${one.row.protocol})`, number: true, sort: (one) => one.row.us },
      { head: s("measured"), cell: (one) => (one.row.measured_us ? f.time(one.row.measured_us * 1000) : "–"), number: true, sort: (one) => one.row.measured_us ?? 0 },
      { head: s("source"), cell: (one) => one.row.source ?? "–" }], rows)];
}
