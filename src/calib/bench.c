/* SPDX-License-Identifier: Apache-2.0 */
/* Words are compared with tables, so that a message can name all there are. */
#include "calib/bench.h"

#include <string.h>

#include "run/type_word.h"

static const char *const places[] = {"any", "out", "in", NULL};   /* by enum calib_place */
static const char *const steps[] = {"ring", "tree", "one", NULL}; /* by enum calib_steps */

/* The word's place in the table; 0 where it is not given. */
static enum orr_status word_find(const char *option, const char *word, const char *const *words, int *found,
                                 struct orr_error *err)
{
    *found = 0;
    if (word == NULL) {
        return ORR_OK;
    }
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(word, words[i]) == 0) {
            *found = i;
            return ORR_OK;
        }
    }
    return error_set(err, ORR_EINVAL, "%s: \"%.80s\" is none of %s, %s and %s", option, word, words[0], words[1],
                     words[2]);
}

enum orr_status calib_bench_options(const struct orr_calib_options *options, struct calib_read_options *reading,
                                    struct calib_network_options *fitting, struct orr_error *err)
{
    struct calib_read_options read = CALIB_READ_OPTIONS_DEFAULT;
    struct calib_network_options fit = {.hops = options->hops};
    int place = 0;
    int step = 0;
    read.ranks = options->ranks;
    fit.fit.ranges_max = options->bench_ranges;
    fit.fit.split_count = options->bench_split_count;
    for (uint32_t i = 0; i < CALIB_RANGES_MAX - 1 && i < options->bench_split_count; i++) {
        fit.fit.splits[i] = options->bench_splits[i];
    }
    enum orr_status status =
        options->bench_form == NULL ? ORR_OK : calib_form_parse(options->bench_form, &read.form, err);
    if (status == ORR_OK && options->bench_collective != NULL) {
        status = type_word_parse(options->bench_collective, &read.type, err);
    }
    status = status != ORR_OK ? status : word_find("parameter 'place'", options->bench_place, places, &place, err);
    status =
        status != ORR_OK ? status : word_find("parameter 'latency-steps'", options->bench_steps, steps, &step, err);
    if (status != ORR_OK) {
        return status;
    }
    fit.place = (enum calib_place)place;
    fit.steps = (enum calib_steps)step;
    *reading = read;
    *fitting = fit;
    return ORR_OK;
}
