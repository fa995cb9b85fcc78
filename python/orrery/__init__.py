# SPDX-License-Identifier: Apache-2.0
"""Orrery from Python: how long a training step takes on a machine, and why.

    import orrery
    step = orrery.train("llama3-70b", machine="dgx-h100:64", tp=8, pp=4, sp=True, zero=1, global_batch=1024)
    step.tokens_per_s, step.mfu, step.memory, step.equation.df()

The functions call liborrery through ctypes; what they answer is what the program's --json has. Parameters have the names
of the program's options, with _ for -. What is refused is an exception with the library's own line. docs/python.md has
the rest.
"""
from ._ask import coll_time, machine, machines, op_predict
from ._errors import InputError, Interrupted, LibraryError, LimitError, OrreryError, Stall
from ._library import version
from ._report import report
from ._run import Run, run
from ._sweep import Sweep, sweep
from ._table import Answer, Rows, table_of
from ._trace import Rank, Trace, Workload, collective, import_recording
from ._train import Plan, Train, model, models, plan, train, train_workload

__all__ = [
    "Answer", "InputError", "Interrupted", "LibraryError", "LimitError", "OrreryError", "Plan", "Rank", "Rows", "Run",
    "Stall", "Sweep", "Trace", "Train", "Workload", "coll_time", "collective", "import_recording", "machine",
    "machines", "model", "models", "op_predict", "plan", "report", "run", "sweep", "table_of", "train", "train_workload",
    "version",
]


def __getattr__(name: str) -> str:
    if name == "__version__":  # the library's, which is not loaded before it is needed
        return version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
