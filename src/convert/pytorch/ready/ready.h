/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a recording usable, and if not, with what to record it again (spec rocm §1.11)? Every file of a folder is read
 * once, event by event, and only counted, in memory that does not grow with the file. Whether it is usable is
 * import/import.h's to say and nobody else's: everything that an import does is then tried, in the memory that takes,
 * but for the writing, so that the two can never disagree.
 *
 * scan.h reads one file, judge.c says what the counts mean; printing is report/ready_text.h's. Times are
 * microseconds whatever "displayTimeUnit" says: that is for viewers, and recordings of AMD devices say "ms" there.
 */
#ifndef ORR_CONVERT_PYTORCH_READY_READY_H
#define ORR_CONVERT_PYTORCH_READY_READY_H

#include "base/arena.h"
#include "convert/pytorch/import/import.h"
#include "convert/pytorch/ready/scan.h"

enum ready_weight {
    READY_ADVICE, /* it can be used; this would make it better */
    READY_FAULT,  /* it cannot be used as it is */
};

struct ready_finding {
    enum ready_weight weight;
    uint32_t rank;      /* READY_ALL_RANKS: of them all */
    const char *text;   /* what was found */
    const char *advice; /* what to do about it; "" = nothing */
};

#define READY_ALL_RANKS UINT32_MAX

/* A rank's recording against the simulation of its import, communications as long as they were recorded. */
struct ready_measure {
    bool done;
    int64_t recorded_ns; /* first start to last end of host and device */
    int64_t simulated_ns;
    int64_t gap_ns[EMIT_GAP_KINDS]; /* of it: time that no dependency explains */
    int64_t outside_ns;             /* of recorded_ns: in calls of threads that did nothing else */
};

struct ready_rank {
    const struct import_pair *pair;
    struct ready_measure measure;
    struct ready_device device; /* all zero without a device trace */
    struct ready_host host;
    const char *device_error, *host_error; /* why the file could not be read; NULL where it could, or is not there */
};

/* What the collectives of a step look like. Degrees cannot be told from one rank's counts. */
enum ready_mode {
    READY_MODE_NONE,    /* no communication */
    READY_MODE_DDP,     /* few all-reduces a step */
    READY_MODE_TP,      /* many of them */
    READY_MODE_TP_SP,   /* all-gathers or reduce-scatters: tensor with sequence parallelism, or sharded (FSDP, ZeRO) */
    READY_MODE_TP_DDP,  /* both, and all-reduces */
    READY_MODE_FSDP,    /* the same, where PyTorch's FSDP says so */
    READY_MODE_TP_FSDP, /* and many all-reduces */
    READY_MODE_OTHER,   /* broadcasts, all-to-alls, sends alone */
    READY_MODE_COUNT
};
const char *ready_mode_text(enum ready_mode mode);
const char *ready_mode_word(enum ready_mode mode); /* for the cell of a table */

enum ready_verdict { READY_NETWORK_UNKNOWN, READY_NETWORK_MATTERS, READY_NETWORK_MAY_MATTER, READY_NETWORK_MINIMAL };
const char *ready_verdict_text(enum ready_verdict verdict);

/* One run: all ranks of one tag. */
struct ready_run {
    const char *place; /* the folder or file, for the report */
    const char *tag;   /* "" = none */
    struct ready_rank *ranks;
    uint32_t rank_count;
    bool chosen; /* somebody asked for these ranks: others may be there too */
    struct ready_finding *findings;
    uint32_t finding_count, finding_capacity;
    enum ready_mode mode;  /* of the first rank that communicates */
    const char *split;     /* "tp:2,dp:2", by the process groups; "" where they tell nothing */
    bool pipeline, expert; /* there are sends and receives; all-to-alls */
    enum ready_verdict verdict;
    double comm_share; /* communication over compute time on the device; only where the verdict is known */
    bool usable;
    struct arena arena; /* owns texts and findings */
};

/* What to look at, and how an import would be asked for. */
struct ready_request {
    const char *place, *tag;
    const struct import_pair *pairs;
    uint32_t pair_count;
    bool chosen; /* as in the run */
    bool has_unknown_size;
    uint64_t unknown_size;
    uint32_t jobs; /* threads for the trial; 0 = 1 */
};

/* Scans, tries and judges the pairs of one run. What cannot be read in a file is a finding; ORR_ENOMEM and, for a file
 * that cannot be opened, ORR_EIO are errors. On success the caller frees the run, before `mem` ends. */
ORR_MUST_CHECK enum orr_status ready_check(const struct ready_request *request, struct mem *mem, struct ready_run *run,
                                           struct orr_error *err);
void ready_run_free(struct ready_run *run);

/* For ready.c: fills mode, verdict and findings of a scanned run; `refusal` is why an import of it fails, NULL when it
 * does not. False when memory is refused. */
ORR_MUST_CHECK bool ready_judge(struct ready_run *run, const char *refusal);

#endif
