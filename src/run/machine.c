/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine of a run that is named instead of described by files: the files are made in memory, and the run goes on
 * as with any others.
 */
#include "run/machine.h"

#include <inttypes.h>
#include <string.h>

#include "io/file.h"
#include "run/network_choice.h"
#include "run/session.h"

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
    return ranks > 0 ? ORR_OK
                     : error_set(err, ORR_EINVAL,
                                 "%s.0.et: there is no such trace; parameter 'workload' is the prefix "
                                 "of the traces, PREFIX.RANK.et",
                                 options->workload);
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

static enum orr_status run_machine_settle_size(const struct orr_run_options *options, struct lab_machine *machine,
                                               struct arena *arena, struct orr_error *err)
{
    uint32_t traces = 0;
    uint32_t told = lab_machine_told(machine);
    enum orr_status status = count_traces(options, arena, &traces, err);
    if (status != ORR_OK) {
        return status;
    }
    if (told == 0 && options->grow) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'grow' needs a machine that says how many ranks it has, and %.80s does not",
                         options->machine);
    }
    if (told != 0 && told != traces && (told < traces || !options->grow)) {
        return run_machine_refuse_size(options, told, traces, err);
    }
    bool settled = machine->kind == LAB_MACHINE_FILE || machine->line != NULL;
    return settled ? ORR_OK : lab_machine_settle(machine, told != 0 ? told : traces, err);
}

static enum orr_status settle_network(struct orr_run_options *options, const struct lab_machine *machine,
                                      struct notes *notes, struct orr_error *err)
{
    bool wires = lab_machine_needs_wires(machine);
    if (options->backend_open) {
        options->backend = wires ? ORR_BACKEND_FLOW : ORR_BACKEND_UNAWARE;
    }
    bool wired = options->backend >= ORR_BACKEND_PACKET;
    if (machine->kind == LAB_MACHINE_FILE && wired != wires) {
        return error_set(err, ORR_EINVAL, "parameter 'backend': %s needs %s, and %s is %s",
                         param_backends[options->backend], wired ? "a physical topology" : "a network.yml",
                         machine->path, wires ? "taken for a physical topology" : "a network.yml");
    }
    return wires && !wired ? notes_add(notes, err,
                                       "parameter 'backend' %s does not see the wires of %.80s, and takes it for its "
                                       "dimensions; flow, packet and auto do",
                                       param_backends[options->backend], options->machine)
                           : ORR_OK;
}

static enum orr_status write_files(struct orr_run_options *options, const struct lab_machine_request *request,
                                   struct run_machine *made, struct arena *arena, struct orr_error *err)
{
    struct lab_machine_files files = {0};
    enum orr_status status = lab_machine_write(request, arena, &files, err);
    if (status != ORR_OK) {
        return status;
    }
    options->system = files.system;
    options->network = files.network;
    options->logical = files.logical;
    size_t texts = options->text_count + made->texts.count;
    struct orr_text *list = arena_alloc(arena, (texts + 1) * sizeof *list);
    struct orr_override *overrides = arena_alloc(arena, (options->override_count + 1) * sizeof *overrides);
    if (list == NULL || overrides == NULL) {
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

enum orr_status run_machine_take(struct orr_run_options *options, struct run_machine *made, struct arena *arena,
                                 struct notes *notes, struct orr_error *err)
{
    struct lab_machine *machine = &made->machine;
    enum orr_status status = lab_machine_parse(options->machine, machine, err);
    if (status == ORR_OK) {
        status = lab_machine_rates(machine, options, arena, &made->rates, &made->times, err);
    }
    bool line = machine->kind == LAB_MACHINE_MADE && machine->line != NULL;
    if (status == ORR_OK && machine->kind == LAB_MACHINE_FILE) {
        status = lab_machine_file_dims(machine, arena->mem, &made->rates, err);
    } else if (status == ORR_OK && line) {
        status = lab_machine_made_dims(machine, arena, &made->rates, &made->times, err);
    }
    if (status == ORR_OK) {
        status = run_machine_settle_size(options, machine, arena, err);
    }
    if (status == ORR_OK && machine->kind == LAB_MACHINE_MADE && !line) {
        status = lab_machine_made_dims(machine, arena, &made->rates, &made->times, err);
    }
    status = status == ORR_OK ? settle_network(options, machine, notes, err) : status;
    const struct lab_machine_request request = {.machine = machine,
                                                .folder = "machine",
                                                .system = options->system,
                                                .backend = options->backend,
                                                .rates = &made->rates,
                                                .times = &made->times,
                                                .texts = &made->texts};
    if (status == ORR_OK) {
        status = lab_machine_check(&request, err);
    }
    return status == ORR_OK ? write_files(options, &request, made, arena, err) : status;
}
