// SPDX-License-Identifier: Apache-2.0
// Quantities as people read them: four digits and the unit that fits.

function digits(value: number, most = 4, least = 0): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  const whole = Math.floor(Math.log10(size)) + 1;
  const decimals = Math.max(0, Math.min(most - whole, most - 1));
  return value.toLocaleString("en-US", { maximumFractionDigits: decimals, minimumFractionDigits: Math.min(decimals, least) });
}

export function time(ns: number): string {
  const size = Math.abs(ns);
  if (size < 1000) return `${digits(Math.round(ns))} ns`;
  if (size < 1e6) return `${digits(ns / 1e3, 4, 3)} µs`;
  if (size < 1e9) return `${digits(ns / 1e6, 4, 3)} ms`;
  return `${digits(ns / 1e9, 4, 3)} s`;
}

/** Exact: for hovers and tables that are copied. */
export function nanoseconds(ns: number): string {
  return `${Math.round(ns).toLocaleString("en-US")} ns`;
}

export function bytes(count: number): string {
  const units = ["B", "KB", "MB", "GB", "TB", "PB"];
  let unit = 0;
  let value = count;
  while (Math.abs(value) >= 1000 && unit + 1 < units.length) {
    value /= 1000;
    unit++;
  }
  return `${digits(value)} ${units[unit] ?? ""}`;
}

/** A message's size: as traces have them, powers of two where it is one. */
export function size(count: number): string {
  for (const [factor, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"]] as const) {
    if (count >= factor) return (count / factor) % 1 === 0 ? `${digits(count / factor)} ${unit}` : bytes(count);
  }
  return bytes(count);
}

export function percent(share: number, most = 3): string {
  return Number.isFinite(share) ? `${digits(share * 100, most, share < 1 ? most - 1 : 0)} %` : "–";
}

export function signed(share: number): string {
  return `${share > 0 ? "+" : share < 0 ? "−" : "±"}${percent(Math.abs(share))}`;
}

export function signedTime(ns: number): string {
  return `${ns > 0 ? "+" : ns < 0 ? "−" : "±"}${time(Math.abs(ns))}`;
}

export function count(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString("en-US") : digits(value);
}

/** What people call a file: its name without folders and ending; of a kept run its folder's. */
export function fileName(path: string): string {
  return path.replace(/\/result\.json$/, "").split("/").pop()?.replace(/\.(json|json\.gz|zst)$/, "") || path;
}

/** Words that stand alone, as a heading does. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function number(value: number, most = 4): string {
  return digits(value, most);
}
