/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence is walked level by level, best first, and within a level from the device outwards: the event itself, its
 * launch, the annotation over it, the host ops from the innermost. What a level does not say is asked of the next;
 * type, size, group and peer may come from different levels. Sizes and peers are in size.c. */
#include "convert/pytorch/collective/collective.h"

#include <stdlib.h>
#include <string.h>

#include "convert/pytorch/collective/internal.h"
#include "io/value.h"

const struct kineto_comm *comm_clue_kineto(const struct comm_clue *clue, uint32_t index)
{
    switch (index) {
    case 0:
        return clue->device;
    case 1:
        return clue->launch;
    case 2:
        return clue->annotation;
    default:
        return clue->ops[index - COMM_OWN_KINETO].kineto;
    }
}

const char *comm_clue_kineto_text(const struct comm_clue *clue, uint32_t number)
{
    return clue->kineto_names == NULL ? "" : intern_text(clue->kineto_names, number);
}

const char *comm_clue_host_text(const struct comm_clue *clue, uint32_t number)
{
    return clue->host_names == NULL ? "" : intern_text(clue->host_names, number);
}

bool comm_name_begins(const char *name, const char *front)
{
    return strncmp(name, front, strlen(front)) == 0;
}

/* ---- type ---- */

static bool tells(enum comm_kind kind)
{
    return kind != COMM_NONE && kind != COMM_UNKNOWN;
}

static bool collective_is_tagged(const char *name)
{
    return strstr(name, "|bytes=") != NULL || strstr(name, "|pg=") != NULL;
}

static bool type_from_args(const struct comm_clue *clue, struct comm_fact *fact)
{
    for (uint32_t i = 0; i < COMM_OWN_KINETO + clue->op_count; i++) {
        const struct kineto_comm *comm = comm_clue_kineto(clue, i);
        if (comm != NULL && tells(comm_name_word(comm_clue_kineto_text(clue, comm->collective)))) {
            fact->kind = comm_name_word(comm_clue_kineto_text(clue, comm->collective));
            fact->type_from = PROVENANCE_KINETO_ARGS;
            return true;
        }
    }
    for (uint32_t i = 0; i < clue->op_count; i++) {
        const struct host_comm *comm = clue->ops[i].host;
        if (comm != NULL && tells(comm_name_word(comm_clue_host_text(clue, comm->collective)))) {
            fact->kind = comm_name_word(comm_clue_host_text(clue, comm->collective));
            fact->type_from = PROVENANCE_COMM_ATTRS;
            return true;
        }
    }
    return false;
}

/* Names of ops before names with a tag, which are the user's, and both before gloo's, as in provenance.h. */
static enum provenance name_level(const char *name)
{
    return comm_name_begins(name, "gloo") ? PROVENANCE_GLOO
           : collective_is_tagged(name)   ? PROVENANCE_ANNOTATION
                                          : PROVENANCE_OP_NAME;
}

static void collective_take_name(const char *name, struct comm_fact *fact)
{
    enum comm_kind kind = name == NULL ? COMM_NONE : comm_name_op(name);
    if (tells(kind) && (fact->type_from == PROVENANCE_NONE || name_level(name) < fact->type_from)) {
        fact->kind = kind;
        fact->type_from = name_level(name);
    }
}

static bool type_from_names(const struct comm_clue *clue, struct comm_fact *fact)
{
    for (uint32_t i = 0; i < clue->op_count; i++) {
        collective_take_name(clue->ops[i].name, fact);
    }
    collective_take_name(clue->annotation_name, fact);
    return fact->type_from != PROVENANCE_NONE;
}

/* What the work itself is: the kernel, or where there is none, the op. A kernel that no table knows is communication
 * when its own name and its arguments name the same collective: kernels that copy or scale inside a collective carry
 * its arguments too. */
static enum comm_kind own_kind(const struct comm_clue *clue)
{
    if (clue->device_name[0] != '\0') {
        enum comm_kind kind = comm_name_kernel(clue->device_name);
        if (kind == COMM_NONE && clue->device != NULL) {
            enum comm_kind said = comm_name_word(comm_clue_kineto_text(clue, clue->device->collective));
            kind = tells(said) && comm_name_word(clue->device_name) == said ? said : COMM_NONE;
        }
        if (kind == COMM_NONE && comm_name_family(clue->device_name) != COMM_FAMILY_LIBRARY) {
            kind = COMM_UNKNOWN; /* what it does is for the annotation that gave it its size to say */
        }
        return kind;
    }
    if (clue->op_count == 0) {
        return COMM_NONE;
    }
    const struct comm_op *op = &clue->ops[0];
    const char *word = op->kineto != NULL ? comm_clue_kineto_text(clue, op->kineto->collective) : "";
    word = word[0] == '\0' && op->host != NULL ? comm_clue_host_text(clue, op->host->collective) : word;
    /* record_param_comms also reports what is no communication: "wait", "init". */
    return word[0] != '\0' ? comm_name_word(word) : comm_name_op(op->name);
}

static enum orr_status find_type(const struct comm_clue *clue, enum comm_kind own, struct comm_fact *fact,
                                 struct orr_error *err)
{
    if (type_from_args(clue, fact) || type_from_names(clue, fact)) {
        return ORR_OK;
    }
    if (tells(own)) {
        fact->kind = own;
        fact->type_from = PROVENANCE_KERNEL_NAME;
        return ORR_OK;
    }
    char name[100];
    return error_set(
        err, ORR_EINVAL,
        "%.300s: \"%s\" communicates, but nothing tells what: neither its arguments, nor an op around "
        "its launch, nor its name; \"Collective name\" (device trace, PyTorch 2.4 or later), a "
        "record_param_comms or c10d op (host trace) or an annotation like nccl:all_reduce|bytes=N|pg=NAME "
        "would",
        clue->node,
        io_text_printable(clue->device_name[0] != '\0' ? clue->device_name : clue->ops[0].name, name, sizeof name));
}

/* ---- group ---- */

enum { TAG_ROOM = 128 };

/* The NAME of "|pg=NAME" in an annotation; false when there is none. */
static bool tagged_group(const char *name, char group[TAG_ROOM])
{
    const char *at = name == NULL ? NULL : strstr(name, "|pg=");
    if (at == NULL) {
        return false;
    }
    size_t length = strcspn(at + 4, "|");
    length = length < TAG_ROOM ? length : TAG_ROOM - 1;
    memcpy(group, at + 4, length);
    group[length] = '\0';
    return length > 0;
}

/* "" when nobody says. `room` holds a tag's text. */
static const char *group_name(const struct comm_clue *clue, char room[TAG_ROOM])
{
    for (uint32_t i = 0; i < COMM_OWN_KINETO + clue->op_count; i++) {
        const struct kineto_comm *comm = comm_clue_kineto(clue, i);
        if (comm != NULL && comm->group_name != 0) {
            return comm_clue_kineto_text(clue, comm->group_name);
        }
    }
    for (uint32_t i = 0; i < clue->op_count; i++) {
        if (clue->ops[i].host != NULL && clue->ops[i].host->group_name != 0) {
            return comm_clue_host_text(clue, clue->ops[i].host->group_name);
        }
    }
    for (uint32_t i = 0; i < clue->op_count; i++) {
        if (tagged_group(clue->ops[i].name, room)) {
            return room;
        }
    }
    return tagged_group(clue->annotation_name, room) ? room : "";
}

static enum orr_status collective_find_group(const struct comm_clue *clue, struct comm_fact *fact,
                                             struct orr_error *err)
{
    char room[TAG_ROOM];
    const char *name = group_name(clue, room);
    if (name[0] == '\0' || clue->groups == NULL) {
        return ORR_OK;
    }
    fact->group = comm_groups_find(clue->groups, clue->rank, name);
    if (fact->group == COMM_GROUP_NONE) {
        char text[80];
        return error_set(err, ORR_EINVAL,
                         "%.300s: %s in process group \"%s\", which is none of the groups that rank %lld's "
                         "recording tells of",
                         clue->node, comm_kind_text(fact->kind), io_text_printable(name, text, sizeof text),
                         (long long)clue->rank);
    }
    return ORR_OK;
}

enum orr_status comm_resolve(const struct comm_clue *clue, struct comm_fact *fact, struct orr_error *err)
{
    struct comm_fact made = {.kind = COMM_NONE, .group = COMM_GROUP_NONE, .root = -1, .src = -1, .dst = -1};
    enum comm_kind own = own_kind(clue);
    if (own == COMM_NONE) {
        *fact = made;
        return ORR_OK;
    }
    enum orr_status status = find_type(clue, own, &made, err);
    if (status == ORR_OK) {
        status = collective_find_group(clue, &made, err);
    }
    if (status == ORR_OK) {
        status = comm_find_size(clue, &made, err);
    }
    if (status == ORR_OK) {
        status = comm_find_ends(clue, &made, err);
    }
    if (status == ORR_OK) {
        *fact = made;
    }
    return status;
}

/* ---- one op, several kernels; several ops, one kernel ---- */

struct comm_fact comm_fact_share(const struct comm_fact *fact, uint32_t parts, uint32_t index)
{
    struct comm_fact share = *fact;
    share.bytes = fact->bytes / parts + (index < fact->bytes % parts ? 1 : 0);
    share.peer_max_bytes = fact->peer_max_bytes / parts + (index < fact->peer_max_bytes % parts ? 1 : 0);
    return share;
}

/* ---- tags ---- */

enum { TAG_GROUPS = 64, TAG_MESSAGES = 1 << 22 };

bool comm_tags_next(struct number_map *counts, const struct comm_groups *groups, const struct comm_fact *fact,
                    int32_t *tag)
{
    uint32_t id = groups == NULL || fact->group == COMM_GROUP_NONE ? 0 : groups->groups[fact->group].id;
    uint64_t pair = (uint64_t)(uint32_t)fact->src << 32 | (uint32_t)fact->dst;
    uint32_t *count = number_map_at(counts, id, (int64_t)pair);
    if (count == NULL) {
        return false;
    }
    *tag = (int32_t)(id % TAG_GROUPS * TAG_MESSAGES + (*count)++ % TAG_MESSAGES);
    return true;
}
