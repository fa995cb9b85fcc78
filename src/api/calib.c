/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of calibration. What belongs together is read, fitted, told and kept here in that order; nothing
 * is kept before all of it is known. */
#include <math.h>

#include "base/error.h"
#include "calib/apply.h"
#include "calib/history.h"
#include "calib/report.h"
#include "calib/session.h"
#include "lab/store/store.h"

void orr_calib_options_init(struct orr_calib_options *options)
{
    *options = (struct orr_calib_options){.rank = -1};
}

enum orr_status orr_calib_fit(const struct orr_calib_options *options, const struct orr_notices *notices, FILE *stream,
                              struct orr_calib_result *result, struct orr_error *err)
{
    struct calib_session session;
    struct calib calib = calib_none();
    int64_t id = 0;
    calib_session_init(&session, options->memory_limit, notices);
    enum orr_status status = calib_session_fit(&session, options, &calib, err);
    if (status == ORR_OK && stream != NULL) {
        if (session.network != NULL) {
            calib_report_network(session.network, stream);
        }
        calib_report_put(&calib, stream);
        status = error_of_stream(stream, "the report", err);
    }
    if (status == ORR_OK && options->output != NULL) {
        status = calib_file_write(options->output, &calib, err);
    }
    if (status == ORR_OK && options->store != NULL && !isnan(calib.alpha)) {
        status = calib_session_keep(&session, options->store, &calib, &id, err);
    }
    if (status == ORR_OK) {
        *result = (struct orr_calib_result){.id = id,
                                            .alpha = calib.alpha,
                                            .alpha_comm = calib.alpha_comm,
                                            .alpha_gpu = calib.alpha_gpu,
                                            .real_step_ms = calib.real.step_ms,
                                            .sim_step_ms = calib.sim.step_ms,
                                            .lower_bound_ms = calib.lower_bound_ms,
                                            .achieved_gbps = calib.achieved_gbps,
                                            .profiler_us = calib.profiler_us,
                                            .held_out = calib.held_out,
                                            .untraced_error = calib.untraced_error,
                                            .bandwidth_too_low = calib.bandwidth_too_low,
                                            .accepted = calib.accepted};
    }
    calib_session_free(&session);
    return status;
}

enum orr_status orr_calib_show(const char *path, FILE *stream, struct orr_error *err)
{
    struct mem mem = {0};
    struct arena arena;
    struct calib calib;
    arena_init(&arena, &mem);
    enum orr_status status = calib_file_read(path, &arena, &calib, err);
    if (status == ORR_OK) {
        calib_report_put(&calib, stream);
        status = error_of_stream(stream, "the report", err);
    }
    arena_free(&arena);
    return status;
}

enum orr_status orr_calib_history(const char *store, enum orr_store_form form, FILE *stream, struct orr_error *err)
{
    struct lab_store *opened = NULL;
    enum orr_status status = lab_store_open(store, IO_DATABASE_READ, &opened, err);
    if (status == ORR_OK) {
        status = calib_history_put(opened, form, stream, err);
    }
    status = status != ORR_OK ? status : error_of_stream(stream, "the list", err);
    lab_store_close(opened);
    return status;
}

enum orr_status orr_calib_tuning(const char *path, const struct orr_notices *notices, struct orr_tuning *tuning,
                                 struct orr_error *err)
{
    struct calib_session session;
    struct calib calib;
    calib_session_init(&session, 0, notices);
    enum orr_status status = calib_session_read(&session, path, &calib, err);
    if (status == ORR_OK) {
        calib_tune(&calib, tuning);
    }
    calib_session_free(&session);
    return status;
}

enum orr_status orr_calib_apply(const struct orr_calib_apply *apply, const struct orr_notices *notices, FILE *stream,
                                struct orr_error *err)
{
    struct calib_session session;
    struct calib calib;
    calib_session_init(&session, 0, notices);
    enum orr_status status = calib_session_read(&session, apply->calibration, &calib, err);
    if (status == ORR_OK) {
        status = calib_apply(apply, &calib, &session.arena, &session.notes, stream, err);
    }
    if (status == ORR_OK && stream != NULL) {
        status = error_of_stream(stream, "the report", err);
    }
    calib_session_free(&session);
    return status;
}
