// SPDX-License-Identifier: Apache-2.0
// Other values for a step of the page, predicted in it: where the file has a predictor (make wasm), and only when opened.
import type { TrainDocument } from "./documents";
import { freshId, h } from "./dom";
import { catalogue } from "./live/catalogue";
import { State } from "./live/state";
import { StepTab, type Catalogue } from "./live/step";
import type { Result } from "./result";
import { s } from "./strings";

/** The step as its controls have it. Its machine is the first that has such GPUs: a document does not name it. */
function choices(document: TrainDocument, known: Catalogue): Record<string, string> {
  const machine = known.machines.find((one) => one.device === document.device && known.nodeGpus.has(one.name))?.name ?? "dgx-h100";
  const plan = document.plan ?? {};
  const chosen: Record<string, string> = { model: document.model, machine, servers: String(Math.max(1, document.gpus / (known.nodeGpus.get(machine) ?? 8))), framework: document.framework };
  for (const [name, key] of [["tp", "tp"], ["pp", "pp"], ["cp", "cp"], ["ep", "ep"], ["vpp", "vpp"], ["zero", "zero"], ["recompute", "recompute"], ["micro", "micro_batch"], ["batch", "global_batch"], ["seq", "seq"]] as const) {
    if (plan[key] !== undefined) chosen[name] = String(plan[key]);
  }
  return chosen;
}

export function whatIf(document: TrainDocument, result: Result): { element: HTMLElement; id: string; title: string } {
  const id = freshId("w");
  const title = `${s("whatIf")}: ${result.title}`;
  const body = h("div", { class: "result-body" });
  const element = h("details", { class: "result what-if", id }, h("summary", {}, h("div", { class: "headline" }, h("div", {}, h("h2", {}, title), h("p", { class: "muted" }, s("whatIfHint"))))), body);
  element.addEventListener("toggle", () => {
    if (!element.open || body.childElementCount > 0) return;
    void catalogue().then((known) => {
      const step = new StepTab(new State(choices(document, known)), known);
      step.compareWith(result);
      body.append(step.element);
      step.reload();
    });
  });
  return { element, id, title };
}
