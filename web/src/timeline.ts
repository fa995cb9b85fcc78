// SPDX-License-Identifier: Apache-2.0
// The timeline on a canvas. What is drawn is bounded by pixels and not by events: a track is walked from the first
// event in sight, and where an event is narrower than a pixel the next one is found by a search behind that pixel. Bars are
// pixels of one image, put on the canvas at once: tens of thousands of rectangles a frame took most of its time. Words, the
// axis and what is chosen are drawn over it. So a million events cost what a thousand do.
import { clear, h, put } from "./dom";
import * as f from "./format";
import { s } from "./strings";
import { firstAfter, nextAfter, toChrome, type Timeline, type Track } from "./timeline-data";

const ROW = 20;
const AXIS = 24;

function niceStep(span: number, room: number): number {
  const rough = span / Math.max(1, room);
  const power = 10 ** Math.floor(Math.log10(rough));
  for (const factor of [1, 2, 5, 10]) if (power * factor >= rough) return power * factor;
  return power * 10;
}

function tickText(ns: number, step: number): string {
  const [factor, unit] = step >= 1e9 ? [1e9, "s"] : step >= 1e6 ? [1e6, "ms"] : step >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  return `${(ns / factor).toLocaleString("en-US", { maximumFractionDigits: 3 })} ${unit}`;
}

/** The theme's colours, as words and as pixels; by type, plain and set back because a search is for others. */
interface Palette { word: Record<"card" | "line" | "text" | "muted" | "on-bar" | "critical", string>; card: number; plain: Uint32Array; dim: Uint32Array }

interface Label { event: number; x: number; width: number }

/** A CSS colour as a pixel of an image, `share` of it over another. */
function pixel(g: CanvasRenderingContext2D, colour: string, share = 1, over = colour): number {
  const parts = [colour, over].map((word) => {
    g.fillStyle = word;
    return parseInt(String(g.fillStyle).slice(1, 7), 16);
  });
  const mixed = [16, 8, 0].map((shift) => Math.round((((parts[0] ?? 0) >> shift) & 255) * share + (((parts[1] ?? 0) >> shift) & 255) * (1 - share)));
  return ((255 << 24) | ((mixed[2] ?? 0) << 16) | ((mixed[1] ?? 0) << 8) | (mixed[0] ?? 0)) >>> 0;
}

export class TimelineView {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { tabindex: 0, role: "application" });
  private readonly box = h("div", { class: "tl-box" });
  private readonly spacer = h("div", { class: "tl-spacer" });
  private readonly tip = h("div", { class: "tl-tip", hidden: true });
  private readonly detail = h("div", { class: "tl-detail", "aria-live": "polite" });
  private readonly found = h("span", { class: "muted", role: "status" });
  private from = 0;
  private to: number;
  private gutter = 124;
  private width = 0;
  private height = 0;
  private selected = -1;
  private matching: Uint8Array | null = null;
  private showCritical: boolean;
  private readonly onPath = new Map<number, [number, number]>();
  private readonly pathOfTrack = new Map<number, number[]>();
  private pending = false;
  private palette: Palette | null = null;
  private image: ImageData | null = null;
  private readonly pointers = new Map<number, { x: number; y: number }>();

  constructor(private readonly t: Timeline, private readonly title: string) {
    this.to = Math.max(1, t.end);
    this.showCritical = t.critical.length > 0;
    for (const [event, from, to] of t.critical) {
      this.onPath.set(event, [from, to]);
      const track = this.trackOf(event);
      const list = this.pathOfTrack.get(track) ?? [];
      list.push(event);
      this.pathOfTrack.set(track, list);
    }
    this.canvas.setAttribute("aria-label", s("timelineLabel", { events: f.count(t.start.length), tracks: f.count(t.tracks.length) }));
    this.spacer.style.height = `${t.tracks.length * ROW + AXIS}px`;
    this.box.style.height = `${Math.min(t.tracks.length * ROW + AXIS, 520)}px`;
    this.spacer.append(this.canvas);
    this.box.append(this.spacer);
    this.element = h("div", { class: "tl" }, this.toolbar(), this.box, this.tip, this.detail);
    this.listen();
  }

  private trackOf(event: number): number {
    let low = 0;
    let high = this.t.tracks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.t.tracks[middle]?.to ?? 0) <= event) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private toolbar(): HTMLElement {
    const button = (label: string, text: string, act: () => void): HTMLButtonElement =>
      h("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
    const search = h("input", { type: "search", placeholder: s("search"), "aria-label": s("search") });
    search.addEventListener("input", () => this.search(search.value));
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.next();
    });
    const critical = h("button", { type: "button", "aria-pressed": String(this.showCritical) }, s("critical"));
    critical.addEventListener("click", () => {
      this.showCritical = !this.showCritical;
      critical.setAttribute("aria-pressed", String(this.showCritical));
      this.draw();
    });
    return h("div", { class: "tl-bar" }, search, this.found, h("span", { class: "grow" }),
      this.t.critical.length > 0 && critical,
      button(s("zoomIn"), "+", () => this.zoom(0.5)), button(s("zoomOut"), "−", () => this.zoom(2)),
      button(s("fit"), s("fit"), () => this.show(0, this.t.end)),
      button(s("perfetto"), s("perfetto"), () => this.perfetto()), button(s("download"), s("download"), () => this.save()));
  }

  private listen(): void {
    const c = this.canvas;
    this.box.addEventListener("scroll", () => this.draw());
    this.box.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    c.addEventListener("pointerdown", (event) => {
      this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      if (event.pointerType === "mouse") c.setPointerCapture(event.pointerId);
    });
    c.addEventListener("pointermove", (event) => this.move(event));
    const end = (event: PointerEvent): void => {
      this.pointers.delete(event.pointerId);
    };
    c.addEventListener("pointerup", end);
    c.addEventListener("pointercancel", end);
    c.addEventListener("pointerleave", () => (this.tip.hidden = true));
    c.addEventListener("click", (event) => this.select(this.at(event.offsetX, event.offsetY)));
    c.addEventListener("dblclick", (event) => this.zoom(0.25, this.timeAt(event.offsetX)));
    c.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  private wheel(event: WheelEvent): void {
    const rect = this.canvas.getBoundingClientRect();
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.01), this.timeAt(event.clientX - rect.left));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      const pixels = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
      this.pan((pixels * (this.to - this.from)) / Math.max(1, this.width - this.gutter));
    }
  }

  private move(event: PointerEvent): void {
    const before = this.pointers.get(event.pointerId);
    const now = { x: event.offsetX, y: event.offsetY };
    if (!before) {
      this.hover(event);
      return;
    }
    const perPixel = (this.to - this.from) / Math.max(1, this.width - this.gutter);
    const others = [...this.pointers.entries()].filter(([id]) => id !== event.pointerId);
    const other = others[0]?.[1];
    if (other) {
      const was = Math.hypot(before.x - other.x, before.y - other.y);
      const is = Math.hypot(now.x - other.x, now.y - other.y);
      if (was > 10 && is > 10) this.zoom(was / is, this.timeAt((now.x + other.x) / 2));
    } else {
      this.pan((before.x - now.x) * perPixel);
      if (event.pointerType === "mouse") this.box.scrollTop += before.y - now.y;
    }
    this.pointers.set(event.pointerId, now);
    this.tip.hidden = true;
  }

  private key(event: KeyboardEvent): void {
    const span = this.to - this.from;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => this.pan(-span / 10), ArrowRight: () => this.pan(span / 10),
      ArrowUp: () => (this.box.scrollTop -= ROW), ArrowDown: () => (this.box.scrollTop += ROW),
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
      Home: () => this.show(0, this.t.end), n: () => this.next(), Escape: () => this.select(-1),
    };
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : actions[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  }

  private timeAt(x: number): number {
    return this.from + ((x - this.gutter) / Math.max(1, this.width - this.gutter)) * (this.to - this.from);
  }

  show(from: number, to: number): void {
    const span = Math.min(Math.max(to - from, 10), Math.max(10, this.t.end));
    const start = Math.max(0, Math.min(from, this.t.end - span));
    this.from = start;
    this.to = start + span;
    this.draw();
  }

  pan(ns: number): void {
    this.show(this.from + ns, this.to + ns);
  }

  zoom(factor: number, around = (this.from + this.to) / 2): void {
    const span = Math.min(Math.max(10, (this.to - this.from) * factor), Math.max(10, this.t.end));
    const share = (around - this.from) / (this.to - this.from);
    this.show(around - share * span, around + (1 - share) * span);
  }

  /** The event under a point of the canvas; -1: none. The last one to begin, where several are. */
  private at(x: number, y: number): number {
    if (y < AXIS || x < this.gutter) return -1;
    const track = this.t.tracks[Math.floor((y - AXIS + this.box.scrollTop) / ROW)];
    if (!track) return -1;
    const when = this.timeAt(x);
    const slack = (2 * (this.to - this.from)) / Math.max(1, this.width - this.gutter);
    const last = firstAfter(this.t.start, track.from, track.to, when + slack) - 1;
    for (let i = last; i >= track.from && i > last - 64; i--) {
      if ((this.t.finish[i] ?? 0) >= when - slack) return i;
    }
    return -1;
  }

  private nameOf(event: number): string {
    return this.t.names[this.t.name[event] ?? 0] || this.t.types[this.t.type[event] ?? 0]?.name || "?";
  }

  private facts(event: number): [string, string][] {
    const { t } = this;
    const start = t.start[event] ?? 0;
    const duration = (t.finish[event] ?? 0) - start;
    const track = t.tracks[this.trackOf(event)];
    const bytes = t.bytes[event] ?? 0;
    const rows: [string, string][] = [
      [s("type"), t.types[t.type[event] ?? 0]?.name ?? ""],
      [s("rank", { n: track?.rank ?? "?" }), track?.name ?? ""],
      [s("start"), f.time(start)],
      [s("duration"), `${f.time(duration)} (${f.nanoseconds(duration)})`],
      [s("node"), String(t.node[event])],
    ];
    if (bytes > 0) {
      rows.push([s("bytes"), f.size(bytes)]);
      if (duration > 0) rows.push([s("bandwidth"), `${f.number(bytes / duration)} GB/s`]);
    }
    const waits = t.waits[event] ?? -1;
    if (waits >= 0) rows.push([s("waitedFor"), `${this.nameOf(waits)} · ${s("rank", { n: t.tracks[this.trackOf(waits)]?.rank ?? "?" })}`]);
    return rows;
  }

  private hover(event: PointerEvent): void {
    const one = this.at(event.offsetX, event.offsetY);
    this.tip.hidden = one < 0;
    if (one < 0) return;
    clear(this.tip);
    this.tip.append(h("strong", {}, this.nameOf(one)),
      h("dl", {}, this.facts(one).map(([key, value]) => [h("dt", {}, key), h("dd", {}, value)])));
    const bounds = this.element.getBoundingClientRect();
    const x = event.clientX - bounds.left;
    this.tip.style.left = `${Math.max(0, Math.min(x + 14, bounds.width - this.tip.offsetWidth - 4))}px`;
    this.tip.style.top = `${event.clientY - bounds.top + 16}px`;
  }

  select(event: number): void {
    this.selected = event;
    clear(this.detail);
    if (event >= 0) {
      const waits = this.t.waits[event] ?? -1;
      const go = h("button", { type: "button", onclick: () => this.goTo(waits) }, s("goThere"));
      put(this.detail, h("strong", {}, this.nameOf(event)), " ",
        this.facts(event).map(([key, value]) => h("span", { class: "fact" }, `${key} ${value}`)), waits >= 0 && go);
    }
    this.draw();
  }

  goTo(event: number): void {
    const start = this.t.start[event] ?? 0;
    const finish = this.t.finish[event] ?? 0;
    const middle = (start + finish) / 2;
    const span = Math.min(this.to - this.from, Math.max((finish - start) * 6, 10));
    this.box.scrollTop = Math.max(0, this.trackOf(event) * ROW - this.box.clientHeight / 2);
    this.show(middle - span / 2, middle + span / 2);
    this.select(event);
  }

  search(text: string): void {
    const wanted = text.trim().toLowerCase();
    this.matching = null;
    this.found.textContent = "";
    if (wanted !== "") {
      const matching = new Uint8Array(this.t.names.length);
      this.t.names.forEach((name, i) => (matching[i] = name.toLowerCase().includes(wanted) ? 1 : 0));
      const types = this.t.types.map((type) => type.name.toLowerCase().includes(wanted));
      this.matching = matching;
      let count = 0;
      for (let i = 0; i < this.t.start.length; i++) count += matching[this.t.name[i] ?? 0] || (this.t.names[this.t.name[i] ?? 0] === "" && types[this.t.type[i] ?? 0]) ? 1 : 0;
      this.found.textContent = s("matches", { n: f.count(count) });
    }
    this.draw();
  }

  next(): void {
    const { matching, t } = this;
    if (!matching) return;
    for (let step = 1; step <= t.start.length; step++) {
      const i = (Math.max(0, this.selected) + step) % t.start.length;
      if (matching[t.name[i] ?? 0]) {
        this.goTo(i);
        return;
      }
    }
  }

  private save(): void {
    const link = h("a", { href: URL.createObjectURL(toChrome(this.t)), download: "timeline.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  /** The only thing that leaves the page, and only when asked to: Perfetto's page gets the trace from this window. */
  private perfetto(): void {
    const origin = "https://ui.perfetto.dev";
    const other = window.open(origin);
    if (!other) {
      this.save();
      return;
    }
    const ping = setInterval(() => other.postMessage("PING", origin), 100);
    const listener = (event: MessageEvent): void => {
      if (event.origin !== origin || event.data !== "PONG") return;
      clearInterval(ping);
      window.removeEventListener("message", listener);
      void toChrome(this.t).arrayBuffer().then((buffer) => other.postMessage({ perfetto: { buffer, title: this.title } }, origin));
    };
    window.addEventListener("message", listener);
    setTimeout(() => clearInterval(ping), 60000);
  }

  themed(): void {
    this.palette = null;
    this.draw();
  }

  draw(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.paint();
    });
  }

  private paint(): void {
    const started = performance.now();
    const ratio = window.devicePixelRatio || 1;
    this.width = this.box.clientWidth;
    this.height = this.box.clientHeight;
    if (this.width === 0) return;
    this.gutter = this.width < 520 ? 84 : 136;
    const c = this.canvas;
    if (c.width !== Math.round(this.width * ratio) || c.height !== Math.round(this.height * ratio)) {
      c.width = Math.round(this.width * ratio);
      c.height = Math.round(this.height * ratio);
      c.style.width = `${this.width}px`;
      c.style.height = `${this.height}px`;
    }
    const g = c.getContext("2d", { willReadFrequently: true });
    if (!g) return;
    this.palette ??= this.readPalette(g);
    if (this.image?.width !== c.width || this.image.height !== c.height) this.image = g.createImageData(c.width, c.height);
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW));
    const last = Math.min(this.t.tracks.length, Math.ceil((this.box.scrollTop + this.height - AXIS) / ROW));
    const pixels = new Uint32Array(this.image.data.buffer).fill(this.palette.card);
    const labels: Label[][] = [];
    for (let row = first; row < last; row++) labels.push(this.bars(pixels, c.width, ratio, row));
    g.putImageData(this.image, 0, 0);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.font = "11px system-ui, sans-serif";
    g.textBaseline = "middle";
    for (let row = first; row < last; row++) this.paintTrack(g, this.palette.word, row, labels[row - first] ?? []);
    this.paintAxis(g, this.palette.word);
    const now = performance.now();
    c.dataset["drawMs"] = (now - started).toFixed(2);
    c.dataset["firstFrameMs"] ??= now.toFixed(1);
  }

  private readPalette(g: CanvasRenderingContext2D): Palette {
    const style = getComputedStyle(this.element);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    const word = { card: colour("--card"), line: colour("--line"), text: colour("--text"), muted: colour("--muted"), "on-bar": colour("--on-bar"), critical: colour("--critical") };
    const types = this.t.types.map((type, i) => {
      const base = colour(`--${type.class}`) || colour("--compute");
      return type.class === "comm" ? colour(`--comm-${i % 4}`) || base : base;
    });
    return { word, card: pixel(g, word.card), plain: Uint32Array.from(types, (one) => pixel(g, one)), dim: Uint32Array.from(types, (one) => pixel(g, one, 0.15, word.card)) };
  }

  private firstInSight(track: Track): number {
    const { start, finish } = this.t;
    let i = Math.max(track.from, firstAfter(start, track.from, track.to, this.from) - 1);
    while (i > track.from && (finish[i - 1] ?? 0) > this.from && this.from > (start[i - 1] ?? 0)) i--;
    return i;
  }

  /** The bars of a track, in pixels of the device: one line of them, copied down. The events that have room for a name. */
  private bars(pixels: Uint32Array, stride: number, ratio: number, row: number): Label[] {
    const { start, finish, type } = this.t;
    const track = this.t.tracks[row];
    const y = Math.round((AXIS + row * ROW - this.box.scrollTop + 3) * ratio);
    const top = Math.max(y, Math.round(AXIS * ratio));
    const bottom = Math.min(y + Math.round((ROW - 6) * ratio), pixels.length / stride);
    const labels: Label[] = [];
    const palette = this.palette;
    if (!track || !palette || top >= bottom) return labels;
    const left = Math.round(this.gutter * ratio);
    const width = stride - left;
    const scale = width / (this.to - this.from);
    const base = top * stride + left;
    const matching = this.matching;
    const names = matching ? this.t.name : null;
    const end = firstAfter(start, track.from, track.to, this.to);
    for (let i = this.firstInSight(track); i < end; ) {
      const x = ((start[i] as number) - this.from) * scale;
      const w = ((finish[i] as number) - (start[i] as number)) * scale;
      const dim = names !== null && matching !== null && !matching[names[i] as number];
      const colour = (dim ? palette.dim : palette.plain)[type[i] as number] as number;
      const from = Math.max(0, Math.floor(x));
      if (w < 1.5) {
        if (from < width && x >= 0) pixels[base + from] = colour;
        i = nextAfter(start, i, end, this.from + (Math.floor(x) + 1) / scale);
        continue;
      }
      const to = Math.min(width, Math.max(from + 1, Math.floor(x + w) - (w > 3 * ratio ? Math.round(ratio) : 0)));
      if (to > from) pixels.fill(colour, base + from, base + to);
      if (to - from > 44 * ratio && !dim) labels.push({ event: i, x: this.gutter + from / ratio, width: (to - from) / ratio });
      i++;
    }
    for (let line = top + 1; line < bottom; line++) pixels.copyWithin(line * stride + left, base, base + width);
    return labels;
  }

  private paintTrack(g: CanvasRenderingContext2D, colours: Palette["word"], row: number, labels: Label[]): void {
    const { t } = this;
    const track = t.tracks[row];
    if (!track) return;
    const y = AXIS + row * ROW - this.box.scrollTop;
    const newRank = row === 0 || t.tracks[row - 1]?.rank !== track.rank;
    const scale = (this.width - this.gutter) / (this.to - this.from);
    if (newRank) {
      g.fillStyle = colours.line;
      g.fillRect(0, y, this.width, 1);
    }
    g.fillStyle = colours["on-bar"];
    for (const label of labels) {
      const text = this.nameOf(label.event);
      const fits = Math.floor((label.width - 8) / 6);
      g.fillText(text.length > fits ? `${text.slice(0, Math.max(1, fits - 1))}…` : text, label.x + 4, y + ROW / 2 + 0.5);
    }
    const chosen = this.selected >= track.from && this.selected < track.to;
    if (this.showCritical || chosen) {
      g.save();
      g.beginPath();
      g.rect(this.gutter, y, this.width - this.gutter, ROW);
      g.clip();
      if (this.showCritical) this.paintPath(g, row, y, scale, colours.critical);
      if (chosen) {
        const x = this.gutter + ((t.start[this.selected] ?? 0) - this.from) * scale;
        g.strokeStyle = colours.text;
        g.lineWidth = 2;
        g.strokeRect(x, y + 2, Math.max(2, ((t.finish[this.selected] ?? 0) - (t.start[this.selected] ?? 0)) * scale), ROW - 4);
      }
      g.restore();
    }
    g.fillStyle = newRank ? colours.text : colours.muted;
    const label = `${newRank ? `${track.rank} ` : "  "}${track.name}`;
    g.fillText(label.length > this.gutter / 7.2 ? `${label.slice(0, Math.floor(this.gutter / 7.2) - 1)}…` : label, 6, y + ROW / 2 + 0.5);
  }

  private paintPath(g: CanvasRenderingContext2D, row: number, y: number, scale: number, colour: string): void {
    g.fillStyle = colour;
    let lastPixel = -1;
    for (const event of this.pathOfTrack.get(row) ?? []) {
      const span = this.onPath.get(event);
      if (!span || span[1] < this.from || span[0] > this.to) continue;
      const x = this.gutter + (span[0] - this.from) * scale;
      const w = Math.max(1, (span[1] - span[0]) * scale);
      if (w <= 1 && Math.floor(x) === lastPixel) continue;
      lastPixel = Math.floor(x);
      g.fillRect(x, y + ROW - 4, w, 3);
    }
  }

  private paintAxis(g: CanvasRenderingContext2D, colours: Palette["word"]): void {
    g.fillStyle = colours.card;
    g.fillRect(0, 0, this.width, AXIS);
    const step = niceStep(this.to - this.from, (this.width - this.gutter) / 110);
    const scale = (this.width - this.gutter) / (this.to - this.from);
    for (let at = Math.ceil(this.from / step) * step; at <= this.to; at += step) {
      const x = this.gutter + (at - this.from) * scale;
      g.fillStyle = colours.line;
      g.fillRect(x, AXIS - 6, 1, 6);
      g.fillStyle = colours.muted;
      if (x + 50 < this.width) g.fillText(tickText(at, step), x + 3, AXIS / 2);
    }
    g.fillStyle = colours.line;
    g.fillRect(0, AXIS - 1, this.width, 1);
    g.fillRect(this.gutter - 1, 0, 1, this.height);
  }
}
