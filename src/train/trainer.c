/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One prediction takes a fraction of a millisecond; reading the operator data takes a hundred of them, and so does
 * predicting the measured runs of a framework, which its neighbours are chosen from. Both are kept here. Who asks
 * holds `use` for reading; what throws data away that others may be using holds it for writing.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "train/energy.h"
#include "train/neighbours.h"

enum { TRAINER_FRAMEWORKS = 64 };

struct orr_trainer {
    struct predict_data *data;
    pthread_rwlock_t use;
    pthread_mutex_t opening; /* guards the list; neighbours are never taken out of it */
    struct {
        const char *framework; /* its canonical name, a preset's */
        struct neighbours *neighbours;
    } known[TRAINER_FRAMEWORKS];
    size_t known_count;
};

enum orr_status orr_trainer_open(struct orr_trainer **trainer, struct orr_error *err)
{
    struct orr_trainer *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return error_set(err, ORR_ENOMEM, "no memory for the operator data");
    }
    enum orr_status status = predict_open(&made->data, err);
    if (status != ORR_OK) {
        free(made);
        return status;
    }
    (void)pthread_rwlock_init(&made->use, NULL);
    (void)pthread_mutex_init(&made->opening, NULL);
    *trainer = made;
    return ORR_OK;
}

void orr_trainer_close(struct orr_trainer *trainer)
{
    if (trainer == NULL) {
        return;
    }
    for (size_t i = 0; i < trainer->known_count; i++) {
        neighbours_close(trainer->known[i].neighbours);
    }
    predict_close(trainer->data);
    (void)pthread_mutex_destroy(&trainer->opening);
    (void)pthread_rwlock_destroy(&trainer->use);
    free(trainer);
}

/* Two that ask for the same at first: the second waits for the first. */
static enum orr_status trainer_neighbours(struct orr_trainer *trainer, const char *framework,
                                          const struct neighbours **neighbours, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    size_t i = 0;
    (void)pthread_mutex_lock(&trainer->opening);
    while (i < trainer->known_count && strcmp(trainer->known[i].framework, framework) != 0) {
        i++;
    }
    if (i == TRAINER_FRAMEWORKS) {
        status = error_set(err, ORR_ERANGE, "more than %d frameworks", TRAINER_FRAMEWORKS);
    } else if (i == trainer->known_count) {
        status = neighbours_open(trainer->data, framework, 0, &trainer->known[i].neighbours, err);
        trainer->known[i].framework = framework;
        trainer->known_count += status == ORR_OK;
    }
    if (status == ORR_OK) {
        *neighbours = trainer->known[i].neighbours;
    }
    (void)pthread_mutex_unlock(&trainer->opening);
    return status;
}

static enum orr_status trainer_ask(struct orr_trainer *trainer, const struct orr_train_options *options,
                                   struct orr_train_result *result, struct orr_error *err)
{
    const struct neighbours *neighbours = NULL;
    struct mem mem = {.limit = options->memory_limit};
    struct orr_train_result made;
    enum orr_status status = predict_step(trainer->data, options, &mem, &made, err);
    if (status == ORR_OK && !options->without_neighbours) {
        status = trainer_neighbours(trainer, made.framework, &neighbours, err);
    }
    if (neighbours != NULL) {
        status = neighbours_ask(neighbours, options->interconnect, NULL, &made, err);
    }
    if (status == ORR_OK) {
        energy_of_step(options, &made);
        *result = made;
    }
    return status;
}

enum orr_status orr_trainer_step(struct orr_trainer *trainer, const struct orr_train_options *options,
                                 struct orr_train_result *result, struct orr_error *err)
{
    if (predict_is_full(trainer->data)) {
        (void)pthread_rwlock_wrlock(&trainer->use);
        predict_forget_machines(trainer->data);
        (void)pthread_rwlock_unlock(&trainer->use);
    }
    (void)pthread_rwlock_rdlock(&trainer->use);
    enum orr_status status = trainer_ask(trainer, options, result, err);
    (void)pthread_rwlock_unlock(&trainer->use);
    return status;
}

enum orr_status orr_train_step(const struct orr_train_options *options, struct orr_train_result *result,
                               struct orr_error *err)
{
    struct orr_trainer *trainer = NULL;
    enum orr_status status = orr_trainer_open(&trainer, err);
    if (status == ORR_OK) {
        status = orr_trainer_step(trainer, options, result, err);
    }
    orr_trainer_close(trainer);
    return status;
}
