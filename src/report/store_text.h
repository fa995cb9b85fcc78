/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept runs as people and programs read them: a list, one run whole, the difference of two. Plain rows come in, text or
 * JSON goes out to the caller's stream. Texts in the rows are the user's (tags, paths, commands) and may hold anything.
 * Knows no database: lab/store/read.h fills the rows.
 */
#ifndef ORR_REPORT_STORE_TEXT_H
#define ORR_REPORT_STORE_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "io/json_write.h"

/* Texts are "" where nothing is known. */
struct store_run {
    int64_t id;
    const char *state, *kind, *started, *ended, *version, *command, *folder, *tag, *backend, *topology, *dims,
        *comm_scale, *fingerprint, *error;
    uint64_t seed, world, source_world;
    bool has_results; /* the rest is known */
    uint64_t total_ns, steps, comm_ns, compute_ns, wall_ms, events, messages, peak_bytes;
};

/* UNSEEN: nobody looked. */
enum store_input_now { STORE_INPUT_UNSEEN, STORE_INPUT_SAME, STORE_INPUT_CHANGED, STORE_INPUT_GONE };

struct store_input {
    const char *role, *path, *hash;
    uint64_t bytes;
    enum store_input_now now;
};

struct store_setting {
    const char *key, *value;
};

/* One figure over the ranks. */
struct store_spread {
    const char *name;
    uint64_t min_ns, median_ns, max_ns;
};

enum { STORE_SPREADS = 5 };

struct store_collective {
    const char *type;
    uint64_t group_size, bytes, count, total_ns, min_ns, max_ns;
};

/* NaN where not known; times in milliseconds, alphas in microseconds of reality for a simulated cycle. */
struct store_calibration {
    int64_t id, run; /* run 0: none */
    const char *made, *version, *tag, *topology, *source, *flags, *notes;
    double alpha_us, alpha_comm_us, alpha_gpu_us;
    double real_step_ms, real_comm_ms, real_kernel_ms;
    double sim_step_ms, sim_comm_ms, sim_gpu_ms;
    double lower_bound_ms, iqr;
    uint64_t samples, steps, world;
    bool accepted;
};

struct store_view {
    struct store_run run;
    const struct store_input *inputs;
    const struct store_setting *settings;
    const struct store_collective *collectives;
    const struct store_calibration *calibrations;
    uint32_t input_count, setting_count, collective_count, calibration_count;
    uint64_t rank_count, finished_count;
    struct store_spread spreads[STORE_SPREADS]; /* of rank_count > 0 */
};

const char *store_input_word(enum store_input_now now);

/* A text of the user's on one line. */
void store_text_put(const char *text, FILE *stream);

void store_text_list(const struct store_run *runs, uint32_t count, FILE *stream);
void store_text_show(const struct store_view *view, FILE *stream);
void store_json_list(const struct store_run *runs, uint32_t count, FILE *stream);
void store_json_show(const struct store_view *view, FILE *stream);
/* One calibration as an object, the same wherever it is shown. */
void store_json_calibration(struct json_writer *json, const struct store_calibration *row);

/* Everything, row by row: begin, each run, each calibration (also those without a run), end. */
struct store_json {
    struct json_writer writer;
    bool calibrating; /* the runs are over */
};

void store_json_all_begin(struct store_json *json, FILE *stream);
void store_json_all_run(struct store_json *json, const struct store_view *view);
void store_json_all_calibration(struct store_json *json, const struct store_calibration *calibration);
void store_json_all_end(struct store_json *json);

/* What differs, and all results with the second's change from the first. Settings are sorted by key. */
void store_text_diff(const struct store_view *before, const struct store_view *after, FILE *stream);
/* The times of both as bars (SVG). */
void store_chart_diff(const struct store_view *before, const struct store_view *after, FILE *stream);
void store_json_diff(const struct store_view *before, const struct store_view *after, FILE *stream);
/* Whether what was simulated came out the same: state, times, ranks, collectives. What the machine that ran it took
 * (time, memory) does not count. */
bool store_same_results(const struct store_view *before, const struct store_view *after);

#endif
