/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A crew: processes on several machines that carry out independent pieces of work, each a number whose result is bytes.
 * The first process leads: it hands pieces out, to threads of its own too, and takes results on the calling thread; the
 * others serve. They talk over TCP, and MPI only tells them where (io/crew_mpi.c): MPI ends all processes when one
 * dies, and a crew does without. A piece whose process is gone is handed to another.
 *
 * Knows nothing of what the pieces are. All processes must be the same program with the same arguments.
 */
#ifndef ORR_IO_CREW_H
#define ORR_IO_CREW_H

#include "io/etz_form.h"

enum { CREW_PLACE_BYTES = 512 };

struct orr_cluster {
    bool is_worker;
    int listener;                 /* of the leader; -1: none */
    char place[CREW_PLACE_BYTES]; /* "token port address address ..." of the leader */
};

struct crew_work {
    const uint64_t *pieces; /* their numbers */
    uint64_t count;
    /* On any thread of any process: appends the result. False: there was no memory. */
    bool (*make)(void *context, uint64_t piece, struct etz_bytes *bytes);
    /* The leader's calling thread: each piece once. False: begin no more. */
    bool (*take)(void *context, uint64_t piece, const uint8_t *bytes, size_t size);
    /* The calling thread, several times a second. False: begin no more. */
    bool (*tick)(void *context);
    /* The calling thread of a worker: the leader is gone, whatever is made is not wanted. */
    void (*stop)(void *context);
    void *context;
};

/* Whether a launcher has started several processes, as it says in the environment. */
bool crew_is_started_with_others(void);
/* Where the leader is found, passed to all by the launcher: io/crew_mpi.c, or crew_alone.c in a program without MPI.
 * `*size` 1: there are no others. */
ORR_MUST_CHECK enum orr_status crew_meet(struct orr_cluster *cluster, uint32_t *rank, uint32_t *size,
                                         struct orr_error *err);
/* Opens the leader's door and writes where it is. */
ORR_MUST_CHECK enum orr_status crew_listen(struct orr_cluster *cluster, struct orr_error *err);

/* Ends when every piece was taken, or, after a false answer, what this process had begun. `threads` at least 1. */
ORR_MUST_CHECK enum orr_status crew_lead(struct orr_cluster *cluster, uint32_t threads, const struct crew_work *work,
                                         struct orr_error *err);
/* Ends when the leader has. One that is gone already is no error. */
ORR_MUST_CHECK enum orr_status crew_serve(const struct orr_cluster *cluster, uint32_t threads,
                                          const struct crew_work *work, struct orr_error *err);

#endif
