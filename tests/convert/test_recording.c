/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of communication from whole recordings, through the readers and the linker: four ranks of a made-up job
 * (make_recording.h), in the forms that PyTorch versions and vendors write. */
#include <stdlib.h>

#include "convert/pytorch/collective/level.h"
#include "convert/pytorch/link/link.h"
#include "tests/check.h"
#include "tests/convert/make_recording.h"
#include "tests/folder.h"

enum { RANKS = 4 };

static struct mem mem;
static struct orr_error err;

struct rank {
    struct kineto_trace *kineto;
    struct host_trace *host;
    struct linked_trace linked;
    struct made_recording made;
};

struct job {
    struct rank ranks[RANKS];
    struct comm_groups groups;
    struct notes notes;
};

static void read_rank(struct job *job, const struct make_recording *form, uint32_t number)
{
    struct rank *rank = &job->ranks[number];
    struct make_recording options = *form;
    char host[64];
    char device[64];
    options.folder = folder;
    options.rank = number;
    options.ranks = RANKS;
    CHECK(make_recording(&options, &rank->made), "rank %u", number);
    (void)snprintf(host, sizeof host, "%s/host_%u.json", folder, number);
    (void)snprintf(device, sizeof device, "%s/device_%u.json", folder, number);
    CHECK_OK(kineto_read(device, &mem, &job->notes, &rank->kineto, &err), &err);
    CHECK_OK(host_read(host, &mem, &job->notes, &rank->host, &err), &err);
    CHECK_OK(comm_groups_add(&job->groups, number, rank->kineto, rank->host, device, &err), &err);
    CHECK_OK(link_build(rank->kineto, rank->host, &mem, &job->notes, &rank->linked, &err), &err);
    rank->linked.rank = number;
}

static void open_job(struct job *job, const struct make_recording *form)
{
    *job = (struct job){0};
    notes_init(&job->notes, &mem, false);
    comm_groups_init(&job->groups, &mem);
    for (uint32_t i = 0; i < RANKS; i++) {
        read_rank(job, form, i);
    }
    CHECK_OK(comm_groups_settle(&job->groups, RANKS, &err), &err);
}

static void close_job(struct job *job)
{
    for (uint32_t i = 0; i < RANKS; i++) {
        kineto_free(job->ranks[i].kineto);
        host_free(job->ranks[i].host);
        linked_free(&job->ranks[i].linked);
    }
    comm_groups_free(&job->groups);
    notes_free(&job->notes);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static enum orr_status resolve(struct job *job, uint32_t number)
{
    struct rank *rank = &job->ranks[number];
    return link_resolve(&rank->linked, rank->kineto, rank->host, &job->groups, "recording", &err);
}

/* What all communications of a rank add up to, and what the last of each kind is. */
struct sums {
    uint64_t count[COMM_KIND_COUNT], bytes[COMM_KIND_COUNT];
    struct comm_fact last[COMM_KIND_COUNT];
};

static struct sums add_up(const struct linked_trace *linked)
{
    struct sums sums = {0};
    for (uint32_t i = 0; i < linked->node_count; i++) {
        if (linked->nodes[i].comm != LINKED_NONE) {
            const struct comm_fact *fact = &linked->comms[linked->nodes[i].comm];
            sums.count[fact->kind]++;
            sums.bytes[fact->kind] += fact->bytes;
            sums.last[fact->kind] = *fact;
        }
    }
    return sums;
}

static uint64_t device_nodes(const struct linked_trace *linked)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < linked->node_count; i++) {
        count += linked->nodes[i].kind == LINKED_DEVICE;
    }
    return count;
}

static const struct {
    const char *what;
    struct make_recording form;
    enum provenance type_from, size_from;
    bool knows_groups;
} forms[] = {
    {"today's CUDA", {.steps = 2, .kernels = 5}, PROVENANCE_KINETO_ARGS, PROVENANCE_KINETO_ARGS, true},
    {"today's HIP", {.steps = 2, .kernels = 5, .hip = true}, PROVENANCE_KINETO_ARGS, PROVENANCE_KINETO_ARGS, true},
    {"named groups", {.steps = 1, .group_names = true}, PROVENANCE_KINETO_ARGS, PROVENANCE_KINETO_ARGS, true},
    {"groups from arguments only",
     {.steps = 1, .without_groups = true, .without_attrs = true},
     PROVENANCE_KINETO_ARGS,
     PROVENANCE_KINETO_ARGS,
     true},
    {"HIP, collectives in the host trace only",
     {.steps = 1, .hip = true, .without_args = true},
     PROVENANCE_COMM_ATTRS,
     PROVENANCE_COMM_ATTRS,
     true},
    {"HIP of 2023: names and tensors",
     {.steps = 1, .hip = true, .without_args = true, .without_attrs = true},
     PROVENANCE_COMM_ATTRS,
     PROVENANCE_OP_TENSORS,
     false},
};

static void check_rank(const struct job *job, uint32_t number, size_t form)
{
    const struct rank *rank = &job->ranks[number];
    const char *what = forms[form].what;
    uint64_t steps = forms[form].form.steps;
    struct sums sums = add_up(&rank->linked);
    CHECK_U64(device_nodes(&rank->linked), rank->made.device_work, "%s: every kernel, copy and set is kept", what);
    CHECK_U64(sums.count[COMM_SEND], rank->made.sends, "%s", what);
    CHECK_U64(sums.count[COMM_RECV], rank->made.recvs, "%s", what);
    CHECK_U64(sums.count[COMM_ALL_REDUCE], 2 * steps, "%s", what);
    CHECK_U64(sums.bytes[COMM_ALL_REDUCE], rank->made.all_reduce_bytes * steps, "%s", what);
    CHECK_U64(sums.bytes[COMM_ALL_TO_ALL], rank->made.all_to_all_bytes * steps, "%s", what);
    CHECK_U64(sums.bytes[COMM_ALL_GATHER], 4 * MADE_SHARD * steps, "%s: what one rank puts in", what);
    CHECK_U64(sums.bytes[COMM_REDUCE_SCATTER], 8 * MADE_SHARD * steps, "%s: the whole input", what);
    CHECK_U64(sums.bytes[COMM_BROADCAST], 4 * MADE_BUFFERS * steps, "%s", what);
    CHECK_U64(sums.last[COMM_BROADCAST].root, 0, "%s", what);
    CHECK(sums.last[COMM_ALL_REDUCE].type_from == forms[form].type_from, "%s: type from %s", what,
          provenance_name(sums.last[COMM_ALL_REDUCE].type_from));
    CHECK(sums.last[COMM_ALL_REDUCE].size_from == forms[form].size_from, "%s: size from %s", what,
          provenance_name(sums.last[COMM_ALL_REDUCE].size_from));
    enum comm_kind kind = number < RANKS / 2 ? COMM_SEND : COMM_RECV;
    uint32_t src = number % (RANKS / 2);
    CHECK(sums.last[kind].src == src && sums.last[kind].dst == src + RANKS / 2, "%s: rank %u: %" PRId64 "->%" PRId64,
          what, number, sums.last[kind].src, sums.last[kind].dst);
    if (forms[form].knows_groups) {
        char id[COMM_GROUP_ROOM];
        CHECK_TEXT(comm_groups_pg_name(&job->groups, sums.last[COMM_ALL_GATHER].group, id), number < 2 ? "1" : "2");
        CHECK_TEXT(comm_groups_pg_name(&job->groups, sums.last[COMM_ALL_REDUCE].group, id), "");
    }
}

static void every_form_of_recording_gives_the_same_communication(void **state)
{
    (void)state;
    for (size_t form = 0; form < COUNT_OF(forms); form++) {
        struct job job;
        open_job(&job, &forms[form].form);
        for (uint32_t i = 0; i < RANKS; i++) {
            enum orr_status status = resolve(&job, i);
            CHECK(status == ORR_OK, "%s: rank %u: %s", forms[form].what, i, err.text);
            check_rank(&job, i, form);
        }
        close_job(&job);
    }
}

static void all_of_5525_amd_kernels_are_kept_and_generic_ones_resolved(void **state)
{
    (void)state;
    struct job job;
    struct make_recording form = {.steps = 1, .hip = true, .without_args = true, .kernels = 5525 - 11};
    open_job(&job, &form);
    CHECK_U64(job.ranks[0].made.device_work, 5525, "in");
    CHECK_OK(resolve(&job, 0), &err);
    CHECK_U64(device_nodes(&job.ranks[0].linked), 5525, "out");
    struct sums sums = add_up(&job.ranks[0].linked);
    CHECK_U64(sums.count[COMM_ALL_REDUCE] + sums.count[COMM_ALL_GATHER] + sums.count[COMM_REDUCE_SCATTER] +
                  sums.count[COMM_BROADCAST] + sums.count[COMM_ALL_TO_ALL],
              job.ranks[0].made.collectives, "each from its launching op");
    close_job(&job);
}

static void a_generic_kernel_that_nothing_explains_is_an_error(void **state)
{
    (void)state;
    struct job job;
    struct make_recording form = {.steps = 1, .hip = true, .without_args = true, .without_clues = true};
    open_job(&job, &form);
    CHECK_STATUS(resolve(&job, 0), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "ncclDevKernel_Generic_4");
    CHECK_CONTAINS(err.text, "communicates, but nothing tells what");
    close_job(&job);
}

/* The facts of a rank in the order of its nodes; to be freed. */
static struct comm_level_rank in_order(struct rank *rank, int64_t number)
{
    struct linked_trace *linked = &rank->linked;
    struct comm_level_rank made = {.rank = number, .facts = calloc(linked->node_count, sizeof *made.facts)};
    CHECK(made.facts != NULL, "memory");
    for (uint32_t i = 0; i < linked->node_count; i++) {
        if (linked->nodes[i].comm != LINKED_NONE) {
            made.facts[made.count++] = &linked->comms[linked->nodes[i].comm];
        }
    }
    return made;
}

static void an_uneven_all_to_all_has_one_size_on_all_ranks_in_the_end(void **state)
{
    (void)state;
    struct job job;
    struct comm_level_rank ranks[RANKS];
    uint64_t levelled = 0;
    uint64_t largest = 0;
    struct make_recording form = {.steps = 2};
    open_job(&job, &form);
    for (uint32_t i = 0; i < RANKS; i++) {
        CHECK_OK(resolve(&job, i), &err);
        ranks[i] = in_order(&job.ranks[i], i);
        largest = job.ranks[i].made.all_to_all_bytes > largest ? job.ranks[i].made.all_to_all_bytes : largest;
    }
    uint32_t notes = job.notes.count;
    CHECK_OK(comm_level(ranks, RANKS, &job.groups, &mem, &job.notes, &levelled, &err), &err);
    CHECK_U64(job.notes.count, notes, "everything else agrees");
    CHECK(levelled > 0 && levelled < (uint64_t)2 * RANKS, "%" PRIu64 " were smaller than the largest", levelled);
    for (uint32_t i = 0; i < RANKS; i++) {
        struct sums sums = add_up(&job.ranks[i].linked);
        CHECK_U64(sums.bytes[COMM_ALL_TO_ALL], 2 * largest, "rank %u", i);
        CHECK_U64(sums.bytes[COMM_ALL_REDUCE], 2 * job.ranks[i].made.all_reduce_bytes, "rank %u: untouched", i);
    }
    ranks[3].facts[0]->bytes += 4;
    CHECK_OK(comm_level(ranks, RANKS, &job.groups, &mem, &job.notes, NULL, &err), &err);
    CHECK_U64(job.notes.count, notes + 1, "a broadcast of another size is told");
    CHECK_CONTAINS(job.notes.lines[notes], "group 0, collective 1: broadcast of 4000 B on rank 0, broadcast of 4004 B");
    ranks[3].facts[0]->bytes -= 4;
    ranks[3].count -= 2;
    CHECK_OK(comm_level(ranks, RANKS, &job.groups, &mem, &job.notes, NULL, &err), &err);
    CHECK(job.notes.count > notes + 1, "a recording that ends early is told");
    CHECK_CONTAINS(job.notes.lines[notes + 1], "the recordings end at different places");
    for (uint32_t i = 0; i < RANKS; i++) {
        free(ranks[i].facts);
    }
    close_job(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_recording_gives_the_same_communication),
        cmocka_unit_test(all_of_5525_amd_kernels_are_kept_and_generic_ones_resolved),
        cmocka_unit_test(a_generic_kernel_that_nothing_explains_is_an_error),
        cmocka_unit_test(an_uneven_all_to_all_has_one_size_on_all_ranks_in_the_end),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
