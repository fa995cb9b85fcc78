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

/** Numbers of seven bits a byte, the lowest first; up to 2^53. Always the same kind of array: that is what makes it fast. */
function unpack(text: string, count: number, zigzag = false): Float64Array {
  const from = atob(text);
  const into = new Float64Array(count);
  let at = 0;
  for (let i = 0; i < count; i++) {
    let byte = from.charCodeAt(at++);
    let value = byte & 127;
    if (byte > 127) {
      let factor = 128;
      do {
        byte = from.charCodeAt(at++);
        value += (byte & 127) * factor;
        factor *= 128;
      } while (byte > 127);
    }
    into[i] = !zigzag ? value : value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
  return into;
}

/** A member that is made when it is first asked for: the first frame needs starts, ends and types alone. */
function later<K extends keyof Timeline>(timeline: Timeline, key: K, make: () => Timeline[K]): void {
  Object.defineProperty(timeline, key, { configurable: true, enumerable: true, get: () => {
    const value = make();
    Object.defineProperty(timeline, key, { value, writable: false });
    return value;
  } });
}

/** Differences within each track, added up. */
function summed(column: Float64Array, tracks: Track[]): Float64Array {
  for (const track of tracks) {
    for (let i = track.from, sum = 0; i < track.to; i++) {
      sum += column[i] as number;
      column[i] = sum;
    }
  }
  return column;
}

export function decode(document: TimelineDocument): Timeline {
  const n = document.events;
  const { columns } = document;
  const tracks: Track[] = [];
  for (const { rank, name, events } of document.tracks) {
    const from = tracks[tracks.length - 1]?.to ?? 0;
    tracks.push({ rank, name, from, to: from + events });
  }
  const start = summed(unpack(columns.start, n), tracks);
  const finish = unpack(columns.duration, n);
  for (let i = 0; i < n; i++) finish[i] = (finish[i] as number) + (start[i] as number);
  const timeline = { ranks: document.ranks, end: document.time_ns, tracks, start, finish, type: new Uint8Array(unpack(columns.type, n)),
    names: document.names, types: document.types, critical: [], leftOut: document.left_out ?? 0 } as unknown as Timeline;
  later(timeline, "name", () => new Uint32Array(unpack(columns.name, n)));
  later(timeline, "bytes", () => unpack(columns.bytes, n));
  later(timeline, "node", () => summed(unpack(columns.node, n, true), tracks));
  later(timeline, "waits", () => Int32Array.from(unpack(columns.waits, n, true), (offset, i) => (offset === 0 ? -1 : i + offset)));
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

/** The same from `from` on, where it is near: steps that double, then a search between the last two. */
export function nextAfter(start: Float64Array, from: number, to: number, t: number): number {
  let step = 1;
  while (from + step < to && (start[from + step] as number) <= t) step *= 2;
  return firstAfter(start, from + (step >> 1), Math.min(to, from + step + 1), t);
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
