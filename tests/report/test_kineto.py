#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The folder of --timeline DIR/ is read as a recording is: Holistic Trace Analysis' breakdowns, by their published
definitions, are the numbers of our own report, and the folder imported and run again takes the same time."""
import gzip
import json
import math
import os
import subprocess
import tempfile
import unittest

ORRERY = os.environ["ORRERY"]
DATA = os.environ["ORRERY_DATA"]
SYSTEM = {
    "scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 1,
    "preferred-dataset-splits": 1, "all-reduce-implementation": ["ring"], "all-gather-implementation": ["ring"],
    "reduce-scatter-implementation": ["ring"], "all-to-all-implementation": ["ring"],
    "collective-optimization": "localBWAware", "local-mem-bw": 1600, "boost-mode": 0,
}


def orrery(*words):
    done = subprocess.run([ORRERY, *words], capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done


def merged(spans):
    """Spans that touch or overlap as one, as merge_kernel_intervals of HTA makes them."""
    out = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([start, end])
    return out


def length(spans):
    return sum(end - start for start, end in spans)


def kernel_type(name):
    if name.startswith("nccl") and "Kernel" in name:
        return "communication"
    return "memory" if name.startswith(("Memcpy", "Memset")) else "compute"


def kernels_of(events):
    """What HTA takes for kernels, in nanoseconds by type: events of a stream."""
    spans = {"communication": [], "memory": [], "compute": []}
    for event in events:
        if event["args"].get("stream", -1) != -1 and event["cat"] != "cuda_sync":
            start = round(event["ts"] * 1000)
            spans[kernel_type(event["name"])].append((start, start + round(event["dur"] * 1000)))
    return {kind: merged(list_) for kind, list_ in spans.items()}


class Recorded(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.chdir(self.folder.name)
        with open("system.json", "w") as file:
            json.dump(SYSTEM, file)

    def machine(self, ranks):
        with open("network.yml", "w") as file:
            file.write(f"topology: [ Switch ]\nnpus_count: [ {ranks} ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n")

    def run_(self, workload, *more):
        return json.loads(orrery("run", "-w", workload, "-s", "system.json", "-n", "network.yml", "--json", "-", "-q",
                                 *more).stdout)

    def jobs(self):
        """Compute beside a collective; a pipeline with sends, receives, groups and the host; a recording."""
        self.machine(8)
        orrery("gen", "three-node", "--bytes", "1MiB", "--compute", "50us", "--npus", "8", "-o", "three")
        yield "three"
        orrery("train", "llama3-8b", "--machine", "dgx-h100:1", "--gpus", "8", "--tp", "2", "--pp", "2",
               "--global-batch", "8", "--merge-kernels", "-o", "step")
        yield "step"
        self.machine(2)
        orrery("trace", "import", os.path.join(DATA, "cifar10_gloo"), "-o", "cifar10")
        yield "cifar10"

    def recorded(self, job):
        result = self.run_(job, "--timeline", job + "-recorded/")
        files = []
        for rank in range(result["ranks"]):
            with gzip.open(f"{job}-recorded/rank_{rank}.json.gz", "rt") as file:
                files.append(json.load(file))
        return result, files

    def test_files_are_told_apart_as_hta_does(self):
        for job in self.jobs():
            result, files = self.recorded(job)
            for rank, file in enumerate(files):
                self.assertEqual(file["distributedInfo"]["rank"], rank)
                self.assertEqual(file["distributedInfo"]["world_size"], result["ranks"])
                events = file["traceEvents"]
                self.assertTrue(all(e["ph"] == "X" and e["dur"] >= 0 for e in events))
                steps = [e for e in events if e["name"].startswith("ProfilerStep#")]
                self.assertEqual(len(steps), 1)
                launches = {e["args"]["correlation"]: e for e in events if e["cat"] == "cuda_runtime"}
                for event in events:
                    if event["cat"] not in ("kernel", "gpu_memcpy"):
                        self.assertTrue(event["cat"] == "cuda_sync" or "stream" not in event["args"], event)
                        continue
                    self.assertGreater(event["args"]["stream"], 0)
                    launch = launches[event["args"]["correlation"]]
                    self.assertLessEqual(launch["ts"], event["ts"], event)
                    self.assertLess(launch["ts"], steps[0]["ts"] + steps[0]["dur"])

    def test_streams_do_one_thing_after_the_other(self):
        for job in self.jobs():
            for file in self.recorded(job)[1]:
                free = {}
                device = [e for e in file["traceEvents"] if e["cat"] in ("kernel", "gpu_memcpy")]
                for event in sorted(device, key=lambda e: (e["tid"], e["ts"], e["dur"])):
                    start, stream = round(event["ts"] * 1000), event["tid"]
                    self.assertGreaterEqual(start, free.get(stream, 0), (job, event))
                    free[stream] = start + round(event["dur"] * 1000)

    def test_the_temporal_breakdown_of_hta_is_that_of_the_report(self):
        for job in ("three", "step"):
            next(name for name in self.jobs() if name == job)
            result, files = self.recorded(job)
            for rank, file in zip(result["per_rank"], files):
                spans = kernels_of(file["traceEvents"])
                every = merged(span for kind in spans.values() for span in kind)
                kernel_time = every[-1][1] - every[0][0]
                idle = kernel_time - length(every)
                compute = length(spans["compute"])
                self.assertEqual(compute, rank["compute_ns"], job)
                self.assertEqual(kernel_time - compute - idle, rank["exposed_comm_ns"], job)
                hidden = compute + length(spans["communication"]) - length(
                    merged(spans["compute"] + spans["communication"]))
                busy = length(spans["communication"])
                self.assertEqual(busy - hidden, rank["exposed_comm_ns"], "communication that nothing overlaps")

    def test_pandas_reads_a_file_as_hta_does(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed (Debian: python3-pandas)")
        next(self.jobs())
        result, files = self.recorded("three")
        frame = pandas.DataFrame(files[0]["traceEvents"])
        frame["end"] = (frame["ts"] + frame["dur"]).apply(math.floor)  # HTA's whole microseconds
        frame["ts"] = frame["ts"].apply(math.ceil)
        frame["dur"] = frame["end"] - frame["ts"]
        frame = frame.dropna(axis=0, subset=["dur", "cat"])
        for name, otherwise in (("stream", -1), ("correlation", -1)):
            frame[name] = frame["args"].apply(lambda row: row.get(name, otherwise))
        kernels = frame[frame["stream"].ne(-1) & frame["cat"].ne("cuda_sync")].sort_values("ts")
        compute = kernels[kernels["name"].apply(kernel_type).eq("compute")]
        self.assertAlmostEqual(compute["dur"].sum() * 1000, result["per_rank"][0]["compute_ns"], delta=1000)
        both = kernels.merge(frame[frame["stream"].eq(-1)], on="correlation")
        self.assertEqual(len(both), len(kernels), "every kernel has its launch")

    def test_imported_and_run_again_it_takes_the_same_time(self):
        for job in self.jobs():
            result, _ = self.recorded(job)
            done = orrery("trace", "import", job + "-recorded", "-o", job + "-again")
            self.assertEqual(done.stderr, "", job)
            again = self.run_(job + "-again")
            self.assertLess(abs(again["time_ns"] - result["time_ns"]), 1000, job)
            slow = [self.run_(name, "--set", "network.bandwidth=10")["time_ns"] for name in (job, job + "-again")]
            self.assertLess(abs(slow[1] - slow[0]), 0.01 * slow[0], "dependencies are kept, not times alone")


if __name__ == "__main__":
    unittest.main()
