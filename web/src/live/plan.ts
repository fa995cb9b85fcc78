// SPDX-License-Identifier: Apache-2.0
// A search for the best plan of the step that is chosen: begun, followed, stopped; each plan found can be looked at.
import type { PlanDocument } from "../documents";
import { clear, h } from "../dom";
import * as f from "../format";
import { planResult } from "../lists";
import { s } from "../strings";
import { api, type Job } from "./api";
import { chooser, type Control } from "./controls";
import { Shown } from "./show";
import type { State } from "./state";
import type { StepTab } from "./step";

export class PlanTab {
  readonly element: HTMLElement;
  private readonly shown = new Shown();
  private readonly progress = h("progress", { max: 1, value: 0, "aria-label": s("searching") });
  private readonly line = h("p", { class: "muted", "aria-live": "polite" });
  private readonly job = h("p", {});
  private readonly start = h("button", { type: "button", class: "primary" }, s("search2"));
  private readonly stop = h("button", { type: "button", hidden: true }, s("stop"));
  private readonly objective: Control & { value: () => string };
  private id = 0;

  constructor(private readonly state: State, private readonly step: StepTab, private readonly look: () => void) {
    this.objective = chooser({ state, name: "objective", label: s("objective"), fallback: "step", changed: () => undefined, choices: () => [["step", s("stepTime")], ["tokens-per-joule", s("energy")], ["memory", s("memory")]] });
    this.progress.hidden = true;
    this.start.addEventListener("click", () => void this.begin());
    this.stop.addEventListener("click", () => void api.stop(this.id));
    this.element = h("div", { class: "live" },
      h("form", { class: "card live-controls", "aria-label": s("choices"), onsubmit: (event: Event) => event.preventDefault() }, h("p", { class: "hint" }, s("planLead")), this.job, this.objective.element,
        h("div", { class: "live-buttons" }, this.start, this.stop), this.progress, this.line),
      h("div", { class: "live-side" }, this.shown.element));
  }

  private asked(): Record<string, string> {
    const { model, machine, gpus, "global-batch": batch, seq, framework, dtype } = this.step.asked();
    return Object.fromEntries(Object.entries({ model, machine, gpus, "global-batch": batch, seq, framework, dtype, objective: this.objective.value() }).filter((one): one is [string, string] => one[1] !== undefined));
  }

  reload(): void {
    this.objective.reload();
    const asked = this.asked();
    this.job.textContent = `${asked["model"] ?? ""} · ${asked["machine"] ?? ""} · ${f.count(Number(asked["gpus"]))} GPU · ${s("globalBatch")} ${f.count(Number(asked["global-batch"]))}`;
  }

  private async begin(): Promise<void> {
    try {
      this.follow(await api.plan(this.asked()));
    } catch (error) {
      this.shown.refuse((error as Error).message);
    }
  }

  private follow(job: Job): void {
    this.id = job.id;
    this.start.disabled = true;
    this.stop.hidden = false;
    this.progress.hidden = false;
    this.progress.removeAttribute("value");
    const events = new EventSource(`/api/jobs/${job.id}/events`);
    const told = (event: MessageEvent<string>): void => {
      const now = JSON.parse(event.data) as Job;
      if (now.plans > 0) this.progress.value = now.predicted / now.plans;
      this.line.textContent = now.state === "queued" ? s("queued") : s("predictedOf", { predicted: f.count(now.predicted), plans: f.count(now.plans) });
    };
    events.addEventListener("progress", told);
    events.addEventListener("end", (event: MessageEvent<string>) => {
      told(event);
      events.close();
      void this.ended(job.id);
    });
    events.addEventListener("error", () => {
      if (events.readyState === EventSource.CLOSED) void this.ended(job.id);
    });
  }

  private async ended(id: number): Promise<void> {
    this.start.disabled = false;
    this.stop.hidden = true;
    this.progress.hidden = true;
    try {
      const [job, document] = [await api.job(id), await api.result(id).catch(() => null)];
      if (document) this.show(document, job);
      else this.shown.refuse(job.error ?? job.state);
    } catch (error) {
      this.shown.refuse((error as Error).message);
    }
  }

  private show(document: PlanDocument, job: Job): void {
    const result = planResult(document, "plan", null);
    const first = document.best[0];
    const use = h("button", { type: "button" }, s("lookAt"));
    use.addEventListener("click", () => {
      if (!first) return;
      for (const [name, value] of [["tp", first.tp], ["pp", first.pp], ["cp", first.cp], ["ep", first.ep], ["vpp", first.vpp], ["zero", first.zero], ["micro", first.micro_batch], ["recompute", first.recompute]] as const) this.state.set(name, value);
      this.look();
    });
    clear(this.line);
    this.line.textContent = s("tookSeconds", { seconds: f.number(job.seconds ?? 0, 3), predicted: f.count(document.predicted) });
    this.shown.show(result, null, first ? h("p", {}, use) : null);
  }
}
