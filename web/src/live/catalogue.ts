// SPDX-License-Identifier: Apache-2.0
// What there is to choose from, asked for once.
import { api } from "./api";
import type { Catalogue } from "./step";

export async function catalogue(): Promise<Catalogue> {
  const [models, machines, frameworks] = await Promise.all([api.models(), api.machines(), api.frameworks()]);
  const nodeGpus = new Map(machines.machines.filter((one) => one.gpus_per_server > 1).map((one) => [one.name, one.gpus_per_server]));
  return { models, machines: machines.machines, kinds: machines.kinds, frameworks: frameworks.map((one) => one.name), nodeGpus };
}
