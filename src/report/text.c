/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines are spent where they tell most: one per collective kind always, then single sizes of the kinds that took most
 * time until the allowance is used up. Everything left out is counted in the table itself.
 */
#include "report/text.h"
#include "param/param.h"

#include <inttypes.h>
#include <string.h>

#include "base/plain.h"
#include "report/bound.h"
#include "report/library.h"
#include "report/memory.h"
#include "report/network.h"
#include "report/number.h"
#include "report/optimum.h"
#include "report/simai_run.h"
#include "report/summary.h"
#include "report/table.h"

enum { WRAP_COLUMNS = 100, KINDS_AND_SIZES = 14, MOST_SIZES = 8, MOST_KINDS = 16, MOST_DIMS = 7, LEFT_FIRST = 1 };

static int printable(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte < 0x20 || byte == 0x7F ? '?' : byte;
}

static void put_word(const char *word, size_t length, FILE *stream)
{
    for (size_t i = 0; i < length; i++) {
        (void)fputc(printable(word[i]), stream);
    }
}

uint32_t report_text_wrapped(const char *lead, const char *text, int indent, FILE *stream)
{
    char spelled[4096];
    uint32_t lines = 1;
    int column = indent + (int)strlen(lead);
    (void)param_spell(text, spelled, sizeof spelled);
    bool starts_line = true;
    (void)fprintf(stream, "%*s%s", indent, "", lead);
    for (const char *word = spelled; *word != '\0';) {
        size_t length = strcspn(word, " ");
        if (!starts_line && column + 1 + (int)length > WRAP_COLUMNS) {
            (void)fprintf(stream, "\n%*s", indent, "");
            column = indent;
            lines++;
        } else if (!starts_line) {
            (void)fputc(' ', stream);
            column++;
        }
        put_word(word, length, stream);
        starts_line = false;
        column += (int)length;
        word += length;
        word += strspn(word, " ");
    }
    (void)fputc('\n', stream);
    return lines;
}

static void print_unfinished(const struct sim_result *result, FILE *stream)
{
    enum report_state state = report_state_of(result);
    (void)fprintf(stream,
                  "%s at %s (%" PRIu64 " ns): %u of %u ranks finished, %" PRIu64 " of %" PRIu64 " nodes done.\n",
                  state == REPORT_STALLED ? "STALLED" : "INTERRUPTED", report_time_long(result->end_ns).text,
                  result->end_ns, result->ranks_finished, result->rank_count, result->nodes_done, result->nodes);
    const struct sim_stall *stall = &result->stall;
    if (state == REPORT_STALLED && stall->finding_count > 0) {
        (void)report_text_wrapped("", stall->findings[0].text, 2, stream);
        if (stall->findings[0].fix != NULL) {
            (void)report_text_wrapped("Fix: ", stall->findings[0].fix, 2, stream);
        }
        if (stall->finding_count > 1) {
            uint32_t more = stall->finding_count - 1;
            (void)fprintf(stream, "  (and %u more finding%s)\n", more, more == 1 ? "" : "s");
        }
    }
    (void)fprintf(stream, "What follows is what is known up to there.\n\n");
}

/* How many ranks have a trace of their own, where the others were made of them (trace/replicate.h). */
static uint32_t traced_ranks(const struct trace_set *traces)
{
    uint32_t traced = 0;
    for (uint32_t rank = 0; rank < traces->rank_count; rank++) {
        traced = traces->ranks[rank].file >= traced ? traces->ranks[rank].file + 1 : traced;
    }
    return traced;
}

static void print_symmetry(const struct sim_result *result, FILE *stream)
{
    (void)fprintf(stream, "%-11s", "Symmetry");
    if (result->plain_because == NULL && result->ranks_played > 1) {
        (void)fprintf(stream, "%u classes of ranks: one rank of each was carried out for all %u\n",
                      result->ranks_played, result->rank_count);
    } else if (result->plain_because == NULL) {
        (void)fprintf(stream, "1 class of ranks: rank 0 was carried out for all %u\n", result->rank_count);
    } else {
        (void)fprintf(stream, "every rank was carried out: %s%s", result->plain_because,
                      result->rings_at_once ? "; phases of rings were worked out at once" : "");
        if (result->ring_phases_alike > 0) {
            (void)fprintf(stream, ", %" PRIu64 " of %" PRIu64 " as one before them", result->ring_phases_alike,
                          result->ring_phases);
        }
        (void)fputc('\n', stream);
    }
}

static void print_untimed(const struct sim_result *result, FILE *stream)
{
    if (result->untimed > 0) {
        (void)fprintf(stream, "%-11snone: no %s has a time, the step time is communication alone\n", "Compute",
                      result->simai != NULL ? "row" : "compute node");
    }
}

/* Those that chance has chosen too, which nobody named. */
static void print_stragglers(const struct sim_result *result, FILE *stream)
{
    enum { MOST = 8 };
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < result->rank_count; rank++) {
        double factor = result->config->straggling[rank];
        if (factor != 1.0 && count++ < MOST) {
            (void)plain_fprintf(stream, "%s%u=x%g", count == 1 ? "Stragglers " : ", ", rank, factor);
        }
    }
    if (count > MOST) {
        (void)fprintf(stream, " and %u more", count - MOST);
    }
    (void)fputs(count > 0 ? "\n" : "", stream);
}

static void print_machine(const struct sim_result *result, FILE *stream)
{
    if (result->simai != NULL) {
        report_simai_run_head(result, stream);
        print_untimed(result, stream);
        return;
    }
    const struct topo_dims *dims = &result->config->dims;
    (void)fprintf(stream, "%-11s%u rank%s, ", "Machine", result->rank_count, result->rank_count == 1 ? "" : "s");
    uint32_t traced = traced_ranks(result->config->traces);
    if (traced < result->rank_count) {
        (void)fprintf(stream, "grown from %u trace%s, ", traced, traced == 1 ? "" : "s");
    }
    for (uint32_t d = 0; d < dims->count && dims->ranks > 1; d++) {
        (void)fprintf(stream, "%s%s %u", d == 0 ? "" : " x ", topo_kind_name(dims->dim[d].kind), dims->dim[d].size);
    }
    bool wired = result->config->backend >= ORR_BACKEND_PACKET;
    if (dims->ranks == 1) {
        (void)fputs("no network\n", stream);
    } else {
        (void)fprintf(stream, ", %s%s network%s\n", wired ? "" : "congestion-",
                      report_backend_name(result->config->backend), result->by_packets ? ", by packets" : "");
    }
    if (result->config->devices.text != NULL) {
        (void)fprintf(stream, "%-11s%s\n", "Devices", result->config->devices.text);
    }
    if (result->config->straggling != NULL) {
        print_stragglers(result, stream);
    }
    (void)fprintf(stream, "%-11s%" PRIu64 " nodes, %" PRIu64 " messages, %" PRIu64 " events\n", "Work", result->nodes,
                  result->messages, result->events);
    print_untimed(result, stream);
    if (result->config->explain_symmetry) {
        print_symmetry(result, stream);
    }
}

static void print_head(const struct sim_result *result, FILE *stream)
{
    if (report_state_of(result) == REPORT_FINISHED) {
        uint64_t steps = result->config->steps;
        (void)fprintf(stream, "%-11s%s", "Step time", report_time_long(result->end_ns / (steps > 1 ? steps : 1)).text);
        if (steps > 1) {
            (void)fprintf(stream, ", the mean of %" PRIu64 " steps in %s", steps,
                          report_time_long(result->end_ns).text);
        }
        if (result->end_ns >= 1000) {
            (void)fprintf(stream, "  (%" PRIu64 " ns)", result->end_ns);
        }
        (void)fputc('\n', stream);
    } else {
        print_unfinished(result, stream);
    }
    print_machine(result, stream);
}

static void rank_cell(struct report_table *table, const struct report_spread *spread, uint32_t rank)
{
    report_table_cell(table, spread->min_ns == spread->max_ns ? "all" : report_count(rank).text);
}

static void print_ranks(const struct sim_result *result, FILE *stream)
{
    static const char *const head[] = {"Time of a rank", "min", "", "rank", "mean", "", "max", "", "rank"};
    struct report_table table;
    report_table_begin(&table, LEFT_FIRST);
    report_table_row(&table);
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++) {
        report_table_cell(&table, head[i]);
    }
    double step = (double)result->end_ns;
    for (int part = 0; part < REPORT_PARTS_COUNT; part++) {
        struct report_spread spread = report_spread_of(result, (enum report_part)part);
        if (part == REPORT_PART_OTHER && spread.max_ns == 0) {
            continue;
        }
        char label[REPORT_TABLE_CELL];
        (void)snprintf(label, sizeof label, "  %s", report_part_words[part]);
        report_table_row(&table);
        report_table_cell(&table, label);
        report_table_cell(&table, report_time((double)spread.min_ns).text);
        report_table_cell(&table, report_share((double)spread.min_ns, step).text);
        rank_cell(&table, &spread, spread.min_rank);
        report_table_cell(&table, report_time(spread.mean_ns).text);
        report_table_cell(&table, report_share(spread.mean_ns, step).text);
        report_table_cell(&table, report_time((double)spread.max_ns).text);
        report_table_cell(&table, report_share((double)spread.max_ns, step).text);
        rank_cell(&table, &spread, spread.max_rank);
    }
    report_table_print(&table, stream);
}

static struct report_number report_text_bandwidth(double gbps)
{
    return report_fixed(gbps, gbps < 0.1 ? 4 : 2);
}

static void kind_cells(struct report_table *table, const struct report_kind *kind)
{
    char ranks[REPORT_TABLE_CELL] = "-";
    if (kind->type >= 0 && kind->group_min == kind->group_max) {
        (void)snprintf(ranks, sizeof ranks, "%u", kind->group_min);
    } else if (kind->type >= 0) {
        (void)snprintf(ranks, sizeof ranks, "%u-%u", kind->group_min, kind->group_max);
    }
    bool whole = kind->operations == (double)(uint64_t)kind->operations;
    bool timed = kind->participations > 0;
    report_table_cell(table, ranks);
    report_table_cell(table, report_fixed(kind->operations, whole ? 0 : 1).text);
    report_table_cell(table, report_bytes(kind->bytes).text);
    report_table_cell(table, timed ? report_time(kind->mean_ns).text : "-");
    report_table_cell(table, timed ? report_time((double)kind->min_ns).text : "-");
    report_table_cell(table, timed ? report_time((double)kind->max_ns).text : "-");
    report_table_cell(table, kind->has_bandwidth ? report_text_bandwidth(kind->algorithm_gbps).text : "-");
    report_table_cell(table, kind->has_bandwidth ? report_text_bandwidth(kind->bus_gbps).text : "-");
}

/* How many of each kind's rows get a line of their own: kinds with most time first, at most MOST_SIZES in all. */
static void allot_sizes(const struct report_kind *kinds, uint32_t count, uint32_t *allotted)
{
    uint32_t order[MOST_KINDS];
    for (uint32_t k = 0; k < count; k++) {
        uint32_t place = k;
        for (; place > 0 && kinds[k].total_ns > kinds[order[place - 1]].total_ns; place--) {
            order[place] = order[place - 1];
        }
        order[place] = k;
    }
    uint32_t left = count < KINDS_AND_SIZES ? KINDS_AND_SIZES - count : 0;
    left = left < MOST_SIZES ? left : MOST_SIZES;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rows = kinds[order[i]].rows;
        uint32_t lines = rows < 2 ? 0 : rows <= left ? rows : left > 1 ? left - 1 : 0;
        allotted[order[i]] = lines;
        left -= lines > 0 && lines < rows ? lines + 1 : lines;
    }
}

/* The rows of a kind that took most time, in the order of the table. */
static void print_sizes(const struct sim_result *result, const struct report_kind *kind, uint32_t most,
                        struct report_table *table)
{
    uint32_t chosen[MOST_SIZES] = {0};
    unsigned __int128 totals[MOST_SIZES] = {0}; /* of the chosen */
    uint32_t count = 0;
    for (uint32_t row = kind->first_row; row < kind->first_row + kind->rows; row++) {
        unsigned __int128 total = report_kind_of_row(result, row).total_ns;
        uint32_t place = count;
        while (place > 0 && totals[place - 1] < total) {
            place--;
        }
        if (place < most) {
            count += count < most ? 1 : 0;
            memmove(chosen + place + 1, chosen + place, (count - place - 1) * sizeof chosen[0]);
            memmove(totals + place + 1, totals + place, (count - place - 1) * sizeof totals[0]);
            chosen[place] = row;
            totals[place] = total;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        struct report_kind size = report_kind_of_row(result, chosen[i]);
        char label[REPORT_TABLE_CELL];
        (void)snprintf(label, sizeof label, "    %s", report_bytes((double)result->collectives[chosen[i]].bytes).text);
        report_table_row(table);
        report_table_cell(table, label);
        kind_cells(table, &size);
    }
    if (count < kind->rows) {
        char remark[REPORT_TABLE_CELL];
        (void)snprintf(remark, sizeof remark, "    and %u more size%s", kind->rows - count,
                       kind->rows - count == 1 ? "" : "s");
        report_table_remark(table, remark);
    }
}

static void print_kind(const struct sim_result *result, const struct report_kind *kind, uint32_t sizes,
                       struct report_table *table)
{
    char buffer[32];
    char label[2 * REPORT_TABLE_CELL];
    const char *name = report_kind_name(kind->type, buffer);
    if (kind->rows == 1) {
        (void)snprintf(label, sizeof label, "  %s, %s", name,
                       report_bytes((double)result->collectives[kind->first_row].bytes).text);
    } else {
        (void)snprintf(label, sizeof label, "  %s, %u sizes", name, kind->rows);
    }
    report_table_row(table);
    report_table_cell(table, label);
    kind_cells(table, kind);
    if (sizes > 0) {
        print_sizes(result, kind, sizes, table);
    }
}

/* GB/s that all links of one rank carry together, one way. */
static double rank_gbps(const struct topo_dims *dims)
{
    double sum = 0;
    for (uint32_t d = 0; d < dims->count; d++) {
        const struct topo_dim *dim = &dims->dim[d];
        uint32_t links = dim->size < 2                             ? 0
                         : dim->kind == TOPO_FULLY_CONNECTED       ? dim->size - 1
                         : dim->kind == TOPO_RING && dim->size > 2 ? 2
                                                                   : 1;
        sum += links * dim->bytes_per_ns;
    }
    return sum;
}

/* A bus bandwidth is what each rank must at least send, whatever the algorithm; the unaware network lets it send more
 * than its links could. */
static void print_excess(const struct sim_result *result, const struct report_kind *kinds, uint32_t count, FILE *stream)
{
    double most = rank_gbps(&result->config->dims);
    for (uint32_t k = 0; k < count && result->config->backend == ORR_BACKEND_UNAWARE; k++) {
        if (kinds[k].type >= 0 && kinds[k].has_bandwidth && kinds[k].bus_gbps > most * 1.001) {
            char words[256];
            char name[32];
            (void)snprintf(
                words, sizeof words,
                "%s: a bus bandwidth of %s GB/s is more than the %s GB/s that all links of a rank carry: the "
                "unaware network does not let messages share a link. parameter 'backend' aware does.",
                report_kind_name(kinds[k].type, name), report_text_bandwidth(kinds[k].bus_gbps).text,
                report_text_bandwidth(most).text);
            (void)report_text_wrapped("", words, 2, stream);
        }
    }
}

static void print_collectives(const struct sim_result *result, FILE *stream)
{
    static const char *const head[] = {"Communication", "ranks", "count",    "bytes",   "mean",
                                       "min",           "max",   "alg GB/s", "bus GB/s"};
    if (result->collective_count == 0) {
        bool finished = report_state_of(result) == REPORT_FINISHED;
        (void)fprintf(stream, "Communication  none%s\n", finished ? "" : " finished");
        return;
    }
    struct report_kind kinds[MOST_KINDS];
    uint32_t allotted[MOST_KINDS] = {0};
    uint32_t count = 0;
    for (uint32_t row = 0; count < MOST_KINDS && report_kind_next(result, &row, &kinds[count]);) {
        count++;
    }
    allot_sizes(kinds, count, allotted);
    struct report_table table;
    report_table_begin(&table, LEFT_FIRST);
    report_table_row(&table);
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++) {
        report_table_cell(&table, head[i]);
    }
    for (uint32_t k = 0; k < count; k++) {
        if (kinds[k].type >= 0) {
            print_kind(result, &kinds[k], allotted[k], &table);
        }
    }
    for (uint32_t k = count; k-- > 0;) {
        if (kinds[k].type < 0) { /* sends and receives sort before everything, and read better after it */
            print_kind(result, &kinds[k], allotted[k], &table);
        }
    }
    report_table_print(&table, stream);
    print_excess(result, kinds, count, stream);
    report_library(result, stream);
}

static void print_dimension(const struct sim_result *result, uint32_t d, struct report_table *table)
{
    const struct topo_dim *dim = &result->config->dims.dim[d];
    const struct sim_dim_result *row = &result->dims[d];
    char label[REPORT_TABLE_CELL];
    (void)snprintf(label, sizeof label, "  %u: %s %u", d, topo_kind_name(dim->kind), dim->size);
    report_table_row(table);
    report_table_cell(table, label);
    report_table_cell(table, report_short(dim->bandwidth_gibps).text);
    report_table_cell(table, report_time(dim->latency_ns).text);
    report_table_cell(table, report_count(row->links).text);
    report_table_cell(table, report_count(row->messages).text);
    report_table_cell(table, report_bytes((double)row->bytes).text);
    report_table_cell(table, report_share(report_utilisation(result, d), 1).text);
    if (result->config->backend == ORR_BACKEND_AWARE) {
        report_table_cell(table, report_count(row->queued).text);
    }
}

/* The unaware network gives every message a link to itself, so the sum can pass what the links could do. */
static const char overload_words[] =
    "Above 100%: messages do not wait for each other on a congestion-unaware network. On "
    "real links this would take longer; parameter 'backend' aware makes them queue.";

static void print_dimensions(const struct sim_result *result, FILE *stream)
{
    static const char *const head[] = {"Dimension", "GiB/s", "latency",    "links",
                                       "messages",  "bytes", "links busy", "queued"};
    bool aware = result->config->backend == ORR_BACKEND_AWARE;
    uint32_t count = result->config->dims.count;
    struct report_table table;
    report_table_begin(&table, LEFT_FIRST);
    report_table_row(&table);
    for (size_t i = 0; i < sizeof head / sizeof head[0] - (aware ? 0 : 1); i++) {
        report_table_cell(&table, head[i]);
    }
    for (uint32_t d = 0; d < count && d < MOST_DIMS; d++) {
        print_dimension(result, d, &table);
    }
    if (count > MOST_DIMS) {
        char remark[REPORT_TABLE_CELL];
        (void)snprintf(remark, sizeof remark, "  and %u more dimension%s", count - MOST_DIMS,
                       count - MOST_DIMS == 1 ? "" : "s");
        report_table_remark(&table, remark);
    }
    report_table_print(&table, stream);
    for (uint32_t d = 0; d < count; d++) {
        if (report_utilisation(result, d) > 1) {
            (void)report_text_wrapped("", overload_words, 2, stream);
            break;
        }
    }
}

void report_text_write(const struct sim_result *result, FILE *stream)
{
    print_head(result, stream);
    (void)fputc('\n', stream);
    print_ranks(result, stream);
    (void)fputc('\n', stream);
    print_collectives(result, stream);
    (void)fputc('\n', stream);
    if (result->simai != NULL) {
        report_simai_run_text(result, stream);
        (void)fputc('\n', stream);
    }
    if (report_network_has(result)) {
        report_network_text(result, stream);
        (void)fputc('\n', stream);
    } else if (result->config->dims.ranks > 1) {
        print_dimensions(result, stream);
        (void)fputc('\n', stream);
    }
    if (report_memory_has(result)) {
        report_memory_text(result, stream);
        (void)fputc('\n', stream);
    }
    char optimum[REPORT_OPTIMUM_SENTENCE];
    if (report_optimum_sentence(result, optimum)) {
        (void)report_text_wrapped("", optimum, 0, stream);
    }
    struct report_bound bound = report_bound_of(result);
    (void)report_text_wrapped("", bound.sentence, 0, stream);
}
