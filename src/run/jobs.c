/* SPDX-License-Identifier: Apache-2.0 */
/* A job that has all ranks in their order stays as it is, so that one job is the plain run; else its collectives of all
 * ranks become those of a group with a number that no other has. */
#include "run/jobs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/draw.h"
#include "base/numbers.h"
#include "config/config.h"
#include "config/devices.h"
#include "run/workload_find.h"
#include "run/workload_shared.h"
#include "trace/replicate_graph.h"

enum { STREAM = 0x6a6f6273, FREE = UINT32_MAX }; /* the former apart from what else is drawn from the seed */

struct placing {
    const struct orr_run_options *options;
    struct run_jobs *jobs;
    uint32_t ranks;
    uint32_t *job_of; /* by rank of the machine; FREE */
    struct arena *arena;
    struct orr_error *err;
};

/* ---- ranks ---- */

static enum orr_status place_one(struct placing *placing, uint32_t job, uint32_t place, uint32_t rank)
{
    const char *name = placing->jobs->list[job].name;
    if (rank >= placing->ranks) {
        return error_set(placing->err, ORR_ERANGE,
                         "job %s: there is no rank %" PRIu32 "; the machine has ranks 0 to %" PRIu32, name, rank,
                         placing->ranks - 1);
    }
    if (placing->job_of[rank] != FREE) {
        return error_set(placing->err, ORR_EINVAL, "job %s: rank %" PRIu32 " is job %s's already", name, rank,
                         placing->jobs->list[placing->job_of[rank]].name);
    }
    placing->job_of[rank] = job;
    ((uint32_t *)placing->jobs->list[job].ranks)[place] = rank;
    return ORR_OK;
}

/* "0-7+16-23" */
static enum orr_status place_listed(struct placing *placing, uint32_t job)
{
    const char *text = placing->options->jobs[job].ranks;
    uint32_t wanted = placing->jobs->list[job].read->rank_count;
    uint64_t place = 0;
    enum orr_status status = ORR_OK;
    for (const char *at = text; status == ORR_OK; at++) {
        uint32_t first = 0;
        uint32_t last = 0;
        at = config_rank_range(at, &first, &last);
        if (at == NULL || (*at != '\0' && *at != '+')) {
            return error_set(placing->err, ORR_EINVAL, "job %s: \"%.80s\" is not a list of ranks such as 0-7+16-23",
                             placing->jobs->list[job].name, text);
        }
        for (uint64_t rank = first; rank <= last && status == ORR_OK; rank++, place++) {
            status = place < wanted ? place_one(placing, job, (uint32_t)place, (uint32_t)rank) : ORR_OK;
        }
        if (*at == '\0') {
            break;
        }
    }
    return status != ORR_OK || place == wanted
               ? status
               : error_set(placing->err, ORR_EINVAL, "job %s: %" PRIu64 " ranks are given to %" PRIu32 " traces",
                           placing->jobs->list[job].name, place, wanted);
}

/* The free ranks in the order in which they are given away. */
static uint32_t jobs_list_free(const struct placing *placing, uint64_t *free_ranks)
{
    uint32_t count = 0;
    bool random = placing->options->placement == ORR_PLACEMENT_RANDOM;
    for (uint32_t rank = 0; rank < placing->ranks; rank++) {
        if (placing->job_of[rank] == FREE) {
            uint64_t drawn = draw_key(draw_key(placing->options->seed, STREAM), rank);
            free_ranks[count++] = (random ? drawn & ~(uint64_t)UINT32_MAX : 0) | rank;
        }
    }
    qsort(free_ranks, count, sizeof *free_ranks, numbers_order_u64);
    return count;
}

/* Job after job, or each in turn one, until all have theirs. */
static enum orr_status place_rest(struct placing *placing)
{
    uint64_t *free_ranks = arena_alloc(placing->arena, placing->ranks * sizeof *free_ranks);
    uint32_t *placed = arena_zalloc(placing->arena, placing->jobs->count * sizeof *placed);
    if (free_ranks == NULL || placed == NULL) {
        return mem_error(placing->arena->mem, "the jobs", placing->err);
    }
    uint32_t count = jobs_list_free(placing, free_ranks);
    uint32_t next = 0;
    bool spread = placing->options->placement == ORR_PLACEMENT_SPREAD;
    enum orr_status status = ORR_OK;
    for (bool more = true; more && status == ORR_OK;) {
        more = false;
        for (uint32_t job = 0; job < placing->jobs->count && status == ORR_OK; job++) {
            uint32_t wanted = placing->options->jobs[job].ranks == NULL ? placing->jobs->list[job].read->rank_count : 0;
            while (placed[job] < wanted && status == ORR_OK) {
                if (next == count) {
                    return error_set(placing->err, ORR_ERANGE,
                                     "job %s has %" PRIu32 " ranks, and the machine's %" PRIu32 " are not enough",
                                     placing->jobs->list[job].name, wanted, placing->ranks);
                }
                status = place_one(placing, job, placed[job]++, (uint32_t)free_ranks[next++]);
                if (spread) {
                    break;
                }
            }
            more = more || placed[job] < wanted;
        }
    }
    return status;
}

/* ---- groups and graphs ---- */

struct renumbering {
    struct replica_group *groups;
    uint32_t group_count;
    int32_t whole; /* the group that all ranks become; 0: they stay all */
};

static uint32_t jobs_rank_of(const void *context, uint32_t peer)
{
    const struct run_job *job = context;
    return peer < job->read->rank_count ? job->ranks[peer] : UINT32_MAX;
}

static bool is_as_it_was(const struct run_job *job, uint32_t ranks)
{
    bool same = job->read->rank_count == ranks;
    for (uint32_t i = 0; same && i < ranks; i++) {
        same = job->ranks[i] == i;
    }
    return same;
}

static bool jobs_add_group(struct arena *arena, struct sim_config *config, struct sim_group *list, int32_t id,
                           const struct run_job *job, const struct sim_group *from)
{
    uint32_t count = from != NULL ? from->count : job->read->rank_count;
    uint32_t *members = arena_alloc(arena, (size_t)count * sizeof *members);
    for (uint32_t i = 0; members != NULL && i < count; i++) {
        members[i] = job->ranks[from != NULL ? from->ranks[i] : i];
    }
    list[config->group_count++] = (struct sim_group){.id = id, .count = count, .ranks = members};
    return members != NULL;
}

static int compare_from(const void *left, const void *right)
{
    const struct replica_group *a = left;
    const struct replica_group *b = right;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* The job's groups behind those of the jobs before it; `*last` is the highest number given. */
static enum orr_status renumber_groups(struct placing *placing, uint32_t index, struct notes *notes,
                                       struct renumbering *made, struct sim_config *config, int32_t *last)
{
    struct run_job *job = &placing->jobs->list[index];
    const char *path = NULL;
    struct sim_group *groups = NULL;
    uint32_t count = 0;
    enum orr_status status =
        run_workload_groups(placing->options->jobs[index].workload, placing->arena, &path, placing->err);
    if (status == ORR_OK && path != NULL) {
        status = config_read_groups(path, job->read->rank_count, placing->arena, notes, &groups, &count, placing->err);
    }
    struct sim_group *list = arena_alloc(placing->arena, ((size_t)config->group_count + count + 1) * sizeof *list);
    made->groups = arena_zalloc(placing->arena, ((size_t)count + 1) * sizeof *made->groups);
    if (status == ORR_OK && (list == NULL || made->groups == NULL)) {
        status = mem_error(placing->arena->mem, "the jobs' groups", placing->err);
    }
    if (status != ORR_OK) {
        return status;
    }
    if (config->group_count > 0) {
        memcpy(list, config->groups, config->group_count * sizeof *list);
    }
    config->groups = list;
    int32_t above = *last;
    bool room = true;
    for (uint32_t i = 0; i < count && room; i++) {
        if (groups[i].id > INT32_MAX - above - 1) {
            return error_set(placing->err, ORR_ERANGE, "%s: group %" PRId32 " has too high a number", path,
                             groups[i].id);
        }
        int32_t id = groups[i].id + above;
        *last = id > *last ? id : *last;
        made->groups[made->group_count++] = (struct replica_group){.from = groups[i].id, .to = id, .share = {1, 1}};
        room = jobs_add_group(placing->arena, config, list, id, job, &groups[i]);
    }
    qsort(made->groups, made->group_count, sizeof *made->groups, compare_from);
    if (room && !is_as_it_was(job, placing->ranks)) {
        made->whole = ++*last;
        room = jobs_add_group(placing->arena, config, list, made->whole, job, NULL);
    }
    return room ? ORR_OK : mem_error(placing->arena->mem, "the jobs' groups", placing->err);
}

/* All ranks of a job see the same renumbering: a graph that some share is made once. */
static enum orr_status make_graphs(const struct renumbering *numbers, const struct run_job *job, struct trace_set *set,
                                   uint32_t *made, struct orr_error *err)
{
    const struct replica_view view = {.groups = numbers->groups,
                                      .group_count = numbers->group_count,
                                      .whole_to = numbers->whole,
                                      .whole_share = {1, 1},
                                      .comm = {1, 1},
                                      .inner = {1, 1},
                                      .compute = {1, 1},
                                      .peer = jobs_rank_of,
                                      .context = job};
    for (uint32_t g = 0; g < job->read->graph_count; g++) {
        const struct trace_graph *source = job->read->graphs[g];
        struct trace_graph *graph = NULL;
        enum orr_status status = replica_graph_make(source, &view, job->read->prefix, set->mem, &graph, err);
        if (status != ORR_OK) {
            return status;
        }
        set->graphs[(*made)++] = graph;
        for (uint32_t i = 0; i < job->read->rank_count; i++) {
            if (job->read->ranks[i].graph == source) {
                set->ranks[job->ranks[i]] =
                    (struct trace_rank){.graph = graph, .id_offset = job->read->ranks[i].id_offset, .file = i};
            }
        }
    }
    return ORR_OK;
}

/* Ranks of no job do nothing. */
static enum orr_status fill_idle(struct trace_set *set, uint32_t *made, struct orr_error *err)
{
    static const uint8_t no_metadata[] = {0}; /* an ET file begins with the length of it */
    struct trace_graph *nothing = NULL;
    for (uint32_t rank = 0; rank < set->rank_count; rank++) {
        if (set->ranks[rank].graph != NULL) {
            continue;
        }
        if (nothing == NULL) {
            enum orr_status status =
                trace_graph_parse(no_metadata, sizeof no_metadata, "an idle rank", set->mem, &nothing, err);
            if (status != ORR_OK) {
                return status;
            }
            set->graphs[(*made)++] = nothing;
        }
        set->ranks[rank] = (struct trace_rank){.graph = nothing, .file = rank};
    }
    return ORR_OK;
}

/* ---- all of it ---- */

static enum orr_status read_jobs(struct placing *placing, struct notes *notes)
{
    const struct orr_run_options *options = placing->options;
    struct run_jobs *jobs = placing->jobs;
    uint64_t total = 0;
    for (; jobs->count < options->job_count; jobs->count++) {
        struct run_job *job = &jobs->list[jobs->count];
        const struct orr_job *asked = &options->jobs[jobs->count];
        job->name = arena_strndup(placing->arena, asked->name, strlen(asked->name));
        enum orr_status status = run_workload_hint(asked->workload, placing->arena, placing->err);
        if (status == ORR_OK) {
            status = workload_read(asked->workload, UINT32_MAX, true, options->missing_is_cpu, placing->arena->mem,
                                   notes, &job->read, placing->err);
        }
        if (status != ORR_OK) {
            return status;
        }
        total += job->read->rank_count;
        job->ranks = arena_zalloc(placing->arena, job->read->rank_count * sizeof *job->ranks);
        if (job->ranks == NULL || job->name == NULL) {
            trace_set_free(job->read);
            return mem_error(placing->arena->mem, "the jobs", placing->err);
        }
    }
    return total <= placing->ranks
               ? ORR_OK
               : error_set(placing->err, ORR_ERANGE, "the jobs have %" PRIu64 " ranks, and the machine %" PRIu32, total,
                           placing->ranks);
}

static enum orr_status jobs_place_all(struct placing *placing)
{
    enum orr_status status = ORR_OK;
    for (uint32_t job = 0; job < placing->jobs->count && status == ORR_OK; job++) {
        status = placing->options->jobs[job].ranks != NULL ? place_listed(placing, job) : ORR_OK;
    }
    return status == ORR_OK ? place_rest(placing) : status;
}

static bool takes_part(const struct orr_run_options *options, uint32_t job)
{
    return options->only_job == 0 || options->only_job == job + 1;
}

/* As many as the jobs that take part have, and one for ranks that do nothing. */
static struct trace_set *make_set(const struct placing *placing)
{
    uint32_t graphs = 0;
    uint32_t busy = 0;
    for (uint32_t i = 0; i < placing->jobs->count; i++) {
        const struct trace_set *read = placing->jobs->list[i].read;
        graphs += takes_part(placing->options, i) ? read->graph_count : 0;
        busy += takes_part(placing->options, i) ? read->rank_count : 0;
    }
    return trace_set_new("jobs", placing->ranks, graphs + (busy < placing->ranks ? 1 : 0), placing->arena->mem);
}

enum orr_status run_jobs_take(struct run_jobs *jobs, const struct orr_run_options *options, uint32_t ranks,
                              struct arena *arena, struct notes *notes, struct trace_set **traces,
                              struct sim_config *config, struct orr_error *err)
{
    struct placing placing = {.options = options, .jobs = jobs, .ranks = ranks, .arena = arena, .err = err};
    jobs->list = arena_zalloc(arena, options->job_count * sizeof *jobs->list);
    placing.job_of = arena_alloc(arena, ranks * sizeof *placing.job_of);
    if (jobs->list == NULL || placing.job_of == NULL) {
        return mem_error(arena->mem, "the jobs", err);
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        placing.job_of[rank] = FREE;
    }
    enum orr_status status = read_jobs(&placing, notes);
    status = status == ORR_OK ? jobs_place_all(&placing) : status;
    if (status != ORR_OK) {
        return status;
    }
    struct trace_set *set = make_set(&placing);
    status = set == NULL ? mem_error(arena->mem, "the jobs", err) : ORR_OK;
    *traces = set;
    int32_t last = 0;
    uint32_t made = 0;
    for (uint32_t i = 0; i < jobs->count && status == ORR_OK; i++) {
        struct renumbering numbers = {0};
        status = renumber_groups(&placing, i, notes, &numbers, config, &last);
        if (status == ORR_OK && takes_part(options, i)) {
            status = make_graphs(&numbers, &jobs->list[i], set, &made, err);
        }
    }
    return status == ORR_OK ? fill_idle(set, &made, err) : status;
}

void run_jobs_free(struct run_jobs *jobs)
{
    for (uint32_t i = 0; i < jobs->count; i++) {
        trace_set_free(jobs->list[i].read);
    }
    jobs->count = 0;
}
