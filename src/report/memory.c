/* SPDX-License-Identifier: Apache-2.0 */
/* The text says what the user can act on: the rank that holds most, what it holds then, and what does not fit. The
 * curve of every rank is in the JSON and CSV outputs. */
#include "report/memory.h"

#include <inttypes.h>
#include <string.h>

#include "base/plain.h"
#include "report/number.h"
#include "report/text.h"

enum { LARGEST_SHOWN = 4, NAME_SHOWN = 56 };

bool report_memory_has(const struct sim_result *result)
{
    return result->usage.tracked && result->usage.told;
}

/* The rank with the largest peak. */
static uint32_t fullest(const struct sim_usage *usage)
{
    uint32_t rank = 0;
    for (uint32_t i = 1; i < usage->rank_count; i++) {
        rank = usage->ranks[i].peak_bytes > usage->ranks[rank].peak_bytes ? i : rank;
    }
    return rank;
}

static struct report_number size(uint64_t bytes)
{
    return report_bytes((double)bytes);
}

static struct report_number moment(uint64_t ns)
{
    return report_time((double)ns);
}

static void print_peak(const struct sim_result *result, FILE *stream)
{
    const struct sim_usage *usage = &result->usage;
    uint32_t rank = fullest(usage);
    const struct sim_usage_rank *row = &usage->ranks[rank];
    uint64_t least = row->peak_bytes;
    for (uint32_t i = 0; i < usage->rank_count; i++) {
        least = usage->ranks[i].peak_bytes < least ? usage->ranks[i].peak_bytes : least;
    }
    uint64_t capacity = result->config->system.capacity.local;
    (void)fprintf(stream, "%-11speak %s", "Memory", size(row->peak_bytes).text);
    if (capacity > 0) {
        (void)fprintf(stream, " of %s (%s)", size(capacity).text,
                      report_share((double)row->peak_bytes, (double)capacity).text);
    }
    (void)fprintf(stream, " on rank %u at %s", rank, moment(row->peak_ns).text);
    if (least == row->peak_bytes) {
        (void)fputs(usage->rank_count == 1 ? "\n" : ", as much on every other\n", stream);
    } else {
        (void)fprintf(stream, ", %s on the one that holds least\n", size(least).text);
    }
    (void)fprintf(stream, "  at the peak %u tensor%s: %s there from the beginning, %s made in the run\n", row->held,
                  row->held == 1 ? "" : "s", size(row->initial_bytes).text,
                  size(row->peak_bytes - row->initial_bytes).text);
    for (uint32_t i = 0; i < row->holder_count && i < LARGEST_SHOWN; i++) {
        const struct sim_usage_span *holder = &row->spans[row->holders[i]];
        bool cut = strlen(holder->name) > NAME_SHOWN;
        bool initial = holder->node == UINT32_MAX;
        char lead[64];
        char words[3 * NAME_SHOWN];
        (void)snprintf(lead, sizeof lead, "%9s  ", size(holder->bytes).text);
        (void)snprintf(words, sizeof words, "%.*s%s, %s%s", NAME_SHOWN, holder->name, cut ? "..." : "",
                       initial ? "from the beginning" : "since ", initial ? "" : moment(holder->since_ns).text);
        (void)report_text_wrapped(lead, words, 2, stream);
    }
}

/* "the host of server 0 takes 3 GiB of 1 TiB", or that there is none. */
static void describe_places(const struct sim_result *result, char *words, size_t room)
{
    const struct sim_spill *spill = &result->usage.spill;
    const struct sim_capacity *capacity = &result->config->system.capacity;
    int used = 0;
    if (capacity->host > 0) {
        used = snprintf(words, room, "the host of server %u takes up to %s of %s", spill->host_server,
                        size(spill->host_bytes).text, size(capacity->host).text);
    } else {
        used = snprintf(words, room, "no host memory is told (host-mem-capacity)");
    }
    if (capacity->pool > 0) {
        used += snprintf(words + used, room - (size_t)used, ", the pool up to %s of %s", size(spill->pool_bytes).text,
                         size(capacity->pool).text);
    }
    if (spill->nowhere_bytes > 0) {
        (void)snprintf(words + used, room - (size_t)used, "; %s find no place, the first at %s",
                       size(spill->nowhere_bytes).text, moment(spill->nowhere_since_ns).text);
    } else {
        (void)snprintf(words + used, room - (size_t)used, "; all of it finds a place");
    }
}

static void print_spill(const struct sim_result *result, FILE *stream)
{
    const struct sim_usage *usage = &result->usage;
    const struct sim_spill *spill = &usage->spill;
    if (spill->ranks == 0) {
        return;
    }
    const struct sim_usage_rank *worst = &usage->ranks[spill->worst_rank];
    char places[400];
    char words[900];
    describe_places(result, places, sizeof places);
    (void)snprintf(
        words, sizeof words,
        "%u of %u ranks do not fit: rank %u is over by up to %s, from %s on and for %s in all; together they "
        "spill up to %s. Of that %s. Times do not change by it.",
        spill->ranks, usage->rank_count, spill->worst_rank, size(worst->over_bytes).text,
        moment(worst->over_since_ns).text, moment(worst->over_ns).text, size(spill->total_bytes).text, places);
    (void)report_text_wrapped("", words, 2, stream);
}

void report_memory_text(const struct sim_result *result, FILE *stream)
{
    print_peak(result, stream);
    print_spill(result, stream);
}

/* ---- JSON and CSV ---- */

static void capacity_member(struct json_writer *json, const char *key, uint64_t bytes)
{
    json_write_key(json, key);
    if (bytes > 0) {
        json_write_u64(json, bytes);
    } else {
        json_write_null(json);
    }
}

static void write_spill(struct json_writer *json, const struct sim_result *result)
{
    const struct sim_spill *spill = &result->usage.spill;
    json_write_key(json, "spill");
    if (spill->ranks == 0) {
        json_write_null(json);
        return;
    }
    json_write_object(json, false);
    json_write_member_u64(json, "ranks", spill->ranks);
    json_write_member_u64(json, "worst_rank", spill->worst_rank);
    json_write_member_u64(json, "since_ns", spill->since_ns);
    json_write_member_u64(json, "most_bytes", spill->total_bytes);
    json_write_member_u64(json, "ranks_of_a_host", spill->server_ranks);
    json_write_member_u64(json, "host_bytes", spill->host_bytes);
    json_write_member_u64(json, "host_server", spill->host_server);
    json_write_member_u64(json, "pool_bytes", spill->pool_bytes);
    json_write_member_u64(json, "nowhere_bytes", spill->nowhere_bytes);
    json_write_key(json, "nowhere_since_ns");
    if (spill->nowhere_bytes > 0) {
        json_write_u64(json, spill->nowhere_since_ns);
    } else {
        json_write_null(json);
    }
    json_write_object_end(json);
}

static void write_holders(struct json_writer *json, const struct sim_result *result, uint32_t rank)
{
    const struct sim_usage_rank *row = &result->usage.ranks[rank];
    json_write_member_array(json, "largest_at_peak", true);
    for (uint32_t i = 0; i < row->holder_count; i++) {
        const struct sim_usage_span *holder = &row->spans[row->holders[i]];
        json_write_object(json, true);
        json_write_member_string(json, "tensor", holder->name);
        json_write_member_u64(json, "bytes", holder->bytes);
        json_write_member_u64(json, "since_ns", holder->since_ns);
        json_write_key(json, "node");
        if (holder->node == UINT32_MAX) {
            json_write_null(json);
        } else {
            json_write_u64(json, trace_rank_node_id(&result->config->traces->ranks[rank], holder->node));
        }
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void report_memory_write_rank(struct json_writer *json, const struct sim_result *result, uint32_t rank)
{
    const struct sim_usage_rank *row = &result->usage.ranks[rank];
    json_write_object(json, true);
    json_write_member_u64(json, "rank", rank);
    json_write_member_u64(json, "tensors", row->tensors);
    json_write_member_u64(json, "peak_bytes", row->peak_bytes);
    json_write_member_u64(json, "peak_ns", row->peak_ns);
    json_write_member_u64(json, "tensors_at_peak", row->held);
    json_write_member_u64(json, "initial_bytes_at_peak", row->initial_bytes);
    json_write_member_u64(json, "over_bytes", row->over_bytes);
    json_write_key(json, "over_since_ns");
    if (row->over_bytes > 0) {
        json_write_u64(json, row->over_since_ns);
    } else {
        json_write_null(json);
    }
    json_write_member_u64(json, "over_ns", row->over_ns);
    write_holders(json, result, rank);
    json_write_member_array(json, "steps", true);
    for (uint32_t i = 0; i < row->step_count; i++) {
        json_write_array(json, true);
        json_write_u64(json, row->steps[i].time_ns);
        json_write_u64(json, row->steps[i].bytes);
        json_write_array_end(json);
    }
    json_write_array_end(json);
    json_write_object_end(json);
}

void report_memory_json(const struct sim_result *result, struct json_writer *json)
{
    if (!report_memory_has(result)) {
        return;
    }
    const struct sim_capacity *capacity = &result->config->system.capacity;
    json_write_member_object(json, "memory", false);
    capacity_member(json, "capacity_bytes", capacity->local);
    capacity_member(json, "host_capacity_bytes", capacity->host);
    capacity_member(json, "pool_capacity_bytes", capacity->pool);
    write_spill(json, result);
    json_write_member_array(json, "per_rank", false);
    for (uint32_t rank = 0; rank < result->usage.rank_count; rank++) {
        report_memory_write_rank(json, result, rank);
    }
    json_write_array_end(json);
    json_write_object_end(json);
}

void report_memory_csv(const struct sim_result *result, FILE *stream)
{
    (void)fputs("rank,time_ns,bytes\n", stream);
    for (uint32_t rank = 0; rank < result->usage.rank_count; rank++) {
        const struct sim_usage_rank *row = &result->usage.ranks[rank];
        for (uint32_t i = 0; i < row->step_count; i++) {
            (void)fprintf(stream, "%" PRIu32 ",%" PRIu64 ",%" PRIu64 "\n", rank, row->steps[i].time_ns,
                          row->steps[i].bytes);
        }
    }
}

/* ---- ASTRA-sim's line ---- */

void report_memory_astra_peak(uint64_t bytes, char text[REPORT_MEMORY_PEAK])
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    enum { UNITS = sizeof units / sizeof units[0] };
    size_t unit = 0;
    for (uint64_t above = bytes; above >= 1024 && unit + 1 < UNITS; above /= 1024) {
        unit++;
    }
    float value = (float)bytes; /* to be divided by powers of two: exact whatever the order */
    for (size_t i = 0; i < unit; i++) {
        value /= 1024.0F;
    }
    (void)plain_snprintf(text, REPORT_MEMORY_PEAK, "%.2f %s", (double)value, units[unit]);
}
