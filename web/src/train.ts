// SPDX-License-Identifier: Apache-2.0
// A predicted training step: its parts, throughput, memory, and how far measured runs near it say it can be trusted.
import type { TrainDocument, TrainParts } from "./documents";
import { h, type Child } from "./dom";
import { equation, type Part } from "./equation";
import * as f from "./format";
import type { Result } from "./result";
import { s, told, type Key } from "./strings";
import { bars, facts, section, table, type Section } from "./widgets";

const PARTS: [keyof TrainParts, Key, Key, string][] = [
  ["forward_ns", "forward", "forwardHelp", "var(--compute)"],
  ["backward_ns", "backward", "backwardHelp", "var(--compute-2)"],
  ["exposed_tp_ns", "exposed_tp", "exposed_tpHelp", "var(--comm-0)"],
  ["exposed_cp_ns", "exposed_cp", "exposed_cpHelp", "var(--comm-1)"],
  ["exposed_ep_ns", "exposed_ep", "exposed_epHelp", "var(--comm-2)"],
  ["exposed_pp_ns", "exposed_pp", "exposed_ppHelp", "var(--comm-3)"],
  ["exposed_dp_ns", "exposed_dp", "exposed_dpHelp", "var(--comm)"],
  ["bubble_ns", "bubble", "bubbleHelp", "var(--idle)"],
  ["launch_ns", "launch", "launchHelp", "var(--cpu)"],
  ["optimizer_ns", "optimizer", "optimizerHelp", "var(--memory)"],
];

const KINDS: [string, Key, string][] = [
  ["weights", "weights", "var(--compute)"], ["gradients", "gradients", "var(--compute-2)"], ["optimizer", "optimizerStates", "var(--memory)"],
  ["activations", "activations", "var(--comm)"], ["buffers", "buffers", "var(--cpu)"], ["fragmentation", "fragmentation", "var(--idle)"],
];

export function partsOf(parts: Partial<TrainParts>): Part[] {
  return PARTS.map(([key, label, help, colour]) => ({ key, label: s(label), help: s(help), ns: parts[key] ?? 0, colour }));
}

function detail(document: TrainDocument, part: Part): Child {
  const simulated = document.simulated;
  if (!simulated) return null;
  const ns = simulated[part.key as keyof TrainParts];
  return bars([{ label: s("predicted"), value: part.ns, text: f.time(part.ns), colour: part.colour }, { label: s("simulated"), value: ns, text: f.time(ns), colour: part.colour }]);
}

function memory(document: TrainDocument): Section {
  const bytes = document.memory_bytes;
  const total = bytes["total"] ?? 0;
  const device = bytes["device"] ?? 0;
  const most = Math.max(total, device, 1);
  return section(s("memory"), null,
    h("p", {}, h("strong", {}, s("ofDevice", { used: f.bytes(total), device: f.bytes(device) })), " · ", h("span", { class: document.fits ? "good" : "bad" }, s(document.fits ? "fits" : "fitsNot"))),
    h("div", { class: "sum-bar memory-bar", "aria-hidden": "true" }, KINDS.map(([key, label, colour]) => (bytes[key] ?? 0) > 0 &&
      h("span", { style: `flex:${(bytes[key] ?? 0) / most} 1 0;background:${colour}`, title: s(label) }, (bytes[key] ?? 0) / most > 0.12 ? f.bytes(bytes[key] ?? 0) : "")),
      total < device && h("span", { class: "free", style: `flex:${(device - total) / most} 1 0` }, s("free"))),
    bars(KINDS.map(([key, label, colour]) => ({ label: s(label), value: bytes[key] ?? 0, text: f.bytes(bytes[key] ?? 0), colour })).filter((bar) => bar.value > 0)));
}

/** Errors of the nearest measured runs as dots around nought, and the band that holds two of three. */
function trust(document: TrainDocument): Section {
  const nearest = document.nearest ?? [];
  const band = document.error_percent ?? 0;
  if (nearest.length === 0) return section(s("trust"), null, h("p", {}, s("trustNone")));
  const most = Math.max(20, band, ...nearest.map((one) => Math.abs(one.error_percent))) * 1.1;
  const at = (percent: number): number => 50 + (50 * percent) / most;
  return section(s("trust"), s("trustHint"),
    h("p", {}, h("strong", {}, `${f.time(document.step_time_ns)} ± ${f.number(band, 3)} %`), " · ",
      s("trustRange", { low: f.time(document.step_time_ns * (1 - band / 100)), high: f.time(document.step_time_ns * (1 + band / 100)) })),
    h("div", { class: "errors", role: "img", "aria-label": s("trustHint") },
      nearest.map((one) => h("div", { class: "error-row" }, h("span", { class: "bar-label" }, one.id),
        h("span", { class: "error-track" }, h("i", { class: "band", style: `left:${at(-band)}%;width:${at(band) - at(-band)}%` }), h("i", { class: "zero" }),
          h("i", { class: "stem", style: `left:${Math.min(50, at(one.error_percent))}%;width:${Math.abs(at(one.error_percent) - 50)}%` }), h("i", { class: "mark", style: `left:${at(one.error_percent)}%` })),
        h("span", { class: "bar-text" }, f.signed(one.error_percent / 100))))));
}

function simulated(document: TrainDocument): Section | null {
  const run = document.simulated;
  if (!run) return null;
  const rows = PARTS.filter(([key]) => document[key] > 0 || run[key] > 0);
  return section(s("simulatedBeside"), null,
    facts([[s("machine"), run.machine], [s("network"), run.backend], [s("nodes"), f.count(run.nodes)], [s("simulated"), f.time(run.step_time_ns)]]),
    table(s("simulatedBeside"), [
      { head: s("part"), cell: ([, label]) => s(label) },
      { head: s("predicted"), cell: ([key]) => f.time(document[key]), number: true },
      { head: s("simulated"), cell: ([key]) => f.time(run[key]), number: true },
      { head: s("difference"), cell: ([key]) => f.signedTime(run[key] - document[key]), number: true }], rows));
}

export function trainResult(document: TrainDocument, command: string | null): Result {
  const settings: Record<string, string> = { model: document.model, device: document.device, gpus: String(document.gpus), framework: document.framework };
  for (const [key, value] of Object.entries(document.plan ?? {})) settings[key] = String(value);
  const plan = document.plan ? Object.entries(document.plan).map(([key, value]) => `${key.replace(/_/g, " ")} ${value}`).join(", ") : null;
  const sum = { total: document.step_time_ns, parts: partsOf(document), detail: (part: Part) => detail(document, part) };
  return {
    title: `${document.model} · ${f.count(document.gpus)} × ${document.device.toUpperCase()}`, subtitle: `${document.framework}${plan ? ` · ${plan}` : ""}`, command, settings, sum,
    figures: [[s("stepTime"), f.time(document.step_time_ns)], [s("tokensPerS"), f.number(document.tokens_per_s, 5)], ["MFU", f.percent(document.mfu)],
      [s("memory"), f.bytes(document.memory_bytes["total"] ?? 0)]],
    above: () => equation(sum),
    sections: () => [section(s("what"), null, facts([
      [s("model"), document.model], [s("parameters"), f.number(document.parameters / 1e9) + " B"], [s("gpus"), `${f.count(document.gpus)} × ${document.device}`], [s("framework"), document.framework], [s("plan"), plan],
      [s("throughput"), `${f.number(document.tokens_per_s, 6)} tokens/s, ${f.number(document.tokens_per_s_per_gpu)} ${s("perGpu")}`], ["TFLOP/s", `${f.number(document.tflops_per_gpu)} ${s("perGpu")}`],
      ["MFU / HFU", `${f.percent(document.mfu)} / ${f.percent(document.hfu)}`], [s("boundBy"), told(document.bound_by)],
      [s("energy"), document.watts_per_gpu ? `${f.number(document.watts_per_gpu)} W ${s("perGpu")}, ${f.number((document.joules_per_step ?? 0) / 3.6e6)} kWh ${s("perStep")}` : null]])),
    memory(document), trust(document), simulated(document)].filter((one): one is Section => one !== null),
  };
}
