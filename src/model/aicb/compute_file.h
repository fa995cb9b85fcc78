/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compute times as AIOB, AICB's profiler, leaves them (spec simai §3): a line "train_iter:10" or
 * "inference_term:decode", then sections "name:" with indented "time_gpu_max:", "time_gpu_min:" and "time_gpu_avg:" in
 * microseconds. What is kept are nanoseconds, rounded half to even, summed as AICB sums them.
 *
 * AICB finds numbers by pattern and passes over whatever else there is; `compat` reads so. Otherwise a line that is
 * none of the above is an error with its number.
 */
#ifndef ORR_MODEL_AICB_COMPUTE_FILE_H
#define ORR_MODEL_AICB_COMPUTE_FILE_H

#include "base/arena.h"

enum { AICB_NO_TIME = -1 };

/* A section that is in no sum, by its name. */
struct aicb_time {
    const char *name;
    int64_t ns;
};

/* A training profile. */
struct aicb_times {
    int64_t attention;                   /* sections with "atten" in their name, and layernorm */
    int64_t flash;                       /* the share of those with "flash" in it: what recomputation repeats */
    int64_t mlp;                         /* "mlp", and layernorm2 */
    int64_t grad_forward, grad_backward; /* param_time: its minimum and average; 0 where missing */
    struct aicb_time *others;            /* a name once; the attention layers of DeepSeek too, 0 where missing */
    uint32_t other_count, other_capacity;
};

/* An inference profile, AICB_NO_TIME where a sum is 0. */
struct aicb_inference_times {
    int64_t attention_norm, attention_gdn, attention_layer, mlp, moe_norm, moe_route, moe_expert;
    int64_t shared; /* ours: of a shared expert, which AICB has take as long as `mlp` */
};

struct aicb_compute_reading {
    const char *path;
    bool compat;
    bool recompute; /* compat: "flash" counts twice, as AICB has it */
};

/* Names live in `arena`. Fails with ORR_EIO, ORR_EINVAL ("file:line: …"), ORR_ERANGE (more than 2^53 ns) or
 * ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status aicb_times_read(const struct aicb_compute_reading *reading, struct arena *arena,
                                               struct aicb_times *times, struct orr_error *err);
ORR_MUST_CHECK enum orr_status aicb_inference_times_read(const struct aicb_compute_reading *reading,
                                                         struct arena *arena, struct aicb_inference_times *times,
                                                         struct orr_error *err);

/* The time of the section of exactly this name, AICB_NO_TIME where there is none. */
int64_t aicb_times_find(const struct aicb_times *times, const char *name);

#endif
