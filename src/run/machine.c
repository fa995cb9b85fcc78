/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine of a run that is named instead of described by files: the files are made in memory, and the run goes on
 * as with any others.
 */
#include "run/machine.h"

#include <inttypes.h>
#include <string.h>

#include "io/file.h"
#include "param/param.h"
#include "run/network_choice.h"
#include "run/session.h"
#include "run/workload_find.h"

/* Traces of a prefix: those that are there without a gap. */
static enum orr_status count_traces(const struct orr_run_options *options, struct arena *arena, uint32_t *count,
                                    struct orr_error *err)
{
    uint32_t ranks = options->loaded != NULL ? orr_workload_ranks(options->loaded) : 0;
    for (bool more = options->loaded == NULL; more;) {
        const char *path = arena_printf(arena, "%s.%" PRIu32 ".et", options->workload, ranks);
        if (path == NULL) {
            return mem_error(arena->mem, "a path", err);
        }
        more = file_exists(path);
        ranks += more ? 1 : 0;
    }
    *count = ranks;
    enum orr_status status = ranks > 0 ? ORR_OK : run_workload_hint(options->workload, arena, err);
    return ranks > 0 || status != ORR_OK
               ? status
               : error_set(err, ORR_EINVAL,
                           "%s.0.et: there is no such trace; parameter 'workload' is the prefix "
                           "of the traces, PREFIX.RANK.et",
                           options->workload);
}

/* Whether there is one trace and no second. */
static bool has_one_trace(const struct orr_run_options *options)
{
    struct mem mem = {0};
    struct arena arena;
    if (options->loaded != NULL || options->workload == NULL) {
        return options->loaded != NULL && orr_workload_ranks(options->loaded) == 1;
    }
    arena_init(&arena, &mem);
    const char *first = arena_printf(&arena, "%s.0.et", options->workload);
    const char *second = arena_printf(&arena, "%s.1.et", options->workload);
    bool one = first != NULL && second != NULL && file_exists(first) && !file_exists(second);
    arena_free(&arena);
    return one;
}

void run_machine_of_one(struct orr_run_options *options)
{
    if (options->machine == NULL && options->network == NULL && options->system == NULL && !options->replay &&
        options->job_count == 0 && !options->grow && options->compat != ORR_COMPAT_ASTRA && has_one_trace(options)) {
        options->machine = "gpu";
    }
}

static enum orr_status run_machine_refuse_size(const struct orr_run_options *options, uint32_t told, uint32_t traces,
                                               struct orr_error *err)
{
    return told < traces
               ? error_set(err, ORR_EINVAL,
                           "%.80s has %" PRIu32 " ranks, and there are %" PRIu32
                           " traces: a machine of as many is needed, or fewer traces",
                           options->machine, told, traces)
               : error_set(err, ORR_EINVAL,
                           "%.80s has %" PRIu32 " ranks, and there %s %" PRIu32 " trace%s: a machine of %" PRIu32
                           " fits, or parameter 'grow' makes the job as "
                           "large as the machine",
                           options->machine, told, traces == 1 ? "is" : "are", traces, traces == 1 ? "" : "s", traces);
}

static enum orr_status run_machine_settle_size(const struct orr_run_options *options, struct run_named_machine *made,
                                               struct arena *arena, struct orr_error *err)
{
    struct run_machine *machine = &made->machine;
    uint32_t traces = 0;
    uint32_t told = run_machine_told(machine);
    bool jobs = options->job_count > 0; /* whose ranks need not be all of the machine's */
    enum orr_status status = jobs ? ORR_OK : count_traces(options, arena, &traces, err);
    if (status != ORR_OK) {
        return status;
    }
    if (told == 0 && (options->grow || jobs)) {
        return error_set(err, ORR_EINVAL,
                         "parameter '%s' needs a machine that says how many ranks it has, and %.80s does not",
                         jobs ? "job" : "grow", options->machine);
    }
    if (jobs) {
        return run_machine_lay_out(machine, told, arena, &made->rates, &made->times, err);
    }
    if (told != 0 && told != traces && (told < traces || !options->grow)) {
        return run_machine_refuse_size(options, told, traces, err);
    }
    return run_machine_lay_out(machine, told != 0 ? told : traces, arena, &made->rates, &made->times, err);
}

static enum orr_status write_files(struct orr_run_options *options, struct run_named_machine *made, bool simai,
                                   struct arena *arena, struct orr_error *err)
{
    const struct run_machine_request request = {.machine = &made->machine,
                                                .folder = "machine",
                                                .system = options->system,
                                                .backend = options->backend,
                                                .rates = &made->rates,
                                                .times = &made->times,
                                                .texts = &made->texts,
                                                .simai = simai};
    struct run_machine_files files = {0};
    enum orr_status status = run_machine_check(&request, err);
    status = status == ORR_OK ? run_machine_write(&request, arena, &files, err) : status;
    if (status != ORR_OK) {
        return status;
    }
    made->words = arena_strndup(arena, options->machine, strlen(options->machine));
    options->system = files.system;
    options->network = files.network;
    options->logical = files.logical;
    size_t texts = options->text_count + made->texts.count;
    struct orr_text *list = arena_alloc(arena, (texts + 1) * sizeof *list);
    struct orr_override *overrides = arena_alloc(arena, (options->override_count + 1) * sizeof *overrides);
    if (list == NULL || overrides == NULL || made->words == NULL) {
        return mem_error(arena->mem, "the files of a machine", err);
    }
    memcpy(list, made->texts.text, made->texts.count * sizeof *list);
    if (options->text_count > 0) {
        memcpy(list + made->texts.count, options->texts, options->text_count * sizeof *list);
    }
    options->texts = list;
    options->text_count = texts;
    if (files.topology != NULL) { /* a file of that name in the current folder is another machine's */
        if (options->override_count > 0) {
            memcpy(overrides, options->overrides, options->override_count * sizeof *overrides);
        }
        overrides[options->override_count++] = (struct orr_override){.file = "network",
                                                                     .key = "TOPOLOGY_FILE",
                                                                     .value = files.topology,
                                                                     .origin = "parameter 'machine'",
                                                                     .line = 1};
        options->overrides = overrides;
    }
    return ORR_OK;
}

enum orr_status run_machine_take(struct orr_run_options *options, struct run_named_machine *made, struct arena *arena,
                                 struct notes *notes, struct orr_error *err)
{
    struct run_machine *machine = &made->machine;
    enum orr_status status =
        run_machine_read(options->machine, options, arena, machine, &made->rates, &made->times, err);
    if (status == ORR_OK) {
        status = run_machine_settle_size(options, made, arena, err);
    }
    if (status == ORR_OK) {
        status = run_network_settle(machine, options, notes, &options->backend, err);
    }
    if (status == ORR_OK && machine->ranks > 1) { /* now that the network is known; one rank uses none */
        status = param_wired_check(options, err);
    }
    return status == ORR_OK ? write_files(options, made, false, arena, err) : status;
}

enum orr_status run_machine_take_wires(struct orr_run_options *options, uint32_t gpus, struct run_named_machine *made,
                                       struct arena *arena, const char **topology, struct orr_error *err)
{
    struct run_machine *machine = &made->machine;
    enum orr_status status =
        run_machine_read(options->machine, options, arena, machine, &made->rates, &made->times, err);
    uint32_t told = status == ORR_OK ? run_machine_told(machine) : 0;
    if (status == ORR_OK && machine->kind == RUN_MACHINE_FILE && machine->is_network) {
        return error_set(err, ORR_EINVAL,
                         "%.300s: this is a network file (YAML), which has no wires; a name, a line or a physical "
                         "topology has them",
                         machine->path);
    }
    if (status == ORR_OK && told == 0 && gpus == 0) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'machine': %.80s leaves open how many GPUs it has, and the workload's header has "
                         "no all_gpus",
                         options->machine);
    }
    if (status == ORR_OK) {
        status = run_machine_lay_out(machine, told != 0 ? told : gpus, arena, &made->rates, &made->times, err);
    }
    status = status == ORR_OK ? write_files(options, made, true, arena, err) : status;
    if (status == ORR_OK) {
        *topology =
            machine->kind == RUN_MACHINE_FILE ? machine->path : options->overrides[options->override_count - 1].value;
    }
    return status;
}
