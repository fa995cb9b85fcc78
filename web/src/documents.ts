// SPDX-License-Identifier: Apache-2.0
// The documents as orrery's --json writes them (docs/report.md), as far as the page reads them, and where the page finds
// them. Members that older files lack are optional.

export interface Spread { min: number; mean: number; max: number; min_rank: number; max_rank: number }
export type RunPart = "compute_ns" | "exposed_comm_ns" | "exposed_other_ns" | "idle_ns";

export interface RankRow {
  rank: number; finished: boolean; finish_ns: number; nodes_done: number; device?: string;
  compute_ns: number; exposed_comm_ns: number; exposed_other_ns: number; idle_ns: number;
}
export interface CollectiveRow {
  type: string; group_size: number; bytes: number; participations: number; operations: number;
  total_ns: number; mean_ns: number; min_ns: number; max_ns: number; first_start_ns: number; last_end_ns: number;
  algorithm_bandwidth_gbytes_per_s: number; bus_bandwidth_gbytes_per_s: number;
}
export interface DimensionRow {
  kind: string; size: number; bandwidth_gibytes_per_s: number; latency_ns: number; links: number;
  messages: number; bytes: number; busy_ns: number; utilisation: number; queued_messages: number;
}
export interface LinkRow {
  from: number; to: number; rate_bps: number; bytes: number; utilisation: number;
  ecn_marks: number; pauses: number; drops: number; losses: number;
  queue_p50_bytes: number; queue_p95_bytes: number; queue_p99_bytes: number; queue_max_bytes: number;
}
export interface Quantiles { p50: number; p95: number; p99: number; max: number }
export interface NetworkFigures {
  carried_by?: string; transmissions: number; data_packets?: number; packets_in_flight_most?: number;
  ecn_marks: number; pauses: number; drops: number; losses: number; timeouts: number;
  messages_arrived: number; message_time_ns: Quantiles; message_slowdown: Quantiles; links: LinkRow[];
}
export interface MemoryRank {
  rank: number; tensors: number; peak_bytes: number; peak_ns: number; over_bytes: number;
  largest_at_peak: { tensor: string; bytes: number; since_ns: number }[]; steps: [number, number][];
}
export interface StallFinding { kind: string; text: string; fix: string | null; ranks: number[] }
export interface RunDocument {
  kind?: "run"; generator?: string; state: string; time_ns: number; steps: number; ranks: number; ranks_finished: number;
  nodes: number; nodes_done: number; messages: number; events: number; compute_nodes_without_time?: number;
  settings: Record<string, string | number | boolean | null>;
  bound: { by: string; share_of_step: number; text: string; rank: number | null } | null;
  optimum: { ns: number; compute_ns: number; bandwidth_ns: number; latency_ns: number; times: number } | null;
  rank_time: Record<RunPart, Spread>;
  collectives: CollectiveRow[]; dimensions: DimensionRow[]; network: NetworkFigures | null;
  memory?: { capacity_bytes?: number | null; per_rank: MemoryRank[] };
  stall: { kind: string; findings: StallFinding[] } | null;
  simai?: { exposed_ns: Record<string, number>; compute_ns: number } & Record<string, unknown>;
  per_rank: RankRow[];
}

export interface TrainParts {
  forward_ns: number; backward_ns: number; exposed_tp_ns: number; exposed_cp_ns: number; exposed_ep_ns: number;
  exposed_pp_ns: number; exposed_dp_ns: number; bubble_ns: number; launch_ns: number; optimizer_ns: number;
}
export interface TrainDocument extends TrainParts {
  kind?: "train"; model: string; device: string; framework: string; gpus: number; parameters: number; step_time_ns: number;
  exposed_comm_ns: number; tokens_per_s: number; tokens_per_s_per_gpu: number; tflops_per_gpu: number; mfu: number; hfu: number;
  memory_bytes: Record<string, number>; moved?: number; error_percent?: number;
  nearest?: { id: string; error_percent: number }[]; fits: boolean; bound_by: string; watts_per_gpu?: number;
  joules_per_step?: number; cost_per_step?: number; plan?: Record<string, string | number | boolean>;
  simulated?: TrainParts & { machine: string; backend: string; step_time_ns: number; rank: number; nodes: number };
}

export interface PlanRow extends Partial<TrainParts> {
  tp: number; pp: number; cp: number; ep: number; dp: number; vpp: number; zero: number; micro_batch: number; recompute: string; order?: string;
  step_time_ns: number; tokens_per_s_per_gpu: number; mfu: number; memory_bytes: number; fits: boolean; bound_by: string;
  on_front?: boolean;
}
export interface PlanDocument {
  kind?: "plan"; model?: string; device?: string; gpus?: number; framework?: string; global_batch?: number; seq?: number; plans: number; predicted: number; refused: number; too_large: number; bound_s: number; best: PlanRow[]; own?: PlanRow;
}

export interface SweepPoint {
  point: number; values: string[]; state: string; rank: number | null; run: number; time_ns: number | null;
  comm_ns: number | null; compute_ns: number | null; exposed_comm_ns: number | null; ranks: number; network: string; error: string | null;
}
export interface SweepDocument { kind?: "sweep"; name: string | null; points: number; done: number; stalled: number; failed: number; keys: string[]; results: SweepPoint[] }

export interface StoredRun {
  run: number; state: string; started: string; command: string | null; tag: string | null; backend: string; topology: string | null;
  world: number; total_ns: number | null; comm_ns: number | null; compute_ns: number | null; error: string | null;
}
interface SpreadNs { min_ns: number; median_ns: number; max_ns: number }
export interface StoredDocument extends StoredRun {
  inputs: { role: string; path: string; hash: string; bytes: number; now: string }[];
  settings: { key: string; value: string }[];
  ranks: Record<string, SpreadNs | number>;
  collectives: { type: string; group_size: number; bytes: number; count: number; total_ns: number; min_ns: number; max_ns: number }[];
}
export interface DifferenceDocument {
  before: number; after: number; same: boolean;
  settings: { name: string; before: string | null; after: string | null }[];
  inputs: { name: string; before: string | null; after: string | null }[];
  collectives: { name: string; before: string | null; after: string | null }[];
  results: Record<string, [number | null, number | null]>;
}

export interface AdviceDocument {
  kind: "advice"; summary?: string; steps?: number; network?: string | null;
  findings: { id: string; title: string; share?: number; severity?: string | number; evidence?: string[]; numbers?: Record<string, number | string> }[];
  suggestions: { title: string; change?: string; before_ns?: number; after_ns?: number; gain?: number }[];
}

export interface TimelineDocument {
  kind: "timeline"; ranks: number; time_ns: number; events: number; left_out?: number;
  tracks: { rank: number; name: string; events: number }[];
  names: string[]; types: { name: string; class: string }[];
  columns: { start: string; duration: string; name: string; type: string; bytes: string; node: string; waits: string };
  critical?: { parts: number; event: string; gap: string; length: string };
}
/** A line of the drawing: all links between two boxes, and what they carried in both directions. */
export interface MachineLine {
  a: number; b: number; mid_x?: number; mid_y?: number; links: number; alike: boolean; rate_bps: number; delay_ns?: number;
  bytes: number; busy_mean: number; busy_most: number; from: number; to: number;
}
export interface MachineDocument {
  kind: "machine"; wired: boolean; shape: string; gpus: number; switches: number; nvswitches: number; links: number; width: number; height: number;
  boxes: [first: number, count: number, x: number, y: number, kind: number][];
  frames: { x: number; y: number; width: number; height: number; label: string }[];
  words: { x: number; y: number; text: string }[]; lines: MachineLine[];
}
/** A row of orrery coll time. */
export interface TimesRow { bytes: number; us: number; busbw_GBps: number; algorithm: string; protocol: string; method: string; measured_us?: number; source?: string }
export interface TimesTable { op: string; nodes: number; gpus_per_node: number; times: TimesRow[] }
export interface TimesSeries { ranks: number; all: TimesTable; own: TimesTable[] }
export interface TimesDocument { kind: "times"; machine: string; series: TimesSeries[] }
export interface ChromeEvent { ph: string; name?: string; cat?: string; pid?: number | string; tid?: number | string; ts?: number; dur?: number; args?: Record<string, unknown> }
export interface ChromeDocument { traceEvents: ChromeEvent[] }

export type Entry =
  | { kind: "run"; document: RunDocument }
  | { kind: "train"; document: TrainDocument }
  | { kind: "plan"; document: PlanDocument }
  | { kind: "sweep"; document: SweepDocument }
  | { kind: "stored"; document: StoredDocument }
  | { kind: "difference"; document: DifferenceDocument }
  | { kind: "store"; document: StoredRun[] }
  | { kind: "advice"; document: AdviceDocument }
  | { kind: "timeline"; document: TimelineDocument }
  | { kind: "machine"; document: MachineDocument }
  | { kind: "times"; document: TimesDocument }
  | { kind: "chrome"; document: ChromeDocument };
export type Named = Entry & { name: string; command: string | null };

export interface Report { generator: string; language: string; entries: Named[] }

/** What the page was filled with. Large documents are parsed here, once. */
export function readReport(): Report {
  const head = document.getElementById("orrery-report");
  const list = head?.textContent
    ? (JSON.parse(head.textContent) as { generator: string; language: string; documents: { kind: string; name: string; command: string | null }[] })
    : { generator: "orrery", language: "en", documents: [] };
  const elements = document.querySelectorAll(".orrery-document");
  const entries: Named[] = [];
  list.documents.forEach((one, index) => {
    const text = elements[index]?.textContent;
    if (text) entries.push({ ...one, document: JSON.parse(text) } as Named);
  });
  return { generator: list.generator, language: list.language, entries };
}
