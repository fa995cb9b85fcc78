// SPDX-License-Identifier: Apache-2.0
// What is chosen, in the address: a link is a configuration. It stands behind '#', which is never sent anywhere.

export type Tab = "step" | "collective" | "plan" | "runs";

export class State {
  private values: URLSearchParams;
  private listeners: (() => void)[] = [];
  /** `own`: chosen at the beginning, on a page whose address is not a configuration. */
  constructor(private readonly own?: Record<string, string>) {
    this.values = new URLSearchParams(own ?? location.hash.slice(1));
    if (own) return;
    window.addEventListener("hashchange", () => {
      if (location.hash.slice(1) === this.values.toString()) return;
      this.values = new URLSearchParams(location.hash.slice(1));
      this.listeners.forEach((one) => one());
    });
  }
  /** Called when another link was followed, not when something was set. */
  changed(listener: () => void): void {
    this.listeners.push(listener);
  }
  get(name: string, fallback: string): string {
    return this.values.get(name) ?? fallback;
  }
  number(name: string, fallback: number): number {
    const value = Number(this.values.get(name) ?? fallback);
    return Number.isFinite(value) ? value : fallback;
  }
  set(name: string, value: string | number, fallback: string | number = ""): void {
    if (String(value) === String(fallback)) this.values.delete(name);
    else this.values.set(name, String(value));
    if (!this.own) history.replaceState(null, "", `${location.pathname}#${this.values.toString()}`);
  }
}
