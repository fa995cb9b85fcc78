/* SPDX-License-Identifier: Apache-2.0 */
/* No field can hold a comma or a quote (names are ours, the rest are numbers), so nothing is escaped. */
#include "report/csv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/outfile.h"
#include "report/memory.h"
#include "report/network.h"
#include "report/number.h"
#include "report/summary.h"

static void write_ranks(const struct sim_result *result, FILE *stream)
{
    (void)fputs("rank,finished,finish_ns,compute_ns,exposed_comm_ns,exposed_other_ns,idle_ns,gpu_busy_ns,"
                "astra_exposed_comm_ns,nodes_done\n",
                stream);
    for (uint32_t rank = 0; rank < result->rank_count; rank++) {
        const struct sim_rank_result *row = &result->ranks[rank];
        (void)fprintf(
            stream, "%u,%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%u\n",
            rank, row->finished ? 1 : 0, row->finish_ns, row->compute_ns, row->exposed_comm_ns, row->exposed_other_ns,
            row->idle_ns, row->gpu_busy_ns, row->finished ? row->finish_ns - row->gpu_busy_ns : 0, row->nodes_done);
    }
}

static void write_collectives(const struct sim_result *result, FILE *stream)
{
    (void)fputs("type,group_size,bytes,participations,operations,total_ns,mean_ns,min_ns,max_ns,first_start_ns,"
                "last_end_ns,algorithm_bandwidth_gbytes_per_s,bus_bandwidth_gbytes_per_s\n",
                stream);
    for (uint32_t i = 0; i < result->collective_count; i++) {
        const struct sim_collective_result *row = &result->collectives[i];
        struct report_kind kind = report_kind_of_row(result, i);
        char name[32];
        (void)fprintf(stream,
                      "%s,%u,%" PRIu64 ",%" PRIu64 ",%s,%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                      ",%s,%s\n",
                      report_kind_name(row->type, name), row->group_size, row->bytes, row->count,
                      report_short(kind.operations).text, report_kind_total_ns(&kind),
                      report_fixed(kind.mean_ns, 3).text, kind.min_ns, kind.max_ns, row->first_start_ns,
                      row->last_end_ns, kind.has_bandwidth ? report_fixed(kind.algorithm_gbps, 6).text : "",
                      kind.has_bandwidth ? report_fixed(kind.bus_gbps, 6).text : "");
    }
}

static void write_dimensions(const struct sim_result *result, FILE *stream)
{
    (void)fputs("dimension,kind,size,bandwidth_gibytes_per_s,latency_ns,links,messages,bytes,busy_ns,utilisation,"
                "queued_messages\n",
                stream);
    for (uint32_t d = 0; d < result->config->dims.count; d++) {
        const struct topo_dim *dim = &result->config->dims.dim[d];
        const struct sim_dim_result *row = &result->dims[d];
        (void)fprintf(stream, "%u,%s,%u,%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,%" PRIu64 "\n", d,
                      topo_kind_name(dim->kind), dim->size, report_short(dim->bandwidth_gibps).text,
                      report_short(dim->latency_ns).text, row->links, row->messages, row->bytes, row->busy_ns,
                      report_fixed(report_utilisation(result, d), 6).text, row->queued);
    }
}

static enum orr_status open_in(const char *folder, const char *name, struct io_outfile **file, struct orr_error *err)
{
    size_t room = strlen(folder) + strlen(name) + 2;
    char *path = malloc(room);
    if (path == NULL) {
        return error_set(err, ORR_ENOMEM, "%s: out of memory opening %s in it", folder, name);
    }
    (void)snprintf(path, room, "%s/%s", folder, name);
    enum orr_status status = io_outfile_open(path, IO_OUTFILE_PLAIN, file, err);
    free(path);
    return status;
}

enum orr_status report_csv_write(const struct sim_result *result, const char *folder, struct orr_error *err)
{
    const struct {
        const char *name;
        void (*write)(const struct sim_result *result, FILE *stream);
        bool wanted;
    } tables[] = {
        {"ranks.csv", write_ranks, true},
        {"collectives.csv", write_collectives, true},
        {"dimensions.csv", write_dimensions, true},
        {"links.csv", report_network_csv, report_network_has(result)},
        {"memory.csv", report_memory_csv, report_memory_has(result)},
    };
    enum { TABLES = sizeof tables / sizeof tables[0] };
    struct io_outfile *files[TABLES] = {NULL};
    enum orr_status status = io_make_folder(folder, err);
    for (size_t i = 0; i < TABLES && status == ORR_OK; i++) {
        if (!tables[i].wanted) {
            continue;
        }
        status = open_in(folder, tables[i].name, &files[i], err);
        if (status == ORR_OK) {
            tables[i].write(result, io_outfile_stream(files[i]));
            status = io_outfile_finish(files[i], err);
        }
    }
    for (size_t i = 0; i < TABLES; i++) {
        if (status == ORR_OK && files[i] != NULL) {
            status = io_outfile_commit(files[i], err);
        } else {
            io_outfile_abort(files[i]);
        }
    }
    return status;
}
