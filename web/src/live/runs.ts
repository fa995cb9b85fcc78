// SPDX-License-Identifier: Apache-2.0
// What is kept: the runs of the store, two of them compared, and the files of the folder.
import type { StoredRun } from "../documents";
import { clear, h, type Child } from "../dom";
import * as f from "../format";
import { differenceSection } from "../lists";
import { s } from "../strings";
import { section, table } from "../widgets";
import { api, type Served } from "./api";

export class RunsTab {
  readonly element = h("div", { class: "live-side" });
  private readonly difference = h("div", {});
  private chosen: number[] = [];

  constructor(private readonly served: Served) {
    void this.fill();
  }

  private async fill(): Promise<void> {
    try {
      const [runs, files] = [this.served.store ? await api.store() : [], this.served.folder ? await api.files() : []];
      this.element.append(...[this.served.store ? this.runs(runs) : null, this.difference, this.served.folder ? this.files(files) : null].filter((one): one is HTMLElement => one !== null));
    } catch (error) {
      this.element.append(h("p", { class: "alert", role: "alert" }, (error as Error).message));
    }
  }

  private runs(runs: StoredRun[]): HTMLElement {
    const choose = (run: StoredRun): Child => {
      const box = h("input", { type: "checkbox", "aria-label": s("chooseRun", { run: run.run }) });
      box.addEventListener("change", () => {
        this.chosen = box.checked ? [...this.chosen, run.run] : this.chosen.filter((one) => one !== run.run);
        void this.compare();
      });
      return box;
    };
    return section(s("store"), s("storeHint"), table(s("store"), [
      { head: "", cell: choose },
      { head: s("run"), cell: (run) => h("a", { href: `/api/report/${run.run}`, target: "_blank", rel: "noopener" }, String(run.run)), number: true, sort: (run) => run.run },
      { head: s("started"), cell: (run) => run.started, sort: (run) => run.started }, { head: s("tag"), cell: (run) => run.tag ?? "" },
      { head: s("machine"), cell: (run) => run.topology ?? "" }, { head: s("network"), cell: (run) => run.backend },
      { head: s("ranks"), cell: (run) => f.count(run.world), number: true, sort: (run) => run.world },
      { head: s("time"), cell: (run) => (run.total_ns === null ? run.state : f.time(run.total_ns)), number: true, sort: (run) => run.total_ns ?? 0 }], [...runs].reverse(), 25)).element;
  }

  private async compare(): Promise<void> {
    clear(this.difference);
    const [before, after] = this.chosen;
    if (before === undefined || after === undefined) return;
    const document = await api.compare(before, after);
    clear(this.difference);
    this.difference.append(differenceSection(document, `${before} → ${after}`).element,
      h("p", {}, h("a", { href: `/api/report/${this.chosen.join(",")}`, target: "_blank", rel: "noopener" }, s("asPage"))));
  }

  private files(files: { name: string; bytes: number }[]): HTMLElement {
    return section(s("files"), null, table(s("files"), [
      { head: s("name"), cell: (file) => h("a", { href: `/files/${file.name.split("/").map(encodeURIComponent).join("/")}`, target: "_blank", rel: "noopener" }, file.name), sort: (file) => file.name },
      { head: s("bytes"), cell: (file) => f.bytes(file.bytes), number: true, sort: (file) => file.bytes }], files, 25)).element;
  }
}
