/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of ranks that are alike: the rails of a machine, its servers. Their collectives are the same messages, over
 * wires that are the same in number, order, rate and delay, and that no other group of the job ever uses. What one of
 * them does at a time, another that begins at that time does too; so one is carried out and the others follow
 * (follow.c).
 *
 * Found once, before the run, from every way that a message of a group may take. Of several equal ways a follower's
 * message is taken to go the one that is like its leader's.
 */
#ifndef ORR_SIM_SIMAI_TWINS_H
#define ORR_SIM_SIMAI_TWINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum { SIMAI_NO_KIND = UINT32_MAX };

/* What a group's wires are. */
struct simai_kin {
    uint32_t *ports; /* by place */
    uint32_t port_count;
    uint32_t kind; /* groups of one kind are alike; SIMAI_NO_KIND: it shares wires, or nobody uses it */
    uint64_t mark; /* of all that makes its kind */
};

struct simai_twins {
    struct simai_kin *kin; /* by group; NULL: nobody follows anybody */
    uint32_t *place;       /* by port: in its group's ports */
    bool *is_choice;       /* by port: of several on equal ways */
    uint32_t kinds;
    uint32_t *leader; /* by kind: the last collective that others could follow, and in which gathering */
    uint32_t *led_at;
};

struct simai;

/* Fills simai.twins, in the run's arena. */
ORR_MUST_CHECK enum orr_status simai_twins_find(struct simai *simai, struct orr_error *err);

#endif
