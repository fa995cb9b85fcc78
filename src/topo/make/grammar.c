/* SPDX-License-Identifier: Apache-2.0 */
/* A hand-written reader: one item a time up to the next ">", ":" or ",", with its column; an argument's look tells what
 * it is. */
#include "topo/make/grammar.h"

#include <inttypes.h>
#include <string.h>

#include "base/scan.h"

enum { ITEM_MOST = 40, COUNT_MOST = TOPO_NODES_MOST };

struct reader {
    const char *line;
    const char *at;
    char item[ITEM_MOST];
    unsigned column; /* of the item */
};

/* What an argument can set; the servers' and a level's in one. */
struct arguments {
    uint64_t count, groups, parallel, down, up;
    uint32_t pcie;
    bool has_rate, has_delay, planes, forward;
    struct topo_quantity rate, delay;
};

static const struct {
    const char *name;
    enum topo_level_kind kind;
} kinds[] = {
    {"rail", TOPO_LEVEL_RAIL},   {"leaf", TOPO_LEVEL_LEAF}, {"tor", TOPO_LEVEL_LEAF},   {"switch", TOPO_LEVEL_LEAF},
    {"spine", TOPO_LEVEL_UPPER}, {"agg", TOPO_LEVEL_UPPER}, {"core", TOPO_LEVEL_UPPER},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

bool topo_grammar_is_line(const char *text)
{
    return strpbrk(text, ">:") != NULL;
}

static unsigned topo_grammar_column_of(const struct reader *reader)
{
    return (unsigned)(reader->at - reader->line) + 1;
}

static void topo_grammar_skip_blanks(struct reader *reader)
{
    reader->at += strspn(reader->at, " ");
}

/* Up to one of `ends`, blanks at both ends dropped. */
static enum orr_status topo_grammar_read_item(struct reader *reader, const char *ends, const char *what,
                                              struct orr_error *err)
{
    topo_grammar_skip_blanks(reader);
    size_t length = strcspn(reader->at, ends);
    size_t kept = length;
    reader->column = topo_grammar_column_of(reader);
    while (kept > 0 && reader->at[kept - 1] == ' ') {
        kept--;
    }
    if (kept == 0) {
        return error_set(err, ORR_EINVAL, "column %u: %s is missing", reader->column, what);
    }
    if (kept >= ITEM_MOST) {
        return error_set(err, ORR_EINVAL, "column %u: \"%.*s…\" is too long for %s", reader->column, ITEM_MOST - 1,
                         reader->at, what);
    }
    memcpy(reader->item, reader->at, kept);
    reader->item[kept] = '\0';
    reader->at += length;
    return ORR_OK;
}

static bool topo_grammar_read_number(const char **at, uint64_t *value)
{
    *at += scan_number(*at, value); /* 0 without digits */
    return *value >= 1 && *value <= COUNT_MOST;
}

static enum orr_status bad_number(const struct reader *reader, const char *what, struct orr_error *err)
{
    return error_set(err, ORR_EINVAL, "column %u: \"%s\" is not %s of 1 to %d", reader->column, reader->item, what,
                     COUNT_MOST);
}

/* 16, 4*8, 3:1 */
static enum orr_status take_numbers(const struct reader *reader, struct arguments *arguments, struct orr_error *err)
{
    const char *at = reader->item;
    uint64_t first = 0;
    uint64_t second = 0;
    if (!topo_grammar_read_number(&at, &first)) {
        return bad_number(reader, "a count", err);
    }
    char sign = *at;
    if (sign == '\0') {
        arguments->count = first;
        return ORR_OK;
    }
    at++;
    if (!topo_grammar_read_number(&at, &second) || *at != '\0') {
        return bad_number(reader, sign == '*' ? "a count of switches * groups" : "a ratio such as 3:1", err);
    }
    if (sign == '*') {
        arguments->count = first;
        arguments->groups = second;
    } else {
        arguments->down = first;
        arguments->up = second;
    }
    return ORR_OK;
}

static enum orr_status take_quantity(const struct reader *reader, struct arguments *arguments, struct orr_error *err)
{
    char what[24];
    const char *unit = reader->item + strspn(reader->item, "0123456789.+eE ");
    bool rate = strchr("KMGTb", *unit) != NULL || strchr(unit, '/') != NULL;
    (void)snprintf(what, sizeof what, "column %u", reader->column);
    if (rate) {
        arguments->has_rate = true;
        return topo_rate_read(what, reader->item, &arguments->rate, err);
    }
    if (*unit != '\0' && strchr("nums", *unit) == NULL) {
        return error_set(err, ORR_EINVAL, "%s: \"%s\" is neither a rate (400Gbps, 50GB/s) nor a delay (500ns, 1us)",
                         what, reader->item);
    }
    arguments->has_delay = true;
    return topo_time_read(what, reader->item, &arguments->delay, err);
}

enum { PCIE_OF_THE_MAKE = 1 };

/* "pcie" or "pcie5". */
static bool take_pcie(const char *item, struct arguments *arguments)
{
    const char *at = item + 4;
    uint64_t generation = PCIE_OF_THE_MAKE;
    if (strncmp(item, "pcie", 4) != 0 ||
        (*at != '\0' && (!topo_grammar_read_number(&at, &generation) || *at != '\0' || generation < TOPO_PCIE_FIRST ||
                         generation > TOPO_PCIE_LAST))) {
        return false;
    }
    arguments->pcie = (uint32_t)generation;
    return true;
}

static enum orr_status topo_grammar_take_word(const struct reader *reader, struct arguments *arguments,
                                              struct orr_error *err)
{
    static const char *const words[] = {"planes", "forward", "pcie", "pcie3", "pcie4", "pcie5", "pcie6", NULL};
    const char *at = reader->item + 1;
    if (reader->item[0] == 'x' && topo_grammar_read_number(&at, &arguments->parallel) && *at == '\0') {
        return ORR_OK;
    }
    if (strcmp(reader->item, words[0]) == 0) {
        arguments->planes = true;
        return ORR_OK;
    }
    if (strcmp(reader->item, words[1]) == 0) {
        arguments->forward = true;
        return ORR_OK;
    }
    if (take_pcie(reader->item, arguments)) {
        return ORR_OK;
    }
    struct error_proposal near = error_propose(reader->item, words);
    return error_set(
        err, ORR_EINVAL,
        "column %u: \"%s\" is no argument; accepted are a count (16), count*groups (4*8), a rate (400Gbps), "
        "a delay (500ns), a ratio (3:1), x and a number of links (x2), planes, forward, pcie or pcie3 to pcie6%s",
        reader->column, reader->item, near.text);
}

static enum orr_status take_argument(const struct reader *reader, struct arguments *arguments, struct orr_error *err)
{
    const char *item = reader->item;
    if (item[0] < '0' || item[0] > '9') {
        return topo_grammar_take_word(reader, arguments, err);
    }
    bool numbers = strspn(item, "0123456789*:") == strlen(item);
    return numbers ? take_numbers(reader, arguments, err) : take_quantity(reader, arguments, err);
}

static enum orr_status read_arguments(struct reader *reader, struct arguments *arguments, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    *arguments = (struct arguments){0};
    while (status == ORR_OK && (*reader->at == ':' || *reader->at == ',')) {
        reader->at++;
        status = topo_grammar_read_item(reader, ",>", "an argument", err);
        if (status == ORR_OK) {
            status = take_argument(reader, arguments, err);
        }
    }
    return status;
}

static enum orr_status topo_grammar_unknown(const struct reader *reader, const char *what, const char *const *known,
                                            struct orr_error *err)
{
    char list[160] = "";
    size_t used = 0;
    for (unsigned i = 0; known[i] != NULL && used < sizeof list; i++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", known[i]);
    }
    struct error_proposal near = error_propose(reader->item, known);
    return error_set(err, ORR_EINVAL, "column %u: \"%s\" is not %s (%s)%s", reader->column, reader->item, what, list,
                     near.text);
}

static enum orr_status read_servers(struct reader *reader, struct topo_levels *levels, struct orr_error *err)
{
    struct arguments arguments;
    enum orr_status status = topo_grammar_read_item(reader, ":,>", "a make of server", err);
    if (status != ORR_OK) {
        return status;
    }
    levels->server = topo_server_find(reader->item);
    if (levels->server == NULL) {
        const char *known[24] = {NULL};
        for (size_t i = 0; i < 23 && topo_server_at(i) != NULL; i++) {
            known[i] = topo_server_at(i)->name;
        }
        return topo_grammar_unknown(reader, "a make of server", known, err);
    }
    unsigned column = reader->column;
    status = read_arguments(reader, &arguments, err);
    if (status == ORR_OK && (arguments.planes || arguments.groups != 0 || arguments.down != 0)) {
        return error_set(err, ORR_EINVAL, "column %u: groups, planes and ratios are said of levels, not of the servers",
                         column);
    }
    levels->servers = arguments.count == 0 ? 1 : arguments.count;
    levels->switches = arguments.parallel;
    levels->forward = arguments.forward;
    levels->pcie = arguments.pcie == PCIE_OF_THE_MAKE ? levels->server->pcie : arguments.pcie;
    levels->has_rate = arguments.has_rate;
    levels->rate = arguments.rate;
    levels->has_delay = arguments.has_delay;
    levels->delay = arguments.delay;
    return status;
}

static enum orr_status topo_grammar_read_level(struct reader *reader, struct topo_level *level, struct orr_error *err)
{
    const char *known[KINDS + 1] = {NULL};
    struct arguments arguments;
    unsigned kind = 0;
    enum orr_status status = topo_grammar_read_item(reader, ":,>", "a level", err);
    if (status != ORR_OK) {
        return status;
    }
    for (unsigned i = 0; i < KINDS; i++) {
        known[i] = kinds[i].name;
    }
    while (kind < KINDS && strcmp(kinds[kind].name, reader->item) != 0) {
        kind++;
    }
    if (kind == KINDS) {
        return topo_grammar_unknown(reader, "a level", known, err);
    }
    unsigned column = reader->column;
    status = read_arguments(reader, &arguments, err);
    if (status == ORR_OK && (arguments.forward || arguments.pcie != 0)) {
        return error_set(err, ORR_EINVAL, "column %u: %s is said of the servers, not of a level", column,
                         arguments.forward ? "forward" : "pcie");
    }
    *level = (struct topo_level){.kind = kinds[kind].kind,
                                 .name = kinds[kind].name,
                                 .count = arguments.count,
                                 .groups = arguments.groups,
                                 .planes = arguments.planes,
                                 .rate = arguments.rate,
                                 .delay = arguments.delay,
                                 .has_rate = arguments.has_rate,
                                 .has_delay = arguments.has_delay,
                                 .has_ratio = arguments.down != 0,
                                 .down = arguments.down,
                                 .up = arguments.up,
                                 .parallel = arguments.parallel};
    return status;
}

enum orr_status topo_grammar_read(const char *line, struct topo_levels *levels, struct orr_error *err)
{
    struct reader reader = {.line = line, .at = line};
    struct topo_levels read = {0};
    for (const char *c = line; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f) { /* messages repeat what was written */
            return error_set(err, ORR_EINVAL, "column %u: a control character", (unsigned)(c - line) + 1);
        }
    }
    enum orr_status status = read_servers(&reader, &read, err);
    while (status == ORR_OK && *reader.at == '>') {
        reader.at++;
        if (read.level_count == TOPO_LEVELS_MOST) {
            return error_set(err, ORR_EINVAL, "column %u: a machine has at most %d levels",
                             topo_grammar_column_of(&reader), TOPO_LEVELS_MOST);
        }
        status = topo_grammar_read_level(&reader, &read.level[read.level_count], err);
        read.level_count++;
    }
    if (status == ORR_OK) {
        *levels = read;
    }
    return status;
}
