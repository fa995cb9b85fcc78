/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process groups of a job: which ranks a communication's group has, and the whole number by which a simulation
 * calls it. Collected from all ranks' recordings, then settled once; after that it is only read, and may be by several
 * threads.
 *
 * Evidence, best first: Kineto's distributedInfo, the host trace's "## process_group:init ##", a communication's
 * "Process Group Ranks", record_param_comms' rank start and stride. What the recordings say of one group must agree:
 * two lists under one name that overlap and differ are an error naming both. Two lists under one name without a common
 * rank are two groups: PyTorch numbers groups that are split off by each rank for itself.
 *
 * Numbers (ids): the group of all ranks is 0, as ASTRA-sim has it ("" and "0"). A name that is a whole number is its
 * own id where only one group has it; the others get the smallest free numbers, in the order of their first rank, then
 * name. So ids depend on the set of groups only, not on the order of files; but on the whole set: add all ranks first.
 */
#ifndef ORR_CONVERT_PYTORCH_GROUPS_GROUPS_H
#define ORR_CONVERT_PYTORCH_GROUPS_GROUPS_H

#include "base/intern.h"
#include "base/notes.h"
#include "convert/pytorch/host/host.h"
#include "convert/pytorch/kineto/kineto.h"

#define COMM_GROUP_NONE UINT32_MAX

struct comm_group {
    uint32_t name;   /* in names, as recorded */
    uint32_t text;   /* pg_desc; 0 = none */
    uint32_t first;  /* in ranks */
    uint32_t count;  /* of members; 0 before settling = all ranks, or not known */
    uint32_t source; /* in names: who said so, for messages */
    uint32_t id;     /* after settling */
    uint32_t next;   /* 1 + index of the next group of the same name, or 0 */
    bool is_all;     /* said to have all ranks, without a list */
    bool is_used;    /* a communication names it */
};

struct comm_groups {
    struct mem *mem;
    struct intern names;
    struct comm_group *groups;
    uint32_t count, capacity;
    uint32_t *ranks;  /* members of all groups, in the group's own order */
    uint32_t *sorted; /* the same, each group ascending */
    uint32_t rank_count, rank_capacity, sorted_capacity;
    uint32_t *by_name; /* by number in names: 1 + index of the first group of that name, or 0 */
    uint32_t by_name_capacity;
    uint32_t world_size;   /* 0 = not said */
    uint32_t world_source; /* in names */
    bool settled;
};

/* Takes no memory yet and cannot fail. */
void comm_groups_init(struct comm_groups *groups, struct mem *mem);
void comm_groups_free(struct comm_groups *groups);

/*
 * What one rank's recording says. `source` names it in messages (the file); `rank` is the rank that recorded it, -1
 * when not known. Either trace may be NULL. Fails with ORR_EINVAL (lists that disagree, a list that is none) or
 * ORR_ENOMEM.
 */
ORR_MUST_CHECK enum orr_status comm_groups_add(struct comm_groups *groups, int64_t rank,
                                               const struct kineto_trace *kineto, const struct host_trace *host,
                                               const char *source, struct orr_error *err);

/* One group by itself: `ranks` NULL with count 0 means all ranks. */
ORR_MUST_CHECK enum orr_status comm_groups_add_list(struct comm_groups *groups, int64_t rank, const char *name,
                                                    const char *text, const int64_t *ranks, uint32_t count,
                                                    const char *source, struct orr_error *err);

/* Gives every group its id and members. `ranks_at_least`: how many ranks' recordings there are, for a world whose size
 * nobody says. Fails with ORR_EINVAL for a group that is used but whose members nobody says. */
ORR_MUST_CHECK enum orr_status comm_groups_settle(struct comm_groups *groups, uint32_t ranks_at_least,
                                                  struct orr_error *err);

/* ---- after settling ---- */

/* The group of this name that `rank` is in; with rank -1, the only one of that name. COMM_GROUP_NONE when there is
 * none. The empty name is the group of all ranks. */
uint32_t comm_groups_find(const struct comm_groups *groups, int64_t rank, const char *name);

/* Members; `group` COMM_GROUP_NONE stands for all ranks, whose number may be 0 = not known. */
uint32_t comm_groups_size(const struct comm_groups *groups, uint32_t group);
/* The global rank of a member, or -1 when there is no such member. */
int64_t comm_groups_member(const struct comm_groups *groups, uint32_t group, int64_t index);

/* What the attribute pg_name of a node says: the id in decimal; "" for all ranks (nothing is written then). */
enum { COMM_GROUP_ROOM = 16 };
const char *comm_groups_pg_name(const struct comm_groups *groups, uint32_t group, char text[COMM_GROUP_ROOM]);

/* Whether a groups file is needed: some group is not that of all ranks. */
bool comm_groups_any(const struct comm_groups *groups);

/* The groups file of a run, which is ASTRA-sim's comm-group-configuration: {"1": [0, 1], …}, by id. With
 * `with_all` that of all ranks is in it too, under a number that no node names: what was recorded is not all of the
 * job, and a job made whole of it must know how large that was. The file is complete or not there. */
ORR_MUST_CHECK enum orr_status comm_groups_write(const struct comm_groups *groups, bool with_all, const char *path,
                                                 struct orr_error *err);

/* The `values` text of a METADATA node as ASTRA-sim reads it (spec chakra §14), with our ids:
 * ['[{"pg_name": "1", "pg_desc": …, "ranks": [0, 1], …}]']. In `arena`; NULL when memory is refused. */
const char *comm_groups_metadata(const struct comm_groups *groups, struct arena *arena);

#endif
