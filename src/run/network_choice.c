/* SPDX-License-Identifier: Apache-2.0 */
#include "run/network_choice.h"

#include <string.h>

#include "io/file.h"
#include "param/param.h"

const char *run_backend_word(enum orr_backend backend)
{
    return param_backends[backend];
}

bool run_machine_needs_wires(const struct run_machine *machine)
{
    return machine->kind == RUN_MACHINE_FILE ? !machine->is_network : run_machine_is_wired(machine->kind);
}

/* The name with a delimiter on both sides, so that the key nccl-gpus-per-server is none. */
static bool names_nccl(const char *text)
{
    static const char *const names[] = {"nccl", "ncclRing", "ncclTree", "ncclNvls", "ncclCollnet"};
    for (const char *at = strstr(text, "nccl"); at != NULL; at = strstr(at + 1, "nccl")) {
        size_t length = strcspn(at, "\"],[ \t\n");
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            if (strlen(names[i]) == length && memcmp(at, names[i], length) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Whether a system file, or what replaces keys of it, names one of NCCL's algorithms. A file that cannot be read names
 * none: whoever runs the job will complain. */
static bool run_system_names_nccl(const char *path, const struct orr_override *overrides, size_t override_count)
{
    for (size_t i = 0; i < override_count; i++) {
        /* A key whose file is found out later is of the system's where its value is an algorithm. */
        bool of_system = overrides[i].file == NULL || strcmp(overrides[i].file, "system") == 0;
        if (of_system && names_nccl(overrides[i].value)) {
            return true;
        }
    }
    struct mem mem = {0};
    struct file_buffer buffer;
    file_buffer_init(&buffer, &mem);
    bool found =
        path != NULL && file_buffer_read(&buffer, path, NULL) == ORR_OK && names_nccl((const char *)buffer.bytes);
    file_buffer_free(&buffer);
    return found;
}

/* What a network of dimensions takes a machine for that only wires tell. */
static const char *seen_as(const struct run_machine *machine)
{
    return machine->kind == RUN_MACHINE_MADE             ? "switches inside and between its servers"
           : run_machine_join(machine, 0) == TOPO_SWITCH ? "one switch"
                                                         : "plain rings";
}

enum orr_status run_network_settle(const struct run_machine *machine, const struct orr_run_options *options,
                                   struct notes *notes, enum orr_backend *backend, struct orr_error *err)
{
    bool wires = run_machine_needs_wires(machine);
    enum orr_status status = ORR_OK;
    if (machine->ranks == 1 && machine->kind != RUN_MACHINE_FILE) { /* nothing is sent: the same on every network */
        *backend = ORR_BACKEND_UNAWARE;
        return ORR_OK;
    }
    *backend = !options->backend_open ? options->backend : wires ? ORR_BACKEND_FLOW : ORR_BACKEND_UNAWARE;
    if (options->backend_open && !wires &&
        run_system_names_nccl(options->system, options->overrides, options->override_count)) {
        *backend = ORR_BACKEND_AWARE;
        status = notes_add(notes, err, "%s", RUN_WHY_AWARE);
    }
    bool wired = *backend >= ORR_BACKEND_PACKET;
    if (machine->kind == RUN_MACHINE_FILE && wired != wires) {
        return error_set(err, ORR_EINVAL, "parameter 'backend': %s needs %s, and %s is %s", run_backend_word(*backend),
                         wired ? "a physical topology" : "a network.yml", machine->path,
                         wires ? "taken for a physical topology" : "a network.yml");
    }
    return status == ORR_OK && wires && !wired
               ? notes_add(notes, err,
                           "parameter 'backend' %s does not see the wires of %.80s, and takes it for %s; flow, packet "
                           "and auto do",
                           run_backend_word(*backend), options->machine, seen_as(machine))
               : status;
}

/* ---- one network for all ---- */

/* What is known of the points so far. */
struct survey {
    uint64_t wires, dimensions; /* the first point whose machine needs them, from 1; 0: none */
    uint64_t blind, seeing;     /* the first that was asked onto dimensions with wires to see, and without */
    bool nccl;
    const char *system; /* last looked at */
};

static void look_at_system(struct survey *survey, const char *system, const struct orr_sweep_job *job)
{
    size_t overrides = job->override_count + (job->run != NULL ? job->run->override_count : 0);
    bool seen = overrides == 0 && system != NULL && survey->system != NULL && strcmp(system, survey->system) == 0;
    if (!survey->nccl && !seen) {
        survey->nccl = run_system_names_nccl(system, job->overrides, job->override_count) ||
                       (job->run != NULL && run_system_names_nccl(NULL, job->run->overrides, job->run->override_count));
        survey->system = system;
    }
}

static const struct orr_run_options *run_of(const struct orr_sweep_job *job)
{
    return job->run != NULL ? job->run : &job->lab->run;
}

static void note(uint64_t *first, uint64_t point, bool is_so)
{
    *first = *first == 0 && is_so ? point : *first;
}

/* A job on a machine that is named: a lab run, or a run with one. */
static void look_at_machine(struct survey *survey, const struct orr_sweep_job *job, uint64_t point)
{
    const struct orr_run_options *run = run_of(job);
    struct run_machine machine;
    if (run_machine_parse(run->machine != NULL ? run->machine : "auto:1d", &machine, NULL) != ORR_OK) {
        return; /* the point says so itself */
    }
    if (machine.kind == RUN_MACHINE_FILE && run_machine_look(&machine, NULL) != ORR_OK) {
        return;
    }
    bool wires = run_machine_needs_wires(&machine);
    bool network = machine.kind == RUN_MACHINE_FILE && machine.is_network && !machine.is_logical;
    if (run->backend_open) {
        note(&survey->wires, point, wires);
        note(&survey->dimensions, point, network);
        look_at_system(survey, run->system, job);
    } else if (run->backend < ORR_BACKEND_PACKET) {
        note(&survey->blind, point, wires);
        note(&survey->seeing, point, !wires);
    } else {
        note(&survey->blind, point, network);
        note(&survey->seeing, point, !network);
    }
}

enum orr_status run_network_for_all(const struct orr_sweep_job *jobs, uint64_t count, enum orr_backend *network,
                                    struct orr_error *err)
{
    struct survey survey = {0};
    for (uint64_t i = 0; i < count; i++) {
        if (jobs[i].run == NULL || jobs[i].run->machine != NULL) {
            look_at_machine(&survey, &jobs[i], i + 1);
        } else if (jobs[i].run->backend_open) {
            look_at_system(&survey, jobs[i].run->system, &jobs[i]);
        }
    }
    if (survey.blind != 0 && survey.seeing != 0) {
        const struct orr_run_options *run = run_of(&jobs[survey.blind - 1]);
        bool dimensions = run->backend < ORR_BACKEND_PACKET;
        return error_set(err, ORR_EINVAL,
                         "parameter 'backend' %s sees the machine of point %llu and not that of point %llu (%s), so "
                         "that their times "
                         "cannot be ranked; %s",
                         run_backend_word(run->backend), (unsigned long long)survey.seeing,
                         (unsigned long long)survey.blind, run->machine,
                         dimensions ? "flow, packet and auto see wires" : "unaware and aware take a network.yml");
    }
    if (survey.wires != 0 && survey.dimensions != 0) {
        return error_set(err, ORR_EINVAL,
                         "point %llu (%s) needs a network of wires, point %llu (%s) one of dimensions: no network runs "
                         "both, so that their times cannot be ranked",
                         (unsigned long long)survey.wires, run_of(&jobs[survey.wires - 1])->machine,
                         (unsigned long long)survey.dimensions, run_of(&jobs[survey.dimensions - 1])->machine);
    }
    *network = survey.wires != 0 ? ORR_BACKEND_FLOW : survey.nccl ? ORR_BACKEND_AWARE : ORR_BACKEND_UNAWARE;
    return ORR_OK;
}
