/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks stand beside each other as in the report of an import, a few at a time. Findings that several ranks share are
 * told once. */
#include "report/ready_text.h"
#include "param/param.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "report/number.h"
#include "report/table.h"

enum { RANKS_BESIDE = 8, RUNS_BESIDE = 8, TAG_CELL = 20 };

/* ---- counts by rank ---- */

static const struct {
    const char *text;
    size_t offset;
} count_rows[] = {
    {"Host trace, nodes", offsetof(struct ready_rank, host.nodes)},
    {"  record_param_comms", offsetof(struct ready_rank, host.param_comms)},
    {"Device trace, events", offsetof(struct ready_rank, device.events)},
    {"  host ops", offsetof(struct ready_rank, device.host_ops)},
    {"  record_param_comms", offsetof(struct ready_rank, device.param_comms)},
    {"  launching calls", offsetof(struct ready_rank, device.launches)},
    {"  EventRecord", offsetof(struct ready_rank, device.event_records)},
    {"  StreamWaitEvent", offsetof(struct ready_rank, device.stream_waits)},
    {"  synchronise calls", offsetof(struct ready_rank, device.synchronises)},
    {"  synchronisation events", offsetof(struct ready_rank, device.sync_events)},
    {"Kernels", offsetof(struct ready_rank, device.kernels)},
    {"  of NCCL or RCCL", offsetof(struct ready_rank, device.comm_kernels)},
    {"Copies", offsetof(struct ready_rank, device.copies)},
    {"Sets", offsetof(struct ready_rank, device.sets)},
};

static uint64_t report_ready_text_count_at(const struct ready_rank *rank, size_t offset)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)rank + offset, sizeof value);
    return value;
}

static void cell_ms(struct report_table *table, double us)
{
    report_table_cell(table, us > 0 ? report_time(us * 1000.0).text : "-");
}

static void write_counts(const struct ready_rank *ranks, uint32_t count, FILE *stream)
{
    struct report_table table;
    char text[REPORT_TABLE_CELL];
    report_table_begin(&table, 1);
    report_table_row(&table);
    report_table_cell(&table, "Recording");
    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(text, sizeof text, "rank %" PRIu32, ranks[i].pair->rank);
        report_table_cell(&table, text);
    }
    for (size_t r = 0; r < sizeof count_rows / sizeof count_rows[0]; r++) {
        bool host = count_rows[r].offset >= offsetof(struct ready_rank, host);
        report_table_row(&table);
        report_table_cell(&table, count_rows[r].text);
        for (uint32_t i = 0; i < count; i++) {
            bool there = host ? ranks[i].host.there : ranks[i].device.there;
            report_table_cell(&table,
                              there ? report_count(report_ready_text_count_at(&ranks[i], count_rows[r].offset)).text
                                    : "none");
        }
    }
    report_table_row(&table);
    report_table_cell(&table, "ProfilerStep");
    for (uint32_t i = 0; i < count; i++) {
        report_table_cell(&table, report_count(ready_steps(&ranks[i].device)->count).text);
    }
    report_table_row(&table);
    report_table_cell(&table, "  median length");
    for (uint32_t i = 0; i < count; i++) {
        cell_ms(&table, ready_steps(&ranks[i].device)->median_us);
    }
    report_table_print(&table, stream);
    (void)fputc('\n', stream);
}

/* ---- collectives ---- */

static uint64_t steps_of(const struct ready_device *device)
{
    uint64_t steps = ready_steps(device)->count;
    return steps > 0 ? steps : 1;
}

static void report_ready_text_write_collectives(const struct ready_rank *rank, FILE *stream)
{
    static const char *const heads[] = {"count", "a step", "bytes a step", "median", "known from"};
    const struct ready_device *device = &rank->device;
    struct report_table table;
    uint32_t rows = 0;
    report_table_begin(&table, 1 | 1u << 5);
    report_table_row(&table);
    report_table_cell(&table, "Communication");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        report_table_cell(&table, heads[i]);
    }
    for (unsigned kind = 0; kind < COMM_NONE; kind++) {
        enum ready_level level = READY_KERNEL;
        uint64_t bytes = 0;
        uint64_t count = ready_comm_count(device, (enum comm_kind)kind, &level);
        if (count == 0 || (kind == COMM_UNKNOWN && rows > 0)) {
            continue;
        }
        rows++;
        bool sized = ready_comm_bytes(device, (enum comm_kind)kind, &bytes);
        report_table_row(&table);
        report_table_cell(&table, comm_kind_text((enum comm_kind)kind));
        report_table_cell(&table, report_count(count).text);
        report_table_cell(&table, report_short((double)count / (double)steps_of(device)).text);
        report_table_cell(&table, sized ? report_count(bytes / steps_of(device)).text : "?");
        cell_ms(&table, device->comms[level][kind].times.median_us);
        report_table_cell(&table, ready_level_text(level));
    }
    if (rows > 0) {
        report_table_print(&table, stream);
        (void)fputc('\n', stream);
    }
}

/* The first rank that has a device trace stands for all: in one job they do alike. */
static const struct ready_rank *first_with_device(const struct ready_run *run)
{
    for (uint32_t i = 0; i < run->rank_count; i++) {
        if (run->ranks[i].device.there) {
            return &run->ranks[i];
        }
    }
    return NULL;
}

/* ---- findings ---- */

static bool is_same(const struct ready_finding *a, const struct ready_finding *b)
{
    return a->weight == b->weight && strcmp(a->text, b->text) == 0 && strcmp(a->advice, b->advice) == 0;
}

static void report_ready_text_write_finding(const struct ready_run *run, uint32_t index, FILE *stream)
{
    const struct ready_finding *finding = &run->findings[index];
    uint32_t others = 0;
    for (uint32_t i = 0; i < run->finding_count; i++) {
        if (i != index && is_same(finding, &run->findings[i])) {
            if (i < index) {
                return;
            }
            others++;
        }
    }
    (void)fputs(finding->weight == READY_FAULT ? "FAULT   " : "Advice  ", stream);
    if (finding->rank != READY_ALL_RANKS) {
        (void)fprintf(stream, "rank %" PRIu32, finding->rank);
        if (others > 0) {
            (void)fprintf(stream, " and %" PRIu32 " more", others);
        }
        (void)fputs(": ", stream);
    }
    (void)fprintf(stream, "%s\n", finding->text);
    if (finding->advice[0] != '\0') {
        param_print(stream, "        -> %s\n", finding->advice);
    }
}

static void write_verdict(const struct ready_run *run, FILE *stream)
{
    uint32_t faults = 0;
    for (uint32_t i = 0; i < run->finding_count; i++) {
        faults += run->findings[i].weight == READY_FAULT;
    }
    if (run->usable) {
        (void)fputs("Usable  yes\n", stream);
    } else {
        (void)fprintf(stream, "Usable  no: %" PRIu32 " fault%s\n", faults, faults == 1 ? "" : "s");
    }
}

static void write_mode(const struct ready_run *run, FILE *stream)
{
    (void)fprintf(stream, "Mode    %s%s%s\n", ready_mode_text(run->mode), run->pipeline ? ", sends and receives" : "",
                  run->expert ? ", all-to-alls" : "");
    if (run->split[0] != '\0') {
        (void)fprintf(stream, "Split   %s, by the process groups and messages, fastest role first\n", run->split);
    }
    if (run->verdict != READY_NETWORK_UNKNOWN) {
        (void)fprintf(stream, "Network communication takes %s of the compute kernels' time: %s\n",
                      report_share(run->comm_share, 1).text, ready_verdict_text(run->verdict));
    } else {
        (void)fprintf(stream, "Network %s\n", ready_verdict_text(run->verdict));
    }
}

void ready_text_run(const struct ready_run *run, bool brief, FILE *stream)
{
    const struct ready_rank *first = first_with_device(run);
    (void)fprintf(stream, "%s%s%s: %" PRIu32 " rank%s%s%s\n", run->place, run->tag[0] == '\0' ? "" : ", tag ", run->tag,
                  run->rank_count, run->rank_count == 1 ? "" : "s",
                  first == NULL || first->device.device[0] == '\0' ? "" : ", ",
                  first == NULL ? "" : first->device.device);
    for (uint32_t at = 0; !brief && at < run->rank_count; at += RANKS_BESIDE) {
        uint32_t left = run->rank_count - at;
        write_counts(run->ranks + at, left < RANKS_BESIDE ? left : RANKS_BESIDE, stream);
    }
    if (!brief && first != NULL) {
        report_ready_text_write_collectives(first, stream);
    }
    if (!brief) {
        write_mode(run, stream);
    }
    for (uint32_t i = 0; i < run->finding_count; i++) {
        report_ready_text_write_finding(run, i, stream);
    }
    write_verdict(run, stream);
}

/* ---- side by side ---- */

static void compare_cells(struct report_table *table, const struct ready_run *run, uint32_t row)
{
    const struct ready_rank *rank = first_with_device(run);
    const struct ready_device *device = rank == NULL ? NULL : &rank->device;
    switch (row) {
    case 0:
        report_table_cell(table, report_count(run->rank_count).text);
        return;
    case 1:
        report_table_cell(table, run->usable ? "yes" : "no");
        return;
    case 2:
        report_table_cell(table, ready_mode_word(run->mode));
        return;
    case 3:
        report_table_cell(table, run->verdict == READY_NETWORK_UNKNOWN ? "-" : report_share(run->comm_share, 1).text);
        return;
    default:
        break;
    }
    if (device == NULL) {
        report_table_cell(table, "-");
        return;
    }
    switch (row) {
    case 4:
        report_table_cell(table, report_count(ready_steps(device)->count).text);
        return;
    case 5:
        cell_ms(table, ready_steps(device)->median_us);
        return;
    case 6:
        report_table_cell(table, report_count(device->kernels / steps_of(device)).text);
        return;
    default:
        cell_ms(table, device->compute_us / (double)steps_of(device));
        return;
    }
}

static void compare_comm(struct report_table *table, const struct ready_run *run, enum comm_kind kind, bool bytes)
{
    const struct ready_rank *rank = first_with_device(run);
    enum ready_level level = READY_KERNEL;
    uint64_t amount = rank == NULL ? 0 : ready_comm_count(&rank->device, kind, &level);
    if (amount == 0) {
        report_table_cell(table, "-");
    } else if (!bytes) {
        report_table_cell(table, report_short((double)amount / (double)steps_of(&rank->device)).text);
    } else if (ready_comm_bytes(&rank->device, kind, &amount)) {
        report_table_cell(table, report_count(amount / steps_of(&rank->device)).text);
    } else {
        report_table_cell(table, "?");
    }
}

static bool any_has(const struct ready_run *runs, uint32_t count, enum comm_kind kind)
{
    enum ready_level level;
    for (uint32_t i = 0; i < count; i++) {
        const struct ready_rank *rank = first_with_device(&runs[i]);
        if (rank != NULL && ready_comm_count(&rank->device, kind, &level) > 0) {
            return true;
        }
    }
    return false;
}

static void compare_part(const struct ready_run *runs, uint32_t count, FILE *stream)
{
    static const char *const rows[] = {"Ranks", "Usable",      "Mode",           "Communication / compute",
                                       "Steps", "Median step", "Kernels a step", "Compute kernels a step"};
    struct report_table table;
    char text[REPORT_TABLE_CELL];
    report_table_begin(&table, 1);
    report_table_row(&table);
    report_table_cell(&table, "Run");
    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(text, sizeof text, "%.*s", TAG_CELL, runs[i].tag[0] == '\0' ? "(no tag)" : runs[i].tag);
        report_table_cell(&table, text);
    }
    for (uint32_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        report_table_row(&table);
        report_table_cell(&table, rows[r]);
        for (uint32_t i = 0; i < count; i++) {
            compare_cells(&table, &runs[i], r);
        }
    }
    for (unsigned kind = 0; kind < COMM_UNKNOWN && table.rows + 2 <= REPORT_TABLE_ROWS; kind++) {
        if (!any_has(runs, count, (enum comm_kind)kind)) {
            continue;
        }
        for (int bytes = 0; bytes < 2; bytes++) {
            (void)snprintf(text, sizeof text, bytes == 0 ? "%s a step" : "  bytes a step",
                           comm_kind_text((enum comm_kind)kind));
            report_table_row(&table);
            report_table_cell(&table, text);
            for (uint32_t i = 0; i < count; i++) {
                compare_comm(&table, &runs[i], (enum comm_kind)kind, bytes == 1);
            }
        }
    }
    report_table_print(&table, stream);
}

void ready_text_compare(const struct ready_run *runs, uint32_t count, FILE *stream)
{
    for (uint32_t at = 0; at < count; at += RUNS_BESIDE) {
        uint32_t left = count - at;
        (void)fputs(at > 0 ? "\n" : "", stream);
        compare_part(runs + at, left < RUNS_BESIDE ? left : RUNS_BESIDE, stream);
    }
}
