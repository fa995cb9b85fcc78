/* SPDX-License-Identifier: Apache-2.0 */
/* Two walks over the lines: which group has how many ranks must be known before the first is timed, because it says how
 * ranks lie on servers. Fields have no quotes in these files, so a line is split at its commas. */
#include "model/simai/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "convert/text/text.h"

static const double GIB = 1024.0 * 1024.0 * 1024.0;
static const double MIB = 1024.0 * 1024.0;

enum { FIELDS_MAX = 32 };

enum column { OP, GROUP, RANKS, BYTES, ELAPSED, ALGBW, BUSBW, COLUMNS };

static const char *const column_names[COLUMNS] = {
    "comm_type", "comm_group", "comm_group_size", "msg_size", "_elapsed_time", "algbw", "busbw"};

struct line {
    const char *start;
    size_t length;
    struct et_text fields[FIELDS_MAX];
    unsigned count;
    uint64_t number;
};

struct table {
    const struct simai_machine *machine;
    const char *path;
    struct file_buffer file;
    unsigned columns[COLUMNS];
    unsigned last;        /* of them */
    const char *at, *end; /* behind the heading */
    uint64_t first_line;
    struct simai_table_sums *sums;
    FILE *filled;
};

/* ---- lines ---- */

static bool simai_table_next_line(const char **at, const char *end, struct line *line)
{
    if (*at >= end) {
        return false;
    }
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    line->start = *at;
    line->length = (size_t)((newline != NULL ? newline : end) - *at);
    *at = newline != NULL ? newline + 1 : end;
    if (line->length > 0 && line->start[line->length - 1] == '\r') {
        line->length--;
    }
    line->count = 0;
    line->number++;
    const char *field = line->start;
    const char *stop = line->start + line->length;
    while (line->count < FIELDS_MAX) {
        const char *comma = memchr(field, ',', (size_t)(stop - field));
        const char *last = comma != NULL ? comma : stop;
        line->fields[line->count++] = (struct et_text){.text = field, .length = (size_t)(last - field)};
        if (comma == NULL) {
            break;
        }
        field = comma + 1;
    }
    return true;
}

static bool simai_table_find_columns(const struct line *line, unsigned columns[COLUMNS])
{
    for (unsigned i = 0; i < COLUMNS; i++) {
        columns[i] = line->count;
        for (unsigned k = 0; k < line->count; k++) {
            columns[i] = text_word_is(line->fields[k], column_names[i]) ? k : columns[i];
        }
        if (columns[i] == line->count) {
            return false;
        }
    }
    return true;
}

/* Up to and with the heading; false where there is none. */
static bool open_table(struct table *table)
{
    struct line line = {0};
    table->at = (const char *)table->file.bytes;
    table->end = table->at + table->file.size;
    do {
        if (!simai_table_next_line(&table->at, table->end, &line)) {
            return false;
        }
    } while (line.length == 0 || line.start[0] == '[');
    table->first_line = line.number;
    bool found = simai_table_find_columns(&line, table->columns);
    for (unsigned i = 0; i < COLUMNS; i++) {
        table->last = table->columns[i] > table->last ? table->columns[i] : table->last;
    }
    return found;
}

enum orr_status simai_table_detect(const char *path, struct mem *mem, bool *is_table, struct orr_error *err)
{
    struct table table = {.path = path};
    file_buffer_init(&table.file, mem);
    enum orr_status status = text_load(path, &table.file, err);
    *is_table = status == ORR_OK && table.file.size > 0 && open_table(&table);
    file_buffer_free(&table.file);
    return status;
}

/* ---- rows ---- */

/* Behind CommType. or CommGroup. */
static struct et_text bare(struct et_text word)
{
    const char *point = word.length == 0 ? NULL : memchr(word.text, '.', word.length);
    return point == NULL ? word
                         : (struct et_text){.text = point + 1, .length = word.length - (size_t)(point + 1 - word.text)};
}

/* A whole number, of which DeepSeek's have a fraction; -1 for None and all else. */
static int64_t number_in(struct et_text word)
{
    char text[32];
    char *rest = NULL;
    if (word.length == 0 || word.length >= sizeof text || word.text[0] < '0' || word.text[0] > '9') {
        return -1;
    }
    memcpy(text, word.text, word.length);
    text[word.length] = '\0';
    double value = plain_strtod(text, &rest);
    return *rest == '\0' && value < 9e18 ? (int64_t)value : -1;
}

enum row_kind { ROW_COLLECTIVE, ROW_MESSAGE, ROW_PRODUCT, ROW_EPOCH, ROW_UNKNOWN };

static enum row_kind simai_table_kind_of(struct et_text op, enum simai_op *as)
{
    static const struct {
        const char *name;
        enum simai_op as; /* a ring that passes once or twice; a root does not change that */
    } known[] = {{"all_reduce", SIMAI_OP_ALLREDUCE},
                 {"all_gather", SIMAI_OP_ALLGATHER},
                 {"all_gather_into_tensor", SIMAI_OP_ALLGATHER},
                 {"reduce_scatter", SIMAI_OP_REDUCESCATTER},
                 {"reduce_scatter_tensor", SIMAI_OP_REDUCESCATTER},
                 {"all_to_all", SIMAI_OP_ALLTOALL},
                 {"broadcast", SIMAI_OP_ALLGATHER},
                 {"reduce", SIMAI_OP_REDUCESCATTER},
                 {"barrier", SIMAI_OP_ALLREDUCE}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (text_word_is(op, known[i].name)) {
            *as = known[i].as;
            return ROW_COLLECTIVE;
        }
    }
    *as = SIMAI_OP_NONE;
    return text_word_is(op, "isend") || text_word_is(op, "irecv") ? ROW_MESSAGE
           : text_word_is(op, "computation")                      ? ROW_PRODUCT
           : text_word_is(op, "epoch_end")                        ? ROW_EPOCH
                                                                  : ROW_UNKNOWN;
}

static const char *const group_words[] = {"tp_group", "dp_group", "ep_group", "ep_dp_group", "pp_group", "all"};
enum { WORD_TP, WORD_DP, WORD_EP, WORD_EP_DP, WORD_PP, WORD_ALL, WORDS };

static unsigned group_word(struct et_text group)
{
    unsigned i = 0;
    while (i < WORDS && !text_word_is(group, group_words[i])) {
        i++;
    }
    return i;
}

static int32_t simai_table_ranks_in(const struct line *line, const unsigned columns[COLUMNS])
{
    int64_t ranks = number_in(line->fields[columns[RANKS]]);
    return ranks > 0 && ranks <= INT32_MAX ? (int32_t)ranks : 0;
}

static void take_degree(const struct table *table, const struct line *line)
{
    int32_t *const degrees[WORDS] = {
        [WORD_TP] = &table->sums->tp, [WORD_DP] = &table->sums->dp, [WORD_EP] = &table->sums->ep};
    unsigned word = group_word(bare(line->fields[table->columns[GROUP]]));
    int32_t ranks = simai_table_ranks_in(line, table->columns);
    if (word < WORDS && degrees[word] != NULL && ranks > *degrees[word]) {
        *degrees[word] = ranks;
    }
}

/* A row's ranks, and how far apart they lie; where it does not say how many, those of its kind. */
static bool place_group(const struct table *table, const struct line *line, struct simai_collective *collective)
{
    const struct simai_table_sums *sums = table->sums;
    unsigned word = group_word(bare(line->fields[table->columns[GROUP]]));
    int32_t ranks = simai_table_ranks_in(line, table->columns);
    int32_t gpus = table->machine->gpus;
    static const enum simai_group groups[WORDS] = {SIMAI_GROUP_TP,    SIMAI_GROUP_DP, SIMAI_GROUP_EP,
                                                   SIMAI_GROUP_DP_EP, SIMAI_GROUP_DP, SIMAI_GROUP_DP};
    if (word == WORDS) {
        return false;
    }
    const int32_t unsaid[WORDS] = {sums->tp, sums->dp, sums->ep, sums->dp / sums->ep, 1, gpus};
    collective->group = groups[word];
    collective->ranks = ranks > 0 ? ranks : unsaid[word] > 1 ? unsaid[word] : 1;
    collective->tp = word == WORD_PP ? gpus / collective->ranks : word == WORD_ALL ? 1 : sums->tp;
    collective->tp = collective->tp > 1 ? collective->tp : 1;
    collective->ep = sums->ep;
    return true;
}

static enum orr_status fail_row(const struct table *table, const struct line *line, const char *what,
                                struct orr_error *err)
{
    return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": %s", table->path, line->number, what);
}

static enum orr_status time_row(const struct table *table, const struct line *line, enum row_kind kind,
                                struct simai_collective *collective, uint64_t *ns, struct orr_error *err)
{
    const struct simai_machine *machine = table->machine;
    int64_t bytes = number_in(line->fields[table->columns[BYTES]]);
    if (bytes < 0) {
        return fail_row(table, line, "msg_size is no number of bytes", err);
    }
    *ns = 0;
    if (kind == ROW_MESSAGE) {
        double rate = machine->busbw != NULL && machine->busbw->pp > 0 ? machine->busbw->pp : (double)machine->nic;
        if (!(rate > 0) && bytes > 0) {
            return fail_row(table, line, "nothing says how fast pipeline stages send; give parameter 'nic' GB/s", err);
        }
        *ns = bytes == 0 ? 0 : simai_ticks((double)bytes / GIB / rate * 1e9);
        return ORR_OK;
    }
    collective->bytes = (uint64_t)bytes;
    if (!place_group(table, line, collective)) {
        return fail_row(table, line,
                        "an unknown comm_group; known are tp_group, dp_group, ep_group, ep_dp_group, pp_group "
                        "and all",
                        err);
    }
    return simai_collective_time(machine, collective, ns) == SIMAI_NO_BANDWIDTH
               ? fail_row(table, line,
                          "no bandwidth for this group: give parameter 'nvlink', parameter 'nic', parameter "
                          "'gpus-per-server' and "
                          "parameter 'nics-per-server', or parameter 'busbw'",
                          err)
               : ORR_OK;
}

/* ---- writing and adding up ---- */

static void simai_table_write_row(const struct table *table, const struct line *line,
                                  const struct simai_collective *collective, uint64_t ns)
{
    double rate = ns == 0 ? 0 : (double)collective->bytes / ((double)ns / 1e6) / MIB;
    double passes = collective->op == SIMAI_OP_ALLREDUCE ? 2 : 1;
    struct et_text op = bare(line->fields[table->columns[OP]]);
    bool rooted = text_word_is(op, "broadcast") || text_word_is(op, "reduce"); /* the bus carries all of it once */
    double share = rooted ? 1 : collective->ranks > 0 ? (double)(collective->ranks - 1) / collective->ranks : 0;
    double bus = rate * passes * share;
    for (unsigned i = 0; i < line->count; i++) {
        (void)fputs(i == 0 ? "" : ",", table->filled);
        if (ns > 0 && i == table->columns[ELAPSED]) {
            (void)plain_fprintf(table->filled, "%.6f", (double)ns / 1e6);
        } else if (ns > 0 && (i == table->columns[ALGBW] || i == table->columns[BUSBW])) {
            (void)plain_fprintf(table->filled, "%.2f", i == table->columns[ALGBW] ? rate : bus);
        } else {
            (void)fwrite(line->fields[i].text, 1, line->fields[i].length, table->filled);
        }
    }
    (void)fputc('\n', table->filled);
}

static enum orr_status simai_table_take_row(struct table *table, const struct line *line, uint32_t *epochs,
                                            struct orr_error *err)
{
    struct simai_table_sums *sums = table->sums;
    struct simai_collective collective = {0};
    uint64_t ns = 0;
    enum row_kind kind = simai_table_kind_of(bare(line->fields[table->columns[OP]]), &collective.op);
    if (kind == ROW_UNKNOWN) {
        return fail_row(table, line, "an unknown comm_type", err);
    }
    enum orr_status status = ORR_OK;
    if (kind == ROW_COLLECTIVE || kind == ROW_MESSAGE) {
        status = time_row(table, line, kind, &collective, &ns, err);
    }
    sums->rows++;
    sums->collectives += kind == ROW_COLLECTIVE;
    sums->products += kind == ROW_PRODUCT;
    double us = (double)ns / 1000;
    if (*epochs == 0) {
        sums->init_us += us;
    } else {
        sums->part_us[kind == ROW_MESSAGE ? SIMAI_TABLE_MESSAGES : collective.group % SIMAI_TABLE_PARTS] += us;
    }
    *epochs += kind == ROW_EPOCH;
    if (status == ORR_OK && table->filled != NULL) {
        simai_table_write_row(table, line, &collective, ns);
    }
    return status;
}

static enum orr_status simai_table_walk(struct table *table, struct orr_error *err)
{
    struct line line = {.number = table->first_line};
    const char *at = table->at;
    uint32_t epochs = 0;
    enum orr_status status = ORR_OK;
    table->sums->tp = table->sums->dp = table->sums->ep = 1;
    while (simai_table_next_line(&at, table->end, &line)) {
        if (line.count > table->last) {
            take_degree(table, &line);
        }
    }
    line.number = table->first_line;
    at = table->at;
    if (table->filled != NULL) {
        (void)fwrite(table->file.bytes, 1, (size_t)(table->at - (const char *)table->file.bytes), table->filled);
    }
    while (status == ORR_OK && simai_table_next_line(&at, table->end, &line)) {
        if (line.length == 0) {
            continue;
        }
        status = line.count <= table->last ? fail_row(table, &line, "fewer fields than the heading", err)
                                           : simai_table_take_row(table, &line, &epochs, err);
    }
    table->sums->iterations = epochs > 1 ? epochs - 1 : 1;
    return status;
}

enum orr_status simai_table_time(const struct simai_machine *machine, const char *path, struct mem *mem, FILE *filled,
                                 struct simai_table_sums *sums, struct orr_error *err)
{
    struct table table = {.machine = machine, .path = path, .sums = sums, .filled = filled};
    *sums = (struct simai_table_sums){0};
    file_buffer_init(&table.file, mem);
    enum orr_status status = text_load(path, &table.file, err);
    if (status == ORR_OK) {
        status = open_table(&table)
                     ? simai_table_walk(&table, err)
                     : error_set(err, ORR_EINVAL, "%s:1: no table of AICB's: %s, %s and %s are looked for", path,
                                 column_names[OP], column_names[GROUP], column_names[BYTES]);
    }
    file_buffer_free(&table.file);
    return status;
}
