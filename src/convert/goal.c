/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recursive format it is not: blocks of statements, each begun by its first word, so that one token of look-ahead
 * decides everything. Dependencies wait until their rank's block ends, because only then is it known which operations
 * others irequire; the whole file's messages are matched when it has been read (goal_match.h).
 *
 * Numbers without a unit are nanoseconds, GOAL's custom. Operations that nothing orders stay unordered: Chakra's
 * simulators compute one operation at a time in a rank, which is what sharing a cpu means.
 */
#include "convert/goal.h"

#include <inttypes.h>
#include <string.h>

#include "convert/goal_match.h"
#include "convert/goal_text.h"

enum { NODE_NONE = UINT32_MAX };

struct requirement {
    uint32_t after, before; /* nodes: `after` waits for `before` */
    bool start;             /* for its start, not its end */
};

struct goal_reading {
    const struct convert_request *request;
    struct workload *workload;
    struct goal_text *text;
    struct goal_token token; /* the next one */
    uint8_t *seen;           /* by rank */
    uint32_t ranks;
    uint32_t rank;           /* whose block this is */
    uint32_t first;          /* node of this block */
    struct intern labels;    /* of this block */
    uint32_t *node_of_label; /* by label */
    uint32_t label_capacity;
    struct requirement *requirements; /* of this block */
    uint32_t requirement_count, requirement_capacity;
    uint32_t *starter_of; /* by node of this block, minus `first`: the node that marks its start */
    uint32_t starter_capacity;
    uint32_t many_cpus; /* ranks that use more than one */
    uint32_t starters;
    uint64_t empty; /* sends of 0 bytes */
    bool uses_nics;
};

static enum orr_status convert_goal_refused(const struct goal_reading *reading, struct orr_error *err)
{
    return mem_error(reading->workload->mem, "the GOAL operations", err);
}

/* ---- tokens ----------------------------------------------------------------------------------------------------- */

static enum orr_status convert_goal_advance(struct goal_reading *reading, struct orr_error *err)
{
    return goal_text_next(reading->text, &reading->token, err);
}

static bool convert_goal_is_text(const struct goal_reading *reading, const char *text)
{
    return strcmp(reading->token.text, text) == 0;
}

static enum orr_status fail_token(const struct goal_reading *reading, const char *expected, struct orr_error *err)
{
    const struct goal_token *token = &reading->token;
    if (token->kind == GOAL_END) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": the file ends where %s is needed", reading->request->input,
                         token->line, expected);
    }
    return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": \"%.60s\" where %s is needed", reading->request->input,
                     token->line, token->text, expected);
}

static enum orr_status take_text(struct goal_reading *reading, const char *text, const char *expected,
                                 struct orr_error *err)
{
    return convert_goal_is_text(reading, text) ? convert_goal_advance(reading, err)
                                               : fail_token(reading, expected, err);
}

static enum orr_status convert_goal_take_number(struct goal_reading *reading, const char *what, uint64_t high,
                                                uint64_t *number, struct orr_error *err)
{
    if (reading->token.kind != GOAL_NUMBER) {
        return fail_token(reading, what, err);
    }
    if (reading->token.number > high) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": %s is %" PRIu64 "; at most %" PRIu64 " is accepted",
                         reading->request->input, reading->token.line, what, reading->token.number, high);
    }
    *number = reading->token.number;
    return convert_goal_advance(reading, err);
}

/* A number, or -1 where `any` is allowed. */
static enum orr_status take_or_any(struct goal_reading *reading, const char *what, uint64_t high, bool any,
                                   int32_t *value, struct orr_error *err)
{
    uint64_t number = 0;
    bool minus = any && convert_goal_is_text(reading, "-");
    enum orr_status status = minus ? convert_goal_advance(reading, err) : ORR_OK;
    if (status == ORR_OK) {
        status = convert_goal_take_number(reading, what, minus ? UINT64_MAX : high, &number, err);
    }
    if (status == ORR_OK && minus && number != 1) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": %s is -%" PRIu64 "; only -1 (any) is accepted",
                         reading->request->input, reading->token.line, what, number);
    }
    if (status == ORR_OK) {
        *value = minus ? GOAL_ANY : (int32_t)number;
    }
    return status;
}

/* ---- operations ------------------------------------------------------------------------------------------------- */

/* [tag T] [cpu C] [nic K], in this order (spec formats §8); a calc has only the cpu. */
static enum orr_status convert_goal_read_options(struct goal_reading *reading, struct workload_node *node,
                                                 struct orr_error *err)
{
    bool is_message = node->type != TRACE_COMP;
    uint64_t cpu = 0;
    uint64_t nic = 0;
    enum orr_status status = ORR_OK;
    if (is_message && convert_goal_is_text(reading, "tag")) {
        status = convert_goal_advance(reading, err);
        if (status == ORR_OK) {
            status = take_or_any(reading, "a tag", INT32_MAX, node->type == TRACE_RECV, &node->tag, err);
        }
    }
    if (status == ORR_OK && convert_goal_is_text(reading, "cpu")) {
        status = convert_goal_advance(reading, err);
        if (status == ORR_OK) {
            status = convert_goal_take_number(reading, "a cpu", UINT8_MAX, &cpu, err);
        }
    }
    if (status == ORR_OK && is_message && convert_goal_is_text(reading, "nic")) {
        status = convert_goal_advance(reading, err);
        if (status == ORR_OK) {
            status = convert_goal_take_number(reading, "a nic", UINT8_MAX, &nic, err);
        }
    }
    node->lane = (uint32_t)cpu;
    if (cpu != 0) {
        node->stream = (int64_t)cpu;
        node->has |= WORKLOAD_HAS_STREAM;
    }
    reading->uses_nics |= nic != 0;
    return status;
}

static enum orr_status read_message(struct goal_reading *reading, struct workload_node *node, struct orr_error *err)
{
    bool sends = node->type == TRACE_SEND;
    uint64_t line = reading->token.line;
    enum orr_status status = convert_goal_take_number(reading, "a size", INT64_MAX, &node->bytes, err);
    if (status == ORR_OK) {
        status = take_text(reading, "b", "the 'b' behind a size", err);
    }
    if (status == ORR_OK) {
        status = take_text(reading, sends ? "to" : "from", sends ? "\"to\"" : "\"from\"", err);
    }
    if (status == ORR_OK) {
        status = take_or_any(reading, "a rank", reading->ranks - 1, !sends, &node->peer, err);
    }
    if (status == ORR_OK && node->peer == (int32_t)node->rank) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": rank %" PRIu32 " %s itself, which no network carries",
                         reading->request->input, line, node->rank, sends ? "sends to" : "receives from");
    }
    if (node->bytes == 0) { /* in GOAL a signal; a message on a network has at least one byte */
        node->bytes = 1;
        reading->empty += sends;
    }
    node->has |= WORKLOAD_HAS_COMM_SIZE;
    node->type_from = PROVENANCE_STATED;
    node->size_from = PROVENANCE_STATED;
    return status;
}

static bool is_operation(const char *word)
{
    return strcmp(word, "calc") == 0 || strcmp(word, "send") == 0 || strcmp(word, "recv") == 0;
}

/* At the operation's word; `label` is "" where it has none. */
static enum orr_status read_operation(struct goal_reading *reading, const char *label, struct orr_error *err)
{
    struct workload_node node = {.line = reading->token.line, .rank = reading->rank};
    char name[GOAL_WORD_MAX + 8];
    uint32_t index = 0;
    int length = snprintf(name, sizeof name, "%s%s%s", reading->token.text, label[0] == '\0' ? "" : " ", label);
    node.type = convert_goal_is_text(reading, "calc")   ? TRACE_COMP
                : convert_goal_is_text(reading, "send") ? TRACE_SEND
                                                        : TRACE_RECV;
    enum orr_status status = convert_goal_advance(reading, err);
    if (status == ORR_OK) {
        status = node.type == TRACE_COMP
                     ? convert_goal_take_number(reading, "a time", INT64_MAX, &node.duration_ns, err)
                     : read_message(reading, &node, err);
    }
    if (status == ORR_OK) {
        status = convert_goal_read_options(reading, &node, err);
    }
    if (status == ORR_OK && (!workload_text(reading->workload, name, (size_t)length, &node.name) ||
                             !workload_add(reading->workload, &node, &index))) {
        return convert_goal_refused(reading, err);
    }
    return status;
}

static enum orr_status define_label(struct goal_reading *reading, const struct goal_token *label, struct orr_error *err)
{
    uint32_t number = 0;
    uint32_t before = intern_count(&reading->labels);
    if (!intern_add(&reading->labels, label->text, label->length, &number) ||
        !MEM_GROW(reading->workload->mem, reading->node_of_label, reading->label_capacity, number)) {
        return convert_goal_refused(reading, err);
    }
    if (number < before) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": the label \"%.60s\" is defined in line %" PRIu64 " already",
                         reading->request->input, label->line, label->text,
                         reading->workload->nodes[reading->node_of_label[number]].line);
    }
    reading->node_of_label[number] = reading->workload->node_count;
    return ORR_OK;
}

static enum orr_status find_label(const struct goal_reading *reading, const struct goal_token *label, uint32_t *node,
                                  struct orr_error *err)
{
    uint32_t number = intern_find(&reading->labels, label->text, label->length);
    if (number == UINT32_MAX || number == 0) {
        return error_set(err, ORR_EINVAL,
                         "%s:%" PRIu64 ": no operation above in rank %" PRIu32 " has the label \"%.60s\"",
                         reading->request->input, label->line, reading->rank, label->text);
    }
    *node = reading->node_of_label[number];
    return ORR_OK;
}

/* Behind the first label, at the verb. */
static enum orr_status read_requirement(struct goal_reading *reading, const struct goal_token *label,
                                        struct orr_error *err)
{
    struct requirement requirement = {.start = convert_goal_is_text(reading, "irequires")};
    enum orr_status status = convert_goal_advance(reading, err);
    if (status == ORR_OK && reading->token.kind != GOAL_WORD) {
        return fail_token(reading, "a label", err);
    }
    if (status == ORR_OK) {
        status = find_label(reading, label, &requirement.after, err);
    }
    if (status == ORR_OK) {
        status = find_label(reading, &reading->token, &requirement.before, err);
    }
    if (status == ORR_OK && !MEM_GROW(reading->workload->mem, reading->requirements, reading->requirement_capacity,
                                      reading->requirement_count)) {
        return convert_goal_refused(reading, err);
    }
    if (status == ORR_OK) {
        reading->requirements[reading->requirement_count++] = requirement;
        status = convert_goal_advance(reading, err);
    }
    return status;
}

static enum orr_status read_statement(struct goal_reading *reading, struct orr_error *err)
{
    struct goal_token first = reading->token;
    if (first.kind != GOAL_WORD) {
        return fail_token(reading, "an operation, a label or '}'", err);
    }
    enum orr_status status = convert_goal_advance(reading, err);
    if (status != ORR_OK) {
        return status;
    }
    if (convert_goal_is_text(reading, ":")) {
        status = define_label(reading, &first, err);
        if (status == ORR_OK) {
            status = convert_goal_advance(reading, err);
        }
        if (status == ORR_OK && !is_operation(reading->token.text)) {
            return fail_token(reading, "calc, send or recv", err);
        }
        return status == ORR_OK ? read_operation(reading, first.text, err) : status;
    }
    if (convert_goal_is_text(reading, "requires") || convert_goal_is_text(reading, "irequires")) {
        return read_requirement(reading, &first, err);
    }
    return fail_token(reading, "':', \"requires\" or \"irequires\"", err);
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

/* The node that marks an operation's start: of no duration, on the host, so that it waits for no running kernel. */
static enum orr_status add_starter(struct goal_reading *reading, uint32_t node, struct orr_error *err)
{
    struct workload_node starter = {.line = reading->workload->nodes[node].line,
                                    .rank = reading->rank,
                                    .type = TRACE_COMP,
                                    .has = WORKLOAD_IS_CPU_OP};
    static const char name[] = "start";
    uint32_t *of = &reading->starter_of[node - reading->first];
    if (*of != NODE_NONE) {
        return ORR_OK;
    }
    reading->starters++;
    return workload_text(reading->workload, name, sizeof name - 1, &starter.name) &&
                   workload_add(reading->workload, &starter, of) && workload_depend(reading->workload, node, *of)
               ? ORR_OK
               : convert_goal_refused(reading, err);
}

static enum orr_status add_dependencies(struct goal_reading *reading, struct orr_error *err)
{
    uint32_t count = reading->workload->node_count - reading->first;
    if (!MEM_GROW(reading->workload->mem, reading->starter_of, reading->starter_capacity, count)) {
        return convert_goal_refused(reading, err);
    }
    memset(reading->starter_of, 0xff, (size_t)count * sizeof *reading->starter_of); /* NODE_NONE */
    for (uint32_t i = 0; i < reading->requirement_count; i++) {
        if (reading->requirements[i].start) {
            enum orr_status status = add_starter(reading, reading->requirements[i].before, err);
            if (status != ORR_OK) {
                return status;
            }
        }
    }
    for (uint32_t i = 0; i < reading->requirement_count; i++) {
        const struct requirement *one = &reading->requirements[i];
        uint32_t own = reading->starter_of[one->after - reading->first];
        uint32_t child = own == NODE_NONE ? one->after : own;
        uint32_t parent = one->start ? reading->starter_of[one->before - reading->first] : one->before;
        if (!workload_depend(reading->workload, child, parent)) {
            return convert_goal_refused(reading, err);
        }
    }
    return ORR_OK;
}

static void count_cpus(struct goal_reading *reading)
{
    const struct workload *workload = reading->workload;
    uint32_t first = NODE_NONE;
    for (uint32_t i = reading->first; i < workload->node_count; i++) {
        const struct workload_node *node = &workload->nodes[i];
        if (node->type != TRACE_COMP) {
            continue;
        }
        first = first == NODE_NONE ? node->lane : first;
        if (node->lane != first) {
            reading->many_cpus++;
            return;
        }
    }
}

/* A rank that does nothing still needs a file with a node in it. */
static enum orr_status add_idle(struct goal_reading *reading, uint64_t line, struct orr_error *err)
{
    static const char name[] = "idle";
    struct workload_node idle = {.line = line, .rank = reading->rank, .type = TRACE_COMP};
    uint32_t index = 0;
    if (!workload_text(reading->workload, name, sizeof name - 1, &idle.name) ||
        !workload_add(reading->workload, &idle, &index)) {
        return convert_goal_refused(reading, err);
    }
    return ORR_OK;
}

static enum orr_status begin_block(struct goal_reading *reading, struct orr_error *err)
{
    uint64_t rank = 0;
    uint64_t line = reading->token.line;
    enum orr_status status = take_text(reading, "rank", "\"rank\"", err);
    if (status == ORR_OK) {
        status = convert_goal_take_number(reading, "a rank", reading->ranks - 1, &rank, err);
    }
    if (status == ORR_OK && reading->seen[rank] != 0) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": a second block of rank %" PRIu64, reading->request->input,
                         line, rank);
    }
    if (status == ORR_OK) {
        status = take_text(reading, "{", "'{'", err);
    }
    if (status != ORR_OK) {
        return status;
    }
    reading->seen[rank] = 1;
    reading->rank = (uint32_t)rank;
    reading->first = reading->workload->node_count;
    reading->requirement_count = 0;
    intern_free(&reading->labels);
    intern_init(&reading->labels, reading->workload->mem);
    return ORR_OK;
}

static enum orr_status read_block(struct goal_reading *reading, struct orr_error *err)
{
    enum orr_status status = begin_block(reading, err);
    while (status == ORR_OK && !convert_goal_is_text(reading, "}")) {
        status = is_operation(reading->token.text) ? read_operation(reading, "", err) : read_statement(reading, err);
    }
    uint64_t line = reading->token.line;
    if (status == ORR_OK) {
        status = convert_goal_advance(reading, err);
    }
    if (status == ORR_OK && reading->workload->node_count == reading->first) {
        return add_idle(reading, line, err);
    }
    if (status == ORR_OK) {
        count_cpus(reading);
        status = add_dependencies(reading, err);
    }
    return status;
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

static enum orr_status convert_goal_read_head(struct goal_reading *reading, struct orr_error *err)
{
    uint64_t ranks = 0;
    enum orr_status status = convert_goal_advance(reading, err);
    if (status == ORR_OK) {
        status = take_text(reading, "num_ranks", "\"num_ranks\"", err);
    }
    if (status == ORR_OK && reading->token.kind == GOAL_NUMBER && reading->token.number == 0) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": num_ranks is 0; at least 1 is needed",
                         reading->request->input, reading->token.line);
    }
    if (status == ORR_OK) {
        status = convert_goal_take_number(reading, "the number of ranks", WORKLOAD_RANKS_MAX, &ranks, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    reading->ranks = (uint32_t)ranks;
    reading->seen = mem_zalloc(reading->workload->mem, ranks);
    return reading->seen == NULL ? convert_goal_refused(reading, err) : ORR_OK;
}

static enum orr_status convert_goal_add_notes(struct goal_reading *reading, struct orr_error *err)
{
    struct notes *notes = reading->request->notes;
    const char *input = reading->request->input;
    enum orr_status status = ORR_OK;
    if (reading->many_cpus > 0) {
        status = notes_add(notes, err,
                           "%s: %" PRIu32 " rank%s several cpus; a simulated rank computes one operation at a time",
                           input, reading->many_cpus, reading->many_cpus == 1 ? " uses" : "s use");
    }
    if (status == ORR_OK && reading->uses_nics) {
        status = notes_add(notes, err,
                           "%s: nic numbers are dropped; which links a message takes is the network's choice", input);
    }
    if (status == ORR_OK && reading->empty > 0) {
        status = notes_add(notes, err, "%s: %" PRIu64 " message%s of 0 bytes sent as 1 byte", input, reading->empty,
                           reading->empty == 1 ? "" : "s");
    }
    if (status == ORR_OK && reading->starters > 0) {
        status = notes_add(notes, err, "%s: %" PRIu32 " start node%s added for irequires", input, reading->starters,
                           reading->starters == 1 ? "" : "s");
    }
    return status;
}

static enum orr_status convert_goal_read_all(struct goal_reading *reading, struct orr_error *err)
{
    enum orr_status status = convert_goal_read_head(reading, err);
    while (status == ORR_OK && reading->token.kind != GOAL_END) {
        status = read_block(reading, err);
    }
    for (uint32_t r = 0; status == ORR_OK && r < reading->ranks; r++) {
        if (reading->seen[r] == 0) {
            return error_set(err, ORR_EINVAL, "%s: num_ranks is %" PRIu32 ", and rank %" PRIu32 " has no block",
                             reading->request->input, reading->ranks, r);
        }
    }
    if (status == ORR_OK) {
        status = goal_match(reading->workload, reading->request, err);
    }
    if (status == ORR_OK) {
        status = workload_set_ranks(reading->workload, reading->request, reading->ranks, err);
    }
    return status == ORR_OK ? convert_goal_add_notes(reading, err) : status;
}

enum orr_status goal_read(const struct convert_request *request, struct workload *workload, struct orr_error *err)
{
    struct goal_reading reading = {.request = request, .workload = workload};
    struct mem *mem = workload->mem;
    intern_init(&reading.labels, mem);
    enum orr_status status = goal_text_open(request->input, mem, &reading.text, err);
    if (status == ORR_OK) {
        status = convert_goal_read_all(&reading, err);
    }
    goal_text_close(reading.text);
    intern_free(&reading.labels);
    mem_free(mem, reading.seen, reading.ranks);
    mem_free(mem, reading.node_of_label, reading.label_capacity * sizeof *reading.node_of_label);
    mem_free(mem, reading.requirements, reading.requirement_capacity * sizeof *reading.requirements);
    mem_free(mem, reading.starter_of, reading.starter_capacity * sizeof *reading.starter_of);
    return status;
}

const struct converter goal_converter = {.read = goal_read, .knows_ranks = true};
