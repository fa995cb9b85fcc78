/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One simulation from files to results, behind the orr_run_* functions of orrery.h.
 *
 * The order of reading is the order in which a user can be told most: the network first (it says how many ranks there
 * are), then the system, memory and groups, the traces last because they are large. Everything a run holds hangs off
 * one account of memory, so that a limit covers reading and running alike, and is given back in reverse in one place.
 */
#include "run/session.h"
#include "base/clock.h"
#include "base/units.h"
#include "coll/nccl.h"
#include "coll/timing/timing.h"
#include "config/config.h"
#include "io/file.h"
#include "param/param.h"
#include "run/files.h"
#include "run/network_choice.h"
#include "run/workload_find.h"
#include "run/workload_shared.h"
#include "topo/make/grammar.h"

#include <stdlib.h>
#include <string.h>

static enum orr_status load_custom(struct orr_run *run, const char *path, const struct trace_set **set,
                                   struct orr_error *err)
{
    for (uint32_t i = 0; i < run->custom_count; i++) {
        if (strcmp(run->customs[i].path, path) == 0) {
            *set = run->customs[i].set;
            return ORR_OK;
        }
    }
    struct trace_set *loaded = NULL;
    enum orr_status status = trace_set_load(path, run->config.dims.ranks, true, &run->mem, &run->notes, &loaded, err);
    if (status != ORR_OK) {
        return status;
    }
    run->customs[run->custom_count++] = (struct session_custom){path, loaded};
    *set = loaded;
    return ORR_OK;
}

static enum orr_status load_customs(struct orr_run *run, const struct config_custom *custom, struct orr_error *err)
{
    struct config_custom_node *nodes = NULL;
    uint32_t node_count = 0;
    if (custom->per_node_file != NULL) {
        enum orr_status status =
            config_read_custom_nodes(custom->per_node_file, &run->arena, &run->notes, &nodes, &node_count, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    run->customs = arena_zalloc(&run->arena, (SIM_NATIVE_COUNT + (size_t)node_count) * sizeof *run->customs);
    struct sim_custom_node *simulated = arena_zalloc(&run->arena, (size_t)node_count * sizeof *simulated);
    if (run->customs == NULL || simulated == NULL) {
        return mem_error(&run->mem, "the list of custom collectives", err);
    }
    struct sim_system *system = &run->config.system;
    for (uint32_t i = 0; i < SIM_NATIVE_COUNT; i++) {
        if (custom->native[i] != NULL) {
            enum orr_status status = load_custom(run, custom->native[i], &system->implementation[i].custom, err);
            if (status != ORR_OK) {
                return status;
            }
        }
    }
    for (uint32_t i = 0; i < node_count; i++) {
        simulated[i].node_id = nodes[i].node_id;
        enum orr_status status = load_custom(run, nodes[i].path, &simulated[i].custom, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    system->custom_nodes = simulated;
    system->custom_node_count = node_count;
    return ORR_OK;
}

static enum orr_status read_network(struct orr_run *run, const struct orr_run_options *options, struct orr_error *err)
{
    struct run_file file;
    enum orr_status status = run_file_open(options, "network", options->network, &run->arena, &file, err);
    if (status == ORR_OK) {
        status = config_take_network(&file.text, &run->notes, &run->config.dims, err);
        run_file_close(&file);
    }
    return status;
}

static enum orr_status read_system(struct orr_run *run, const struct orr_run_options *options,
                                   struct config_custom *custom, struct orr_error *err)
{
    struct run_file file;
    enum orr_status status = run_file_open(options, "system", options->system, &run->arena, &file, err);
    if (status == ORR_OK) {
        status = config_take_system(&file.text, options->injection_scale, &run->arena, &run->notes, &run->config.system,
                                    custom, err);
        run_file_close(&file);
    }
    return status;
}

/* The channels of NCCL's algorithms send at once: on a network without contention each would have the link alone. */
static enum orr_status run_session_settle_backend(struct orr_run *run, bool open, struct orr_error *err)
{
    bool nccl = false;
    for (uint32_t i = 0; i < SIM_NATIVE_COUNT; i++) {
        const struct sim_implementation *implementation = &run->config.system.implementation[i];
        nccl = nccl || (implementation->count > 0 && implementation->list[0].algo == COLL_NCCL);
    }
    if (!open || !nccl || run->config.backend != ORR_BACKEND_UNAWARE) {
        return ORR_OK;
    }
    run->config.backend = ORR_BACKEND_AWARE;
    return notes_add(&run->notes, err, "%s", RUN_WHY_AWARE);
}

/* What NCCL takes for collectives: on the GPU that is named, else on the machine's. The times of the run where that is
 * asked for; else they stand beside them in reports, where the GPU is known. */
enum orr_status session_settle_times(struct orr_run *run, const struct orr_run_options *options, const char *device,
                                     struct orr_error *err)
{
    bool takes = options->collective_times == ORR_COLLECTIVES_MODEL;
    const struct run_machine *named = options->machine != NULL ? &run->machine.machine : NULL;
    const struct topo_server *server = named != NULL ? named->server : NULL;
    const char *gpu = options->collective_gpu != NULL ? options->collective_gpu
                      : server != NULL                ? server->device
                      : named != NULL                 ? named->device
                                                      : device;
    struct timing_machine *timing = arena_zalloc(&run->arena, sizeof *timing);
    if (timing == NULL) {
        return mem_error(&run->mem, "the times of collectives", err);
    }
    timing->gpu = gpu != NULL ? timing_gpu_find(gpu) : NULL;
    if (timing->gpu == NULL && !takes) {
        return ORR_OK;
    }
    if (timing->gpu == NULL) {
        return gpu == NULL || *gpu == '\0'
                   ? error_set(err, ORR_EINVAL,
                               "parameter 'collective-times': the machine does not say which GPUs it has; name them "
                               "with parameter 'collective-gpu'")
                   : error_set(err, ORR_EINVAL,
                               "parameter 'collective-gpu': no collectives are known of \"%.60s\"; of h100, a100, "
                               "b200, mi300x and others are",
                               gpu);
    }
    uint64_t bps = 0;
    if (server != NULL && units_parse(server->nic, UNITS_RATE, "Gbps", &bps, NULL) == ORR_OK) {
        timing->nic_gbytes = (double)bps / 8e9;
        timing->nic_every = server->nic_every;
        timing->node_gpus = server->gpus;
    }
    if (server != NULL && named->line != NULL && topo_grammar_is_line(named->line)) {
        struct run_line_network network;
        enum orr_status status = run_line_network_read(named->line, &network, takes ? err : NULL);
        if (status != ORR_OK) {
            return takes ? status : ORR_OK;
        }
        timing->nic_gbytes = network.nic_gbytes > 0 ? network.nic_gbytes : timing->nic_gbytes;
        timing->node_gpus = (uint32_t)network.gpus;
    }
    timing_machine_settle(timing);
    run->config.library = timing;
    run->config.timing = takes ? timing : NULL;
    return ORR_OK;
}

static enum orr_status read_memory(struct orr_run *run, const struct orr_run_options *options, struct orr_error *err)
{
    struct run_file file;
    enum orr_status status = run_file_open(options, "memory", options->memory, &run->arena, &file, err);
    if (status == ORR_OK) {
        status = config_take_memory(&file.text, &run->notes, &run->config.memory, err);
        run_file_close(&file);
    }
    return status;
}

static enum orr_status load_traces(struct orr_run *run, const struct orr_run_options *options, uint32_t ranks,
                                   bool as_many_as_exist, struct orr_error *err)
{
    if (options->loaded != NULL) {
        return workload_shared_view(options->loaded, options, ranks, &run->notes, &run->shared, err);
    }
    return workload_read(options->workload, ranks, as_many_as_exist, options->missing_is_cpu, &run->mem, &run->notes,
                         &run->traces, err);
}

const struct trace_set *session_traces(const struct orr_run *run)
{
    return run->traces != NULL ? run->traces : &run->shared;
}

/* What a replay needs of a machine, where it is given none: nothing that takes part. */
static void imagine_machine(struct orr_run *run, const struct orr_run_options *options, uint32_t ranks)
{
    struct sim_config *config = &run->config;
    if (options->network == NULL) {
        config->dims = (struct topo_dims){.count = 1,
                                          .ranks = ranks,
                                          .dim[0] = {.kind = TOPO_RING,
                                                     .size = ranks,
                                                     .stride = 1,
                                                     .bandwidth_gibps = 1.0,
                                                     .bytes_per_ns = 1.073741824,
                                                     .latency_ns = 0.0}};
    }
    if (options->system == NULL) {
        config->system = (struct sim_system){
            .optimization = SIM_LOCAL_BW_AWARE, .active_chunks_per_dimension = 1, .preferred_dataset_splits = 1};
    }
}

/* Without a network file there are as many ranks as traces. */
static enum orr_status replay_alone(struct orr_run *run, const struct orr_run_options *options,
                                    struct config_custom *custom, struct orr_error *err)
{
    enum orr_status status = run_overrides_check(options, err);
    if (status == ORR_OK && options->network != NULL) {
        status = read_network(run, options, err);
    } else if (status == ORR_OK) {
        status = load_traces(run, options, UINT32_MAX, true, err);
    }
    if (status == ORR_OK && options->system != NULL) {
        status = read_system(run, options, custom, err);
    }
    if (status == ORR_OK) {
        imagine_machine(run, options, options->network == NULL ? session_traces(run)->rank_count : 0);
    }
    return status == ORR_OK && options->memory != NULL ? read_memory(run, options, err) : status;
}

static enum orr_status run_session_read_configuration(struct orr_run *run, const struct orr_run_options *options,
                                                      struct config_custom *custom, struct orr_error *err)
{
    struct sim_config *config = &run->config;
    if (options->replay && (options->network == NULL || options->system == NULL)) {
        return replay_alone(run, options, custom, err);
    }
    bool wired = config->backend >= ORR_BACKEND_PACKET;
    enum orr_status status = run_overrides_check(options, err);
    if (status == ORR_OK) {
        status = wired ? run_wired_read(options, &run->arena, &run->notes, &run->wired, &config->dims, err)
                       : read_network(run, options, err);
    }
    if (status == ORR_OK) {
        status = session_take_faults(run, options, err);
    }
    if (status == ORR_OK && wired) {
        status = run_wired_settle(options, &config->dims, &run->notes, &run->wired, err);
    }
    config->packet = wired ? &run->wired.machine : NULL;
    if (status == ORR_OK && wired) {
        config->gpus_per_server = run->wired.extra.gpus_per_server;
        config->has_nvls = nccl_gpu_has_nvls(run->wired.extra.gpu_type);
    }
    if (status == ORR_OK) {
        status = read_system(run, options, custom, err);
    }
    const struct sim_implementation *all_reduce = &config->system.implementation[SIM_ALL_REDUCE];
    run->wired.machine.switches_end =
        config->system.nccl_collnet || (all_reduce->count > 0 && all_reduce->list[0].nccl == COLL_NCCL_COLLNET);
    if (status == ORR_OK) {
        status = run_session_settle_backend(run, options->backend_open, err);
    }
    return status == ORR_OK && options->memory != NULL ? read_memory(run, options, err) : status;
}

/* The file that was named, else what the workload brings, else the file beside the traces. */
static enum orr_status read_groups(struct orr_run *run, const struct orr_run_options *options, uint32_t ranks,
                                   struct orr_error *err)
{
    struct sim_group *groups = NULL;
    const char *path = options->groups;
    if (path == NULL && options->loaded != NULL) {
        run->config.groups = workload_groups(options->loaded, &run->config.group_count);
    }
    if (run->config.groups != NULL) {
        return ORR_OK;
    }
    if (path == NULL && run_workload_groups(options->workload, &run->arena, &path, err) != ORR_OK) {
        return err->status;
    }
    uint32_t count = 0;
    enum orr_status status =
        path == NULL ? ORR_OK : config_read_groups(path, ranks, &run->arena, &run->notes, &groups, &count, err);
    run->config.groups = groups;
    run->config.group_count = count;
    return status;
}

/* A trace for every rank. */
static enum orr_status read_traces(struct orr_run *run, const struct orr_run_options *options, struct orr_error *err)
{
    uint32_t ranks = run->config.dims.ranks;
    enum orr_status status = ORR_OK;
    if (options->job_count > 0) {
        status = run_jobs_take(&run->jobs, options, ranks, &run->arena, &run->notes, &run->traces, &run->config, err);
        run->config.traces = run->traces;
        return status;
    }
    if (options->compat != ORR_COMPAT_ASTRA && run->traces == NULL) {
        status = run_workload_surplus(options->workload, ranks, &run->arena, err);
    }
    status = status == ORR_OK ? read_groups(run, options, ranks, err) : status;
    if (status == ORR_OK && run->traces == NULL) {
        status = load_traces(run, options, ranks, false, err);
    }
    run->config.traces = session_traces(run);
    return status;
}

/* The groups of one rank may name others of its job, whatever the machine's size; those of several name only them. */
static uint32_t ranks_told(const struct orr_run *run)
{
    enum { RANKS_MOST = 1 << 20 };
    uint32_t traces = session_traces(run)->rank_count;
    return traces == 1 ? RANKS_MOST : traces;
}

/* As many traces as there are, and the other ranks made of them; the groups file is about the traces. */
static enum orr_status grow_traces(struct orr_run *run, const struct orr_run_options *options, struct orr_error *err)
{
    uint32_t ranks = run->config.dims.ranks;
    enum orr_status status = load_traces(run, options, UINT32_MAX, true, err);
    if (status == ORR_OK) {
        status = read_groups(run, options, ranks_told(run), err);
    }
    if (status == ORR_OK) {
        status = run_grow(&options->growth, session_traces(run), ranks, &run->arena, &run->mem, &run->notes,
                          &run->config.groups, &run->config.group_count, &run->grown, err);
    }
    run->config.traces = run->grown.larger != NULL  ? run->grown.larger
                         : run->grown.whole != NULL ? run->grown.whole
                                                    : session_traces(run);
    return status;
}

/* What a run leaves to the traces: one that asks for it is enough, for its ranks cannot do without. */
static void run_session_settle_policy(struct orr_run *run)
{
    enum orr_policy asked = run->config.policy;
    if (asked != ORR_POLICY_AUTO && asked != ORR_POLICY_AUTO_SAFE) {
        return;
    }
    run->config.policy = asked == ORR_POLICY_AUTO ? ORR_POLICY_ASTRA : ORR_POLICY_SAFE;
    const struct trace_set *traces = run->config.traces;
    for (uint32_t i = 0; i < traces->graph_count; i++) {
        if (traces->graphs[i]->side_by_side) {
            run->config.policy = ORR_POLICY_STREAMS;
        }
    }
}

static enum orr_status read_tensors(struct orr_run *run, const struct orr_run_options *options, struct orr_error *err)
{
    if (!run_rank_tensors_wanted(&run->config.system)) {
        return ORR_OK;
    }
    if (options->job_count > 0) {
        return error_set(err, ORR_EINVAL,
                         "what ranks hold in memory is not told of several jobs: leave out "
                         "track-local-mem and capacities of the system file");
    }
    enum orr_status status = run_rank_tensors_load(run->config.traces, options->workload, options->grow, &run->mem,
                                                   &run->notes, &run->tensors, err);
    run->config.tensors = run->tensors.of_rank;
    run->config.keep_intervals = true;
    return status;
}

/* A pass over the first rank's trace, so only where that is short beside the run. */
static enum orr_status count_steps(struct orr_run *run, const struct orr_run_options *options, struct orr_error *err)
{
    enum { MOST_BYTES = 64 << 20 };
    const char *first = arena_printf(&run->arena, "%s.0.et", options->workload);
    uint64_t bytes = 0;
    if (first == NULL) {
        return mem_error(&run->mem, "a path", err);
    }
    return options->loaded == NULL && file_size(first, &bytes) && bytes <= MOST_BYTES
               ? run_workload_steps(options->workload, &run->mem, &run->config.steps, err)
               : ORR_OK;
}

static enum orr_status open_all(struct orr_run *run, const struct orr_run_options *options, struct orr_error *err)
{
    struct config_custom custom = {0};
    bool named = options->loaded == NULL && options->job_count == 0;
    enum orr_status status = named ? run_workload_hint(options->workload, &run->arena, err) : ORR_OK;
    status = status == ORR_OK ? run_session_read_configuration(run, options, &custom, err) : status;
    if (status == ORR_OK) {
        status = options->grow ? grow_traces(run, options, err) : read_traces(run, options, err);
    }
    if (status == ORR_OK && !options->grow && options->growth.comm_scale != NULL) {
        status = notes_add(&run->notes, err, "parameter 'comm-scale' has no effect on a job that is not grown");
    }
    run->config.system.replay_only = run->config.system.replay_only || options->replay;
    status = status == ORR_OK ? session_settle_times(run, options, NULL, err) : status;
    if (status == ORR_OK) {
        run_session_settle_policy(run);
        status = load_customs(run, &custom, err);
    }
    if (status == ORR_OK) {
        status = read_tensors(run, options, err);
    }
    status = status == ORR_OK && named ? count_steps(run, options, err) : status;
    if (status == ORR_OK) {
        status = sim_create(&run->config, &run->mem, &run->notes, &run->sim, err);
    }
    return status;
}

/* The overrides with the file each belongs to; the caller's own list stays as it is. */
static enum orr_status own_overrides(struct orr_run *run, struct orr_run_options *own, struct orr_error *err)
{
    if (own->override_count == 0) {
        return ORR_OK;
    }
    struct orr_override *list = arena_alloc(&run->arena, own->override_count * sizeof *list);
    if (list == NULL) {
        return mem_error(&run->mem, "the overrides of a run", err);
    }
    memcpy(list, own->overrides, own->override_count * sizeof *list);
    own->overrides = list;
    return run_overrides_resolve(list, &own->override_count, own->backend >= ORR_BACKEND_PACKET, err);
}

struct orr_run *session_new(const struct orr_run_options *options, struct orr_error *err)
{
    struct orr_run *made = calloc(1, sizeof *made);
    if (made == NULL) {
        (void)error_set(err, ORR_ENOMEM, "out of memory: a run needs %zu bytes", sizeof *made);
        return NULL;
    }
    made->mem.limit = options->memory_limit;
    made->progress = options->progress;
    made->progress_context = options->progress_context;
    made->config = (struct sim_config){
        .backend = options->backend,
        .policy = options->policy,
        .contention = options->contention,
        .broadcast = options->broadcast,
        .queues_per_dim = options->queues_per_dim,
        .rendezvous = options->rendezvous,
        .jitter = options->jitter,
        .noise = options->noise,
        .seed = options->seed,
        .tuning = options->tuning,
        .keep_intervals = options->keep_intervals,
        .keep_issue_order = options->keep_issue_order,
        .no_symmetry = options->no_symmetry,
        .explain_symmetry = options->explain_symmetry,
        .no_memo = options->no_memo,
    };
    notes_init(&made->notes, &made->mem, options->strict);
    arena_init(&made->arena, &made->mem);
    return made;
}

enum orr_status orr_run_open(const struct orr_run_options *options, struct orr_run **run, struct orr_error *err)
{
    if (options->size != sizeof *options) {
        return error_set(err, ORR_EINVAL,
                         "the options of a run have %zu bytes, and this library's %zu: start from "
                         "orr_run_options_init, and compile with this version's header",
                         options->size, sizeof *options);
    }
    struct orr_run_options own = *options;
    run_machine_of_one(&own);
    enum orr_status status = param_run_settle(&own, err);
    if (status != ORR_OK) {
        return status;
    }
    struct orr_run *opened = session_new(&own, err);
    if (opened == NULL) {
        return ORR_ENOMEM;
    }
    if (own.machine != NULL) {
        status = run_machine_take(&own, &opened->machine, &opened->arena, &opened->notes, err);
        opened->config.backend = own.backend;
        opened->config.machine = opened->machine.words;
    }
    status = status == ORR_OK ? own_overrides(opened, &own, err) : status;
    if (status == ORR_OK) {
        status = open_all(opened, &own, err);
    }
    if (status != ORR_OK) {
        orr_run_close(opened);
        return status;
    }
    *run = opened;
    return ORR_OK;
}

static bool pass_progress(void *context, const struct orr_progress *now)
{
    struct orr_run *run = context;
    run->done = now->done;
    return run->progress(run->progress_context, now);
}

const struct sim_config *session_config(const struct orr_run *run)
{
    return &run->config;
}

const struct sim_result *session_result(const struct orr_run *run)
{
    return run->sim != NULL ? sim_result(run->sim) : simai_result(run->rows.simai);
}

enum orr_status orr_run_execute(struct orr_run *run, struct orr_error *err)
{
    if (run->executed) {
        return error_set(err, ORR_EINVAL, "a run is executed once; open it again to repeat it");
    }
    run->executed = true;
    bool (*progress)(void *, const struct orr_progress *) = run->progress == NULL ? NULL : pass_progress;
    uint64_t begun_ms = clock_now_ms();
    enum orr_status status = run->sim != NULL ? sim_run(run->sim, progress, run, &run->ended)
                                              : simai_run(run->rows.simai, progress, run, &run->ended);
    run->wall_ms = clock_now_ms() - begun_ms;
    if (status == ORR_OK) {
        run->ended = (struct orr_error){.status = ORR_OK};
    } else if (err != NULL) {
        *err = run->ended;
    }
    if (run->progress != NULL) {
        const struct sim_result *result = session_result(run);
        const struct orr_progress last = {
            .time_ns = result->end_ns,
            .events = result->events,
            .messages = result->messages,
            .ranks_finished = result->ranks_finished,
            .ranks = run->config.dims.ranks,
            .nodes_done = result->nodes_done,
            .nodes = result->nodes,
            .done = status == ORR_OK ? 1.0 : run->done,
        };
        (void)run->progress(run->progress_context, &last);
    }
    return status;
}

void orr_run_close(struct orr_run *run)
{
    if (run == NULL) {
        return;
    }
    sim_free(run->sim);
    simai_close(run->rows.simai);
    run_rank_tensors_free(&run->tensors, &run->mem);
    for (uint32_t i = 0; i < run->custom_count; i++) {
        trace_set_free(run->customs[i].set);
    }
    run_grown_free(&run->grown);
    trace_set_free(run->traces);
    run_jobs_free(&run->jobs);
    run_wired_free(&run->wired);
    arena_free(&run->arena);
    notes_free(&run->notes);
    free(run);
}
