// SPDX-License-Identifier: Apache-2.0
// What one drags and chooses. Every control says its value beside it, and is reached by keys as browsers do it.
import { freshId, h } from "../dom";
import type { State } from "./state";

export interface Control { element: HTMLElement; show: (shown: boolean) => void; reload: () => void }

interface Common { state: State; name: string; label: string; changed: () => void }

/** A slider over a list of values: `steps` is asked again whenever it may have changed. */
export function slider(options: Common & { steps: () => number[]; fallback: () => number; text: (value: number) => string; note?: string }): Control & { value: () => number } {
  const id = freshId("c");
  const input = h("input", { type: "range", id, min: 0, step: 1, "data-name": options.name });
  const output = h("output", { for: id });
  const row = h("div", { class: "control" }, h("label", { for: id }, options.label, options.note !== undefined && h("small", {}, ` ${options.note}`)), output, input);
  const value = (): number => {
    const steps = options.steps();
    return steps[Math.min(Number(input.value), steps.length - 1)] ?? options.fallback();
  };
  const say = (): void => {
    const text = options.text(value());
    output.textContent = text;
    input.setAttribute("aria-valuetext", text);
  };
  const reload = (): void => {
    const steps = options.steps();
    const wanted = options.state.number(options.name, options.fallback());
    let nearest = 0;
    steps.forEach((step, i) => {
      if (Math.abs(Math.log((step || 0.5) / (wanted || 0.5))) < Math.abs(Math.log((steps[nearest] || 0.5) / (wanted || 0.5)))) nearest = i;
    });
    input.max = String(steps.length - 1);
    input.value = String(nearest);
    say();
  };
  input.addEventListener("input", () => {
    options.state.set(options.name, value(), options.fallback());
    say();
    options.changed();
  });
  reload();
  return { element: row, value, reload, show: (shown) => { row.hidden = !shown; } };
}

export function chooser(options: Common & { choices: () => [string, string][]; fallback: string }): Control & { value: () => string } {
  const id = freshId("c");
  const select = h("select", { id, "data-name": options.name });
  const row = h("div", { class: "control choose-control" }, h("label", { for: id }, options.label), select);
  const reload = (): void => {
    select.replaceChildren(...options.choices().map(([value, text]) => h("option", { value }, text)));
    select.value = options.state.get(options.name, options.fallback);
    if (select.selectedIndex < 0) select.selectedIndex = 0;
  };
  select.addEventListener("change", () => {
    options.state.set(options.name, select.value, options.fallback);
    options.changed();
  });
  reload();
  return { element: row, value: () => select.value, reload, show: (shown) => { row.hidden = !shown; } };
}

export function powers(least: number, most: number): number[] {
  const list: number[] = [];
  for (let value = least; value <= most; value *= 2) list.push(value);
  return list;
}
