/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a communication's type or size was known, best evidence first. A converter keeps one of these a fact and writes
 * its name into the attributes type_from and size_from (convert.h), so that a user can see what rests on a recording's
 * own words and what on a name; `orrery trace stat` counts them. The names are part of our file format: a
 * row may be added, never renamed.
 *
 * Owns nothing and knows no format.
 */
#ifndef ORR_CONVERT_PROVENANCE_H
#define ORR_CONVERT_PROVENANCE_H

/* identifier, name in the file, what it says to people. */
#define PROVENANCE_ROWS(X)                                                                                             \
    X(NONE, "", "not known")                                                                                           \
    X(KINETO_ARGS, "kineto-args", "arguments of the event in the device trace: Collective name, In msg nelems, dtype") \
    X(COMM_ATTRS, "comm-attributes", "attributes of record_param_comms in the host trace: collective_name, …")         \
    X(OP_NAME, "op-name", "the name of the launching op: c10d::allreduce_, nccl:all_reduce, record_param_comms' word") \
    X(OP_TENSORS, "op-tensors", "the tensors that the launching op sends: record_param_comms, nccl:…, functional ops") \
    X(HOST_INPUTS, "host-inputs", "inputs less outputs of a c10d op, whose inputs list both")                          \
    X(LAUNCH_OP, "launch-op", "the first tensor of the op that launches it: symm_mem::…, _C_custom_ar::…, trtllm::…")  \
    X(ANNOTATION, "annotation", "an annotation of the user's: name|bytes=N|pg=NAME")                                   \
    X(GLOO, "gloo-annotation", "the gloo:… annotation and its tensors")                                                \
    X(KERNEL_NAME, "kernel-name", "the device kernel's name")                                                          \
    X(HOROVOD, "horovod", "the activity and tensor of a Horovod timeline")                                             \
    X(HLO_OP, "hlo-op", "the name of an XLA operation")                                                                \
    X(HLO_SHAPE, "hlo-shape", "the shape an XLA operation carries")                                                    \
    X(HLO_BYTES, "hlo-bytes", "the bytes an XLA operation reads and writes")                                           \
    X(STATED, "stated", "a workload file that states it: text, SimAI, GOAL, JSON")                                     \
    X(COLUMN, "column", "a column of the user's table")                                                                \
    X(GROUP_OF_TWO, "group-of-two", "the peer: the only other rank of the group")                                      \
    X(MATCHED, "matched", "the peer: matched with the other ranks' recordings by group, order, size and time")         \
    X(NEEDS_NONE, "needs-none", "a barrier carries nothing")                                                           \
    X(GIVEN, "given", "given on the command line: parameter 'unknown-size'")

enum provenance {
#define PROVENANCE_X(id, name, text) PROVENANCE_##id,
    PROVENANCE_ROWS(PROVENANCE_X)
#undef PROVENANCE_X
        PROVENANCE_COUNT
};

const char *provenance_name(enum provenance from); /* as in the file; "" for PROVENANCE_NONE */
const char *provenance_text(enum provenance from); /* for people */

#endif
