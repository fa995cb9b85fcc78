/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of runs, one a row: a column's name with - for _ is a parameter's; an empty field leaves the default; columns
 * that are none are carried along. A row that is no run (of another number of fields than the header, or with a value
 * that cannot be) has that as its status, and the others go on. Rows and their texts belong to the table.
 */
#ifndef ORR_TRAIN_RUNS_H
#define ORR_TRAIN_RUNS_H

#include "base/arena.h"
#include "train/neighbours.h"

enum { RUNS_COLUMNS_MOST = 256, RUNS_STATUS = 200 };

/* Columns with a meaning besides, or instead of, a parameter's. */
#define RUNS_MEANINGS(X)                                                                                               \
    X(ID, "id")                                                                                                        \
    X(SOURCE, "source")                                                                                                \
    X(MODEL, "model")                                                                                                  \
    X(FRAMEWORK, "framework")                                                                                          \
    X(GPUS, "gpus")                                                                                                    \
    X(STEP, "step_s")                                                                                                  \
    X(MEMORY, "memory_gb")                                                                                             \
    X(QUALITY, "quality")                                                                                              \
    X(NOTES, "notes")                                                                                                  \
    X(KIND, "kind")                                                                                                    \
    X(CONFIG, "config")                                                                                                \
    X(STEP_MS, "step_ms")                                                                                              \
    X(PEAK, "peak_bytes")

enum runs_meaning {
#define RUNS_X(symbol, name) RUNS_##symbol,
    RUNS_MEANINGS(RUNS_X)
#undef RUNS_X
        RUNS_MEANING_COUNT
};

/* What a column means. */
struct runs_column {
    const char *name;
    const struct param *row; /* NULL: none of the parameters */
    uint32_t overlap;        /* bit of a column overlap_dp or the like; 0: none */
};

struct runs_row {
    const char **fields; /* as many as the header has */
    uint64_t line;
    bool is_ragged; /* `status` says how */
    bool is_predicted;
    struct orr_train_result result; /* where it is */
    double measured_s, measured_gb; /* 0: not said */
    char status[RUNS_STATUS];       /* "ok", or why not */
};

struct runs {
    struct mem *mem;
    struct arena arena;
    struct runs_column columns[RUNS_COLUMNS_MOST];
    uint32_t column_count;
    int meanings[RUNS_MEANING_COUNT]; /* columns; -1: there is none */
    struct runs_row *rows;
    uint32_t row_capacity, row_count;
};

/* Measured runs that the library carries (data/runs), by file; those of failed.csv did not run. */
struct runs_shipped {
    const char *name, *bytes, *end;
};
extern const struct runs_shipped runs_shipped[];
extern const uint32_t runs_shipped_count;

void runs_init(struct runs *runs, struct mem *mem);
void runs_free(struct runs *runs);

/* From a file; from a text, which `name` stands for in errors. ORR_EINVAL where it is no table at all. */
ORR_MUST_CHECK enum orr_status runs_read(struct runs *runs, const char *path, struct orr_error *err);
ORR_MUST_CHECK enum orr_status runs_read_text(struct runs *runs, const char *name, const char *text, size_t size,
                                              struct orr_error *err);

/* "" where the table has no such column. */
const char *runs_field(const struct runs *runs, const struct runs_row *row, enum runs_meaning meaning);

/* The same of any column. */
const char *runs_text(const struct runs *runs, const struct runs_row *row, const char *column);

/* The parameter that a column of this name is; NULL: none. */
const struct param *runs_param(const char *column);
/* What the columns `kind` and `config` of a step of one GPU say. ORR_EINVAL: no JSON object, no such network. */
ORR_MUST_CHECK enum orr_status runs_config_read(const char *kind, const char *text, struct orr_train_options *options,
                                                struct orr_error *err);

/* How the row calls itself. */
struct neighbours_self runs_self(const struct runs *runs, const struct runs_row *row);

/* What a row asks for; texts are the row's. ORR_EINVAL names the column. */
ORR_MUST_CHECK enum orr_status runs_row_options(const struct runs *runs, const struct runs_row *row,
                                                const struct orr_train_options *defaults,
                                                struct orr_train_options *options, struct orr_error *err);

/* All rows for which `want` is true (NULL: all), on `threads` threads (0: all processors). */
struct runs_request {
    const struct orr_train_options *defaults;
    struct predict_data *data;
    const struct neighbours *neighbours; /* measured runs to ask; or NULL */
    bool leave_source_out;               /* of those, none of a row's own source is asked */
    uint32_t threads;
    bool (*want)(const struct runs *runs, const struct runs_row *row, const void *context);
    const void *context;
};
ORR_MUST_CHECK enum orr_status runs_predict(struct runs *runs, const struct runs_request *request,
                                            struct orr_error *err);

/* Mean, median, 90th percentile, worst and bias of `count` values of predicted / measured - 1, which come back as sizes
 * in order. */
void runs_errors(double *errors, uint32_t count, struct orr_train_table_result *sum);

#endif
