// SPDX-License-Identifier: Apache-2.0
// A result drawn in place of the one before: the headline's figures, the sum, the sections of the report.
import { clear, h, type Child } from "../dom";
import type { Result } from "../result";
import { s } from "../strings";
import { command, forgetCharts, section } from "../widgets";

export class Shown {
  readonly element = h("div", { class: "live-result" });
  private readonly head = h("div", { class: "card live-head" });
  private readonly error = h("p", { class: "alert", role: "alert", hidden: true });
  private readonly body = h("div", {});
  constructor() {
    this.element.append(this.error, this.head, this.body);
    this.head.hidden = true;
  }
  refuse(text: string): void {
    this.error.textContent = text;
    this.error.hidden = false;
    this.element.classList.add("stale");
  }
  show(result: Result, ms: number | null, ...more: Child[]): void {
    this.error.hidden = true;
    this.head.hidden = false;
    this.element.classList.remove("stale");
    clear(this.head);
    clear(this.body);
    forgetCharts();
    this.head.append(h("div", { class: "headline" }, h("div", {}, h("h2", {}, result.title), h("p", { class: "muted" }, result.subtitle)),
      h("div", { class: "figures" }, result.figures.map(([label, value], i) => h("div", { class: i === 0 && "first" }, h("span", {}, label), h("b", {}, value))))));
    if (result.above) this.head.append(...[result.above()].flat().filter((one): one is HTMLElement => one instanceof HTMLElement));
    if (ms !== null) this.head.append(h("p", { class: "muted answered" }, s("answered", { ms: ms < 10 ? ms.toFixed(1) : ms.toFixed(0) })));
    this.body.append(h("div", {}, ...more.flat().filter((one): one is HTMLElement => one instanceof HTMLElement)), ...result.sections().map((one) => one.element));
    if (result.command !== null) this.body.append(section(s("repeat"), null, command(result.command)).element);
  }
}
