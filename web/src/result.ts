// SPDX-License-Identifier: Apache-2.0
// What every result is to the page: a headline, a time that is a sum of parts, and sections below it.
import type { Child } from "./dom";
import type { Sum } from "./equation";
import type { Section } from "./widgets";

export interface Result {
  title: string;
  subtitle: string;
  command: string | null;
  /** null: a list or a search, which has no one time. */
  sum: Sum | null;
  figures: [string, string][];
  settings: Record<string, string>;
  above?: () => Child;
  sections: () => Section[];
}
