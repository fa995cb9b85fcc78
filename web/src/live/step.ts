// SPDX-License-Identifier: Apache-2.0
// A training step while one drags: model, machine and how the one is divided over the other.
import { compareSection } from "../compare";
import type { TrainDocument } from "../documents";
import { clear, h } from "../dom";
import * as f from "../format";
import type { Result } from "../result";
import { s } from "../strings";
import { trainResult } from "../train";
import { chart, section } from "../widgets";
import { api, Newest, type Asked, type Machine, type Model } from "./api";
import { chooser, powers, slider, type Control } from "./controls";
import { Shown } from "./show";
import type { State } from "./state";

export interface Catalogue { models: Model[]; machines: Machine[]; kinds: Machine[]; frameworks: string[]; nodeGpus: Map<string, number> }

const RATES = [0, 25, 50, 100, 200, 400, 600, 800, 1200, 1600, 3200];

export class StepTab {
  readonly element: HTMLElement;
  private readonly shown = new Shown();
  private readonly scaling = h("div", {});
  private readonly pinned = h("div", {});
  private readonly controls: Control[] = [];
  private readonly newest: Newest<Asked, TrainDocument>;
  private readonly sliders: Record<"servers" | "rate" | "tp" | "pp" | "cp" | "ep" | "vpp" | "micro" | "batch" | "seq", Control & { value: () => number }>;
  private readonly choices: Record<"model" | "machine" | "framework" | "recompute" | "zero" | "dtype", Control & { value: () => string }>;
  private kept: Result | null = null;
  private last: Result | null = null;
  private later = 0;

  constructor(private readonly state: State, private readonly catalogue: Catalogue) {
    const changed = (): void => this.ask();
    const models = catalogue.models.filter((model) => model.layers > 0);
    this.choices = {
      model: chooser({ state, name: "model", label: s("model"), fallback: "llama3-70b", changed, choices: () => models.map((one) => [one.name, `${one.name} · ${f.number(one.parameters / 1e9, 3)} B`]) }),
      machine: chooser({ state, name: "machine", label: s("machine"), fallback: "dgx-h100", changed: () => this.reload(), choices: () => catalogue.machines.filter((one) => one.device !== "" && catalogue.nodeGpus.has(one.name)).map((one) => [one.name, `${one.name} · ${one.summary}`]) }),
      framework: chooser({ state, name: "framework", label: s("framework"), fallback: "", changed, choices: () => [["", s("usual")], ...catalogue.frameworks.map((one): [string, string] => [one, one])] }),
      recompute: chooser({ state, name: "recompute", label: s("recompute"), fallback: "none", changed, choices: () => ["none", "selective", "full"].map((one) => [one, one]) }),
      zero: chooser({ state, name: "zero", label: "ZeRO", fallback: "1", changed, choices: () => ["0", "1", "2", "3"].map((one) => [one, one]) }),
      dtype: chooser({ state, name: "dtype", label: s("precision"), fallback: "bf16", changed, choices: () => ["bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32"].map((one) => [one, one]) }),
    };
    const degree = (name: string, label: string, most: number, fallback = 1): Control & { value: () => number } =>
      slider({ state, name, label, steps: () => powers(1, most), fallback: () => fallback, text: (value) => String(value), changed });
    this.sliders = {
      servers: slider({ state, name: "servers", label: s("gpus"), steps: () => powers(1, Math.max(2, 2 ** Math.floor(Math.log2(16384 / this.nodeGpus())))), fallback: () => 8, text: (value) => f.count(value * this.nodeGpus()), changed }),
      rate: slider({ state, name: "rate", label: s("nicRate"), steps: () => RATES, fallback: () => 0, text: (value) => (value === 0 ? s("itsOwn") : `${value} Gb/s`), changed }),
      tp: degree("tp", s("tp"), 64, 8), pp: degree("pp", s("pp"), 64, 4), cp: degree("cp", s("cp"), 32), ep: degree("ep", s("ep"), 256), vpp: degree("vpp", s("vpp"), 16),
      micro: slider({ state, name: "micro", label: s("microBatch"), steps: () => [1, 2, 4, 8, 16, 32], fallback: () => 1, text: (value) => String(value), changed }),
      batch: slider({ state, name: "batch", label: s("globalBatch"), steps: () => powers(8, 32768), fallback: () => 512, text: (value) => f.count(value), changed }),
      seq: slider({ state, name: "seq", label: s("sequence"), steps: () => [0, ...powers(1024, 131072)], fallback: () => 0, text: (value) => (value === 0 ? s("itsOwn") : f.count(value)), changed }),
    };
    this.controls = [...Object.values(this.sliders), ...Object.values(this.choices)];
    this.newest = new Newest((asked) => api.train(asked), (document, ms) => this.show(document, ms), (error) => this.shown.refuse(error.message));
    const { model, machine, framework, recompute, zero, dtype } = this.choices;
    const { servers, rate, tp, pp, cp, ep, vpp, micro, batch, seq } = this.sliders;
    const pin = h("button", { type: "button" }, s("pin"));
    pin.addEventListener("click", () => {
      this.kept = this.last;
      this.drawPinned();
    });
    const keep = h("button", { type: "button" }, s("keep"));
    keep.addEventListener("click", () => window.open(`/api/report?${new URLSearchParams({ ...this.asked(), lang: document.documentElement.lang }).toString()}`, "_blank", "noopener"));
    this.element = h("div", { class: "live" },
      h("form", { class: "card live-controls", "aria-label": s("choices"), onsubmit: (event: Event) => event.preventDefault() },
        model.element, machine.element, servers.element, rate.element,
        h("h3", {}, s("parallelism")), tp.element, pp.element, vpp.element, cp.element, ep.element, zero.element,
        h("h3", {}, s("batches")), micro.element, batch.element, seq.element,
        h("h3", {}, s("howRun")), framework.element, recompute.element, dtype.element,
        h("div", { class: "live-buttons" }, pin, !window.orreryAlone && keep)),
      h("div", { class: "live-side" }, this.shown.element));
  }

  /** What later steps are compared with. */
  compareWith(result: Result): void {
    this.kept = result;
  }

  reload(): void {
    this.controls.forEach((one) => one.reload());
    this.ask();
  }

  private nodeGpus(): number {
    return this.catalogue.nodeGpus.get(this.state.get("machine", "dgx-h100")) ?? 8;
  }

  /** As orrery train takes it; `servers` in place of those chosen. */
  asked(servers = this.sliders.servers.value()): Asked {
    const model = this.catalogue.models.find((one) => one.name === this.choices.model.value());
    const { rate, tp, pp, cp, ep, vpp, micro, batch, seq } = this.sliders;
    const line = `${this.choices.machine.value()}:${servers}${rate.value() > 0 ? ` > rail:${rate.value()}Gbps` : ""}`;
    const asked: Asked = { model: this.choices.model.value(), machine: line, gpus: String(servers * this.nodeGpus()), tp: String(tp.value()), pp: String(pp.value()), "micro-batch": String(micro.value()), "global-batch": String(batch.value()), zero: this.choices.zero.value(), recompute: this.choices.recompute.value(), dtype: this.choices.dtype.value() };
    if (tp.value() > 1) asked["sp"] = "true";
    if (cp.value() > 1) asked["cp"] = String(cp.value());
    if (model && model.experts > 0 && ep.value() > 1) asked["ep"] = String(ep.value());
    if (pp.value() > 1 && vpp.value() > 1) {
      asked["vpp"] = String(vpp.value());
      asked["schedule"] = "interleaved";
    }
    if (seq.value() > 0) asked["seq"] = String(seq.value());
    if (this.choices.framework.value() !== "") asked["framework"] = this.choices.framework.value();
    return asked;
  }

  command(): string {
    return `orrery train ${Object.entries(this.asked()).map(([name, value]) => (value === "true" ? `--${name}` : `--${name} ${/[^\w.:-]/.test(value) ? `'${value}'` : value}`)).join(" ")}`;
  }

  ask(): void {
    const model = this.catalogue.models.find((one) => one.name === this.choices.model.value());
    this.sliders.ep.show((model?.experts ?? 0) > 0);
    this.sliders.vpp.show(this.sliders.pp.value() > 1);
    this.newest.put(this.asked());
    window.clearTimeout(this.later);
    this.later = window.setTimeout(() => void this.scale(), 350);
  }

  private show(document: TrainDocument, ms: number): void {
    this.last = trainResult(document, this.command());
    const memory = document.memory_bytes["device"] ?? 0;
    this.last.figures = [...this.last.figures.slice(0, 3), [document.fits ? s("memory") : s("fitsNot"), `${f.bytes(document.memory_bytes["total"] ?? 0)} / ${f.bytes(memory)}`]];
    this.shown.show(this.last, ms, this.pinned, this.scaling);
    this.drawPinned();
  }

  private drawPinned(): void {
    clear(this.pinned);
    const compared = this.kept && this.last && this.kept !== this.last ? compareSection([this.kept, this.last]) : null;
    if (compared) this.pinned.append(compared.element);
  }

  private divides(servers: number): boolean {
    const { tp, pp, cp, ep, micro, batch } = this.sliders;
    const dp = (servers * this.nodeGpus()) / (tp.value() * pp.value() * cp.value());
    const model = this.catalogue.models.find((one) => one.name === this.choices.model.value());
    return Number.isInteger(dp) && batch.value() % (dp * micro.value()) === 0 && ((model?.experts ?? 0) === 0 || (dp * cp.value()) % ep.value() === 0);
  }

  /** The same job on fewer and more servers: how well it scales. What cannot be divided so is left out. */
  private async scale(): Promise<void> {
    const begun = this.later;
    const now = this.sliders.servers.value();
    const most = 16384 / this.nodeGpus();
    const list = [now / 8, now / 4, now / 2, now, now * 2, now * 4, now * 8].filter((value) => value >= 1 && value <= most && this.divides(value));
    const answers = await Promise.all(list.map((servers) => api.train(this.asked(servers)).catch(() => null)));
    if (begun !== this.later) return;
    clear(this.scaling);
    const points = list.map((servers, i) => ({ gpus: servers * this.nodeGpus(), answer: answers[i] ?? null })).filter((one) => one.answer !== null);
    const first = points[0]?.answer;
    if (points.length < 2 || !first) return;
    const per = first.tokens_per_s_per_gpu;
    this.scaling.append(section(s("scaling"), s("scalingHint"), chart({ label: s("scalingChart"), x: points.map((one) => one.gpus), logX: true, xLabel: s("gpus"), yText: (value) => f.number(value, 4), height: 220,
      lines: [{ label: s("tokensPerS"), colour: "--series-0", values: points.map((one) => one.answer?.tokens_per_s ?? null) },
        { label: s("ideal"), colour: "--idle", dash: true, values: points.map((one) => per * one.gpus) }] })).element);
  }
}
