/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a rank's time goes is told by what is in flight at every moment, the first that applies: kernels, the host, a
 * receive that the next pass waits for (the pipeline's bubble), a collective by its kind, a send. What is left is
 * bubble too: nothing of this rank's is under way. So the parts add up to the step.
 */
#include "train/simulate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compute/device.h"
#include "run/machine_read.h"
#include "run/session.h"
#include "train/roles.h"
#include "train/trace.h"

/* ---- the machine ---- */

/* The usual server of a device: the first that is made of it. */
static const struct topo_server *simulate_server_of(const char *device)
{
    for (size_t i = 0; topo_server_at(i) != NULL; i++) {
        if (strcmp(topo_server_at(i)->device, device) == 0 && topo_server_at(i)->gpus > 1) {
            return topo_server_at(i);
        }
    }
    return NULL;
}

static enum orr_status simulate_servers(const struct topo_server *server, uint32_t gpus,
                                        struct orr_train_simulated *simulated, uint32_t *ranks)
{
    uint32_t servers = (gpus + server->gpus - 1) / server->gpus;
    (void)snprintf(simulated->machine, sizeof simulated->machine, "%s:%" PRIu32, server->name, servers);
    *ranks = servers * server->gpus;
    return ORR_OK;
}

/* The machine's name and how many ranks it has; one that leaves that open gets as many as the job needs. */
static enum orr_status simulate_machine(const struct predict_job *job, const struct orr_train_options *options,
                                        struct mem *mem, struct orr_train_simulated *simulated, uint32_t *ranks,
                                        struct orr_error *err)
{
    struct run_machine machine = {0};
    struct run_quantities rates = {0}, times = {0};
    struct orr_run_options plain;
    struct arena arena;
    if (options->machine == NULL) {
        const struct topo_server *server = simulate_server_of(job->device->name);
        return server != NULL ? simulate_servers(server, job->plan.gpus, simulated, ranks)
                              : error_set(err, ORR_EINVAL,
                                          "parameter 'backend': no server of %s is known; parameter 'machine' names "
                                          "what it runs on",
                                          job->device->name);
    }
    orr_run_options_init(&plain);
    arena_init(&arena, mem);
    enum orr_status status = run_machine_read(options->machine, &plain, &arena, &machine, &rates, &times, err);
    uint32_t told = run_machine_told(&machine);
    if (status == ORR_OK && told == 0 && machine.kind == RUN_MACHINE_MADE && machine.server != NULL) {
        status = simulate_servers(machine.server, job->plan.gpus, simulated, ranks);
    } else if (status == ORR_OK) {
        *ranks = told != 0 ? told : job->plan.gpus;
        (void)snprintf(simulated->machine, sizeof simulated->machine, "%.95s", options->machine);
    }
    arena_free(&arena);
    return status != ORR_OK || *ranks >= job->plan.gpus
               ? status
               : error_set(err, ORR_EINVAL, "the job has %" PRIu32 " GPUs, machine '%.80s' has %" PRIu32,
                           job->plan.gpus, options->machine, *ranks);
}

/* ---- where the time went ---- */

/* A node of the rank begins (+1) or ends (-1). */
struct simulate_event {
    uint64_t ns;
    int32_t change;
    uint32_t part;
};

static int simulate_by_time(const void *a, const void *b)
{
    const struct simulate_event *x = a;
    const struct simulate_event *y = b;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

/* Which part a moment belongs to, by what is in flight. */
static uint64_t *simulate_part(struct orr_train_simulated *simulated, const uint32_t in_flight[ROLE_PARTS],
                               bool hidden_sends)
{
    uint64_t *const parts[ROLE_PARTS] = {
        [ROLE_FORWARD] = &simulated->forward_ns,     [ROLE_BACKWARD] = &simulated->backward_ns,
        [ROLE_OPTIMIZER] = &simulated->optimizer_ns, [ROLE_LAUNCH] = &simulated->launch_ns,
        [ROLE_TP] = &simulated->exposed_tp_ns,       [ROLE_CP] = &simulated->exposed_cp_ns,
        [ROLE_EP] = &simulated->exposed_ep_ns,       [ROLE_DP] = &simulated->exposed_dp_ns,
        [ROLE_SEND] = &simulated->exposed_pp_ns};
    for (uint32_t part = ROLE_FORWARD; part <= ROLE_EP; part++) {
        if (in_flight[part] > 0) {
            return parts[part];
        }
    }
    if (in_flight[ROLE_SEND] > 0 && !hidden_sends) {
        return parts[ROLE_SEND];
    }
    return in_flight[ROLE_DP] > 0 && in_flight[ROLE_RECV] == 0 ? parts[ROLE_DP] : &simulated->bubble_ns;
}

/* Receives are asked for from the beginning and count from when the rank has done what comes before them. `ends` are
 * when the rank's nodes ended. */
static uint64_t simulate_waits_since(const uint64_t *ends, const struct train_trace_marks *marks, uint32_t node)
{
    while (node > 0 && marks->at[node] > ROLE_LAUNCH) {
        node--;
    }
    return marks->at[node] <= ROLE_LAUNCH ? ends[node] : 0;
}

/* Both ends of all intervals of the rank; how many. */
static size_t simulate_events(const struct sim_result *result, const struct train_trace_marks *marks, uint64_t *ends,
                              struct simulate_event *events)
{
    size_t count = 0;
    for (uint32_t i = 0; i < result->interval_count; i++) {
        ends[result->intervals[i].node] = result->intervals[i].end_ns;
    }
    for (uint32_t i = 0; i < result->interval_count; i++) {
        const struct sim_interval *interval = &result->intervals[i];
        uint32_t part = marks->at[interval->node];
        uint64_t start = part == ROLE_RECV ? simulate_waits_since(ends, marks, interval->node) : interval->start_ns;
        if (start < interval->end_ns) {
            events[count++] = (struct simulate_event){start, 1, part};
            events[count++] = (struct simulate_event){interval->end_ns, -1, part};
        }
    }
    qsort(events, count, sizeof *events, simulate_by_time);
    return count;
}

/* Of a run that kept the intervals of one rank. */
static enum orr_status simulate_account(const struct sim_result *result, const struct train_trace_marks *marks,
                                        bool hidden_sends, struct mem *mem, struct orr_train_simulated *simulated,
                                        struct orr_error *err)
{
    size_t room = 2 * (size_t)result->interval_count + 1, count = 0;
    struct simulate_event *events = mem_alloc(mem, room * sizeof *events);
    uint64_t *ends = mem_zalloc(mem, marks->count * sizeof *ends), now = 0;
    uint32_t in_flight[ROLE_PARTS] = {0};
    enum orr_status status = events == NULL || ends == NULL ? mem_error(mem, "what a rank did", err) : ORR_OK;
    if (status == ORR_OK) {
        count = simulate_events(result, marks, ends, events);
    }
    for (size_t i = 0; i < count; i++) {
        *simulate_part(simulated, in_flight, hidden_sends) += events[i].ns - now;
        now = events[i].ns;
        in_flight[events[i].part] += (uint32_t)events[i].change;
    }
    mem_free(mem, events, room * sizeof *events);
    mem_free(mem, ends, marks->count * sizeof *ends);
    simulated->bubble_ns += result->end_ns - now;
    simulated->step_ns = result->end_ns;
    simulated->exposed_comm_ns = simulated->exposed_tp_ns + simulated->exposed_cp_ns + simulated->exposed_ep_ns +
                                 simulated->exposed_pp_ns + simulated->exposed_dp_ns;
    return status;
}

/* ---- the run ---- */

static enum orr_status simulate_run(const struct predict_job *job, const struct orr_train_options *options,
                                    const struct orr_workload *workload, const struct train_trace_marks *marks,
                                    struct mem *mem, struct orr_train_simulated *simulated, struct orr_error *err)
{
    struct orr_run_options asked;
    struct orr_run *run = NULL;
    orr_run_options_init(&asked);
    asked.workload = "the step";
    asked.loaded = workload;
    asked.machine = simulated->machine;
    asked.backend = options->backend;
    asked.backend_open = false;
    asked.policy = ORR_POLICY_STREAMS;
    asked.collective_times = options->collective_times;
    asked.collective_gpu = options->collective_times == ORR_COLLECTIVES_MODEL ? job->device->name : NULL;
    asked.keep_intervals = true;
    orr_run_watch(&asked, options->progress, options->progress_context);
    asked.memory_limit = options->memory_limit;
    enum orr_status status = orr_run_open(&asked, &run, err);
    if (status == ORR_OK) {
        run->config.kept_rank = simulated->rank + 1;
        run->config.timing_factor = job->framework.comm;
        status = orr_run_execute(run, err);
    }
    if (status == ORR_OK) {
        const struct sim_result *result = session_result(run);
        simulated->backend = orr_run_backend(run);
        simulated->nodes = result->nodes;
        simulated->messages = result->messages;
        status = simulate_account(result, marks, step_hides_sends(&job->job), mem, simulated, err);
    }
    orr_run_close(run);
    orr_run_options_free(&asked);
    return status;
}

enum orr_status simulate_step(const struct predict_job *job, const struct orr_train_options *options,
                              struct orr_train_simulated *simulated, struct orr_error *err)
{
    struct mem mem = {.limit = options->memory_limit};
    struct orr_train_simulated made = {0};
    struct step_layout *layout = NULL;
    struct orr_workload *workload = NULL;
    struct train_trace_marks marks = {0};
    uint32_t ranks = 0;
    enum orr_status status = role_check(&job->plan, err);
    if (status == ORR_OK) {
        status = simulate_machine(job, options, &mem, &made, &ranks, err);
    }
    if (status == ORR_OK) {
        status = step_layout_make(&job->cost, &job->job, &mem, &layout, err);
    }
    if (status == ORR_OK) {
        uint32_t stage = train_trace_busiest(job, layout);
        made.rank = stage * order_stage_stride(&job->plan);
        made.idle = ranks - job->plan.gpus;
        status = train_trace_load(job, layout, ranks, options->memory_limit, stage, &mem, &marks, &workload, err);
    }
    if (status == ORR_OK) {
        status = simulate_run(job, options, workload, &marks, &mem, &made, err);
        mem_free(&mem, marks.at, marks.count);
    }
    orr_workload_close(workload);
    step_layout_free(layout, &mem);
    if (status == ORR_OK) {
        *simulated = made;
    }
    return status;
}
