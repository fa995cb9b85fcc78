// SPDX-License-Identifier: Apache-2.0
// The page of orrery serve: tabs, and what belongs to the whole of it.
import "uplot/dist/uPlot.min.css";
import "../style.css";
import "./live.css";
import { clear, h } from "../dom";
import { languageTag, s, setLanguage } from "../strings";
import { dark, logo, redrawCharts } from "../widgets";
import { api, type Served } from "./api";
import { catalogue } from "./catalogue";
import { CollectiveTab } from "./collective";
import { PlanTab } from "./plan";
import { RunsTab } from "./runs";
import { State, type Tab } from "./state";
import { StepTab, type Catalogue } from "./step";

/** The token has done its work when the page is there: the cookie stands for it, and nobody reads it over a shoulder. */
function forgetToken(): void {
  const query = new URLSearchParams(location.search);
  if (!query.has("token")) return;
  query.delete("token");
  const rest = query.toString();
  history.replaceState(null, "", location.pathname + (rest ? `?${rest}` : "") + location.hash);
}

function build(app: HTMLElement, state: State, served: Served, known: Catalogue): void {
  clear(app);
  document.documentElement.lang = languageTag();
  document.title = s("liveTitle");
  const step = new StepTab(state, known);
  const tabs: Partial<Record<Tab, { element: HTMLElement; reload?: () => void }>> = { step };
  const names: [Tab, string][] = window.orreryAlone ? [["step", s("tabStep")]] : [["step", s("tabStep")], ["collective", s("tabCollective")], ["plan", s("tabPlan")]];
  if (served.store || served.folder) names.push(["runs", s("tabRuns")]);
  const make: Record<Tab, () => { element: HTMLElement; reload?: () => void }> = {
    step: () => step, collective: () => new CollectiveTab(state, known), plan: () => new PlanTab(state, step, () => show("step")), runs: () => new RunsTab(served) };
  const main = h("main", { id: "results", tabindex: -1 });
  const links = names.map(([tab, label]) => h("button", { type: "button", role: "tab", id: `tab-${tab}`, "aria-controls": "results", onclick: () => show(tab) }, label));
  function show(tab: Tab): void {
    const made = tabs[tab] ?? make[tab]();
    tabs[tab] = made;
    state.set("tab", tab, "step");
    made.reload?.();
    main.replaceChildren(made.element);
    main.setAttribute("aria-labelledby", `tab-${tab}`);
    names.forEach(([one], i) => {
      links[i]?.setAttribute("aria-selected", String(one === tab));
      links[i]?.setAttribute("tabindex", one === tab ? "0" : "-1");
    });
  }
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": s("tabs") }, links);
  list.addEventListener("keydown", (event) => {
    const at = links.findIndex((one) => one.getAttribute("aria-selected") === "true");
    const next = event.key === "ArrowRight" ? at + 1 : event.key === "ArrowLeft" ? at - 1 : -1;
    const name = names[(next + names.length) % names.length];
    if (!name || (event.key !== "ArrowRight" && event.key !== "ArrowLeft")) return;
    show(name[0]);
    document.getElementById(`tab-${name[0]}`)?.focus();
  });
  const language = h("button", { type: "button", "aria-label": s("languageLabel"), lang: languageTag() === "en" ? "zh-TW" : "en" }, s("language"));
  language.addEventListener("click", () => {
    setLanguage(languageTag() === "en" ? "zh-TW" : "en");
    build(app, state, served, known);
  });
  const theme = h("button", { type: "button", "aria-label": s("themeLabel"), title: s("themeLabel") }, "◐");
  theme.addEventListener("click", () => {
    document.documentElement.dataset["theme"] = dark() ? "light" : "dark";
    redrawCharts();
  });
  const copy = h("button", { type: "button" }, s("copyLink"));
  copy.addEventListener("click", () => void navigator.clipboard?.writeText(location.href).then(() => (copy.textContent = s("copied"))));
  app.append(h("a", { class: "skip", href: "#results", onclick: (event: Event) => { event.preventDefault(); main.focus(); } }, s("skip")),
    h("header", { class: "top" }, logo(), h("div", { class: "brand" }, h("h1", {}, s("liveTitle")), h("p", {}, s("liveLead"))), h("span", { class: "grow" }), copy, language, theme),
    list, main, h("footer", {}, window.orreryAlone ? s("alone", { version: served.version }) : [s("servedBy", { version: served.version }), " ", h("a", { href: "/openapi.json" }, "openapi.json")]));
  const wanted = state.get("tab", "step") as Tab;
  show(names.some(([tab]) => tab === wanted) ? wanted : "step");
}

async function begin(): Promise<void> {
  const app = document.getElementById("app");
  if (!app) return;
  forgetToken();
  setLanguage(navigator.language);
  const state = new State();
  try {
    const [served, known] = [await api.version(), await catalogue()];
    build(app, state, served, known);
    state.changed(() => build(app, state, served, known));
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawCharts);
  } catch (error) {
    app.append(h("p", { class: "alert", role: "alert" }, (error as Error).message));
  }
}

void begin();
