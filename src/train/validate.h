/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predictions held against measured runs, by source. What a constant was fitted on is kept apart from what judges it:
 * each source has two parts, and only rows of the first are validation. Counts and figures; how they are printed is in
 * train/validate_page.c.
 */
#ifndef ORR_TRAIN_VALIDATE_H
#define ORR_TRAIN_VALIDATE_H

#include "base/intern.h"
#include "train/runs.h"

enum { VALIDATE_TABLES_MOST = 32, VALIDATE_SOURCES_MOST = 128, VALIDATE_CELL_ROWS = 5 };

enum validate_part { VALIDATE_JUDGED, VALIDATE_FITTED, VALIDATE_PARTS };
/* What of a source constants were fitted on. */
enum validate_fit { VALIDATE_NONE, VALIDATE_HALF, VALIDATE_ALL };

/* Of the rows of one source and part. */
struct validate_figures {
    struct orr_train_table_result step;   /* predicted / measured - 1 */
    struct orr_train_table_result unseen; /* the same, no run of its own source asked; where that was wanted */
    struct orr_train_table_result pieces; /* the same, measured runs near it not asked */
    struct orr_train_table_result
        constant; /* the same of one MFU for a source, GPU and dtype, the row itself left out */
    struct orr_train_table_result memory;
    uint32_t cells; /* same model, GPUs, batch and tokens of a sample, with at least VALIDATE_CELL_ROWS rows */
    double rank;    /* Spearman's, mean over cells */
    double regret, worst_regret;   /* measured time of the predicted best over the measured best - 1 */
    double told;                   /* mean of the error that a prediction told of itself */
    uint32_t bars, within;         /* predictions that told one; of them, those no further off than that */
    uint32_t ran, ran_right;       /* rows that ran; of them, said to fit */
    uint32_t failed, failed_right; /* rows that did not, for memory; of them, said not to */
};

struct validate_source {
    const char *name;
    enum validate_fit fit;
    bool is_carried;       /* by the library, some of its runs */
    bool is_other_quality; /* it has no row of the quality asked for; those it has are shown */
    struct validate_figures parts[VALIDATE_PARTS];
    double least_s, most_s; /* measured or predicted: for a picture */
};

struct validate_row {
    const struct runs_row *row;
    uint32_t source, part, cell;
    bool is_failed;
    double mfu; /* measured; 0: not known */
    uint64_t unseen_ns;
};

struct validate {
    const struct orr_train_validation *request;
    struct mem mem;
    struct intern ids;
    struct runs tables[VALIDATE_TABLES_MOST];
    uint64_t *unseen[VALIDATE_TABLES_MOST]; /* ns by row, no run of its source asked; or NULL */
    bool is_failed[VALIDATE_TABLES_MOST];
    uint32_t table_count;
    uint32_t folder_tables; /* the first so many are not the library's */
    struct validate_source sources[VALIDATE_SOURCES_MOST];
    uint32_t source_count;
    struct validate_row *rows; /* predicted, of the quality asked for; ordered by source */
    uint32_t row_count, row_capacity;
};

/* Reads, predicts and counts; whatever comes of it, validate_free follows. */
ORR_MUST_CHECK enum orr_status validate_run(struct validate *v, const struct orr_train_validation *request,
                                            struct orr_error *err);
void validate_free(struct validate *v);

enum validate_fit validate_fit_of(const char *source);
/* Whether a constant was fitted on a row. */
bool validate_is_fitted(const struct runs *runs, const struct runs_row *row, enum validate_fit fit);

/* Spearman's rank correlation of two lists; equal values share their rank. `room` holds 2 x count numbers. */
double validate_rank(const double *a, const double *b, uint32_t count, double *room);

void validate_print(const struct validate *v, FILE *stream);
ORR_MUST_CHECK enum orr_status validate_write_page(const struct validate *v, const char *path, struct orr_error *err);

#endif
