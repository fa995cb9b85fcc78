/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives that were carried out before. In a pipeline the servers of a stage are alike and do the same, but not at
 * the same time, so that none can follow another (follow.c). What a collective over wires that only its group uses does
 * depends on when its members come, one after the other, and on nothing else: it is carried out once for each way to
 * come, beside the run, on a network of its own, and the next one that comes so ends so.
 *
 * Nobody is done with it before everybody has come, so there is time to look until then; where that is not so the run
 * begins again without. One thing is estimated: a member that is done early begins the group's next collective while
 * others still end the last one, and what little of the two meets on a wire is not seen. So this is for jobs that would
 * take minutes otherwise.
 */
#ifndef ORR_SIM_SIMAI_RECALL_H
#define ORR_SIM_SIMAI_RECALL_H

#include "base/map.h"
#include "net/flow/record.h"

struct simai;
struct simai_known;
struct simai_comer;

struct simai_done {
    uint64_t at_ns; /* after the last member has come */
    uint32_t member;
};

MAP_STRUCT(simai_known_table, struct simai_known *);

struct simai_recall {
    bool on;
    struct simai *side;      /* carries out one collective at a time; its groups are copies */
    uint32_t *group_of_kind; /* the group that does it for all of its kind */
    struct simai_done *done; /* in `side`: where it is put who is done when; NULL elsewhere */
    uint32_t done_count;
    struct simai_known_table table;
    struct simai_known *first; /* all there are */
    uint64_t carried_out;
    uint64_t *times; /* of one collective, while it is looked for */
    struct simai_comer *comers;
    uint64_t began_ns; /* in `side`: the collective */
};

/* Whether the groups of such a job are to be looked at so. */
bool simai_recall_is_for(const struct simai *simai);
/* When kinds are known. */
ORR_MUST_CHECK enum orr_status simai_recall_open(struct simai *simai, struct orr_error *err);
void simai_recall_close(struct simai *simai);

/* Whether this collective's group is one of those. */
bool simai_recall_takes(const struct simai *simai, uint32_t coll);
/* One more member has come to it. */
void simai_recall_start(struct simai *simai, uint32_t coll, uint32_t member);
/* Those of its members are done that are at the same time as the one at place `first` in the order of being done. */
void simai_recall_end(struct simai *simai, uint32_t coll, uint32_t first);
/* In the side run: a member comes, and a nanosecond later begins. */
void simai_recall_comes(struct simai *side, uint32_t coll, uint32_t member, bool begins);
/* In the side run: a member is done. */
void simai_recall_done(struct simai *side, uint32_t member);

#endif
