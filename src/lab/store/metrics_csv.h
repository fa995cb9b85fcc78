/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.csv and calibration_all.csv: the tables in which a public project keeps its runs and calibrations, and which
 * its users bring along (spec rocm §1.9). One row type for both; files of older headers are read by the names of their
 * columns, today's or former ones.
 *
 * Cells are texts, so that what was read can be written again as it was. Knows the tables, not the store.
 */
#ifndef ORR_LAB_STORE_METRICS_CSV_H
#define ORR_LAB_STORE_METRICS_CSV_H

#include "base/notes.h"

/* name, what it holds, part of what makes two rows the same experiment. In calibration_all.csv's order; metrics.csv has
 * sim_t_comm_ms_comm behind sim_t_comm_ms. The tag is part of the key here: without it, another model's calibration on
 * the same machine was taken for a repetition. */
#define METRICS_COLUMNS(X)                                                                                             \
    X(MODE, "mode", TEXT, false)                                                                                       \
    X(TAG, "tag", TEXT, true)                                                                                          \
    X(CALIB_ID, "calib_id", TEXT, false)                                                                               \
    X(WORLD, "world", COUNT, true)                                                                                     \
    X(LOGICAL_DIMS, "logical_dims", TEXT, true)                                                                        \
    X(TOPO_DESC, "topo_desc", TEXT, true)                                                                              \
    X(QCN, "qcn", TEXT, true)                                                                                          \
    X(PFC_DYN, "pfc_dyn", TEXT, true)                                                                                  \
    X(BUFFER, "buffer", TEXT, true)                                                                                    \
    X(PAYLOAD, "payload", TEXT, true)                                                                                  \
    X(COLL_OPT, "coll_opt", TEXT, true)                                                                                \
    X(LMBW, "lmbw", TEXT, true)                                                                                        \
    X(ALPHA_US, "alpha_us", REAL, false)                                                                               \
    X(ALPHA_COMM_US, "alpha_comm_us", REAL, false)                                                                     \
    X(ALPHA_GPU_US, "alpha_gpu_us", REAL, false)                                                                       \
    X(SIM_CYCLES_STEP, "sim_cycles_step", COUNT, false)                                                                \
    X(SIM_CYCLES_COMM, "sim_cycles_comm", COUNT, false)                                                                \
    X(SIM_CYCLES_GPU, "sim_cycles_gpu", COUNT, false)                                                                  \
    X(SIM_T_STEP_MS, "sim_t_step_ms", REAL, false)                                                                     \
    X(SIM_T_COMM_MS, "sim_t_comm_ms", REAL, false)                                                                     \
    X(NS3_COMM_MS, "ns3_comm_ms", REAL, false)                                                                         \
    X(NS3_REL_ERR_COMM, "ns3_rel_err_comm", REAL, false)                                                               \
    X(REAL_T_STEP_MS, "real_t_step_ms", REAL, false)                                                                   \
    X(REAL_T_COMM_MS, "real_t_comm_ms", REAL, false)                                                                   \
    X(REAL_T_NET_COMM_MS, "real_t_net_comm_ms", REAL, false)                                                           \
    X(REAL_T_KERNEL_MS, "real_t_kernel_ms", REAL, false)                                                               \
    X(RUN_DIR, "run_dir", TEXT, false)                                                                                 \
    X(REL_ERR_STEP, "rel_err_step", REAL, false)                                                                       \
    X(REL_ERR_COMM, "rel_err_comm", REAL, false)                                                                       \
    X(SIM_T_COMM_MS_COMM, "sim_t_comm_ms_comm", REAL, false)                                                           \
    X(REL_ERR_COMM_COMM, "rel_err_comm_comm", REAL, false)                                                             \
    X(FLAGS, "flags", TEXT, false)

enum metrics_column {
#define METRICS_X(id, name, kind, key) METRICS_##id,
    METRICS_COLUMNS(METRICS_X)
#undef METRICS_X
        METRICS_COLUMN_COUNT
};

enum metrics_kind { METRICS_TEXT, METRICS_COUNT, METRICS_REAL };
enum metrics_order { METRICS_ORDER_METRICS, METRICS_ORDER_CALIBRATION };

/* A column that only the file knows, with its cell. */
struct metrics_extra {
    const char *name, *cell;
};

struct metrics_row {
    const char *cells[METRICS_COLUMN_COUNT]; /* "" where nothing is known */
    const struct metrics_extra *extras;      /* of a row that was read; not empty ones */
    uint32_t extra_count;
    uint64_t line;       /* of the file it was read from */
    const char *network; /* whose word its header has (metrics_write_header); NULL: ns-3's, or none */
};

const char *metrics_column_name(enum metrics_column column);
bool metrics_column_is_key(enum metrics_column column);

/* The number in a cell; NaN where it is empty or none. */
double metrics_number(const struct metrics_row *row, enum metrics_column column);

/* A cell of a column that is not in the table above: NULL, or NaN, where the file has none. */
const char *metrics_extra(const struct metrics_row *row, const char *name);
double metrics_extra_number(const struct metrics_row *row, const char *name);

/* Whether all numbers agree: to 1 part in 10^4, or to 10^-6. A number that only one of them has is a difference. */
bool metrics_same_numbers(const struct metrics_row *a, const struct metrics_row *b);

/* Reads a table into the arena. ORR_EINVAL when it is no such table, with file and line. Notes: columns that are not
 * known (and kept), rows that are left out because a number in them is none or because they have no result; `*bad`
 * counts these. */
ORR_MUST_CHECK enum orr_status metrics_read(const char *path, struct arena *arena, struct notes *notes,
                                            struct metrics_row **rows, uint32_t *count, uint64_t *bad,
                                            struct orr_error *err);

/* RFC 4180 with line feeds. */
void metrics_write_cell(const char *cell, bool first, FILE *stream);
/* `network` takes the place of "ns3" in ns3_comm_ms and ns3_rel_err_comm: what computed these was not always ns-3 or
 * its equal. "ns3" of packets and of rows that were imported, the network's word where all rows are of one, else "net".
 */
void metrics_write_header(enum metrics_order order, const char *network, FILE *stream);
void metrics_write_row(const struct metrics_row *row, enum metrics_order order, FILE *stream);

#endif
