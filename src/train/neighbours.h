/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What measured runs near a job say of its prediction. Predictions of one framework are off in ways that change slowly
 * with the job: ln(measured / predicted) of the runs that the library carries (data/runs) is taken as a random function
 * of the job (kriging), whose value at another job follows from the nearest runs, and whose spread there is the error
 * to expect. Where no run of that framework is near, the answer is that nothing is known, and the spread of all of
 * them. Holds the runs with their predictions; knows no framework's numbers.
 */
#ifndef ORR_TRAIN_NEIGHBOURS_H
#define ORR_TRAIN_NEIGHBOURS_H

#include "train/predict.h"

struct neighbours;

/* Reads the runs and predicts them, those of one framework (its canonical name) or all (NULL). The caller closes it. */
ORR_MUST_CHECK enum orr_status neighbours_open(struct predict_data *data, const char *framework, uint32_t threads,
                                               struct neighbours **neighbours, struct orr_error *err);
void neighbours_close(struct neighbours *neighbours);

/* A run that is asked about, as tables name it. Where it is itself one of those the library carries, its whole cell
 * (its model and number of GPUs, of any source) is left out, so that it is never judged by itself or its like. */
struct neighbours_self {
    const char *id, *source, *model, *gpus;
    bool whole_source; /* and all others of its source */
};

/* Moves a prediction's times and memory by what the nearest runs say, and tells which they are and what error to expect
 * (struct orr_train_result). `interconnect` is as the job was asked for; `self` may be NULL. Many threads may ask. */
ORR_MUST_CHECK enum orr_status neighbours_ask(const struct neighbours *neighbours, const char *interconnect,
                                              const struct neighbours_self *self, struct orr_train_result *result,
                                              struct orr_error *err);

#endif
