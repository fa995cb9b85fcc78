// SPDX-License-Identifier: Apache-2.0
// A timeline of a million events on 64 ranks, as orrery writes them: `million.mjs OUT.json`.
import { writeFileSync } from "node:fs";

const ranks = 64;
const perTrack = 1000000 / ranks;

function pack(numbers) {
  const bytes = [];
  for (let value of numbers) {
    for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
    bytes.push(value);
  }
  return Buffer.from(bytes).toString("base64");
}

const start = [];
const duration = [];
const name = [];
const waits = [];
let seed = 1;
const random = (most) => (seed = (seed * 1103515245 + 12345) % 2147483648) % most;
let end = 0;
for (let rank = 0; rank < ranks; rank++) {
  let clock = 0;
  let before = 0;
  for (let i = 0; i < perTrack; i++) {
    const length = 200 + random(4000);
    start.push(clock - before);
    duration.push(length);
    name.push(1 + random(40));
    waits.push(i === 0 ? 0 : 1);
    before = clock;
    clock += length + random(300);
  }
  end = Math.max(end, clock);
}
const same = (value) => pack(start.map(() => value));
writeFileSync(process.argv[2], JSON.stringify({
  kind: "timeline", schema_version: 1, ranks, left_out: 0, time_ns: end, events: start.length,
  tracks: Array.from({ length: ranks }, (_, rank) => ({ rank, name: "compute", events: perTrack })),
  names: ["", ...Array.from({ length: 40 }, (_, i) => `kernel_${i}`)],
  types: [{ name: "", class: "" }, { name: "compute", class: "compute" }],
  columns: { start: pack(start), duration: pack(duration), name: pack(name), type: same(1), bytes: same(0), node: same(2), waits: pack(waits) },
}));
