/* SPDX-License-Identifier: Apache-2.0 */
/* GOAL wants every label defined above its use, so nodes are written parents first (Kahn, first come first served by
 * place in the file). A node that becomes several operations ends in a calc of 0, so that who waits for the node waits
 * for one label. The k-th collective of a group has the same tag on all its members, which is what matches them. */
#include "report/goal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "coll/program.h"

enum { CPU_GPU = 0, CPU_HOST = 1, CPU_COMM = 2 };

/* Tags of collectives lie above those of the traces' own messages. */
enum { COLL_TAGS = 1 << 30 };

struct goal {
    const struct trace_set *traces;
    const struct goal_group *groups;
    uint32_t group_count;
    FILE *stream;
    struct mem *mem;
    struct orr_error *err;
    /* the rank being written */
    uint32_t rank;
    const struct trace_graph *graph;
    uint64_t *end;      /* by node: the label that ends it, from 1 */
    uint32_t *waits;    /* by node: parents not yet written */
    uint32_t *order;    /* nodes, parents first */
    uint64_t *sequence; /* by group, the last for all ranks: collectives so far */
    uint64_t labels;    /* given out in this rank */
};

static const struct trace_node *node_at(const struct goal *goal, uint32_t node)
{
    return &goal->graph->nodes[node];
}

ORR_PRINTF(3, 4)
static enum orr_status complain(const struct goal *goal, uint32_t node, const char *fmt, ...)
{
    char what[256];
    va_list args;
    va_start(args, fmt);
    (void)plain_vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return error_set(goal->err, ORR_EINVAL, "%s.%" PRIu32 ".et: node %" PRIu64 " \"%.80s\": %s", goal->traces->prefix,
                     goal->rank, trace_rank_node_id(&goal->traces->ranks[goal->rank], node),
                     trace_graph_name(goal->graph, node), what);
}

/* ---- operations ---- */

static uint64_t put_calc(struct goal *goal, uint64_t ns, int cpu)
{
    uint64_t label = ++goal->labels;
    (void)fprintf(goal->stream, "l%" PRIu64 ": calc %" PRIu64, label, ns);
    if (cpu != 0) {
        (void)fprintf(goal->stream, " cpu %d", cpu);
    }
    (void)fputc('\n', goal->stream);
    return label;
}

static uint64_t put_message(struct goal *goal, bool sends, uint64_t bytes, uint32_t peer, uint32_t tag)
{
    uint64_t label = ++goal->labels;
    (void)fprintf(goal->stream, "l%" PRIu64 ": %s %" PRIu64 "b %s %" PRIu32, label, sends ? "send" : "recv",
                  bytes == 0 ? 1 : bytes, sends ? "to" : "from", peer);
    if (tag != 0) {
        (void)fprintf(goal->stream, " tag %" PRIu32, tag);
    }
    (void)fprintf(goal->stream, " cpu %d\n", CPU_COMM);
    return label;
}

static void put_requires(struct goal *goal, uint64_t later, uint64_t earlier)
{
    (void)fprintf(goal->stream, "l%" PRIu64 " requires l%" PRIu64 "\n", later, earlier);
}

/* ---- collectives ---- */

struct members {
    const uint32_t *ranks; /* NULL: all */
    uint32_t count;
    uint32_t self; /* index */
    uint32_t tag;
};

static uint32_t report_goal_rank_of(const struct members *members, uint32_t index)
{
    return members->ranks == NULL ? index : members->ranks[index];
}

/* Part i of n, so that all parts add up to the size. */
static uint64_t chunk(uint64_t bytes, uint32_t i, uint32_t n)
{
    uint64_t each = bytes / n;
    return each + (i < bytes % n ? 1 : 0);
}

/* Rounds around the ring, each sending what the round before received. `whole`: every message has the full size. */
static uint64_t put_ring(struct goal *goal, const struct members *members, uint64_t begin, uint64_t bytes,
                         uint32_t rounds, bool whole)
{
    uint32_t n = members->count;
    uint32_t self = members->self;
    uint32_t next = report_goal_rank_of(members, (self + 1) % n);
    uint32_t before = report_goal_rank_of(members, (self + n - 1) % n);
    uint64_t sent = begin;
    uint64_t received = begin;
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t mine = (self + 2 * n - round % n) % n;
        uint32_t theirs = (self + 2 * n - 1 - round % n) % n;
        uint64_t send = put_message(goal, true, whole ? bytes : chunk(bytes, mine, n), next, members->tag);
        put_requires(goal, send, received);
        if (sent != received) {
            put_requires(goal, send, sent);
        }
        uint64_t receive = put_message(goal, false, whole ? bytes : chunk(bytes, theirs, n), before, members->tag);
        put_requires(goal, receive, received);
        sent = send;
        received = receive;
    }
    uint64_t end = put_calc(goal, 0, CPU_COMM);
    put_requires(goal, end, sent);
    put_requires(goal, end, received);
    return end;
}

static uint64_t put_direct(struct goal *goal, const struct members *members, uint64_t begin, uint64_t bytes)
{
    uint32_t n = members->count;
    uint64_t first = goal->labels + 1;
    for (uint32_t away = 1; away < n; away++) {
        uint32_t to = (members->self + away) % n;
        uint32_t from = (members->self + n - away) % n;
        uint64_t send = put_message(goal, true, chunk(bytes, to, n), report_goal_rank_of(members, to), members->tag);
        uint64_t receive =
            put_message(goal, false, chunk(bytes, members->self, n), report_goal_rank_of(members, from), members->tag);
        put_requires(goal, send, begin);
        put_requires(goal, receive, begin);
    }
    uint64_t last = goal->labels;
    uint64_t end = put_calc(goal, 0, CPU_COMM);
    for (uint64_t label = first; label <= last; label++) {
        put_requires(goal, end, label);
    }
    return end;
}

/* Operations in order: receives wait, sends do not, so each operation waits for the receive before it. */
static uint64_t put_program(struct goal *goal, const struct members *members, uint64_t begin, enum coll_type type,
                            uint32_t root, uint64_t bytes)
{
    struct coll_op ops[COLL_PROGRAM_MAX_OPS];
    uint32_t count = coll_program_build(type, members->count, members->self, root, bytes == 0 ? 1 : bytes, ops);
    uint64_t received = begin;
    uint64_t first = goal->labels + 1;
    for (uint32_t i = 0; i < count; i++) {
        bool sends = ops[i].kind == COLL_OP_SEND;
        uint64_t label =
            put_message(goal, sends, ops[i].bytes, report_goal_rank_of(members, ops[i].peer), members->tag);
        put_requires(goal, label, received);
        received = sends ? received : label;
    }
    uint64_t last = goal->labels;
    uint64_t end = put_calc(goal, 0, CPU_COMM);
    for (uint64_t label = first; label <= last; label++) {
        put_requires(goal, end, label);
    }
    if (count == 0) {
        put_requires(goal, end, begin);
    }
    return end;
}

/* The ranks of a node's group; UINT32_MAX in `group` for all of them. */
static enum orr_status find_members(const struct goal *goal, uint32_t node, struct members *members, uint32_t *group)
{
    const char *name = goal->graph->strings + node_at(goal, node)->group;
    *members = (struct members){.count = goal->traces->rank_count, .self = goal->rank};
    *group = goal->group_count;
    char *end = NULL;
    long long id = strtoll(name, &end, 10);
    if (name[0] == '\0' || (*end == '\0' && id == 0)) {
        return ORR_OK;
    }
    for (uint32_t g = 0; *end == '\0' && g < goal->group_count; g++) {
        if (goal->groups[g].id != id) {
            continue;
        }
        *group = g;
        members->ranks = goal->groups[g].ranks;
        members->count = goal->groups[g].count;
        for (members->self = 0; members->self < members->count; members->self++) {
            if (members->ranks[members->self] == goal->rank) {
                return ORR_OK;
            }
        }
        return complain(goal, node, "rank %" PRIu32 " is not a member of communicator group %lld", goal->rank, id);
    }
    return complain(goal, node, "pg_name \"%.60s\" is not a communicator group; parameter 'groups' FILE defines them",
                    name);
}

static enum orr_status find_root(const struct goal *goal, uint32_t node, const struct members *members, uint32_t *root)
{
    const struct trace_node *at = node_at(goal, node);
    *root = 0;
    if ((at->has & TRACE_HAS_ROOT) == 0) {
        return ORR_OK;
    }
    for (*root = 0; *root < members->count; ++*root) {
        if (at->root >= 0 && report_goal_rank_of(members, *root) == (uint32_t)at->root) {
            return ORR_OK;
        }
    }
    return complain(goal, node, "root rank %" PRId32 " takes no part in the collective", at->root);
}

static enum orr_status next_tag(struct goal *goal, uint32_t node, uint32_t group, uint32_t *tag)
{
    uint64_t number = goal->sequence[group]++ * ((uint64_t)goal->group_count + 1) + group;
    if (number >= (uint64_t)INT32_MAX - COLL_TAGS) {
        return complain(goal, node, "there are more collectives than GOAL has tags for");
    }
    *tag = COLL_TAGS + (uint32_t)number;
    return ORR_OK;
}

static enum orr_status put_collective(struct goal *goal, uint32_t node, uint64_t begin, uint64_t *end)
{
    const struct trace_node *at = node_at(goal, node);
    struct members members;
    uint32_t group = 0;
    uint32_t root = 0;
    if ((at->has & TRACE_HAS_COMM_TYPE) == 0 || coll_type_name(at->comm_type) == NULL) {
        return complain(goal, node, "it has no comm_type from 0 to 9; orrery trace fix removes such nodes");
    }
    if ((at->has & TRACE_HAS_COMM_SIZE) == 0 && at->comm_type != COLL_BARRIER) {
        return complain(goal, node, "comm_size is missing; orrery trace fix parameter 'unknown-size' BYTES sets it");
    }
    enum orr_status status = find_members(goal, node, &members, &group);
    status = status != ORR_OK ? status : find_root(goal, node, &members, &root);
    status = status != ORR_OK ? status : next_tag(goal, node, group, &members.tag);
    if (status != ORR_OK) {
        return status;
    }
    uint64_t bytes = at->comm_type == COLL_BARRIER ? 1 : at->comm_bytes;
    uint32_t rounds = members.count - 1;
    if (members.count == 1) {
        *end = begin;
        return ORR_OK;
    }
    switch ((enum coll_type)at->comm_type) {
    case COLL_ALL_REDUCE:
        *end = put_ring(goal, &members, begin, bytes, 2 * rounds, false);
        return ORR_OK;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK:
        *end = put_ring(goal, &members, begin, bytes, rounds, false);
        return ORR_OK;
    case COLL_ALL_GATHER:
        *end = put_ring(goal, &members, begin, bytes, rounds, true);
        return ORR_OK;
    case COLL_ALL_TO_ALL:
        *end = put_direct(goal, &members, begin, bytes);
        return ORR_OK;
    default:
        *end = put_program(goal, &members, begin, (enum coll_type)at->comm_type, root, bytes);
        return ORR_OK;
    }
}

/* ---- nodes ---- */

static enum orr_status put_send(struct goal *goal, uint32_t node, uint64_t *label)
{
    const struct trace_node *at = node_at(goal, node);
    bool sends = at->type == TRACE_SEND;
    int32_t peer = sends ? at->comm_dst : at->comm_src;
    uint32_t needs = TRACE_HAS_COMM_SIZE | (sends ? TRACE_HAS_COMM_DST : TRACE_HAS_COMM_SRC);
    if ((at->has & needs) != needs || peer < 0 || (uint32_t)peer >= goal->traces->rank_count) {
        return complain(goal, node, "a message needs comm_size and a peer between 0 and %" PRIu32,
                        goal->traces->rank_count - 1);
    }
    if (at->comm_tag < 0 || at->comm_tag >= COLL_TAGS) {
        return complain(goal, node, "comm_tag %" PRId32 " is not between 0 and %d", at->comm_tag, COLL_TAGS - 1);
    }
    *label = put_message(goal, sends, at->comm_bytes, (uint32_t)peer, (uint32_t)at->comm_tag);
    return ORR_OK;
}

static void wait_for_parents(struct goal *goal, uint32_t node, uint64_t label)
{
    const struct trace_graph *graph = goal->graph;
    uint32_t first = graph->parent_start[node];
    for (uint32_t p = first; p < first + graph->parent_written[node]; p++) {
        bool again = false;
        for (uint32_t q = first; q < p && q < first + 16; q++) { /* a dependency written twice, where that is near */
            again = again || graph->parents[q] == graph->parents[p];
        }
        if (!again) {
            put_requires(goal, label, goal->end[graph->parents[p]]);
        }
    }
}

static enum orr_status put_node(struct goal *goal, uint32_t node)
{
    const struct trace_node *at = node_at(goal, node);
    uint64_t label = 0;
    uint64_t ns = 0;
    enum orr_status status = ORR_OK;
    switch ((enum trace_node_type)at->type) {
    case TRACE_SEND:
    case TRACE_RECV:
        status = put_send(goal, node, &label);
        break;
    case TRACE_COLL:
        label = put_calc(goal, 0, CPU_COMM);
        break;
    default:
        if (__builtin_mul_overflow(at->duration_us, UINT64_C(1000), &ns)) {
            return complain(goal, node, "a duration of %" PRIu64 " us is out of range", at->duration_us);
        }
        label = put_calc(goal, at->type == TRACE_METADATA || at->type == TRACE_INVALID ? 0 : ns,
                         at->is_cpu_op || at->type != TRACE_COMP ? CPU_HOST : CPU_GPU);
        break;
    }
    if (status != ORR_OK) {
        return status;
    }
    wait_for_parents(goal, node, label);
    goal->end[node] = label;
    return at->type == TRACE_COLL ? put_collective(goal, node, label, &goal->end[node]) : ORR_OK;
}

/* Parents first; false when a cycle keeps some nodes out. */
static bool put_in_order(struct goal *goal)
{
    const struct trace_graph *graph = goal->graph;
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint32_t node = graph->file_order[i];
        goal->waits[node] = graph->nodes[node].parent_count;
        if (goal->waits[node] == 0) {
            goal->order[count++] = node;
        }
    }
    for (uint32_t done = 0; done < count; done++) {
        const struct trace_node *at = &graph->nodes[goal->order[done]];
        for (uint32_t c = 0; c < at->child_count; c++) {
            uint32_t child = graph->children[at->first_child + c];
            if (--goal->waits[child] == 0) {
                goal->order[count++] = child;
            }
        }
    }
    return count == graph->node_count;
}

static enum orr_status report_goal_put_rank(struct goal *goal)
{
    const struct trace_graph *graph = goal->graph;
    enum orr_status status = ORR_OK;
    if (!put_in_order(goal)) {
        return error_set(goal->err, ORR_EINVAL,
                         "%s.%" PRIu32 ".et: its dependencies form a cycle; orrery trace fix repairs that",
                         goal->traces->prefix, goal->rank);
    }
    goal->labels = 0;
    memset(goal->sequence, 0, ((size_t)goal->group_count + 1) * sizeof *goal->sequence);
    (void)fprintf(goal->stream, "rank %" PRIu32 " {\n", goal->rank);
    for (uint32_t i = 0; status == ORR_OK && i < graph->node_count; i++) {
        status = put_node(goal, goal->order[i]);
    }
    (void)fputs("}\n", goal->stream);
    return status;
}

static enum orr_status put_ranks(struct goal *goal)
{
    enum orr_status status = ORR_OK;
    (void)fprintf(goal->stream, "num_ranks %" PRIu32 "\n", goal->traces->rank_count);
    for (uint32_t rank = 0; status == ORR_OK && rank < goal->traces->rank_count; rank++) {
        goal->rank = rank;
        goal->graph = goal->traces->ranks[rank].graph;
        size_t count = (size_t)goal->graph->node_count + 1;
        size_t bytes = count * (sizeof(uint64_t) + 2 * sizeof(uint32_t));
        uint64_t *words = mem_alloc(goal->mem, bytes);
        if (words == NULL) {
            return mem_error(goal->mem, "the order of a trace", goal->err);
        }
        goal->end = words;
        goal->waits = (uint32_t *)(words + count);
        goal->order = goal->waits + count;
        status = report_goal_put_rank(goal);
        mem_free(goal->mem, words, bytes);
    }
    return status;
}

enum orr_status goal_write(const struct trace_set *traces, const struct goal_group *groups, uint32_t group_count,
                           FILE *stream, struct mem *mem, struct orr_error *err)
{
    struct goal goal = {
        .traces = traces, .groups = groups, .group_count = group_count, .stream = stream, .mem = mem, .err = err};
    size_t bytes = ((size_t)group_count + 1) * sizeof *goal.sequence;
    goal.sequence = mem_zalloc(mem, bytes);
    if (goal.sequence == NULL) {
        return mem_error(mem, "a schedule", err);
    }
    enum orr_status status = put_ranks(&goal);
    mem_free(mem, goal.sequence, bytes);
    return status;
}
