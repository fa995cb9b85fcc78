/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks are worked on side by side, each by one thread at a time with memory and notes of its own, in two rounds: read
 * and link, then settle communications and write. Between the rounds the process groups of all ranks are put together,
 * because a group's number depends on all of them. What a rank keeps from the first round to the second is its graph
 * and what was said of communication; the bulk of the recordings is given back at once.
 */
#include "convert/pytorch/import/import.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "convert/pytorch/collective/level.h"
#include "convert/pytorch/collective/match.h"
#include "convert/pytorch/kineto/rocprof.h"
#include "io/outfile.h"
#include "trace/roles.h"

struct rank_work {
    const struct import_pair *pair;
    struct mem mem;
    struct notes notes;
    struct kineto_trace *kineto;
    struct host_trace *host;
    struct linked_trace linked;
    struct et_writer *writer;
    struct emit_counts counts;
    const char *name; /* for messages */
    uint64_t bytes_in;
    enum orr_status status;
    struct orr_error err;
};

struct import_work {
    const struct import_request *request;
    struct rank_work *ranks;
    struct comm_groups groups;
    struct arena *arena;
    const char *prefix; /* the request's, with the pattern's word where it asks for that */
    void (*task)(struct import_work *work, struct rank_work *rank);
    atomic_uint next;
    atomic_bool failed; /* no need to begin another */
};

/* ---- side by side ---- */

static void *run_tasks(void *context)
{
    struct import_work *work = context;
    while (!atomic_load(&work->failed)) {
        unsigned index = atomic_fetch_add(&work->next, 1);
        if (index >= work->request->pair_count) {
            break;
        }
        work->task(work, &work->ranks[index]);
        if (work->ranks[index].status != ORR_OK) {
            atomic_store(&work->failed, true);
        }
    }
    return NULL;
}

/* Does the task for every rank. The error is that of the lowest rank that has one. */
static enum orr_status for_ranks(struct import_work *work, void (*task)(struct import_work *, struct rank_work *),
                                 struct orr_error *err)
{
    enum { THREADS = 256 };
    pthread_t threads[THREADS];
    uint32_t started = 0;
    uint32_t wanted = work->request->jobs < work->request->pair_count ? work->request->jobs : work->request->pair_count;
    work->task = task;
    atomic_store(&work->next, 0);
    for (; started + 1 < wanted && started < THREADS; started++) {
        if (pthread_create(&threads[started], NULL, run_tasks, work) != 0) {
            break; /* fewer threads do the same work */
        }
    }
    (void)run_tasks(work);
    for (uint32_t i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    for (uint32_t i = 0; i < work->request->pair_count; i++) {
        if (work->ranks[i].status != ORR_OK) {
            *err = work->ranks[i].err;
            return work->ranks[i].status;
        }
    }
    return ORR_OK;
}

/* ---- the first round ---- */

/* The bulk, once it is linked: names and what was said of communication stay. */
static void shrink(struct rank_work *rank)
{
    if (rank->kineto != NULL) {
        mem_free(rank->kineto->mem, rank->kineto->events,
                 (size_t)rank->kineto->event_capacity * sizeof *rank->kineto->events);
        rank->kineto->events = NULL;
        rank->kineto->event_count = rank->kineto->event_capacity = 0;
    }
    if (rank->host != NULL) {
        mem_free(rank->host->mem, rank->host->nodes, (size_t)rank->host->node_capacity * sizeof *rank->host->nodes);
        rank->host->nodes = NULL;
        rank->host->node_count = rank->host->node_capacity = 0;
    }
}

static enum orr_status import_read_rank(const struct import_work *work, struct rank_work *rank)
{
    const struct emit_options *emit = &work->request->emit;
    enum orr_status status = ORR_OK;
    if (rank->pair->device != NULL) {
        status = rank->pair->is_rocprof
                     ? rocprof_read(rank->pair->device, &rank->mem, &rank->notes, &rank->kineto, &rank->err)
                 : emit->step_pair_count > 0
                     ? kineto_read_steps(rank->pair->device, emit->steps, emit->step_pair_count, &rank->mem,
                                         &rank->notes, &rank->kineto, &rank->err)
                     : kineto_read(rank->pair->device, &rank->mem, &rank->notes, &rank->kineto, &rank->err);
        rank->bytes_in += status == ORR_OK ? rank->kineto->byte_count : 0;
    }
    if (status == ORR_OK && rank->pair->host != NULL) {
        status = host_read(rank->pair->host, &rank->mem, &rank->notes, &rank->host, &rank->err);
        rank->bytes_in += status == ORR_OK ? rank->host->byte_count : 0;
    }
    return status;
}

static enum orr_status import_check_rank(struct rank_work *rank)
{
    enum orr_status status = ORR_OK;
    if (rank->kineto == NULL) {
        status =
            notes_add(&rank->notes, &rank->err,
                      "%s: no device trace of rank %u: only the order of host ops and the communications are known",
                      rank->pair->host, rank->pair->rank);
    } else if (rank->kineto->info.rank >= 0 && rank->kineto->info.rank != rank->pair->rank) {
        status = notes_add(&rank->notes, &rank->err, "%s: the file's name says rank %u, the recording in it %" PRId64,
                           rank->pair->device, rank->pair->rank, rank->kineto->info.rank);
    }
    return status;
}

static bool has_rf_ids(const struct rank_work *rank)
{
    bool host = false;
    bool device = false;
    for (uint32_t i = 0; i < rank->host->node_count && !host; i++) {
        host = (rank->host->nodes[i].has & HOST_HAS_RF_ID) != 0;
    }
    for (uint32_t i = 0; i < rank->kineto->event_count && !device; i++) {
        device = (rank->kineto->events[i].has & KINETO_HAS_RF_ID) != 0;
    }
    return host && device;
}

/* Whether anything ran in it that takes time: steps and calls of the device's library alone are no work. */
static bool has_work(const struct rank_work *rank)
{
    for (uint32_t i = 0; rank->kineto != NULL && i < rank->kineto->event_count; i++) {
        const struct kineto_event *event = &rank->kineto->events[i];
        const char *name = intern_text(&rank->kineto->names, event->name);
        if (event->cat == KINETO_CPU_OP || event->cat == KINETO_KERNEL || event->cat == KINETO_MEMCPY ||
            event->cat == KINETO_MEMSET ||
            (event->cat == KINETO_USER_ANNOTATION && strncmp(name, "ProfilerStep#", 13) != 0)) {
            return rank->linked.node_count > 0;
        }
    }
    return rank->kineto == NULL && rank->linked.node_count > 0;
}

/* What would make a trace that means nothing: no work at all, or two recordings that are not of the same work. */
static enum orr_status check_substance(const struct import_work *work, struct rank_work *rank)
{
    if (rank->kineto != NULL && rank->kineto->marks_only) {
        return ORR_OK; /* check_steps says which steps there are */
    }
    if (work->request->emit.step_pair_count == 0 && !has_work(rank)) {
        return error_set(&rank->err, ORR_EINVAL,
                         "%s: no op, no kernel, no communication is in it: the profiler was active in no step",
                         rank->name);
    }
    if (rank->kineto != NULL && rank->host != NULL && rank->linked.counts.matched == 0 && has_rf_ids(rank)) {
        return error_set(&rank->err, ORR_EINVAL,
                         "%s: host and device trace (%s) share no op, so they are not of the same steps; record both "
                         "in one run, or import the device trace alone",
                         rank->pair->host, rank->name);
    }
    return ORR_OK;
}

static void link_rank(struct import_work *work, struct rank_work *rank)
{
    rank->status = import_read_rank(work, rank);
    if (rank->status == ORR_OK) {
        rank->status = import_check_rank(rank);
    }
    if (rank->status == ORR_OK) {
        rank->status = rank->kineto != NULL
                           ? link_build(rank->kineto, rank->host, &rank->mem, &rank->notes, &rank->linked, &rank->err)
                           : link_build_host(rank->host, &rank->mem, &rank->notes, &rank->linked, &rank->err);
    }
    if (rank->status == ORR_OK) {
        rank->status = check_substance(work, rank);
    }
    if (rank->status == ORR_OK) {
        rank->linked.rank = rank->pair->rank;
        shrink(rank);
    }
}

static enum orr_status settle_groups(struct import_work *work, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < work->request->pair_count && status == ORR_OK; i++) {
        const struct rank_work *rank = &work->ranks[i];
        status = comm_groups_add(&work->groups, rank->pair->rank, rank->kineto, rank->host, rank->name, err);
    }
    return status == ORR_OK ? comm_groups_settle(&work->groups, work->request->pair_count, err) : status;
}

/* A step that was asked for and is in no recording would give empty traces. */
static enum orr_status check_steps(const struct import_work *work, struct orr_error *err)
{
    const struct emit_options *emit = &work->request->emit;
    for (uint32_t i = 0; i < work->request->pair_count && emit->step_pair_count > 0; i++) {
        const struct linked_trace *linked = &work->ranks[i].linked;
        bool found = false;
        for (uint32_t s = 0; s < linked->step_count && !found; s++) {
            for (uint32_t pair = 0; pair < emit->step_pair_count && !found; pair++) {
                found = linked->steps[s].number >= emit->steps[2 * (size_t)pair] &&
                        linked->steps[s].number <= emit->steps[2 * (size_t)pair + 1];
            }
        }
        if (!found && linked->step_count == 0) {
            return error_set(err, ORR_EINVAL, "%s: no step was recorded (ProfilerStep#N), so none can be chosen",
                             work->ranks[i].name);
        }
        if (!found) {
            return error_set(err, ORR_EINVAL, "%s: none of the steps asked for was recorded; there are %lld to %lld",
                             work->ranks[i].name, (long long)linked->steps[0].number,
                             (long long)linked->steps[linked->step_count - 1].number);
        }
    }
    return ORR_OK;
}

/* ---- what communicates ---- */

static void resolve_rank(struct import_work *work, struct rank_work *rank)
{
    rank->status = link_resolve(&rank->linked, rank->kineto, rank->host, &work->groups, rank->name, &rank->err);
    if (rank->status == ORR_OK && !work->request->emit.has_unknown_size) {
        link_time_unsized(&rank->linked);
    }
    if (rank->status == ORR_OK) {
        rank->status = link_note_timed(&rank->linked, &rank->notes, &rank->err);
    }
}

/* The facts of a rank in the order of its nodes. */
static bool list_facts(struct rank_work *rank, struct comm_level_rank *into)
{
    struct linked_trace *linked = &rank->linked;
    *into = (struct comm_level_rank){.rank = rank->pair->rank};
    into->facts = mem_alloc(&rank->mem, (size_t)linked->comm_count * sizeof *into->facts);
    for (uint32_t i = 0; i < linked->node_count && into->facts != NULL; i++) {
        if (linked->nodes[i].comm != LINKED_NONE && into->count < linked->comm_count) {
            into->facts[into->count++] = &linked->comms[linked->nodes[i].comm];
        }
    }
    return into->facts != NULL;
}

/* Makes a collective one size on all its ranks; what does not fit together is a note of the first rank. */
static enum orr_status level_ranks(struct import_work *work, struct orr_error *err)
{
    uint32_t count = work->request->pair_count;
    struct mem *mem = work->groups.mem;
    struct comm_level_rank *ranks = mem_zalloc(mem, (size_t)count * sizeof *ranks);
    if (ranks == NULL) {
        return mem_error(mem, "ranks", err);
    }
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < count && status == ORR_OK; i++) {
        status =
            list_facts(&work->ranks[i], &ranks[i]) ? ORR_OK : mem_error(&work->ranks[i].mem, "communications", err);
    }
    if (status == ORR_OK) {
        status = comm_level(ranks, count, &work->groups, mem, &work->ranks[0].notes, NULL, err);
    }
    for (uint32_t i = 0; i < count; i++) {
        mem_free(&work->ranks[i].mem, ranks[i].facts,
                 ranks[i].facts == NULL ? 0 : (size_t)work->ranks[i].linked.comm_count * sizeof *ranks[i].facts);
    }
    mem_free(mem, ranks, (size_t)count * sizeof *ranks);
    return status;
}

/* The sends and receives of a rank in the order of its nodes. */
static bool import_list_ends(struct rank_work *rank, struct comm_match_rank *into)
{
    struct linked_trace *linked = &rank->linked;
    *into = (struct comm_match_rank){.rank = rank->pair->rank, .name = rank->name, .timed = linked->has_times};
    into->ends = mem_alloc(&rank->mem, (size_t)linked->comm_count * sizeof *into->ends);
    for (uint32_t i = 0; i < linked->node_count && into->ends != NULL; i++) {
        const struct linked_node *node = &linked->nodes[i];
        struct comm_fact *fact = node->comm == LINKED_NONE ? NULL : &linked->comms[node->comm];
        if (fact != NULL && (fact->kind == COMM_SEND || fact->kind == COMM_RECV) && into->count < linked->comm_count) {
            int64_t start = linked->zero_ns + node->start_ns;
            into->ends[into->count++] = (struct comm_match_end){
                .fact = fact, .start_ns = start, .end_ns = start + node->duration_ns, .node = i};
        }
    }
    return into->ends != NULL;
}

/* Gives sends and receives that name no peer the one that the other ranks' recordings tell. */
static enum orr_status match_ranks(struct import_work *work, struct orr_error *err)
{
    uint32_t count = work->request->pair_count;
    struct mem *mem = work->groups.mem;
    struct comm_match_rank *ranks = mem_zalloc(mem, (size_t)count * sizeof *ranks);
    if (ranks == NULL) {
        return mem_error(mem, "ranks", err);
    }
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < count && status == ORR_OK; i++) {
        status =
            import_list_ends(&work->ranks[i], &ranks[i]) ? ORR_OK : mem_error(&work->ranks[i].mem, "messages", err);
    }
    if (status == ORR_OK) {
        uint64_t matched;
        status = comm_match(ranks, count, &work->groups, mem, &matched, err);
    }
    for (uint32_t i = 0; i < count; i++) {
        mem_free(&work->ranks[i].mem, ranks[i].ends,
                 ranks[i].ends == NULL ? 0 : (size_t)work->ranks[i].linked.comm_count * sizeof *ranks[i].ends);
    }
    mem_free(mem, ranks, (size_t)count * sizeof *ranks);
    return status;
}

/* ---- the second round ---- */

/* What was linked is known before anything is written, so that files have their last name from the start. */
static enum orr_status choose_prefix(struct import_work *work, struct orr_error *err)
{
    const struct import_request *request = work->request;
    work->prefix = request->prefix;
    if (request->prefix == NULL || request->pattern_rest == NULL) {
        return ORR_OK;
    }
    uint64_t counts[COMM_KIND_COUNT] = {0};
    for (uint32_t i = 0; i < request->pair_count; i++) {
        const struct linked_trace *linked = &work->ranks[i].linked;
        for (uint32_t c = 0; c < linked->comm_count; c++) {
            counts[linked->comms[c].kind]++;
        }
    }
    work->prefix =
        arena_printf(work->arena, "%s%s%s", request->prefix, comm_kind_dominant(counts), request->pattern_rest);
    return work->prefix == NULL ? mem_error(work->arena->mem, "file names", err) : ORR_OK;
}

static void import_write_rank(struct import_work *work, struct rank_work *rank)
{
    char path[4096];
    const char *prefix = work->prefix;
    int length = snprintf(path, sizeof path, "%s.%u.et", prefix == NULL ? "" : prefix, rank->pair->rank);
    if (length < 0 || (size_t)length >= sizeof path) {
        rank->status = error_set(&rank->err, ORR_EINVAL, "the path %.100s… is too long", prefix);
        return;
    }
    rank->status = prefix == NULL ? et_writer_open_nowhere(&rank->mem, &rank->writer, &rank->err)
                                  : et_writer_open(path, &rank->mem, &rank->writer, &rank->err);
    if (rank->status == ORR_OK) {
        rank->status = emit_write(&rank->linked, &work->groups, &work->request->emit, rank->name, rank->writer,
                                  &rank->counts, &rank->err);
    }
    if (rank->status == ORR_OK) {
        rank->status = et_writer_finish(rank->writer, &rank->err);
    }
}

static enum orr_status import_commit_all(struct import_work *work, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    if (comm_groups_any(&work->groups) && work->prefix != NULL) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s.groups.json", work->prefix);
        status = comm_groups_write(&work->groups, work->groups.world_size > work->request->pair_count, path, err);
    }
    for (uint32_t i = 0; i < work->request->pair_count && status == ORR_OK; i++) {
        struct et_writer *writer = work->ranks[i].writer;
        work->ranks[i].writer = NULL;
        status = et_writer_commit(writer, err);
    }
    return status;
}

/* ---- the result ---- */

static bool take_notes(const struct rank_work *rank, struct import_rank *into, struct arena *arena)
{
    into->notes = arena_zalloc(arena, ((size_t)rank->notes.count + 1) * sizeof *into->notes);
    if (into->notes == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < rank->notes.count; i++) {
        into->notes[i] = arena_strndup(arena, rank->notes.lines[i], strlen(rank->notes.lines[i]));
        if (into->notes[i] == NULL) {
            return false;
        }
        into->note_count++;
    }
    return true;
}

static void import_take_steps(const struct linked_trace *linked, struct import_rank *into)
{
    int64_t total = 0;
    into->step_count = linked->step_count;
    for (uint32_t i = 0; i < linked->step_count; i++) {
        total += (linked->steps[i].end_ns - linked->steps[i].start_ns) / linked->step_count;
    }
    if (linked->step_count > 0) {
        into->first_step = linked->steps[0].number;
        into->last_step = linked->steps[linked->step_count - 1].number;
        into->step_ns = total;
    }
}

/* Groups of the first rank, with what it does in them; false when memory is refused. */
static bool list_role_groups(const struct import_work *work, struct arena *arena, struct trace_role_clues *clues)
{
    const struct comm_groups *groups = &work->groups;
    const struct linked_trace *linked = &work->ranks[0].linked;
    struct trace_role_group *list = arena_zalloc(arena, ((size_t)groups->count + 1) * sizeof *list);
    uint32_t *at = arena_zalloc(arena, ((size_t)groups->count + 1) * sizeof *at);
    uint32_t *peers = arena_alloc(arena, ((size_t)linked->comm_count + 1) * sizeof *peers);
    if (list == NULL || at == NULL || peers == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct comm_group *group = &groups->groups[i];
        bool member = false;
        for (uint32_t m = 0; m < group->count && !member; m++) {
            member = groups->ranks[group->first + m] == clues->rank;
        }
        if (member) {
            list[clues->group_count] = (struct trace_role_group){.ranks = groups->ranks + group->first,
                                                                 .count = group->count,
                                                                 .text = intern_text(&groups->names, group->text)};
            at[i] = ++clues->group_count;
        }
    }
    for (uint32_t i = 0; i < linked->comm_count; i++) {
        const struct comm_fact *fact = &linked->comms[i];
        if (fact->kind == COMM_SEND || fact->kind == COMM_RECV) {
            int64_t peer = fact->kind == COMM_SEND ? fact->dst : fact->src;
            peers[clues->peer_count] = (uint32_t)peer;
            clues->peer_count += peer >= 0 && peer < clues->ranks;
        } else if (fact->group != COMM_GROUP_NONE && at[fact->group] != 0) {
            list[at[fact->group] - 1].collectives++;
            list[at[fact->group] - 1].exchanges |= fact->kind == COMM_ALL_TO_ALL;
        }
    }
    clues->groups = list;
    clues->peers = peers;
    return true;
}

/* How the job is split, as its groups tell; what they do not tell is no error here. */
static bool take_split(const struct import_work *work, struct import_result *result)
{
    struct trace_role_clues clues = {.rank = work->ranks[0].pair->rank, .ranks = work->groups.world_size};
    struct trace_layout layout = {.role_count = 0};
    struct orr_error why = {0};
    char text[TRACE_LAYOUT_TEXT] = "";
    if (clues.ranks > 1 && !list_role_groups(work, &result->arena, &clues)) {
        return false;
    }
    if (clues.ranks > 1 && (clues.peer_count > 0 || comm_groups_any(&work->groups)) &&
        trace_roles_infer(&clues, &layout, &why) == ORR_OK) {
        (void)trace_layout_text(&layout, text);
    }
    result->split = arena_strndup(&result->arena, text, strlen(text));
    return result->split != NULL;
}

static bool take_result(const struct import_work *work, struct import_result *result)
{
    uint32_t count = work->request->pair_count;
    result->ranks = arena_zalloc(&result->arena, (size_t)count * sizeof *result->ranks);
    for (uint32_t i = 0; i < count && result->ranks != NULL; i++) {
        const struct rank_work *rank = &work->ranks[i];
        result->ranks[i] = (struct import_rank){.pair = rank->pair,
                                                .linked = rank->linked.counts,
                                                .written = rank->counts,
                                                .bytes_in = rank->bytes_in,
                                                .bytes_peak = rank->mem.peak};
        import_take_steps(&rank->linked, &result->ranks[i]);
        if (!take_notes(rank, &result->ranks[i], &result->arena)) {
            return false;
        }
        result->rank_count++;
    }
    result->world_size = work->groups.world_size;
    return result->ranks != NULL && take_split(work, result);
}

static void free_work(struct import_work *work, struct mem *mem)
{
    for (uint32_t i = 0; i < work->request->pair_count; i++) {
        struct rank_work *rank = &work->ranks[i];
        et_writer_abort(rank->writer);
        linked_free(&rank->linked);
        kineto_free(rank->kineto);
        host_free(rank->host);
        notes_free(&rank->notes);
    }
    comm_groups_free(&work->groups);
    mem_free(mem, work->ranks, (size_t)work->request->pair_count * sizeof *work->ranks);
}

static enum orr_status work_through(struct import_work *work, struct orr_error *err)
{
    enum orr_status status = for_ranks(work, link_rank, err);
    if (status == ORR_OK) {
        status = check_steps(work, err);
    }
    if (status == ORR_OK) {
        status = settle_groups(work, err);
    }
    if (status == ORR_OK) {
        status = for_ranks(work, resolve_rank, err);
    }
    if (status == ORR_OK) {
        status = match_ranks(work, err);
    }
    if (status == ORR_OK) {
        status = level_ranks(work, err);
    }
    if (status == ORR_OK) {
        status = choose_prefix(work, err);
    }
    if (status == ORR_OK) {
        status = for_ranks(work, import_write_rank, err);
    }
    return status == ORR_OK ? import_commit_all(work, err) : status;
}

enum orr_status import_run(const struct import_request *request, struct mem *mem, struct import_result *result,
                           struct orr_error *err)
{
    struct import_work work = {.request = request, .arena = &result->arena};
    arena_init(&result->arena, mem);
    work.ranks = mem_zalloc(mem, (size_t)request->pair_count * sizeof *work.ranks);
    if (work.ranks == NULL) {
        return mem_error(mem, "ranks", err);
    }
    comm_groups_init(&work.groups, mem);
    for (uint32_t i = 0; i < request->pair_count; i++) {
        struct rank_work *rank = &work.ranks[i];
        rank->pair = &request->pairs[i];
        rank->name = rank->pair->device != NULL ? rank->pair->device : rank->pair->host;
        rank->mem.limit = request->memory_limit / (request->jobs == 0 ? 1 : request->jobs);
        notes_init(&rank->notes, &rank->mem, request->strict);
    }
    enum orr_status status = work_through(&work, err);
    if (!take_result(&work, result) && status == ORR_OK) {
        status = mem_error(mem, "the report", err);
    }
    result->prefix = work.prefix;
    result->wrote_groups = status == ORR_OK && comm_groups_any(&work.groups);
    free_work(&work, mem);
    return status;
}

void import_result_free(struct import_result *result)
{
    arena_free(&result->arena);
    *result = (struct import_result){0};
}
