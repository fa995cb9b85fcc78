// SPDX-License-Identifier: Apache-2.0
// The machine of a run, where orrery laid it out: boxes, frames around what belongs together, and lines as hot as the
// busiest link behind them. What is pointed at, or reached by keys, is told below the drawing.
import type { MachineDocument, MachineLine } from "./documents";
import { clear, h, put, svg } from "./dom";
import * as f from "./format";
import { s, told } from "./strings";

const HEAD = 62; // what the layout leaves free above for a title, which the page has elsewhere
const NAMES = ["gpu", "switch", "nvswitch"] as const;
const COUNTED = ["gpusCounted", "switchesCounted", "nvswitchesCounted"] as const;

/** The scale ends at the first round share that no link is above. */
function scaleOf(machine: MachineDocument): number {
  const most = Math.max(0, ...machine.lines.map((line) => line.busy_most));
  return [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find((step) => most <= step) ?? 1;
}

function widthOf(bps: number): number {
  return bps >= 2e12 ? 4.5 : bps >= 4e11 ? 3 : 2;
}

function lineText(line: MachineLine, wired: boolean): string {
  const rate = `${f.number(line.rate_bps / 1e9)} Gbit/s${line.delay_ns === undefined ? "" : `, ${f.time(line.delay_ns)}`}`;
  const busy = line.links > 1 ? s("busyOfMany", { mean: f.percent(line.busy_mean), most: f.percent(line.busy_most), from: line.from, to: line.to })
    : wired ? s("busyOfOne", { most: f.percent(line.busy_most), from: line.from, to: line.to }) : s("busyOfDimension", { most: f.percent(line.busy_mean) });
  const what = line.links > 1 ? s(line.alike ? "linksAlike" : "linksUnlike", { n: f.count(line.links), rate }) : `${line.from} – ${line.to}: ${rate}`;
  return `${what}; ${busy}; ${f.bytes(line.bytes)}`;
}

function boxText([first, count, , , kind]: MachineDocument["boxes"][number]): string {
  const name = s(NAMES[kind] ?? "gpu");
  return count > 1 ? s("boxOfMany", { name, first, n: f.count(count - 1) }) : `${name} ${first}`;
}

function legend(machine: MachineDocument, scale: number): HTMLElement {
  const counts = [machine.gpus, machine.switches, machine.nvswitches];
  return h("figcaption", {}, s(machine.wired ? "drawing" : "drawingDims"), h("span", { class: "machine-legend" },
    counts.map((count, kind) => count > 0 && h("span", {}, h("i", { class: `machine-key kind-${kind}` }), s(COUNTED[kind] ?? "gpusCounted", { n: f.count(count) }))),
    h("span", {}, s("busy"), " ", f.percent(0), h("i", { class: "machine-scale" }), f.percent(scale))));
}

export function drawing(machine: MachineDocument): HTMLElement {
  const scale = scaleOf(machine);
  const detail = h("p", { class: "tl-detail", "aria-live": "polite" }, s("drawingHint"));
  const tell = (element: SVGElement, text: string): SVGElement => {
    const show = (): void => {
      clear(detail);
      detail.append(text);
    };
    element.addEventListener("pointerenter", show);
    element.addEventListener("click", show);
    put(element, svg("title", {}, text));
    return element;
  };
  const height = machine.height - HEAD;
  const picture = svg("svg", { viewBox: `0 ${HEAD} ${machine.width} ${height}`, role: "img", "aria-label": s("drawing"), class: "machine", style: `max-width:${machine.width * 1.5}px;min-width:${Math.min(machine.width * 0.9, 900)}px` });
  for (const frame of machine.frames) put(picture, svg("rect", { class: "machine-frame", x: frame.x, y: frame.y, width: frame.width, height: frame.height, rx: 6 }));
  // The hottest on top; colours by the theme, so that only shares stand here.
  for (const line of [...machine.lines].sort((a, b) => a.busy_most - b.busy_most)) {
    const from = machine.boxes[line.a];
    const to = machine.boxes[line.b];
    if (!from || !to) continue;
    const [dx, dy] = [to[2] - from[2], to[3] - from[3]];
    const way = line.mid_x !== undefined && line.mid_y !== undefined ? `q${line.mid_x} ${line.mid_y} ${dx} ${dy}` : `l${dx} ${dy}`;
    const share = Math.min(1, line.busy_most / scale);
    put(picture, tell(svg("g", { class: "machine-line" }, svg("path", { class: "machine-hit", d: `M${from[2]} ${from[3]}${way}` }),
      svg("path", { class: line.bytes === 0 ? "unused" : share > 0.5 ? "hot" : "warm", d: `M${from[2]} ${from[3]}${way}`, "stroke-width": widthOf(line.rate_bps), style: `--heat:${((share > 0.5 ? share - 0.5 : share) * 200).toFixed(1)}%` })), lineText(line, machine.wired)));
  }
  for (const box of machine.boxes) {
    const [first, count, x, y, kind] = box;
    const width = count > 9999 ? 52 : count > 1 || kind > 0 ? 40 : 28;
    put(picture, tell(svg("g", {}, svg("rect", { class: `kind-${kind}${count > 1 ? " several" : ""}`, x: x - width / 2, y: y - 10, width, height: 20, rx: 4 }),
      svg("text", { x, y: y + 4 }, count > 1 ? `+${count}` : String(first))), boxText(box)));
  }
  for (const frame of machine.frames) put(picture, svg("text", { class: "machine-words", x: frame.x + 8, y: frame.y + 14 }, told(frame.label)));
  for (const word of machine.words) put(picture, svg("text", { class: "machine-words", x: word.x, y: word.y }, told(word.text)));
  return h("figure", {}, legend(machine, scale), h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": s("drawing") }, picture), detail);
}
