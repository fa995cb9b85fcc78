/* SPDX-License-Identifier: Apache-2.0 */
/* How many bytes, and between whom. Each piece of evidence is brought into one form, bytes in and bytes out of one
 * rank, and one rule per kind of communication makes comm_size of it (the table in collective.h). A side that is
 * missing is made from the other and the number of members; what does not give a size is no evidence, and the next
 * level is asked.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "convert/pytorch/collective/internal.h"

#define UNSAID UINT64_MAX

/* What one piece of evidence says; UNSAID where it does not. */
struct volume {
    uint64_t in, out; /* bytes this rank puts in and gets */
    uint64_t members;
};

static uint64_t collective_size_times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return a == UNSAID || b == UNSAID || __builtin_mul_overflow(a, b, &product) ? UNSAID : product;
}

static uint64_t collective_size_either(uint64_t first, uint64_t second)
{
    return first != UNSAID && first != 0 ? first : second;
}

/* comm_size, or UNSAID. A size of 0 is what recorders write where they do not know, but in an all-to-all a rank may
 * indeed have nothing to send. */
static uint64_t collective_size_of(enum comm_kind kind, const struct volume *volume)
{
    uint64_t size = UNSAID;
    switch (kind) {
    case COMM_ALL_GATHER:
        size = collective_size_either(volume->in,
                                      volume->members == UNSAID || volume->members == 0 || volume->out == UNSAID
                                          ? UNSAID
                                          : volume->out / volume->members);
        break;
    case COMM_REDUCE_SCATTER:
    case COMM_REDUCE_SCATTER_BLOCK:
        size = collective_size_either(volume->in, collective_size_times(volume->out, volume->members));
        break;
    case COMM_GATHER:
        size = collective_size_either(collective_size_times(volume->in, volume->members), volume->out);
        break;
    case COMM_SCATTER:
        size = collective_size_either(collective_size_times(volume->out, volume->members), volume->in);
        break;
    case COMM_ALL_TO_ALL:
        return volume->in == 0 && volume->out == 0 ? UNSAID : volume->in != UNSAID ? volume->in : volume->out;
    case COMM_RECV:
        size = collective_size_either(volume->out, volume->in);
        break;
    default:
        size = collective_size_either(volume->in, volume->out);
        break;
    }
    return size == 0 ? UNSAID : size;
}

static uint64_t members_of(const struct comm_clue *clue, const struct comm_fact *fact, uint64_t said)
{
    uint64_t members = clue->groups == NULL ? 0 : comm_groups_size(clue->groups, fact->group);
    members = said != UNSAID && said != 0 ? said : members;
    return members == 0 ? UNSAID : members;
}

static bool collective_size_take(struct comm_fact *fact, uint64_t size, enum provenance from)
{
    if (size == UNSAID) {
        return false;
    }
    fact->bytes = size;
    fact->size_from = from;
    return true;
}

/* ---- uneven splits ---- */

/* "[3, 5]": the largest and the sum. False when it is no complete list of at least two. */
static bool read_splits(const char *text, uint64_t *largest, uint64_t *sum)
{
    uint32_t count = 0;
    *largest = 0;
    *sum = 0;
    if (*text++ != '[') {
        return false;
    }
    for (;;) {
        text += strspn(text, " ,");
        if (*text == ']') {
            return count >= 2 && *sum > 0;
        }
        uint64_t value = 0;
        size_t digits = scan_number(text, &value);
        if (digits == 0) {
            return false;
        }
        text += digits;
        *largest = value > *largest ? value : *largest;
        if (__builtin_add_overflow(*sum, value, sum) || *sum > UINT32_MAX) {
            return false;
        }
        count++;
    }
}

/* Splits count rows, all of the same bytes: a peer's share of the rows is its share of the bytes. */
static void take_splits(struct comm_fact *fact, const char *text, uint64_t members)
{
    uint64_t largest;
    uint64_t sum;
    if (fact->kind == COMM_ALL_TO_ALL && members != UNSAID && read_splits(text, &largest, &sum) &&
        largest > (sum + members - 1) / members) {
        fact->peer_max_bytes = fact->bytes / sum * largest + fact->bytes % sum * largest / sum;
    }
}

/* ---- levels ---- */

static bool size_from_kineto_args(const struct comm_clue *clue, struct comm_fact *fact)
{
    for (uint32_t i = 0; i < COMM_OWN_KINETO + clue->op_count; i++) {
        const struct kineto_comm *comm = comm_clue_kineto(clue, i);
        uint64_t width = comm == NULL ? 0 : comm_dtype_bytes(comm_clue_kineto_text(clue, comm->dtype));
        if (width == 0) {
            continue;
        }
        struct volume volume = {collective_size_times(comm->in_elements, width),
                                collective_size_times(comm->out_elements, width),
                                members_of(clue, fact, comm->group_size)};
        if (collective_size_take(fact, collective_size_of(fact->kind, &volume), PROVENANCE_KINETO_ARGS)) {
            take_splits(fact, comm_clue_kineto_text(clue, comm->in_split), volume.members);
            return true;
        }
    }
    return false;
}

static bool size_from_attributes(const struct comm_clue *clue, struct comm_fact *fact)
{
    for (uint32_t i = 0; i < clue->op_count; i++) {
        const struct host_comm *comm = clue->ops[i].host;
        uint64_t width = comm == NULL ? 0 : comm_dtype_bytes(comm_clue_host_text(clue, comm->dtype));
        if (width == 0) {
            continue;
        }
        struct volume volume = {collective_size_times(comm->in_elements, width),
                                collective_size_times(comm->out_elements, width),
                                members_of(clue, fact, comm->group_size)};
        if (collective_size_take(fact, collective_size_of(fact->kind, &volume), PROVENANCE_COMM_ATTRS)) {
            take_splits(fact, comm_clue_host_text(clue, comm->in_split), volume.members);
            return true;
        }
    }
    return false;
}

/* Ops whose inputs are what is put in and nothing else. The c10d ops are not among them: theirs begin with the tensors
 * for the result. */
static bool lists_inputs_only(const char *name)
{
    static const char *const fronts[] = {"nccl:", "rccl:", "xccl:", "gloo:", "mpi:", "ucc:"};
    for (size_t i = 0; i < sizeof fronts / sizeof fronts[0]; i++) {
        if (comm_name_begins(name, fronts[i])) {
            return true;
        }
    }
    return strcmp(name, "record_param_comms") == 0 || strstr(name, "c10d_functional") != NULL;
}

static struct volume tensors_of(const struct comm_clue *clue, const struct comm_fact *fact, const struct comm_op *op)
{
    struct volume volume = {UNSAID, UNSAID, UNSAID};
    volume.members = members_of(clue, fact, op->host == NULL ? UNSAID : op->host->group_size);
    if (op->host != NULL) {
        volume.in = op->host->tensor_in_bytes == 0 ? UNSAID : op->host->tensor_in_bytes;
        volume.out = op->host->tensor_out_bytes == 0 ? UNSAID : op->host->tensor_out_bytes;
    }
    if (op->kineto != NULL && volume.in == UNSAID) {
        volume.in = op->kineto->input_bytes == 0 ? UNSAID : op->kineto->input_bytes;
    }
    return volume;
}

static bool size_from_tensors(const struct comm_clue *clue, struct comm_fact *fact)
{
    for (uint32_t i = 0; i < clue->op_count; i++) {
        const struct comm_op *op = &clue->ops[i];
        if (!lists_inputs_only(op->name)) {
            continue;
        }
        struct volume volume = tensors_of(clue, fact, op);
        if (fact->kind == COMM_SCATTER && comm_name_begins(op->name, "nccl:")) {
            volume = (struct volume){UNSAID, volume.in, volume.members}; /* its annotation lists the rank's own part */
        }
        bool gloo = comm_name_begins(op->name, "gloo:");
        if (collective_size_take(fact, collective_size_of(fact->kind, &volume),
                                 gloo ? PROVENANCE_GLOO : PROVENANCE_OP_TENSORS)) {
            return true;
        }
    }
    return false;
}

/* A c10d op lists its result's tensors among its inputs and, where it returns them, among its outputs: the difference
 * is what is put in. In place, both are the same buffer. All-to-all and gather do not return theirs. */
static bool size_from_c10d(const struct comm_clue *clue, struct comm_fact *fact)
{
    for (uint32_t i = 0; i < clue->op_count; i++) {
        const struct comm_op *op = &clue->ops[i];
        if (!comm_name_begins(op->name, "c10d::")) {
            continue;
        }
        struct volume volume = tensors_of(clue, fact, op);
        uint64_t size = UNSAID;
        switch (fact->kind) {
        case COMM_ALL_REDUCE:
        case COMM_BROADCAST:
        case COMM_REDUCE:
        case COMM_SEND:
        case COMM_RECV:
            size = volume.in;
            break;
        case COMM_ALL_GATHER:
        case COMM_REDUCE_SCATTER:
            if (volume.in != UNSAID && volume.out != UNSAID && volume.in > volume.out) {
                volume.in -= volume.out;
                size = collective_size_of(fact->kind, &volume);
            }
            break;
        case COMM_SCATTER:
            size = collective_size_times(volume.out, volume.members);
            break;
        default:
            break;
        }
        if (collective_size_take(fact, size, PROVENANCE_HOST_INPUTS)) {
            return true;
        }
    }
    return false;
}

/* A kernel of no library's is launched by an op of its own, whose first tensor is what the rank puts in: a buffer for
 * the result, flags and weights follow it. */
static bool size_from_launch(const struct comm_clue *clue, struct comm_fact *fact)
{
    if (clue->device_name[0] == '\0' || !comm_family_is_sized(comm_name_family(clue->device_name))) {
        return false;
    }
    for (uint32_t i = 0; i < clue->op_count; i++) {
        const struct comm_op *op = &clue->ops[i];
        if (op->kineto == NULL || comm_name_word(op->name) != fact->kind || op->kineto->first_bytes == 0) {
            continue;
        }
        if (collective_size_take(fact, op->kineto->first_bytes, PROVENANCE_LAUNCH_OP)) {
            return true;
        }
    }
    return false;
}

static uint64_t tagged_bytes(const char *name)
{
    const char *at = name == NULL ? NULL : strstr(name, "|bytes=");
    uint64_t bytes = 0;
    size_t digits = at == NULL ? 0 : scan_number(at + 7, &bytes);
    bool good = digits > 0 && bytes < UINT64_MAX && (at[7 + digits] == '|' || at[7 + digits] == '\0');
    return good ? bytes : UNSAID;
}

static bool size_from_tag(const struct comm_clue *clue, struct comm_fact *fact)
{
    for (uint32_t i = 0; i < clue->op_count; i++) {
        if (collective_size_take(fact, tagged_bytes(clue->ops[i].name), PROVENANCE_ANNOTATION)) {
            return true;
        }
    }
    return collective_size_take(fact, tagged_bytes(clue->annotation_name), PROVENANCE_ANNOTATION);
}

enum orr_status comm_find_size(const struct comm_clue *clue, struct comm_fact *fact, struct orr_error *err)
{
    if (fact->kind == COMM_BARRIER) {
        fact->size_from = PROVENANCE_NEEDS_NONE;
        return ORR_OK;
    }
    bool known = size_from_kineto_args(clue, fact) || size_from_attributes(clue, fact) ||
                 size_from_tensors(clue, fact) || size_from_c10d(clue, fact) || size_from_launch(clue, fact) ||
                 size_from_tag(clue, fact) ||
                 (clue->has_unknown_size && collective_size_take(fact, clue->unknown_size, PROVENANCE_GIVEN));
    if (!known) {
        return error_set(
            err, ORR_EINVAL,
            "%.300s: %s of unknown size: no \"In msg nelems\" with a dtype, no tensors on the op that "
            "launches it, no |bytes=N annotation; parameter 'unknown-size' BYTES gives one to all such nodes",
            clue->node, comm_kind_text(fact->kind));
    }
    if (fact->bytes > INT64_MAX) {
        return error_set(err, ORR_ERANGE, "%.300s: %s of %" PRIu64 " bytes: out of range", clue->node,
                         comm_kind_text(fact->kind), fact->bytes);
    }
    return ORR_OK;
}

/* ---- root and peer ---- */

/* The number of a group's member as the host trace has it; record_param_comms tells its caller's rank, root or peer in
 * the same place, depending on the collective. */
static int64_t said_member(const struct comm_clue *clue)
{
    for (uint32_t i = 0; i < clue->op_count; i++) {
        if (clue->ops[i].host != NULL && clue->ops[i].host->root_or_peer >= 0) {
            return clue->ops[i].host->root_or_peer;
        }
    }
    return -1;
}

/* A member's global rank; without a list of members, the number itself. */
static int64_t global_rank(const struct comm_clue *clue, const struct comm_fact *fact, int64_t member)
{
    return clue->groups == NULL || member < 0 ? member : comm_groups_member(clue->groups, fact->group, member);
}

static int64_t peer_from_args(const struct comm_clue *clue, enum comm_kind kind)
{
    for (uint32_t i = 0; i < COMM_OWN_KINETO + clue->op_count; i++) {
        const struct kineto_comm *comm = comm_clue_kineto(clue, i);
        int64_t peer = comm == NULL ? -1 : kind == COMM_SEND ? comm->dst_rank : comm->src_rank;
        if (peer >= 0) {
            return peer; /* a global rank already */
        }
    }
    return -1;
}

/* "nccl:send 0->1", "nccl:recv 1<-0": members; the peer stands behind the arrow. */
static int64_t arrow_member(const char *name)
{
    const char *at = name == NULL ? NULL : strstr(name, "->");
    at = at == NULL && name != NULL ? strstr(name, "<-") : at;
    if (at == NULL || at[2] < '0' || at[2] > '9') {
        return -1;
    }
    int64_t member = 0;
    for (at += 2; *at >= '0' && *at <= '9' && member <= INT32_MAX; at++) {
        member = member * 10 + (*at - '0');
    }
    return member;
}

static int64_t peer_from_names(const struct comm_clue *clue)
{
    for (uint32_t i = 0; i < clue->op_count; i++) {
        int64_t member = comm_name_op(clue->ops[i].name) == COMM_NONE ? -1 : arrow_member(clue->ops[i].name);
        if (member >= 0) {
            return member;
        }
    }
    return arrow_member(clue->annotation_name);
}

/* In a group of two there is no choice. */
static int64_t only_other(const struct comm_clue *clue, const struct comm_fact *fact)
{
    if (clue->groups == NULL || clue->rank < 0 || comm_groups_size(clue->groups, fact->group) != 2) {
        return -1;
    }
    int64_t first = comm_groups_member(clue->groups, fact->group, 0);
    return first != clue->rank ? first : comm_groups_member(clue->groups, fact->group, 1);
}

static int64_t collective_size_find_peer(const struct comm_clue *clue, const struct comm_fact *fact,
                                         enum provenance *from)
{
    const struct {
        int64_t peer;
        enum provenance from;
    } told[] = {
        {peer_from_args(clue, fact->kind), PROVENANCE_KINETO_ARGS},
        {global_rank(clue, fact, said_member(clue)), PROVENANCE_COMM_ATTRS},
        {global_rank(clue, fact, peer_from_names(clue)), PROVENANCE_OP_NAME},
        {only_other(clue, fact), PROVENANCE_GROUP_OF_TWO},
    };
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        if (told[i].peer >= 0) {
            *from = told[i].from;
            return told[i].peer;
        }
    }
    *from = PROVENANCE_NONE;
    return -1;
}

enum orr_status comm_find_ends(const struct comm_clue *clue, struct comm_fact *fact, struct orr_error *err)
{
    if (comm_kind_is_rooted(fact->kind)) {
        fact->root = global_rank(clue, fact, said_member(clue));
    }
    if (fact->kind != COMM_SEND && fact->kind != COMM_RECV) {
        return ORR_OK;
    }
    int64_t peer = collective_size_find_peer(clue, fact, &fact->peer_from);
    if (peer >= 0 && (peer > INT32_MAX || peer == clue->rank)) {
        return error_set(
            err, ORR_EINVAL,
            "%.300s: %s with no other rank as its peer, but %lld: \"Src Rank\" or \"Dst Rank\" (device "
            "trace), the rank that record_param_comms carries or a name like \"nccl:send 0->1\" would tell",
            clue->node, comm_kind_text(fact->kind), (long long)peer);
    }
    fact->src = fact->kind == COMM_SEND ? clue->rank : peer;
    fact->dst = fact->kind == COMM_SEND ? peer : clue->rank;
    return ORR_OK;
}
