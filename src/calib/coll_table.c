/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row of another cloud names neither its NICs nor its network: the source's name may tell the network, and the GPU
 * tells the NICs its servers usually have. alcf_polaris is of many settings of a plug-in with a wide spread: of its
 * rows the best is what NCCL can do there.
 */
#include "calib/coll_table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/plain.h"

#define COLL_X(name, word, needed) {word, needed},
static const struct {
    const char *name;
    bool needed;
} columns[] = {COLL_COLUMNS(COLL_X)};
#undef COLL_X

enum orr_status coll_table_open(const char *path, bool has_gpu, struct mem *mem, struct coll_table *table,
                                struct orr_error *err)
{
    *table = (struct coll_table){.path = path};
    enum orr_status status = csv_reader_open(path, mem, &table->reader, err);
    if (status != ORR_OK) {
        return status;
    }
    const struct csv_row *header = csv_reader_header(table->reader);
    for (uint32_t i = 0; i < COLL_COLUMN_COUNT; i++) {
        table->places[i] = UINT32_MAX;
        for (uint32_t f = 0; f < header->count; f++) {
            if (strcmp(header->fields[f].text, columns[i].name) == 0) {
                if (table->places[i] != UINT32_MAX) {
                    status = error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": column \"%s\" is there twice", path,
                                       header->line, columns[i].name);
                    coll_table_close(table);
                    return status;
                }
                table->places[i] = f;
            }
        }
        if (table->places[i] == UINT32_MAX && columns[i].needed && !(has_gpu && i == COLL_COLUMN_GPU)) {
            coll_table_close(table);
            return error_set(err, ORR_EINVAL,
                             "%s:1: no column \"%s\"; the columns are those of nccl-tests' tables: gpu, nodes, "
                             "gpus_per_node, op, bytes, and where known source, nccl, us_median, us_best",
                             path, columns[i].name);
        }
    }
    return ORR_OK;
}

void coll_table_close(struct coll_table *table)
{
    csv_reader_close(table->reader);
    table->reader = NULL;
}

const char *coll_table_field(const struct coll_table *table, const struct csv_row *row, enum coll_column column)
{
    uint32_t place = table->places[column];
    return place < row->count ? row->fields[place].text : "";
}

static enum orr_status calib_coll_table_read_count(const char *text, const char *what, uint64_t least, uint64_t most,
                                                   uint64_t *value, struct orr_error *err)
{
    char *end = NULL;
    double number = plain_strtod(text, &end);
    if (end == text || *end != '\0' || !(number >= (double)least) || number > (double)most || number != floor(number)) {
        return error_set(err, ORR_EINVAL, "%s \"%.40s\" is not a whole number from %" PRIu64 " to %" PRIu64, what, text,
                         least, most);
    }
    *value = (uint64_t)number;
    return ORR_OK;
}

static double calib_coll_table_read_time(const char *text)
{
    char *end = NULL;
    double us = plain_strtod(text, &end);
    return end != text && *end == '\0' && us > 0 && isfinite(us) ? us : 0;
}

static enum orr_status calib_coll_table_read_op(const char *text, enum orr_coll_op *op, struct orr_error *err)
{
    const char *names[ORR_COLL_OP_COUNT + 1] = {NULL};
    for (unsigned i = 0; i < ORR_COLL_OP_COUNT; i++) {
        names[i] = orr_coll_op_name((enum orr_coll_op)i);
        if (strcmp(text, names[i]) == 0) {
            *op = (enum orr_coll_op)i;
            return ORR_OK;
        }
    }
    const char *nearest = error_nearest(text, names);
    return error_set(err, ORR_EINVAL, "unknown op \"%.40s\"; did you mean \"%s\"?", text,
                     nearest != NULL ? nearest : names[0]);
}

static enum orr_status settle_machine(const char *source, const char *gpu, const char *nccl, uint32_t node_gpus,
                                      struct timing_machine *machine, struct orr_error *err)
{
    if (machine->gpu == NULL) {
        machine->gpu = timing_gpu_find(gpu);
    }
    if (machine->gpu == NULL) {
        return error_set(err, ORR_EINVAL,
                         "unknown GPU \"%.60s\"; presets/collectives/gpus.csv has those that are known", gpu);
    }
    if (machine->version == 0 && !timing_version_parse(nccl, &machine->version)) {
        return error_set(err, ORR_EINVAL, "release of NCCL \"%.40s\" is not like 2.29.2", nccl);
    }
    if (machine->fabric == NULL) {
        machine->fabric = timing_fabric_find(source, node_gpus, machine->gpu);
    }
    timing_machine_settle(machine);
    return ORR_OK;
}

enum orr_status coll_row_settle(const struct coll_table *table, const struct csv_row *row,
                                const struct timing_machine *machine, struct timing_row *settled, struct orr_error *err)
{
    struct timing_row made = {.machine = *machine};
    uint64_t nodes = 0;
    uint64_t gpus = 0;
    enum orr_status status =
        calib_coll_table_read_op(coll_table_field(table, row, COLL_COLUMN_OP), &made.question.op, err);
    if (status == ORR_OK) {
        status = calib_coll_table_read_count(coll_table_field(table, row, COLL_COLUMN_NODES), "nodes", 1, 1 << 20,
                                             &nodes, err);
    }
    if (status == ORR_OK) {
        status = calib_coll_table_read_count(coll_table_field(table, row, COLL_COLUMN_GPUS), "gpus_per_node", 1,
                                             1 << 12, &gpus, err);
    }
    if (status == ORR_OK) {
        status = calib_coll_table_read_count(coll_table_field(table, row, COLL_COLUMN_BYTES), "bytes", 0,
                                             (uint64_t)1 << 50, &made.question.bytes, err);
    }
    if (status == ORR_OK) {
        status = settle_machine(coll_table_field(table, row, COLL_COLUMN_SOURCE),
                                coll_table_field(table, row, COLL_COLUMN_GPU),
                                coll_table_field(table, row, COLL_COLUMN_NCCL), (uint32_t)gpus, &made.machine, err);
    }
    if (status != ORR_OK) {
        for (char *c = err->text; *c != '\0'; c++) { /* what a table holds may be anything */
            *c = (unsigned char)*c < 0x20u ? '?' : *c;
        }
        return status;
    }
    made.question.nodes = (uint32_t)nodes;
    made.question.gpus = (uint32_t)gpus;
    double median = calib_coll_table_read_time(coll_table_field(table, row, COLL_COLUMN_MEDIAN));
    double best = calib_coll_table_read_time(coll_table_field(table, row, COLL_COLUMN_BEST));
    bool is_wide = strcmp(coll_table_field(table, row, COLL_COLUMN_SOURCE), "alcf_polaris") == 0;
    made.us = (is_wide && best > 0) || !(median > 0) ? best : median;
    *settled = made;
    return ORR_OK;
}
