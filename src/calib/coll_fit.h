/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data of collectives' times made from measurements: curves of the sources that may be shipped, and the constants
 * of GPUs and networks, each from its own rows. Writes gpus.csv, fabrics.csv and curves.csv to a folder, as
 * presets/collectives/ has them; a build takes them in.
 */
#ifndef ORR_CALIB_COLL_FIT_H
#define ORR_CALIB_COLL_FIT_H

#include "calib/coll_rows.h"

enum { COLL_FIT_MOST = 64 };

/* Copies of the rows, fitted; and how well. */
struct coll_fit {
    struct timing_gpu gpus[COLL_FIT_MOST];
    struct timing_fabric fabrics[COLL_FIT_MOST];
    size_t gpu_count, fabric_count;
    double gpu_errors[COLL_FIT_MOST], fabric_errors[COLL_FIT_MOST]; /* mean |ln|; NaN: not fitted */
    uint32_t gpu_rows[COLL_FIT_MOST], fabric_rows[COLL_FIT_MOST];
};

/* The rows' machines point into `fit` afterwards, which must not move. */
ORR_MUST_CHECK enum orr_status coll_fit_constants(struct coll_rows *rows, struct mem *mem, struct coll_fit *fit,
                                                  struct orr_error *err);

/* `ship`: names of sources with a comma between two, "name*" for all that begin so; only their curves are written. */
ORR_MUST_CHECK enum orr_status coll_fit_write(const struct coll_fit *fit, const struct coll_rows *rows,
                                              const char *ship, const char *folder, struct orr_error *err);

#endif
