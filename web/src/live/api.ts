// SPDX-License-Identifier: Apache-2.0
// What orrery serve answers (docs/serve.md), and one question at a time of each kind: while one drags, only the newest
// of those that wait is asked.
import type { DifferenceDocument, PlanDocument, RunDocument, StoredRun, TrainDocument } from "../documents";

export interface Model { name: string; family: string; parameters: number; active_parameters: number; seq: number; experts: number; layers: number; heads: number }
export interface Machine { name: string; summary: string; device: string; gpus_per_server: number }
export interface Job { id: number; state: "queued" | "running" | "done" | "cancelled" | "failed"; predicted: number; plans: number; seconds?: number; error?: string; has_result?: boolean }
export interface CollectiveTimes { op: string; gpu: string; nodes: number; gpus_per_node: number; times: { bytes: number; us: number; busbw_GBps: number; algorithm: string; protocol: string; method: string }[] }
export interface Served { version: string; store: boolean; folder: boolean }
export type Asked = Record<string, string>;

export class Refused extends Error {}

/** A page without a server (make wasm): lists that were asked for when it was made, and steps by WebAssembly. */
export interface Alone { lists: Record<string, unknown>; train: (asked: Asked) => string }
declare global {
  interface Window { orreryAlone?: Promise<Alone> }
}

async function answerAlone<T>(path: string, asked: Asked): Promise<T> {
  const alone = await window.orreryAlone;
  const said = (path === "/api/train" ? JSON.parse(alone?.train(asked) ?? "{}") : alone?.lists[path]) as T & { error?: string };
  if (said.error !== undefined) throw new Refused(said.error);
  return said;
}

async function answer<T>(path: string, options: RequestInit): Promise<T> {
  const got = await fetch(path, { credentials: "same-origin", ...options });
  const said = (await got.json()) as T & { error?: string };
  if (!got.ok) throw new Refused(said.error ?? `HTTP ${got.status}`);
  return said;
}

function get<T>(path: string, asked: Asked = {}, signal?: AbortSignal): Promise<T> {
  if (window.orreryAlone) return answerAlone<T>(path, asked);
  const query = new URLSearchParams(asked).toString();
  return answer<T>(query ? `${path}?${query}` : path, signal ? { signal } : {});
}

export const api = {
  version: () => get<Served>("/api/version"),
  models: async () => (await get<{ models: Model[] }>("/api/models")).models,
  machines: () => get<{ machines: Machine[]; kinds: Machine[] }>("/api/machines"),
  frameworks: async () => (await get<{ frameworks: { name: string }[] }>("/api/frameworks")).frameworks,
  train: (asked: Asked) => get<TrainDocument>("/api/train", asked),
  run: (asked: Asked) => get<RunDocument>("/api/run", asked),
  collective: (asked: Asked) => get<CollectiveTimes>("/api/collective", asked),
  plan: (asked: Asked) => answer<Job>("/api/plan", { method: "POST", body: new URLSearchParams(asked) }),
  job: (id: number) => get<Job>(`/api/jobs/${id}`),
  result: (id: number) => get<PlanDocument>(`/api/jobs/${id}/result`),
  stop: (id: number) => answer<Job>(`/api/jobs/${id}`, { method: "DELETE" }),
  store: () => get<StoredRun[]>("/api/store", { limit: "500" }),
  compare: (before: number, after: number) => get<DifferenceDocument>("/api/compare", { before: String(before), after: String(after) }),
  files: async () => (await get<{ files: { name: string; bytes: number }[] }>("/api/files")).files,
};

/** Asks for the newest value only: what came in between, while an answer was under way, is passed over. */
export class Newest<Q, A> {
  private waiting: Q | null = null;
  private busy = false;
  constructor(private readonly ask: (question: Q) => Promise<A>, private readonly take: (answer: A, ms: number) => void, private readonly refuse: (error: Error) => void) {}
  put(question: Q): void {
    this.waiting = question;
    if (!this.busy) void this.go();
  }
  private async go(): Promise<void> {
    this.busy = true;
    while (this.waiting !== null) {
      const question = this.waiting;
      this.waiting = null;
      const begun = performance.now();
      try {
        const got = await this.ask(question);
        this.take(got, performance.now() - begun);
      } catch (error) {
        this.refuse(error as Error);
      }
    }
    this.busy = false;
  }
}
