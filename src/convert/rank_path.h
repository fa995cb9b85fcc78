/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the files of a workload's ranks are named, for every format that makes several: OUT is a prefix, rank R's file is
 * OUT.R.et, and a ".et" at the end of OUT is taken for what the user meant, a name and not a part of the prefix. Of one
 * rank, such an OUT is the file itself.
 */
#ifndef ORR_CONVERT_RANK_PATH_H
#define ORR_CONVERT_RANK_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { RANK_PATH_ROOM = 4096 };

/* Bytes of `output` before a last ".et". */
size_t rank_path_prefix(const char *output);

/* ORR_EINVAL when the path does not fit; `path` is written only on success. */
ORR_MUST_CHECK enum orr_status rank_path_make(const char *output, uint32_t rank, uint32_t ranks,
                                              char path[RANK_PATH_ROOM], struct orr_error *err);

#endif
