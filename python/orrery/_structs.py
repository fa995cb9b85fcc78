# SPDX-License-Identifier: Apache-2.0
"""The few structs of orrery.h that are filled or read here; everything else goes by name or comes as JSON.

A field more, less or elsewhere would be read wrongly without a word. So the sizes are held against the library's when
it is loaded (orr_struct_size), and a test compiles the header and compares the place of every field.
"""
from __future__ import annotations

import ctypes as c

TEXTS = c.POINTER(c.c_char_p)


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("text", c.c_char * 1024)]


class Notices(c.Structure):
    _fields_ = [("warn", c.CFUNCTYPE(None, c.c_void_p, c.c_char_p)), ("context", c.c_void_p), ("strict", c.c_bool)]


class Progress(c.Structure):
    _fields_ = [("time_ns", c.c_uint64), ("events", c.c_uint64), ("messages", c.c_uint64),
                ("ranks_finished", c.c_uint32), ("ranks", c.c_uint32), ("nodes_done", c.c_uint64),
                ("nodes", c.c_uint64), ("done", c.c_double)]


class Interval(c.Structure):
    _fields_ = [("rank", c.c_uint32), ("node", c.c_uint64), ("name", c.c_char_p), ("type", c.c_char_p),
                ("is_cpu", c.c_bool), ("is_communication", c.c_bool), ("bytes", c.c_uint64),
                ("start_ns", c.c_uint64), ("end_ns", c.c_uint64)]


class Finding(c.Structure):
    _fields_ = [("kind", c.c_char_p), ("text", c.c_char_p), ("fix", c.c_char_p), ("ranks", c.POINTER(c.c_uint32)),
                ("rank_count", c.c_size_t), ("nodes", c.POINTER(c.c_uint64)), ("node_count", c.c_size_t)]


class Wait(c.Structure):
    _fields_ = [("rank", c.c_uint32), ("node", c.c_uint64), ("what", c.c_char_p), ("peer", c.c_uint32),
                ("bytes", c.c_uint64), ("since_ns", c.c_uint64), ("text", c.c_char_p)]


class Node(c.Structure):
    _fields_ = [("id", c.c_uint64), ("name", c.c_char_p), ("kind", c.c_int), ("after", c.POINTER(c.c_uint64)),
                ("after_count", c.c_size_t), ("on_cpu", c.c_bool), ("duration_us", c.c_uint64),
                ("operations", c.c_uint64), ("tensor_bytes", c.c_uint64), ("type", c.c_char_p),
                ("bytes", c.c_uint64), ("group", c.c_char_p), ("peer", c.c_uint32), ("tag", c.c_uint32)]


class GenOptions(c.Structure):
    _fields_ = [("pattern", c.c_int), ("type", c.c_char_p), ("bytes", c.c_uint64), ("compute_us", c.c_uint64),
                ("npus", c.c_uint32), ("prefix", c.c_char_p)]


class ImportOptions(c.Structure):
    _fields_ = [("folder", c.c_char_p), ("paths", TEXTS), ("path_count", c.c_size_t), ("prefix", c.c_char_p),
                ("et_prefix", c.c_char_p), ("tag", c.c_char_p), ("ranks", c.POINTER(c.c_uint32)),
                ("steps", c.POINTER(c.c_int64)), ("unknown_size", c.c_uint64), ("memory_limit", c.c_uint64),
                ("rank_count", c.c_uint32), ("step_pair_count", c.c_uint32), ("jobs", c.c_uint32),
                ("has_unknown_size", c.c_bool), ("drop_gaps", c.c_bool), ("drop_cpu", c.c_bool)]


class TrainWritten(c.Structure):
    _fields_ = [("files", c.c_uint64), ("nodes", c.c_uint64), ("collectives", c.c_uint64), ("messages", c.c_uint64),
                ("roles", c.c_uint32)]


class CollMachine(c.Structure):
    _fields_ = [("machine", c.c_char_p), ("gpu", c.c_char_p), ("fabric", c.c_char_p), ("nccl", c.c_char_p),
                ("link_gbytes", c.c_double), ("nic_gbytes", c.c_double), ("nic_every", c.c_uint32),
                ("node_gpus", c.c_uint32), ("measured", TEXTS), ("measured_count", c.c_size_t)]


class CollQuestion(c.Structure):
    _fields_ = [("op", c.c_int), ("bytes", c.c_uint64), ("nodes", c.c_uint32), ("gpus", c.c_uint32),
                ("groups", c.c_uint32), ("algo", c.c_int), ("proto", c.c_int), ("channels", c.c_uint32)]


class CollSweep(c.Structure):
    _fields_ = [("machine", CollMachine), ("question", CollQuestion), ("last_bytes", c.c_uint64), ("json", c.c_bool)]


class Op(c.Structure):
    _fields_ = [("kind", c.c_int), ("dtype", c.c_int), ("dims", c.c_uint64 * 6), ("full", c.c_bool),
                ("kv_seq", c.c_uint64), ("v_head_dim", c.c_uint32), ("state_bytes", c.c_uint32)]


class SweepPlanOptions(c.Structure):
    _fields_ = [("file", c.c_char_p), ("vary", TEXTS), ("vary_count", c.c_size_t), ("zip", c.c_bool)]


class SweepJob(c.Structure):
    _fields_ = [("run", c.c_void_p), ("lab", c.c_void_p), ("overrides", c.c_void_p), ("override_count", c.c_size_t),
                ("calibration", c.c_char_p), ("strict", c.c_bool)]


class SweepProgress(c.Structure):
    _fields_ = [("points", c.c_uint64), ("kept", c.c_uint64), ("left", c.c_uint64), ("done", c.c_uint64),
                ("failed", c.c_uint64), ("stalled", c.c_uint64), ("running", c.c_double), ("limited", c.c_uint64)]


RUN_PROGRESS = c.CFUNCTYPE(c.c_bool, c.c_void_p, c.POINTER(Progress))
PLAN_PROGRESS = c.CFUNCTYPE(c.c_bool, c.c_void_p, c.c_uint64, c.c_uint64)
SWEEP_PROGRESS = c.CFUNCTYPE(c.c_bool, c.c_void_p, c.POINTER(SweepProgress))


class SweepOptions(c.Structure):
    _fields_ = [("plan", c.c_void_p), ("jobs", c.POINTER(SweepJob)), ("base", c.c_char_p), ("store", c.c_char_p),
                ("command", c.c_char_p), ("tag", c.c_char_p), ("threads", c.c_uint32), ("fresh", c.c_bool),
                ("only", c.POINTER(c.c_uint64)), ("only_count", c.c_size_t), ("shard", c.c_uint32),
                ("shards", c.c_uint32), ("cluster", c.c_void_p), ("collect", c.c_bool),
                ("progress", SWEEP_PROGRESS), ("progress_context", c.c_void_p)]


# What each is called in orrery.h.
NAMES: dict[type[c.Structure], str] = {
    Error: "orr_error", Notices: "orr_notices", Progress: "orr_progress", Interval: "orr_interval_result",
    Finding: "orr_finding", Wait: "orr_wait", Node: "orr_node", GenOptions: "orr_gen_options",
    ImportOptions: "orr_import_options", TrainWritten: "orr_train_written", CollMachine: "orr_coll_machine",
    CollQuestion: "orr_coll_question", CollSweep: "orr_coll_sweep", Op: "orr_op",
    SweepPlanOptions: "orr_sweep_plan_options", SweepJob: "orr_sweep_job", SweepProgress: "orr_sweep_progress",
    SweepOptions: "orr_sweep_options",
}
