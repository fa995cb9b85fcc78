#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the Python package promises, one fact a test. ORRERY is the program, ORRERY_LIBRARY the library beside it."""
import contextlib
import ctypes
import doctest
import importlib
import io
import json
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))

import orrery  # noqa: E402
from orrery import _library, _structs  # noqa: E402

PROGRAM = os.environ.get("ORRERY", str(ROOT / "build" / "orrery"))
RING = {"system": ROOT / "examples/ring8/system.json", "network": ROOT / "examples/ring8/network.yml"}
STEP = {"machine": "dgx-h100:2", "tp": 2, "sp": True, "zero": 1, "micro_batch": 1, "global_batch": 64}


def options(parameters):
    """The same parameters as options of the program."""
    words = []
    for name, value in parameters.items():
        words.append(f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}"))
    return words


def program(*words):
    words = words if "--json" in words else [*words, "--json", "-"]
    return json.loads(subprocess.run([PROGRAM, *words], check=True, capture_output=True).stdout)


class SameNumbers(unittest.TestCase):
    """As the program's --json, to the last digit."""

    def test_a_step_is_the_programs(self):
        self.assertEqual(dict(orrery.train("llama3-8b", **STEP)), program("train", "llama3-8b", *options(STEP)))

    def test_the_plans_are_the_programs(self):
        job = {"machine": "dgx-h100", "global_batch": 64, "fix": "vpp=1,cp=1", "top": 4}
        self.assertEqual(dict(orrery.plan("llama3-8b", **job)), program("plan", "llama3-8b", *options(job)))

    def test_a_run_is_the_programs(self):
        job = orrery.collective("all-reduce", 1 << 20, ranks=8)
        for parameters in (RING, {"machine": "dgx-h100"}, {**RING, "backend": "aware", "jitter": 0.1, "seed": 3}):
            with orrery.run(job, **parameters) as ours:
                self.assertEqual(dict(ours), program("run", "-w", job.prefix, *options(parameters)))

    def test_a_sweep_is_the_programs(self):
        job = orrery.collective("all-reduce", 1 << 20, ranks=8)
        ours = orrery.sweep(job, {"network.bandwidth": [[50], [100]], "queues_per_dim": [1, 2]}, **RING)
        with tempfile.TemporaryDirectory() as folder:
            theirs = program("sweep", "--vary", "network.bandwidth=[50],[100]", "--vary", "queues-per-dim=1,2",
                             "--store", f"{folder}/s.db", "-q", "--json", "-", "--", "run", "-w", job.prefix, *options(RING))
        for key in ("keys", "points", "done"):
            self.assertEqual(ours[key], theirs[key])
        self.assertEqual([(p["values"], p["time_ns"], p["rank"]) for p in ours["results"]],
                         [(p["values"], p["time_ns"], p["rank"]) for p in theirs["results"]])
        self.assertGreater(len({p["time_ns"] for p in ours["results"]}), 1)

    def test_single_questions_are_the_programs(self):
        self.assertEqual(orrery.coll_time("dgx-h100:2", op="all-gather", bytes=(1 << 20, 1 << 22)),
                         program("coll", "time", "--machine", "dgx-h100:2", "--op", "all-gather", "--bytes",
                                 "1MiB..4MiB")["times"])
        self.assertEqual(dict(orrery.op_predict("gemm", "4096x4096x4096", device="b200", dtype="fp8")),
                         program("op", "predict", "--op", "gemm", "--shape", "4096x4096x4096", "--device", "b200",
                                 "--dtype", "fp8"))
        self.assertEqual(dict(orrery.machine("dgx-h100:4")), program("machine", "show", "dgx-h100:4"))
        self.assertEqual(orrery.models(), program("train", "--list")["models"])
        self.assertEqual(dict(orrery.model("llama3-8b")), program("train", "--list", "llama3-8b"))

    def test_a_recording_is_imported_as_the_program_does_it(self):
        folder = ROOT / "tests/data/pytorch/cifar10_gloo"
        made = orrery.import_recording(folder)
        with tempfile.TemporaryDirectory() as other:
            subprocess.run([PROGRAM, "trace", "import", str(folder), "-o", f"{other}/job"], check=True,
                           capture_output=True)
            for rank in range(2):
                self.assertEqual(Path(f"{made.prefix}.{rank}.et").read_bytes(), Path(f"{other}/job.{rank}.et").read_bytes())
        self.assertIn("all-reduce", made.report)


class Structs(unittest.TestCase):
    def test_every_field_lies_where_the_header_has_it(self):
        lines, ours = [], []
        for kind, name in _structs.NAMES.items():
            lines.append(f'printf("%zu\\n", sizeof(struct {name}));')
            ours.append(ctypes.sizeof(kind))
            for field, *_ in kind._fields_:
                lines.append(f'printf("%zu\\n", offsetof(struct {name}, {field}));')
                lines.append(f'printf("%zu\\n", sizeof ((struct {name} *)0)->{field});')
                ours += [getattr(kind, field).offset, getattr(kind, field).size]
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "layout.c"
            source.write_text("#include <orrery.h>\n#include <stddef.h>\nint main(void)\n{\n" + "\n".join(lines)
                              + "\nreturn 0;\n}\n")
            subprocess.run([*os.environ.get("CC", "cc").split(), "-I", ROOT / "include", source, "-o",
                            source.with_suffix("")], check=True)
            printed = subprocess.run([source.with_suffix("")], check=True, capture_output=True, text=True).stdout
        self.assertEqual([int(line) for line in printed.split()], ours)

    def test_numbers_of_statuses_and_outputs_are_the_headers(self):
        text = (ROOT / "include/orrery/run.h").read_text()
        listed = [line.split(",")[0].strip() for line in text.split("enum orr_output {")[1].split("};")[0].split("\n")
                  if line.strip().startswith("ORR_OUTPUT_")]
        for word, number in importlib.import_module("orrery._run").OUTPUTS.items():
            self.assertEqual(listed[number].split()[0], "ORR_OUTPUT_" + word.upper().replace("-", "_"))
        codes = importlib.import_module("orrery._errors").EXIT_CODES
        self.assertEqual(tuple(_library.lib.orr_status_exit_code(status) for status in range(len(codes))), codes)

    def test_a_library_with_another_struct_is_refused_by_name(self):
        class Longer(ctypes.Structure):
            _fields_ = _structs.Wait._fields_ + [("more", ctypes.c_uint64)]

        names = {**_structs.NAMES}
        try:
            _structs.NAMES[Longer] = "orr_wait"
            with self.assertRaisesRegex(orrery.LibraryError, "does not fit this package: struct orr_wait has 56 .* 64"):
                _library.load()
        finally:
            _structs.NAMES.clear()
            _structs.NAMES.update(names)

    def test_a_library_that_is_not_there_is_said_with_its_path(self):
        with unittest.mock.patch.dict(os.environ, ORRERY_LIBRARY="/nowhere/liborrery.so.0"):
            with self.assertRaisesRegex(ImportError, "/nowhere/liborrery.so.0"):
                _library.load()

    def test_a_library_that_cannot_say_its_sizes_is_refused(self):
        with unittest.mock.patch.dict(os.environ, ORRERY_LIBRARY="libc.so.6"):
            with self.assertRaisesRegex(orrery.LibraryError, "older than this package"):
                _library.load()


class Page(unittest.TestCase):
    def test_every_example_of_docs_python_md_runs(self):
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.S)
        self.assertGreater(len(blocks), 4)
        try:
            import pandas  # noqa: F401
        except ImportError:
            blocks = [block.replace(".df()", "") for block in blocks]
        names, folder = {}, os.getcwd()
        os.chdir(ROOT)
        try:
            for block in blocks:
                exec(compile(block, "docs/python.md", "exec"), names)
        finally:
            os.chdir(folder)
        self.assertEqual(names["done"].best[0]["machine"], "torus3d")


    def test_every_cell_of_the_notebook_runs(self):
        cells = json.loads((ROOT / "examples/notebook.ipynb").read_text())["cells"]
        names = {}
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            for cell in cells:
                if cell["cell_type"] == "code":
                    self.assertEqual(cell["outputs"], [], "kept without outputs")
                    exec("".join(cell["source"]), names)
        self.assertIn("tokens/s over the first plan", printed.getvalue())
        fast, slow = names["runs"].values()
        self.assertLess(fast.time_ns, slow.time_ns)


class Package(unittest.TestCase):
    def test_its_version_is_the_librarys(self):
        self.assertIn(f'version = "{orrery.version()}"', (ROOT / "python/pyproject.toml").read_text())

    def test_a_wheel_has_every_module_and_the_library_that_is_named(self):
        backend = importlib.import_module("build_backend")
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / "small.so"
            library.write_bytes(b"a library")
            with unittest.mock.patch.dict(os.environ, ORRERY_LIBRARY=str(library)):
                name = backend.build_wheel(folder)
            with zipfile.ZipFile(Path(folder) / name) as wheel:
                names = set(wheel.namelist())
                recorded = wheel.read(f"{backend.INFO}/RECORD").decode().split("\n")
        self.assertLessEqual({f"orrery/{path.name}" for path in (ROOT / "python/orrery").glob("*.py")}, names)
        self.assertIn("orrery/py.typed", names)
        self.assertIn("orrery/liborrery.so.0", names)
        self.assertNotIn("any", name)
        self.assertEqual({line.split(",")[0] for line in recorded if line}, names)


class Errors(unittest.TestCase):
    def test_an_error_is_the_programs_line_and_exit_code(self):
        with self.assertRaises(orrery.InputError) as raised:
            orrery.train("lama3-8b", machine="dgx-h100")
        done = subprocess.run([PROGRAM, "train", "lama3-8b", "--machine", "dgx-h100"], capture_output=True, text=True)
        self.assertEqual(f"orrery: {raised.exception}\n", done.stderr)
        self.assertEqual(raised.exception.code, done.returncode)

    def test_a_stall_says_who_waits_for_whom(self):
        job = orrery.Workload(ranks=2)
        job[0].send(1, 1024, tag=1)
        job[1].receive(0, 1024, tag=2)
        with self.assertRaises(orrery.Stall) as raised:
            orrery.run(job, machine="ring")
        self.assertEqual(raised.exception.code, 4)
        self.assertIn((1, 0), [(wait["rank"], wait["peer"]) for wait in raised.exception.waits])
        self.assertTrue(raised.exception.findings[0]["text"])
        self.assertEqual(raised.exception.run["state"], "stalled")

    def test_what_the_progress_function_raises_comes_out_of_run(self):
        job = orrery.collective("all-reduce", 1 << 20, ranks=8)

        def stop(_now):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            orrery.run(job, progress=stop, **RING)

    def test_a_search_for_plans_can_be_ended(self):
        with self.assertRaises(orrery.Interrupted):
            orrery.plan("llama3-8b", machine="dgx-h100:2", progress=lambda now: now["predicted"] > now["plans"])

    def test_false_from_the_progress_function_ends_the_run(self):
        job = orrery.collective("all-reduce", 1 << 28, ranks=64)
        seen = []
        with self.assertRaises(orrery.Interrupted):
            orrery.run(job, machine="ring", backend="aware", no_symmetry=True, no_memo=True,
                       progress=lambda now: seen.append(now["ranks"]) or False)
        self.assertEqual(seen[0], 64)


class Traces(unittest.TestCase):
    def test_nodes_wait_for_the_nodes_they_name(self):
        job = orrery.Workload(ranks=2)
        for rank in job:
            forward = rank.compute("forward", us=100)
            rank.compute("backward", us=200, after=[forward])
        done = orrery.run(job, machine="ring", intervals=True)
        self.assertEqual(done.time_ns, 300000)
        self.assertEqual([(i["name"], i["start_ns"]) for i in done.intervals if i["rank"] == 0],
                         [("forward", 0), ("backward", 100000)])

    def test_a_collective_of_a_group_is_the_groups_alone(self):
        job = orrery.Workload(ranks=4)
        pair = job.group([0, 1])
        for rank in job[:2]:
            rank.collective("all-reduce", 1 << 20, group=pair)
        for rank in job[2:]:
            rank.compute("alone", us=1)
        done = orrery.run(job, machine="ring")
        self.assertEqual([row["group_size"] for row in done.collectives], [2])
        self.assertEqual(done.ranks[3]["finish_ns"], 1000)

    def test_a_node_that_waits_for_a_later_one_is_refused(self):
        with self.assertRaisesRegex(ValueError, "waits for node 7"):
            orrery.Workload(ranks=1)[0].compute("early", us=1, after=[7])

    def test_a_block_that_fails_leaves_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(orrery.InputError):
                with orrery.Trace(f"{folder}/job.0.et", rank=0) as trace:
                    trace.collective("all-redduce", 4)
            self.assertEqual(os.listdir(folder), [])

    def test_a_temporary_workload_goes_with_its_object(self):
        job = orrery.collective("all-reduce", 1024, ranks=2)
        folder = os.path.dirname(job.prefix)
        self.assertTrue(os.path.isdir(folder))
        del job
        self.assertFalse(os.path.isdir(folder))


class Tables(unittest.TestCase):
    def test_rows_are_what_pandas_takes(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed (Debian: python3-pandas)")
        step = orrery.train("gpt2", gpu="h100", micro_batch=8)
        frame = step.equation.df()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(frame["ns"].sum(), step.step_ns)
        self.assertEqual(step.df()["step_time_ns"][0], step.step_ns)

    def test_jupyter_gets_the_equation_as_a_bar(self):
        page = orrery.train("gpt2", gpu="h100", micro_batch=8)._repr_html_()
        self.assertIn("<svg", page)
        self.assertIn("backward", page)
        self.assertNotIn("<script", page)

    def test_what_is_shown_is_escaped(self):
        self.assertNotIn("<b>", orrery.Rows([{"<b>": "<b>"}])._repr_html_())


class Report(unittest.TestCase):
    def test_a_page_has_the_documents_that_were_given(self):
        run = orrery.run(orrery.collective("all-reduce", 1 << 20, ranks=8), intervals=True, **RING)
        step = orrery.train("gpt2", gpu="h100", micro_batch=8)
        with tempfile.TemporaryDirectory() as folder:
            orrery.report(f"{folder}/both.html", run, step, names=["the ring", "the step"], lang="zh-TW")
            run.report(f"{folder}/one.html")
            both, one = Path(f"{folder}/both.html").read_text(), Path(f"{folder}/one.html").read_text()
        for said in ("the ring", "the step", str(step.step_ns)):
            self.assertIn(said, both)
        self.assertNotIn(str(step.step_ns), one)

    def test_what_is_no_result_is_refused_in_the_librarys_words(self):
        with self.assertRaisesRegex(orrery.InputError, "nowhere.json"):
            orrery.report("/tmp/never.html", "nowhere.json")
        with self.assertRaises(orrery.InputError):
            orrery.report("/tmp/never.html", orrery.machine("dgx-h100"))
        self.assertFalse(os.path.exists("/tmp/never.html"))


class Typed(unittest.TestCase):
    def test_the_package_is_clean_under_mypy_strict(self):
        for python in (sys.executable, "/usr/bin/python3"):
            if os.path.exists(python) and subprocess.run([python, "-c", "import mypy"], capture_output=True).returncode == 0:
                with tempfile.TemporaryDirectory() as cache:
                    done = subprocess.run([python, "-m", "mypy", "--strict", "--cache-dir", cache, "orrery"],
                                          cwd=ROOT / "python", capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout)
                return
        self.skipTest("mypy is not installed (Debian: mypy)")


def load_tests(_loader, tests, _pattern):
    for module in pkgutil.iter_modules(orrery.__path__, "orrery."):
        tests.addTests(doctest.DocTestSuite(importlib.import_module(module.name)))
    return tests


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
