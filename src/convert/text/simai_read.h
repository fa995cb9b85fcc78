/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimAI's workload text (spec simai §1) as its own reader finds it: a header of keys, the rows of text.h, nothing
 * interpreted. Every user of the format (conversion to a trace, the analytical mode, the packet network) starts here,
 * so that there is one reader; what a row means is theirs.
 *
 * The words point into the file, which the structure owns.
 */
#ifndef ORR_CONVERT_TEXT_SIMAI_READ_H
#define ORR_CONVERT_TEXT_SIMAI_READ_H

#include "convert/text/text.h"

enum simai_key {
    SIMAI_TP,
    SIMAI_EP,
    SIMAI_CP, /* ours: SimAI has none */
    SIMAI_PP,
    SIMAI_VPP,
    SIMAI_GA,
    SIMAI_GPUS,
    SIMAI_MODE,
    SIMAI_PP_COMM,
    SIMAI_DLRM,
    SIMAI_CHECKPOINTS,
    SIMAI_INITIATES,
    SIMAI_KEY_COUNT
};

/* As written in the header, in the order of the enum; terminated by NULL. */
extern const char *const simai_key_names[];

struct simai_text {
    struct text_workload workload;   /* freed with text_free */
    int64_t values[SIMAI_KEY_COUNT]; /* 0 where a key is missing; of the lists: how many */
    bool given[SIMAI_KEY_COUNT];
    struct text_words lists[2]; /* behind checkpoints: and checkpoint_initiates: */
    struct text_words rest;     /* what stands behind the last row; nothing, but for a lenient reading */
};

/*
 * Lenient is how SimAI itself reads: words of the header that are no key are passed over, a fraction is cut off, a file
 * may end before all of its rows (`layer_count` below `written_count`) and go on behind the last. Otherwise each of
 * these is an error. Fails with ORR_EIO, ORR_EINVAL, ORR_ERANGE ("file:line:"), ORR_ENOMEM; nothing is held then.
 */
ORR_MUST_CHECK enum orr_status simai_text_read(const char *path, struct mem *mem, bool lenient, struct simai_text *text,
                                               struct orr_error *err);

/* Whether the first line has a key only SimAI knows (ep:, cp:, pp:, vpp:, ga:, all_gpus:, pp_comm). */
ORR_MUST_CHECK enum orr_status simai_detect(const char *path, struct mem *mem, bool *is_simai, struct orr_error *err);

/* The next number of a list; `which` is SIMAI_CHECKPOINTS or SIMAI_INITIATES. */
ORR_MUST_CHECK enum orr_status simai_list_next(struct text_words *list, enum simai_key which, int64_t *value,
                                               struct orr_error *err);

#endif
