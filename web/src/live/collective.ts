// SPDX-License-Identifier: Apache-2.0
// One collective on a machine while one drags: simulated, and where the machine is a preset beside what NCCL or RCCL takes.
import type { RunDocument } from "../documents";
import { clear, h } from "../dom";
import * as f from "../format";
import { runResult } from "../run";
import { s } from "../strings";
import { chart, section } from "../widgets";
import { api, Newest, type Asked, type CollectiveTimes } from "./api";
import { chooser, powers, slider, type Control } from "./controls";
import { Shown } from "./show";
import type { State } from "./state";
import type { Catalogue } from "./step";

const GRIDS = ["ring", "torus2d", "torus3d", "mesh2d", "switch", "fc", "fattree"];
const TYPES = ["all-reduce", "all-gather", "reduce-scatter", "all-to-all"];

export class CollectiveTab {
  readonly element: HTMLElement;
  private readonly shown = new Shown();
  private readonly library = h("div", {});
  private readonly controls: Control[];
  private readonly newest: Newest<Asked, RunDocument>;
  private readonly times: Newest<Asked, CollectiveTimes>;
  private readonly machine: Control & { value: () => string };
  private readonly type: Control & { value: () => string };
  private readonly backend: Control & { value: () => string };
  private readonly size: Control & { value: () => number };
  private readonly ranks: Control & { value: () => number };
  private readonly rate: Control & { value: () => number };
  private readonly latency: Control & { value: () => number };

  constructor(private readonly state: State, private readonly catalogue: Catalogue) {
    const changed = (): void => this.ask();
    const machines = [...GRIDS.filter((name) => catalogue.kinds.some((one) => one.name === name)), ...catalogue.machines.filter((one) => catalogue.nodeGpus.has(one.name)).map((one) => one.name)];
    const about = new Map([...catalogue.kinds, ...catalogue.machines].map((one) => [one.name, one.summary]));
    this.machine = chooser({ state, name: "on", label: s("machine"), fallback: "torus3d", changed: () => this.reload(), choices: () => machines.map((name) => [name, `${name} · ${about.get(name) ?? ""}`]) });
    this.type = chooser({ state, name: "type", label: s("operation"), fallback: "all-reduce", changed, choices: () => TYPES.map((one) => [one, one]) });
    this.backend = chooser({ state, name: "backend", label: s("network"), fallback: "unaware", changed, choices: () => [["unaware", s("unaware")], ["aware", s("aware")], ["flow", s("flow")]] });
    this.ranks = slider({ state, name: "ranks", label: s("gpus"), steps: () => powers(this.node() > 1 ? this.node() : 4, 4096), fallback: () => 1024, text: (value) => f.count(value), changed });
    this.size = slider({ state, name: "size", label: s("messageSize"), steps: () => powers(1024, 2 ** 34), fallback: () => 2 ** 26, text: (value) => f.size(value), changed });
    this.rate = slider({ state, name: "bw", label: s("linkRate"), steps: () => [10, 25, 50, 100, 200, 300, 400, 600, 800, 1200, 1600, 2400, 3600], fallback: () => 400, text: (value) => `${value} Gb/s`, changed });
    this.latency = slider({ state, name: "lat", label: s("latency"), steps: () => [50, 100, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 10000], fallback: () => 500, text: (value) => f.time(value), changed });
    this.controls = [this.machine, this.type, this.backend, this.ranks, this.size, this.rate, this.latency];
    this.newest = new Newest((asked) => api.run(asked), (document, ms) => this.show(document, ms), (error) => this.shown.refuse(error.message));
    this.times = new Newest((asked) => api.collective(asked), (times) => this.drawTimes(times), () => clear(this.library));
    this.element = h("div", { class: "live" },
      h("form", { class: "card live-controls", "aria-label": s("choices"), onsubmit: (event: Event) => event.preventDefault() }, this.machine.element, this.type.element, this.ranks.element, this.size.element,
        this.rate.element, this.latency.element, this.backend.element),
      h("div", { class: "live-side" }, this.shown.element, this.library));
  }

  reload(): void {
    this.controls.forEach((one) => one.reload());
    this.ask();
  }

  /** GPUs of a server; 1: the machine is a grid of any size. */
  private node(): number {
    return this.catalogue.nodeGpus.get(this.state.get("on", "torus3d")) ?? 1;
  }

  private asked(): Asked {
    const asked: Asked = { type: this.type.value(), bytes: String(this.size.value()), backend: this.backend.value() };
    if (this.node() > 1) return { ...asked, machine: `${this.machine.value()}:${Math.max(1, this.ranks.value() / this.node())}` };
    return { ...asked, machine: this.machine.value(), ranks: String(this.ranks.value()), bandwidth: `${this.rate.value()}Gbps`, latency: `${this.latency.value()}ns` };
  }

  ask(): void {
    const grid = this.node() === 1;
    this.rate.show(grid);
    this.latency.show(grid);
    this.newest.put(this.asked());
    if (grid) clear(this.library);
    else this.times.put({ machine: `${this.machine.value()}:${Math.max(1, this.ranks.value() / this.node())}`, op: this.type.value() });
  }

  private show(document: RunDocument, ms: number): void {
    const result = runResult(document, {}, this.type.value(), null);
    const row = document.collectives[0];
    result.title = `${this.type.value()} · ${f.size(this.size.value())} · ${f.count(document.ranks)} GPU`;
    result.figures = [[s("time"), f.time(document.time_ns)], ...(row ? [[s("busbw"), f.number(row.bus_bandwidth_gbytes_per_s)] as [string, string], [s("algbw"), f.number(row.algorithm_bandwidth_gbytes_per_s)] as [string, string]] : []), [s("messages"), f.count(document.messages)]];
    delete result.above;
    this.shown.show(result, ms);
  }

  private drawTimes(times: CollectiveTimes): void {
    clear(this.library);
    const rows = times.times.filter((row) => row.bytes >= 1024);
    const size = this.size.value();
    const at = rows.find((row) => row.bytes === size);
    this.library.append(section(s("asLibrary"), at ? s("asLibraryAt", { size: f.size(size), time: f.time(at.us * 1000), busbw: f.number(at.busbw_GBps), algorithm: `${at.algorithm} ${at.protocol}` }) : null,
      chart({ label: s("busChart"), x: rows.map((row) => row.bytes), logX: true, xText: f.size, xLabel: s("messageSize"), yText: (value) => f.number(value), height: 220,
        lines: [{ label: s("busbw"), colour: "--series-1", values: rows.map((row) => row.busbw_GBps) }, { label: s("now"), colour: "--critical", points: true, values: rows.map((row) => (row.bytes === size ? row.busbw_GBps : null)) }] })).element);
  }
}
