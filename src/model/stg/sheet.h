/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sheets: one module of a model (an attention, a residual addition) as a table of symbolic tensors, in the language of
 * STG's spreadsheets: NAME.csv with the tensors and NAME.json with {symbols, in_tensors, out_tensors} (spec simai
 * §12.1, docs/stg.md). The program's own sheets are rows of the same columns compiled into it.
 *
 * A sheet read is a graph of its own that is then copied into a model as often as that needs it. Errors name file, line
 * and column, and the nearest name where one is unknown.
 */
#ifndef ORR_MODEL_STG_SHEET_H
#define ORR_MODEL_STG_SHEET_H

#include "model/stg/graph.h"

#define STG_COLUMNS(X)                                                                                                 \
    X(ID, "id")                                                                                                        \
    X(REQUIRE_GRADS, "require_grads")                                                                                  \
    X(X1, "x1")                                                                                                        \
    X(X2, "x2")                                                                                                        \
    X(OP_TYPE, "op_type")                                                                                              \
    X(OP_ATTR, "op_attr")                                                                                              \
    X(X1_SHAPE, "x1_shape")                                                                                            \
    X(X1_HIDDEN, "x1_hidden")                                                                                          \
    X(X2_SHAPE, "x2_shape")                                                                                            \
    X(X2_HIDDEN, "x2_hidden")                                                                                          \
    X(GRAD_OF, "grad_of")                                                                                              \
    X(EXTRA_ATTR, "extra_attr")

enum stg_column {
#define STG_COLUMN(id, name) STG_COLUMN_##id,
    STG_COLUMNS(STG_COLUMN)
#undef STG_COLUMN
        STG_COLUMN_COUNT
};

const char *stg_column_name(enum stg_column column);

/* A row's cells; NULL and "" are both empty. */
struct stg_cells {
    const char *text[STG_COLUMN_COUNT];
    uint32_t column[STG_COLUMN_COUNT]; /* in the line, from 1 */
};

/* One row of a sheet into its graph. `where` is "file:line". The names it refers to are looked up by stg_sheet_close,
 * since they may stand further down. */
ORR_MUST_CHECK enum orr_status stg_sheet_row(struct stg_graph *sheet, const char *where, const struct stg_cells *cells,
                                             struct orr_error *err);
/* All rows are there: looks up names and solves every tensor. */
ORR_MUST_CHECK enum orr_status stg_sheet_close(struct stg_graph *sheet, struct orr_error *err);

/* Makes the tensor a port; ORR_EINVAL naming `where` when it is not there, or is an input and no placeholder. */
ORR_MUST_CHECK enum orr_status stg_sheet_port(struct stg_graph *sheet, const char *where, const char *name, bool input,
                                              struct orr_error *err);

/* Reads the two files of a sheet, NAME.csv and NAME.json, into an empty graph. */
ORR_MUST_CHECK enum orr_status stg_sheet_read(const char *table, const char *ports, struct stg_graph *sheet,
                                              struct orr_error *err);

#endif
