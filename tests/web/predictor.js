// orrery predictor: a stand-in for what make wasm makes, whose steps are as much shorter as there are more GPUs
window.orreryAlone = Promise.resolve({
  lists: {
    "/api/models": { models: [{ name: "llama3-8b", family: "llama", parameters: 8e9, active_parameters: 8e9, seq: 8192, experts: 0, layers: 32, heads: 32 }] },
    "/api/machines": { machines: [{ name: "dgx-h100", summary: "8 GPUs", device: "h100", gpus_per_server: 8 }], kinds: [] },
    "/api/frameworks": { frameworks: [{ name: "megatron" }] },
  },
  train: (asked) => {
    const first = JSON.parse(document.querySelector(".orrery-document").textContent);
    return JSON.stringify({ ...first, gpus: Number(asked.gpus), step_time_ns: Math.round((first.step_time_ns * first.gpus) / Number(asked.gpus)) });
  },
});
