/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording script says of the model it recorded: model_info_TAG.json beside the traces (spec rocm §1.2), with
 * its parameters, the bytes of one, and the tensor-parallel degree. A file of somebody else's, so that keys which mean
 * nothing here are passed over; what is used must be right.
 *
 * Texts live in the caller's arena.
 */
#ifndef ORR_API_MODEL_INFO_H
#define ORR_API_MODEL_INFO_H

#include "base/arena.h"

struct model_info {
    const char *path;
    uint64_t params;      /* of the whole model, at least 1 */
    uint32_t param_bytes; /* 1, 2, 4 or 8; 0: not said */
    uint32_t tp;          /* tensor-parallel degree of the recorded job; 0: not said */
};

/* `name` is the file's, for messages. ORR_EINVAL or ORR_ERANGE with the line. */
ORR_MUST_CHECK enum orr_status model_info_parse(const char *name, const char *text, size_t size, struct arena *arena,
                                                struct model_info *info, struct orr_error *err);

/*
 * Looks in the folder of the traces PREFIX.R.et. With several files the one whose TAG is the longest that the prefix's
 * name contains; ORR_EINVAL, naming two of them, where that tells nothing. `*found` false: there is none.
 */
ORR_MUST_CHECK enum orr_status model_info_find(const char *prefix, struct arena *arena, struct model_info *info,
                                               bool *found, struct orr_error *err);

#endif
