/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of PyTorch recordings turned into one ET file a rank: finds host and device traces, pairs them by rank,
 * links all ranks side by side, settles the process groups over all of them, and writes all files or none.
 *
 * Recordings are files and folders, of any name: find.c tells kind and rank by content, name.h by name.
 */
#ifndef ORR_CONVERT_PYTORCH_IMPORT_IMPORT_H
#define ORR_CONVERT_PYTORCH_IMPORT_IMPORT_H

#include "convert/pytorch/emit/emit.h"
#include "convert/pytorch/link/link.h"

/* The two recordings of a rank; one may be missing (NULL). */
struct import_pair {
    uint32_t rank;
    const char *host, *device;
    bool is_rocprof; /* the device trace is rocprofv3's, not Kineto's */
};

/* One recorded run: all its ranks. */
struct import_job {
    const char *tag;           /* what tells it from others beside it; "" for none, and for the only one of a folder */
    struct import_pair *pairs; /* by rank */
    uint32_t pair_count;
};

/*
 * Looks through files and folders and tells the jobs in them, by tag in the order of the alphabet; all in `arena`. Kind
 * and rank of a file come from its content, else from its name; a lone device trace that tells no rank is rank 0. Of a
 * folder files that are no recordings are passed over.
 *
 * Fails with ORR_EIO, or ORR_EINVAL: nothing found (naming what is there instead, where that is known), a file named
 * that is no recording, two files of one rank that nothing tells apart, an execution trace that fits no device trace.
 */
ORR_MUST_CHECK enum orr_status import_jobs(const char *const *paths, uint32_t path_count, struct arena *arena,
                                           struct import_job **jobs, uint32_t *count, struct orr_error *err);

/*
 * The ranks of one job. `tag` NULL: there may be only one. `ranks` (count 0: all) must all be there. Pairs come by
 * rank, in `arena`. Fails as above, and with ORR_EINVAL: several jobs (naming them), a rank that is not there.
 */
ORR_MUST_CHECK enum orr_status import_find_in(const char *const *paths, uint32_t path_count, const char *tag,
                                              const uint32_t *ranks, uint32_t rank_count, struct arena *arena,
                                              struct import_pair **pairs, uint32_t *count, struct orr_error *err);
/* The same for one folder or file. */
ORR_MUST_CHECK enum orr_status import_find(const char *folder, const char *tag, const uint32_t *ranks,
                                           uint32_t rank_count, struct arena *arena, struct import_pair **pairs,
                                           uint32_t *count, struct orr_error *err);

/* Keeps only these ranks of a job's pairs (count 0: all); `place` starts the message when one is not there. */
ORR_MUST_CHECK enum orr_status import_job_pick_ranks(const char *place, const uint32_t *ranks, uint32_t rank_count,
                                                     struct import_pair *pairs, uint32_t *count, struct orr_error *err);

/* The tags of a folder's jobs in the order of the alphabet, "" for none; in `arena`. Fails as import_jobs. */
ORR_MUST_CHECK enum orr_status import_tags(const char *folder, struct arena *arena, const char ***tags, uint32_t *count,
                                           struct orr_error *err);

struct import_request {
    /* PREFIX.R.et, and PREFIX.groups.json where there are groups beside that of all ranks. NULL: everything is done but
     * the writing, which is how a recording is judged (ready/ready.h). */
    const char *prefix;
    const char *pattern_rest; /* not NULL: the prefix is followed by the dominant collective's word, then by this */
    const struct import_pair *pairs;
    uint32_t pair_count;
    struct emit_options emit;
    uint32_t jobs;         /* threads; at least 1 */
    uint64_t memory_limit; /* bytes over all threads; 0 = none */
    bool strict;
};

struct import_rank {
    const struct import_pair *pair;
    struct linked_counts linked;
    struct emit_counts written;
    uint64_t bytes_in; /* unpacked */
    uint64_t bytes_peak;
    uint32_t step_count;
    int64_t first_step, last_step;
    int64_t step_ns;    /* mean length of a recorded step; 0 = none */
    const char **notes; /* lines */
    uint32_t note_count;
};

struct import_result {
    struct import_rank *ranks; /* as the pairs */
    uint32_t rank_count;
    uint32_t world_size; /* 0 = nobody says */
    bool wrote_groups;
    const char *prefix; /* of the files, with the pattern's word in it; NULL: none were written */
    const char *split;  /* the roles that the first rank's process groups tell of, "tp:2,dp:2"; "": none */
    struct arena arena; /* owns all of it */
};

/* On failure no file is there and `result` is empty, but for the notes of the rank that failed. */
ORR_MUST_CHECK enum orr_status import_run(const struct import_request *request, struct mem *mem,
                                          struct import_result *result, struct orr_error *err);
void import_result_free(struct import_result *result);

#endif
