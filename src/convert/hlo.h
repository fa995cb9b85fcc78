/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the names and shapes of XLA's operations (HLO) say: whether "all-reduce-start.3" is a collective and which half
 * of one, and how many bytes "(f32[128]{0}, bf16[2,64]{1,0})" takes. Texts need not be terminated. Knows no trace.
 */
#ifndef ORR_CONVERT_HLO_H
#define ORR_CONVERT_HLO_H

#include <stddef.h>

#include "convert/comm_name.h"

enum hlo_half { HLO_WHOLE, HLO_START, HLO_DONE };

/* COMM_NONE for an operation that is no communication ("reduce.3" is none); COMM_UNKNOWN for one between pairs of ranks
 * whose partners its name does not tell (collective-permute, send, recv). */
enum comm_kind hlo_name_kind(const char *name, size_t length, enum hlo_half *half);

/* What follows the operation's name: "3" of "all-reduce-done.3"; starts and dones of one operation often share it. */
const char *hlo_name_suffix(const char *name, size_t length, size_t *suffix_length);

/* The bytes of a shape or of a tuple of shapes; with `first_only`, of a tuple's first member (an all-gather-start's
 * shape is its input and its output). False when it is no shape, has a type of unknown width, or is too large. */
bool hlo_shape_bytes(const char *shape, size_t length, bool first_only, uint64_t *bytes);

#endif
