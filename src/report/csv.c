/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a folder appear together; what stands in them is decided elsewhere (report/rows.h, report/memory.h). */
#include "report/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/outfile.h"
#include "report/memory.h"
#include "report/network.h"
#include "report/rows.h"

static void report_csv_write_ranks(const struct sim_result *result, FILE *stream)
{
    struct orr_rank_result row;
    report_row_csv_head(report_rank_columns, stream);
    for (uint32_t i = 0; report_rank_row(result, i, &row); i++) {
        report_row_csv(report_rank_columns, &row, stream);
    }
}

static void report_csv_write_collectives(const struct sim_result *result, FILE *stream)
{
    struct orr_collective_result row;
    report_row_csv_head(report_collective_columns, stream);
    for (uint32_t i = 0; report_collective_row(result, i, &row); i++) {
        report_row_csv(report_collective_columns, &row, stream);
    }
}

static void write_dimensions(const struct sim_result *result, FILE *stream)
{
    struct orr_dimension_result row;
    report_row_csv_head(report_dimension_columns, stream);
    for (uint32_t i = 0; report_dimension_row(result, i, &row); i++) {
        report_row_csv(report_dimension_columns, &row, stream);
    }
}

static void write_links(const struct sim_result *result, FILE *stream)
{
    struct orr_link_result row;
    report_row_csv_head(report_link_columns, stream);
    for (uint32_t i = 0; report_link_row(result, i, &row); i++) {
        report_row_csv(report_link_columns, &row, stream);
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
        {"ranks.csv", report_csv_write_ranks, true},
        {"collectives.csv", report_csv_write_collectives, true},
        {"dimensions.csv", write_dimensions, true},
        {"links.csv", write_links, report_network_has(result)},
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
        status = io_outfile_end(files[i], status, err);
    }
    return status;
}
