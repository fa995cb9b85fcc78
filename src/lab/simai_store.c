/* SPDX-License-Identifier: Apache-2.0 */
/* A run of a SimAI workload in the result store: entered when it has ended, as the points of a sweep are. */
#include "lab/experiment_record.h"
#include "lab/lab_run.h"
#include "param/param.h"
#include "run/network_choice.h"
#include "run/session.h"

enum { SETTINGS_MOST = 48 };

struct simai_settings {
    struct arena *arena;
    struct lab_setting at[SETTINGS_MOST];
    uint32_t count;
};

/* Parameters that are not as they would be by themselves; files are inputs, and of the run's own those that change no
 * result are left out. */
static bool simai_settings_add(struct simai_settings *settings, const struct param *rows, const void *from,
                               const void *initial)
{
    for (const struct param *row = rows; row->name != NULL; row++) {
        bool shown = rows != param_run || ((row->commands & PARAM_OF_SIMAI) != 0 && row->group >= PARAM_GROWTH &&
                                           row->group <= PARAM_COMPUTE);
        const char *value = NULL;
        if (!shown || row->kind == PARAM_PATH || row->kind == PARAM_READ || param_same(row, from, initial) ||
            settings->count == SETTINGS_MOST) {
            continue;
        }
        if (!lab_parameter_text(settings->arena, row, from, 0, &value)) {
            return false;
        }
        settings->at[settings->count++] =
            (struct lab_setting){row->name, value == NULL || value[0] == '\0' ? "true" : value};
    }
    return true;
}

static enum orr_status simai_enter(struct lab_record *record, const struct lab_experiment *experiment,
                                   const struct orr_run *run, const char *path, int64_t *number, struct orr_error *err)
{
    struct lab_store *store = NULL;
    struct lab_outcome outcome = {0};
    const char *why = run->ended.status == ORR_OK ? NULL : run->ended.text;
    lab_outcome_read(run, run->ended.status, run->wall_ms, &outcome);
    enum orr_status status = lab_record_describe(record, experiment, run, err);
    if (status == ORR_OK) {
        status = lab_record_results(record, experiment, run, &outcome, why, err);
    }
    if (status == ORR_OK) {
        status = lab_store_open(path, IO_DATABASE_WRITE, &store, err);
    }
    if (status == ORR_OK) {
        status = lab_store_begin(store, &record->manifest, number, err);
    }
    if (status == ORR_OK) {
        status = lab_store_finish(store, *number, &record->results, err);
    }
    lab_store_close(store);
    return status;
}

enum orr_status orr_simai_store(const struct orr_simai_simulation *options, const struct orr_run *run,
                                const char *store, const char *tag, const char *command, int64_t *number,
                                struct orr_error *err)
{
    if (!run->executed || run->rows.simai == NULL) {
        return error_set(err, ORR_EINVAL, "nothing to keep: this is no run of a SimAI workload that was executed");
    }
    struct orr_simai_simulation initial;
    struct lab_record record;
    lab_record_init(&record);
    orr_simai_simulation_init(&initial);
    initial.run.backend = options->run.backend; /* always told */
    struct simai_settings settings = {
        .arena = &record.arena, .at[0] = {"backend", run_backend_word(orr_run_backend(run))}, .count = 1};
    bool told = simai_settings_add(&settings, param_simai_simulation, options, &initial) &&
                simai_settings_add(&settings, param_run, &options->run, &initial.run);
    const struct lab_experiment experiment = {.options = options->run,
                                              .simai = options,
                                              .kind = "simai",
                                              .command = command,
                                              .tag = tag,
                                              .topology =
                                                  options->topology != NULL ? options->topology : options->run.machine,
                                              .settings = settings.at,
                                              .setting_count = settings.count};
    enum orr_status status = told ? simai_enter(&record, &experiment, run, store, number, err)
                                  : mem_error(&record.mem, "the settings of a run", err);
    lab_record_free(&record);
    return status;
}
