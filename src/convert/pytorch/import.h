/*
 * A folder of PyTorch recordings turned into one ET file a rank: finds host and device traces, pairs them by rank,
 * links all ranks side by side, settles the process groups over all of them, and writes all files or none.
 *
 * Names, R a rank and TAG anything: host_R.json, pytorch_et_R.json (host); device_R.json, kineto_R.json (device); each
 * also as …_R_TAG.json and with .gz or .zst behind. Older recorders' host_rank_R.json, device_rank_R.json and
 * trace_rank_R_epoch_E.json (a device trace) are found too.
 */
#ifndef ORR_CONVERT_PYTORCH_IMPORT_H
#define ORR_CONVERT_PYTORCH_IMPORT_H

#include "convert/pytorch/emit.h"
#include "convert/pytorch/link.h"

/* The two recordings of a rank; one may be missing (NULL). */
struct import_pair {
    uint32_t rank;
    const char *host, *device;
};

/*
 * Looks through a folder. `tag` NULL: there may be only one (or none). `ranks` (count 0: all) must all be there. Pairs
 * come by rank, in `arena`. Fails with ORR_EIO, or ORR_EINVAL: nothing found, several tags (naming them), a rank that
 * is not there, two files for one rank.
 */
ORR_MUST_CHECK enum orr_status import_find(const char *folder, const char *tag, const uint32_t *ranks,
                                           uint32_t rank_count, struct arena *arena, struct import_pair **pairs,
                                           uint32_t *count, struct orr_error *err);

/* The tags of a folder's recordings in the order of the alphabet, "" for none; in `arena`. ORR_EIO, or ORR_EINVAL:
 * nothing found. */
ORR_MUST_CHECK enum orr_status import_tags(const char *folder, struct arena *arena, const char ***tags, uint32_t *count,
                                           struct orr_error *err);

struct import_request {
    const char *folder; /* for messages */
    const char *prefix; /* PREFIX.R.et, and PREFIX.groups.json where there are groups beside that of all ranks */
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
    struct arena arena; /* owns all of it */
};

/* On failure no file is there and `result` is empty, but for the notes of the rank that failed. */
ORR_MUST_CHECK enum orr_status import_run(const struct import_request *request, struct mem *mem,
                                          struct import_result *result, struct orr_error *err);
void import_result_free(struct import_result *result);

#endif
