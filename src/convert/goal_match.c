/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages are sorted by their ends and counted, so that a file of any size is matched in the time of a sort. Receives
 * with a wildcard are looked at in groups that ask for the same: a group is decided when exactly one sender and tag
 * still has messages without a receive, and those of one source or one tag are decided before those that take anything.
 */
#include "convert/goal_match.h"

#include <inttypes.h>
#include <stdlib.h>

struct message {
    int32_t dst, src, tag; /* src and tag may be GOAL_ANY of a receive */
    uint32_t node;
    uint32_t is_recv;
};

/* All messages with the same ends and tag; `left` are sends no receive has been found for. */
struct route {
    int32_t dst, src, tag;
    uint32_t left;
};

struct matching {
    struct workload *workload;
    const struct convert_request *request;
    struct message *messages;
    uint32_t message_count, message_capacity;
    struct route *routes;
    uint32_t route_count, route_capacity;
};

static int compare_i32(int32_t a, int32_t b)
{
    return (a > b) - (a < b);
}

static int compare_messages(const void *left, const void *right)
{
    const struct message *a = left;
    const struct message *b = right;
    int order = compare_i32(a->dst, b->dst);
    order = order != 0 ? order : compare_i32(a->src, b->src);
    order = order != 0 ? order : compare_i32(a->tag, b->tag);
    order = order != 0 ? order : (int)a->is_recv - (int)b->is_recv;
    return order != 0 ? order : (a->node > b->node) - (a->node < b->node);
}

static int compare_by_tag(const void *left, const void *right)
{
    const struct route *a = left;
    const struct route *b = right;
    int order = compare_i32(a->dst, b->dst);
    order = order != 0 ? order : compare_i32(a->tag, b->tag);
    return order != 0 ? order : compare_i32(a->src, b->src);
}

static int compare_by_source(const void *left, const void *right)
{
    const struct route *a = left;
    const struct route *b = right;
    int order = compare_i32(a->dst, b->dst);
    order = order != 0 ? order : compare_i32(a->src, b->src);
    return order != 0 ? order : compare_i32(a->tag, b->tag);
}

static enum orr_status goal_match_collect(struct matching *matching, struct orr_error *err)
{
    const struct workload *workload = matching->workload;
    matching->message_count = 0;
    for (uint32_t i = 0; i < workload->node_count; i++) {
        const struct workload_node *node = &workload->nodes[i];
        bool sends = node->type == TRACE_SEND;
        if (!sends && node->type != TRACE_RECV) {
            continue;
        }
        if (!MEM_GROW(workload->mem, matching->messages, matching->message_capacity, matching->message_count)) {
            return mem_error(workload->mem, "the messages", err);
        }
        matching->messages[matching->message_count++] =
            (struct message){.dst = sends ? node->peer : (int32_t)node->rank,
                             .src = sends ? (int32_t)node->rank : node->peer,
                             .tag = node->tag,
                             .node = i,
                             .is_recv = !sends};
    }
    if (matching->message_count > 0) {
        qsort(matching->messages, matching->message_count, sizeof *matching->messages, compare_messages);
    }
    return ORR_OK;
}

/* ---- wildcards -------------------------------------------------------------------------------------------------- */

static bool is_wild(const struct message *message)
{
    return message->is_recv && (message->src == GOAL_ANY || message->tag == GOAL_ANY);
}

/* How many of the messages from `first` have the same ends and tag; sends among them come first. */
static uint32_t count_same(const struct matching *matching, uint32_t first, uint32_t *sends)
{
    const struct message *one = &matching->messages[first];
    uint32_t end = first;
    *sends = 0;
    for (; end < matching->message_count; end++) {
        const struct message *other = &matching->messages[end];
        if (other->dst != one->dst || other->src != one->src || other->tag != one->tag) {
            break;
        }
        *sends += !other->is_recv;
    }
    return end - first;
}

static enum orr_status collect_routes(struct matching *matching, struct orr_error *err)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < matching->message_count; i += count) {
        const struct message *message = &matching->messages[i];
        uint32_t sends = 0;
        count = count_same(matching, i, &sends);
        uint32_t recvs = count - sends;
        if (is_wild(message) || sends <= recvs) {
            continue;
        }
        if (!MEM_GROW(matching->workload->mem, matching->routes, matching->route_capacity, matching->route_count)) {
            return mem_error(matching->workload->mem, "the messages", err);
        }
        matching->routes[matching->route_count++] =
            (struct route){message->dst, message->src, message->tag, sends - recvs};
    }
    return ORR_OK;
}

static const char *wild_text(const struct message *message)
{
    return message->src != GOAL_ANY ? "with any tag" : message->tag != GOAL_ANY ? "from any source" : "of anything";
}

static enum orr_status fail_wild(const struct matching *matching, const struct message *message,
                                 const struct route *one, const struct route *other, struct orr_error *err)
{
    uint64_t line = matching->workload->nodes[message->node].line;
    if (one == NULL) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": rank %" PRId32 " receives %s, and no send is left for it",
                         matching->request->input, line, message->dst, wild_text(message));
    }
    return error_set(
        err, ORR_EINVAL,
        "%s:%" PRIu64 ": rank %" PRId32 " receives %s, and who comes first is not in the file: rank %" PRId32
        " with tag %" PRId32 " or rank %" PRId32 " with tag %" PRId32 "; Chakra needs one, so write it instead of -1",
        matching->request->input, line, message->dst, wild_text(message), one->src, one->tag, other->src, other->tag);
}

/* The first route that `compare` does not put before `key`. */
static uint32_t find_route(const struct matching *matching, const struct route *key,
                           int (*compare)(const void *, const void *))
{
    uint32_t low = 0;
    uint32_t high = matching->route_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare(&matching->routes[middle], key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The `count` receives from `first` on all ask for the same. */
static enum orr_status decide_group(struct matching *matching, const struct message *first, uint32_t count, bool by_tag,
                                    struct orr_error *err)
{
    struct route key = {.dst = first->dst, .src = first->src, .tag = first->tag};
    struct route *found = NULL;
    int (*compare)(const void *, const void *) = by_tag ? compare_by_tag : compare_by_source;
    for (uint32_t i = find_route(matching, &key, compare); i < matching->route_count; i++) {
        struct route *route = &matching->routes[i];
        if (route->dst != key.dst || (key.tag != GOAL_ANY && route->tag != key.tag) ||
            (key.src != GOAL_ANY && route->src != key.src)) {
            break;
        }
        if (route->left > 0 && found != NULL) {
            return fail_wild(matching, first, found, route, err);
        }
        found = route->left > 0 ? route : found;
    }
    if (found == NULL || found->left < count) {
        return fail_wild(matching, first + (found == NULL ? 0 : found->left), NULL, NULL, err);
    }
    found->left -= count;
    for (uint32_t i = 0; i < count; i++) {
        matching->workload->nodes[first[i].node].peer = found->src;
        matching->workload->nodes[first[i].node].tag = found->tag;
    }
    return ORR_OK;
}

static enum orr_status decide_wildcards(struct matching *matching, struct orr_error *err)
{
    static const struct {
        bool any_source, any_tag;
    } stages[] = {{true, false}, {false, true}, {true, true}};
    for (size_t stage = 0; stage < sizeof stages / sizeof stages[0]; stage++) {
        bool by_tag = !stages[stage].any_tag;
        if (matching->route_count > 0) {
            qsort(matching->routes, matching->route_count, sizeof *matching->routes,
                  by_tag ? compare_by_tag : compare_by_source);
        }
        uint32_t count = 0;
        for (uint32_t i = 0; i < matching->message_count; i += count) {
            const struct message *message = &matching->messages[i];
            uint32_t sends = 0;
            count = count_same(matching, i, &sends);
            if (is_wild(message) && (message->src == GOAL_ANY) == stages[stage].any_source &&
                (message->tag == GOAL_ANY) == stages[stage].any_tag) {
                enum orr_status status = decide_group(matching, message, count, by_tag, err);
                if (status != ORR_OK) {
                    return status;
                }
            }
        }
    }
    return ORR_OK;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------ */

static enum orr_status fail_pair(const struct matching *matching, uint32_t first, uint32_t sends, uint32_t recvs,
                                 struct orr_error *err)
{
    const struct message *message = &matching->messages[first];
    uint32_t lonely = sends > recvs ? first + recvs : first + sends + sends;
    uint64_t line = matching->workload->nodes[matching->messages[lonely].node].line;
    return error_set(err, ORR_EINVAL,
                     "%s:%" PRIu64 ": a %s without its %s: rank %" PRId32 " sends %" PRIu32
                     " message%s with tag %" PRId32 " to rank %" PRId32 ", which receives %" PRIu32,
                     matching->request->input, line, sends > recvs ? "send" : "recv", sends > recvs ? "recv" : "send",
                     message->src, sends, sends == 1 ? "" : "s", message->tag, message->dst, recvs);
}

static enum orr_status pair_all(struct matching *matching, struct orr_error *err)
{
    struct workload *workload = matching->workload;
    uint32_t count = 0;
    uint64_t resized = 0;
    uint64_t first_line = 0;
    for (uint32_t i = 0; i < matching->message_count; i += count) {
        uint32_t sends = 0;
        count = count_same(matching, i, &sends);
        if (sends != count - sends) {
            return fail_pair(matching, i, sends, count - sends, err);
        }
        for (uint32_t k = 0; k < sends; k++) {
            const struct workload_node *send = &workload->nodes[matching->messages[i + k].node];
            struct workload_node *recv = &workload->nodes[matching->messages[i + sends + k].node];
            if (recv->bytes != send->bytes) {
                recv->bytes = send->bytes;
                first_line = resized++ == 0 || recv->line < first_line ? recv->line : first_line;
            }
        }
    }
    if (resized > 0) {
        return notes_add(matching->request->notes, err,
                         "%s:%" PRIu64 ": %" PRIu64 " recv%s of another size than the send, whose size was taken",
                         matching->request->input, first_line, resized, resized == 1 ? " is" : "s are");
    }
    return ORR_OK;
}

enum orr_status goal_match(struct workload *workload, const struct convert_request *request, struct orr_error *err)
{
    struct matching matching = {.workload = workload, .request = request};
    enum orr_status status = goal_match_collect(&matching, err);
    if (status == ORR_OK) {
        status = collect_routes(&matching, err);
    }
    if (status == ORR_OK) {
        status = decide_wildcards(&matching, err);
    }
    if (status == ORR_OK) {
        status = goal_match_collect(&matching, err);
    }
    if (status == ORR_OK) {
        status = pair_all(&matching, err);
    }
    mem_free(workload->mem, matching.messages, matching.message_capacity * sizeof *matching.messages);
    mem_free(workload->mem, matching.routes, matching.route_capacity * sizeof *matching.routes);
    return status;
}
