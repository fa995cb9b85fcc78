/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file is that someone took a recording for: told by its content, which may be packed, and by its name only
 * where the content has no mark of its own. Names what we cannot use as well (databases of Nsight Systems, memory
 * snapshots, Perfetto traces …), because "no recording" helps nobody who holds one of the wrong kind.
 *
 * Looks at the first megabyte; of a device trace that does not say its rank there, at all of it, since some writers put
 * that last. Keeps nothing open and allocates nothing that stays.
 */
#ifndef ORR_CONVERT_RECORDING_H
#define ORR_CONVERT_RECORDING_H

#include "base/mem.h"

enum recording_kind {
    RECORDING_UNKNOWN, /* nothing we know */
    RECORDING_HOST,    /* PyTorch's execution trace, or one that was linked */
    RECORDING_KINETO,  /* PyTorch's profiler */
    RECORDING_ROCPROF, /* rocprofv3's JSON */
    RECORDING_OTHER,   /* known by name, of no use here */
};

enum { RECORDING_JOB = 40 };

struct recording_about {
    enum recording_kind kind;
    const char *what;        /* "a memory snapshot of PyTorch"; "" where unknown. Constant text, as `advice` */
    const char *advice;      /* what to do with it or what to record instead; "" = nothing */
    int64_t rank;            /* -1 = not said */
    int64_t world_size;      /* the same */
    int64_t pid;             /* of the process that was recorded; -1 = not said */
    char job[RECORDING_JOB]; /* what all ranks of one recording have in common, where the file says so; else "" */
};

static inline bool recording_is_device(enum recording_kind kind)
{
    return kind == RECORDING_KINETO || kind == RECORDING_ROCPROF;
}

/* Fails with ORR_EIO, ORR_ENOMEM, or ORR_EINVAL where a packed file is damaged. A file that is nothing we know is no
 * failure. */
ORR_MUST_CHECK enum orr_status recording_identify(const char *path, struct mem *mem, struct recording_about *about,
                                                  struct orr_error *err);

/* The same of the first bytes alone; `name` is the file's, without folders. */
void recording_identify_bytes(const char *bytes, size_t size, const char *name, struct recording_about *about);

/* The sentence for a file that is no recording we can read: "FILE: a memory snapshot of PyTorch …; record …". */
enum orr_status recording_refuse(const char *path, const struct recording_about *about, struct orr_error *err);

#endif
