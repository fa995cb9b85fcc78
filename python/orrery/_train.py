# SPDX-License-Identifier: Apache-2.0
"""A training step from a description, and the best way to divide it."""
from __future__ import annotations

import ctypes as c
import json
import os
from typing import Any

from . import _structs
from ._html import table, time_text
from ._library import FORM_JSON, PathLike, call, lib, text_of, words_of
from ._run import Watch, Watcher
from ._table import Answer, Rows
from ._trace import Workload

# The terms of the step equation, in its order; docs/train.md says what each is.
PARTS = {"forward_ns": "forward", "backward_ns": "backward", "exposed_tp_ns": "tensor-parallel communication",
         "exposed_cp_ns": "context-parallel communication", "exposed_ep_ns": "expert-parallel communication",
         "exposed_pp_ns": "pipeline sends", "exposed_dp_ns": "data-parallel communication",
         "bubble_ns": "pipeline bubble", "launch_ns": "waiting for the host", "optimizer_ns": "optimizer"}


class Train(Answer):
    """A step: the dictionary that `orrery train --json` writes."""

    @property
    def step_ns(self) -> int:
        return int(self.data["step_time_ns"])

    @property
    def tokens_per_s(self) -> float:
        return float(self.data["tokens_per_s"])

    @property
    def mfu(self) -> float:
        """The share of the device's peak that the model's own products have."""
        return float(self.data["mfu"])

    @property
    def fits(self) -> bool:
        return bool(self.data["fits"])

    @property
    def bound_by(self) -> str:
        return str(self.data["bound_by"])

    @property
    def memory(self) -> dict[str, int]:
        """Bytes of one GPU, by what they hold; `total`, and `device`: what there is."""
        return dict(self.data["memory_bytes"])

    @property
    def nearest(self) -> Rows:
        """The measured runs nearest to this one, with our error on each."""
        return Rows(self.data.get("nearest", []))

    @property
    def equation(self) -> Rows:
        """What the step's time is the sum of."""
        return Rows([{"part": name, "ns": ns, "share": ns / self.step_ns} for name, ns in self.parts()])

    def parts(self) -> list[tuple[str, float]]:
        return [(name, self.data[key]) for key, name in PARTS.items() if self.data[key] > 0]

    def _repr_html_(self) -> str:
        memory = self.memory
        line = (f"<p><b>{time_text(self.step_ns)}</b> a step of {self.data['model']} on {self.data['gpus']} x "
                f"{self.data['device']}: {self.tokens_per_s:,.0f} tokens/s, MFU {100 * self.mfu:.1f} %, bound by "
                f"{self.bound_by}; {memory['total'] / 1e9:.1f} of {memory['device'] / 1e9:.1f} GB a GPU, "
                f"{'fits' if self.fits else 'does not fit'}</p>")
        return line + super()._repr_html_()


class Plan(Answer):
    """The plans found, the best first, and how many were looked at."""

    @property
    def best(self) -> Rows:
        return Rows(self.data["best"])

    def df(self) -> Any:
        return self.best.df()

    def _repr_html_(self) -> str:
        return f"<p>{self.data['predicted']:,} plans of {self.data['plans']:,} predicted</p>{table(self.best)}"


class _Options:
    """Options of a kind, on the library's heap, filled by name; the texts live as long as they do."""

    def __init__(self, kind: str, parameters: dict[str, Any]) -> None:
        self._delete = getattr(lib, f"orr_{kind}_options_delete")
        self._words = words_of(parameters)
        self.handle = c.c_void_p(getattr(lib, f"orr_{kind}_options_new")())
        try:
            for name, value in self._words:
                call(getattr(lib, f"orr_{kind}_set"), self.handle, name, value)
        except BaseException:
            self._delete(self.handle)
            raise

    def __enter__(self) -> c.c_void_p:
        return self.handle

    def __exit__(self, *_: object) -> None:
        self._delete(self.handle)


def train(model: PathLike | None = None, **parameters: Any) -> Train:
    """How long a step takes, why, and whether it fits. Parameters are the options of `orrery train`, with _ for -.

    `model` is a preset (models()) or the path of a config.json as Hugging Face has it.

    >>> step = train("llama3-70b", machine="dgx-h100:64", tp=8, pp=4, sp=True, zero=1, global_batch=1024)
    >>> step.fits, step.bound_by
    (True, 'compute')
    >>> sum(step.equation.column("ns")) == step.step_ns
    True
    >>> train("llama3-70b", machine="dgx-h100:64", tq=8)
    Traceback (most recent call last):
    orrery._errors.InputError: a training step has no parameter "tq"; did you mean "tp"?
    """
    with _Options("train", {"model": model, **parameters}) as options:
        told = text_of(lambda stream: call(lib.orr_train_tell, options, FORM_JSON, stream))
    return Train(json.loads(told))


def train_workload(model: PathLike | None = None, prefix: PathLike | None = None, **parameters: Any) -> Workload:
    """The step as traces, for `run` on any machine and network.

    >>> job = train_workload("gpt2", machine="dgx-h100", gpus=2, micro_batch=1)
    >>> sorted(os.path.basename(name) for name in os.listdir(os.path.dirname(job.prefix)))
    ['job.0.et', 'job.1.et']
    """
    made, written = Workload(prefix), _structs.TrainWritten()
    with _Options("train", {"model": model, **parameters}) as options:
        call(lib.orr_train_write, options, made.prefix.encode(), c.byref(written))
    return made


class _PlanWatcher(Watcher):
    def row(self, *now: Any) -> dict[str, Any]:
        return dict(zip(("predicted", "plans"), now))


def plan(model: PathLike | None = None, *, progress: Watch | None = None, **parameters: Any) -> Plan:
    """Which way of dividing the job is best. Parameters are the options of `orrery plan`, with _ for -.

    Degrees that are given are your own plan, which the found ones are compared with; `fix="tp=8"` is not searched.

    >>> found = plan("llama3-8b", machine="dgx-h100", global_batch=64, fix="tp=2,vpp=1", top=3)
    >>> len(found.best), found.best[0]["tp"], found.best[0]["fits"]
    (3, 2, True)
    """
    watcher = _PlanWatcher(progress)
    watch = _structs.PLAN_PROGRESS(watcher)
    with _Options("plan", {"model": model, **parameters}) as options:
        lib.orr_plan_watch(options, watch, None)
        told = text_of(lambda stream: watcher.call(lib.orr_plan_tell, options, FORM_JSON, stream))
    return Plan(json.loads(told))


def models() -> Rows:
    """The models that are known by name.

    >>> [row["parameters"] for row in models() if row["name"] == "llama3-70b"]
    [70553706496]
    """
    return Rows(json.loads(text_of(lambda stream: call(lib.orr_train_models_json, stream)))["models"])


def model(name: PathLike) -> Answer:
    """One of them, or what a config.json says."""
    word = os.fspath(name).encode()
    return Answer(json.loads(text_of(lambda stream: call(lib.orr_train_model_list, word, FORM_JSON, stream))))
