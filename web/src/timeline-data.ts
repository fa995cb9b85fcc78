// SPDX-License-Identifier: Apache-2.0
// A timeline in columns: typed arrays, one element an event, tracks one after the other and each sorted by start. A
// million events are a few arrays, decoded in one pass; what is drawn is found by binary search.
import type { ChromeDocument, TimelineDocument } from "./documents";

export interface Track { rank: number; name: string; from: number; to: number }

export interface Timeline {
  ranks: number;
  end: number; // ns
  tracks: Track[];
  start: Float64Array;
  finish: Float64Array;
  name: Uint32Array;
  type: Uint8Array;
  bytes: Float64Array;
  node: Float64Array;
  waits: Int32Array; // the event that held this one up; -1: none
  names: string[];
  types: { name: string; class: string }[];
  critical: [number, number, number][]; // event, from, to, last first
  leftOut: number;
}

function fromBase64(text: string): Uint8Array {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

/** Numbers of seven bits a byte, the lowest first; up to 2^53. Always the same kind of array: that is what makes it fast. */
function unpack(text: string, count: number, zigzag = false): Float64Array {
  const from = fromBase64(text);
  const into = new Float64Array(count);
  let at = 0;
  for (let i = 0; i < count; i++) {
    let byte = from[at++] as number;
    let value = byte & 127;
    if (byte > 127) {
      let factor = 128;
      do {
        byte = from[at++] as number;
        value += (byte & 127) * factor;
        factor *= 128;
      } while (byte > 127);
    }
    into[i] = !zigzag ? value : value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
  return into;
}

export function decode(document: TimelineDocument): Timeline {
  const n = document.events;
  const { columns } = document;
  const timeline: Timeline = {
    ranks: document.ranks, end: document.time_ns, tracks: [], start: unpack(columns.start, n), finish: unpack(columns.duration, n), name: new Uint32Array(unpack(columns.name, n)),
    type: new Uint8Array(unpack(columns.type, n)), bytes: unpack(columns.bytes, n), node: unpack(columns.node, n, true), waits: new Int32Array(unpack(columns.waits, n, true)),
    names: document.names, types: document.types, critical: [], leftOut: document.left_out ?? 0,
  };
  let at = 0;
  for (const track of document.tracks) {
    let clock = 0;
    let node = 0;
    for (let i = at; i < at + track.events; i++) {
      clock += timeline.start[i] ?? 0;
      node += timeline.node[i] ?? 0;
      timeline.start[i] = clock;
      timeline.node[i] = node;
      timeline.finish[i] = clock + (timeline.finish[i] ?? 0);
      const offset = timeline.waits[i] ?? 0;
      timeline.waits[i] = offset === 0 ? -1 : i + offset;
    }
    timeline.tracks.push({ rank: track.rank, name: track.name, from: at, to: at + track.events });
    at += track.events;
  }
  if (document.critical) timeline.critical = decodePath(document.critical, document.time_ns);
  return timeline;
}

function decodePath(path: { parts: number; event: string; gap: string; length: string }, end: number): [number, number, number][] {
  const event = unpack(path.event, path.parts, true);
  const gap = unpack(path.gap, path.parts);
  const length = unpack(path.length, path.parts);
  let place = 0;
  let until = end;
  return Array.from(event, (step, i) => {
    place += step;
    const to = until - (gap[i] ?? 0);
    until = to - (length[i] ?? 0);
    return [place, until, to];
  });
}

/** Chrome trace events, recorded or simulated: complete events of all threads that have some. */
export function fromChrome(document: ChromeDocument): Timeline {
  const threads = new Map<string, { rank: number; name: string; sort: number; list: number[] }>();
  const processes = new Map<string, number>();
  const events = document.traceEvents;
  const names = new Map<string, number>();
  const types = new Map<string, number>();
  const typeList: { name: string; class: string }[] = [];
  let first = Infinity;
  for (const event of events) {
    if (event.ph === "X" && typeof event.ts === "number") first = Math.min(first, event.ts);
  }
  events.forEach((event, index) => {
    const key = `${event.pid}/${event.tid}`;
    if (event.ph !== "X" || typeof event.ts !== "number") return;
    let thread = threads.get(key);
    if (!thread) {
      const pid = String(event.pid);
      if (!processes.has(pid)) processes.set(pid, /^\d+$/.test(pid) ? Number(pid) : processes.size);
      thread = { rank: processes.get(pid) ?? 0, name: `${event.tid}`, sort: threads.size, list: [] };
      threads.set(key, thread);
    }
    thread.list.push(index);
  });
  for (const event of events) {
    const thread = threads.get(`${event.pid}/${event.tid}`);
    if (event.ph === "M" && event.name === "thread_name" && thread) thread.name = String(event.args?.["name"] ?? thread.name);
  }
  const ordered = [...threads.values()].sort((a, b) => a.rank - b.rank || a.sort - b.sort);
  const n = ordered.reduce((sum, thread) => sum + thread.list.length, 0);
  const timeline: Timeline = {
    ranks: processes.size, end: 0, tracks: [],
    start: new Float64Array(n), finish: new Float64Array(n), name: new Uint32Array(n), type: new Uint8Array(n),
    bytes: new Float64Array(n), node: new Float64Array(n), waits: new Int32Array(n).fill(-1),
    names: [], types: typeList, critical: [], leftOut: 0,
  };
  let at = 0;
  for (const thread of ordered) {
    const from = at;
    thread.list.sort((a, b) => (events[a]?.ts ?? 0) - (events[b]?.ts ?? 0));
    for (const index of thread.list) {
      const event = events[index];
      if (!event) continue;
      const word = event.name ?? "";
      const comm = event.args?.["Collective name"];
      const type = typeof comm === "string" ? comm : event.cat ?? "event";
      if (!names.has(word)) names.set(word, names.size);
      if (!types.has(type)) {
        types.set(type, typeList.length);
        const cpu = (event.cat ?? "").startsWith("cpu") || event.cat === "python_function" || event.cat === "user_annotation";
        typeList.push({ name: type, class: typeof comm === "string" ? "comm" : cpu ? "cpu" : (event.cat ?? "").includes("mem") ? "memory" : "compute" });
      }
      timeline.start[at] = ((event.ts ?? 0) - first) * 1000;
      timeline.finish[at] = (timeline.start[at] ?? 0) + (event.dur ?? 0) * 1000;
      timeline.name[at] = names.get(word) ?? 0;
      timeline.type[at] = types.get(type) ?? 0;
      timeline.bytes[at] = Number(event.args?.["bytes"] ?? 0) || 0;
      timeline.node[at] = Number(event.args?.["node_id"] ?? 0) || 0;
      timeline.end = Math.max(timeline.end, timeline.finish[at] ?? 0);
      at++;
    }
    timeline.tracks.push({ rank: thread.rank, name: thread.name, from, to: at });
  }
  timeline.names = [...names.keys()];
  return timeline;
}

/** The first event of [from, to) whose start is above `t`. */
export function firstAfter(start: Float64Array, from: number, to: number, t: number): number {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((start[middle] ?? 0) <= t) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** As Chrome trace events, for Perfetto: flow arrows where an event waits for one of another track. */
export function toChrome(t: Timeline): Blob {
  const parts: string[] = ['{"displayTimeUnit":"ns","traceEvents":[\n'];
  const seen = new Set<number>();
  const event = (value: object): void => {
    parts.push(parts.length > 1 ? ",\n" : "", JSON.stringify(value));
  };
  const trackOf = new Int32Array(t.start.length);
  t.tracks.forEach((track, tid) => {
    trackOf.fill(tid, track.from, track.to);
    if (!seen.has(track.rank)) event({ ph: "M", name: "process_name", pid: track.rank, tid: 0, args: { name: `rank ${track.rank}` } });
    seen.add(track.rank);
    event({ ph: "M", name: "thread_name", pid: track.rank, tid, args: { name: track.name } });
  });
  t.tracks.forEach((track, tid) => {
    for (let i = track.from; i < track.to; i++) {
      const from = t.start[i] ?? 0;
      const type = t.types[t.type[i] ?? 0];
      event({
        ph: "X", name: t.names[t.name[i] ?? 0] || type?.name, cat: type?.name, pid: track.rank, tid, ts: from / 1000,
        dur: ((t.finish[i] ?? 0) - from) / 1000, args: { node: t.node[i], bytes: t.bytes[i] },
      });
      const w = t.waits[i] ?? -1;
      const other = w >= 0 ? trackOf[w] ?? 0 : tid;
      if (other !== tid) {
        const source = t.tracks[other];
        event({ ph: "s", id: i, name: "waits for", cat: "waits", pid: source?.rank, tid: other, ts: (t.finish[w] ?? 0) / 1000 - 0.001 });
        event({ ph: "f", bp: "e", id: i, name: "waits for", cat: "waits", pid: track.rank, tid, ts: from / 1000 });
      }
    }
  });
  parts.push("\n]}\n");
  return new Blob(parts, { type: "application/json" });
}
