/* SPDX-License-Identifier: Apache-2.0 */
/* The public function that shows a collective: words become numbers here, coll/ builds, report/ writes. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/notices.h"
#include "io/outfile.h"
#include "orrery.h"
#include "report/coll.h"
#include "run/type_word.h"

/* NVLink switches that reduce; in SimAI 1.6 only two of its types count as such. */
#define GPU_TYPES(X)                                                                                                   \
    X("A100", false, false)                                                                                            \
    X("A800", false, false)                                                                                            \
    X("H100", true, true)                                                                                              \
    X("H800", true, true)                                                                                              \
    X("H20", true, false)                                                                                              \
    X("H200", true, false)                                                                                             \
    X("B200", true, false)                                                                                             \
    X("GB200", true, false)

#define GPU_X(name, nvls, compat) name,
static const char *const gpu_names[] = {GPU_TYPES(GPU_X) NULL};
#undef GPU_X
#define GPU_X(name, nvls, compat) {nvls, compat},
static const struct {
    bool nvls, compat_nvls;
} gpu_types[] = {GPU_TYPES(GPU_X)};
#undef GPU_X

static const char *const group_names[] = {"tp", "dp", "ep", "dp-ep", NULL};
static const char *const algo_names[] = {"auto", "ring", "tree", "nvls", "nvls-tree", "collnet", NULL};
static const enum nccl_algo algos[] = {NCCL_RING, NCCL_RING, NCCL_TREE, NCCL_NVLS, NCCL_NVLS_TREE, NCCL_COLLNET};

/* DP_EP, as SimAI writes it, is dp-ep, and h100 is H100. */
static bool same_word(const char *word, const char *name)
{
    for (; *word != '\0' && *name != '\0'; word++, name++) {
        char c = *word == '_' ? '-' : *word;
        if (strncasecmp(&c, name, 1) != 0) {
            return false;
        }
    }
    return *word == *name;
}

static enum orr_status find_word(const char *what, const char *word, const char *const *known, uint32_t *index,
                                 struct orr_error *err)
{
    for (uint32_t i = 0; known[i] != NULL; i++) {
        if (same_word(word, known[i])) {
            *index = i;
            return ORR_OK;
        }
    }
    return error_unknown(what, word, known, err);
}

/* Everything that one call builds. */
struct show {
    const struct orr_coll_options *options;
    struct arena arena;
    struct nccl_job job;
    struct nccl_channels channels;
    struct nccl_flows flows;
    struct report_coll report;
};

/* The group that is looked at reaches over all ranks where nothing else was said. */
static uint32_t degree_of_tp(const struct orr_coll_options *options)
{
    return options->tp != 0 ? options->tp : same_word(options->group, group_names[NCCL_GROUP_TP]) ? options->gpus : 1;
}

static enum orr_status check_type(const struct orr_coll_options *options, struct orr_error *err)
{
    bool messages = options->type != NULL && strcmp(options->type, "send-recv") == 0;
    if (options->pair_count > 0 && options->type != NULL && !messages) {
        return error_set(err, ORR_EINVAL, "parameter 'pairs' is for parameter 'type' send-recv, not %.40s",
                         options->type);
    }
    return !messages || options->pair_count > 0
               ? ORR_OK
               : error_set(err, ORR_EINVAL, "parameter 'type' send-recv needs parameter 'pairs' SENDER:RECEIVER,...");
}

static enum orr_status read_job(struct show *show, struct orr_error *err)
{
    const struct orr_coll_options *options = show->options;
    uint32_t gpu = 0;
    enum orr_status status = find_word("GPU type", options->gpu_type, gpu_names, &gpu, err);
    if (status != ORR_OK) {
        return status;
    }
    show->job = (struct nccl_job){.gpus = options->gpus,
                                  .gpus_per_server = options->gpus_per_server,
                                  .switches_per_server = options->switches_per_server,
                                  .tp = degree_of_tp(options),
                                  .ep = options->ep,
                                  .nvls = options->nvls,
                                  .pxn = options->pxn,
                                  .as_nccl = !options->compat,
                                  .compat = options->compat};
    show->job.has_nvls = options->compat ? gpu_types[gpu].compat_nvls : gpu_types[gpu].nvls;
    return ORR_OK;
}

static enum orr_status api_coll_choose(struct show *show, enum coll_type type, struct nccl_choice *choice,
                                       struct orr_error *err)
{
    const struct orr_coll_options *options = show->options;
    const struct nccl_group *group = show->report.group;
    uint32_t algo = 0;
    enum orr_status status = find_word("algorithm", options->algo, algo_names, &algo, err);
    if (status != ORR_OK) {
        return status;
    }
    *choice = nccl_choose(&show->job, group, type, options->bytes);
    if (algo != 0) {
        choice->algo = algos[algo];
    }
    if (options->channels != 0) {
        choice->channels = options->channels;
    }
    choice->chunk_bytes = options->chunk_bytes;
    for (uint32_t i = 0; i < group->rank_count && options->root != UINT32_MAX; i++) {
        if (group->ranks[i] == options->root) {
            choice->root = i;
            return ORR_OK;
        }
    }
    return options->root == UINT32_MAX
               ? ORR_OK
               : error_set(err, ORR_EINVAL, "root %" PRIu32 " is not in the group of rank %" PRIu32, options->root,
                           options->rank);
}

static enum orr_status build_collective(struct show *show, struct orr_error *err)
{
    const struct orr_coll_options *options = show->options;
    struct report_coll *report = &show->report;
    uint32_t group_type = 0;
    int32_t type = 0;
    struct nccl_group *groups = NULL;
    struct nccl_choice choice = {0};
    enum orr_status status = find_word("group", options->group, group_names, &group_type, err);
    if (status == ORR_OK) {
        status = type_word_parse(options->type != NULL ? options->type : "all-reduce", &type, err);
    }
    if (status == ORR_OK) {
        status = nccl_groups_build(&show->job, &show->arena, &groups, &report->group_count, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    report->groups = groups;
    report->bytes = type == COLL_BARRIER ? 1 : options->bytes;
    report->type = coll_type_name(type);
    report->pairs = type == COLL_ALL_TO_ALL || type == COLL_GATHER || type == COLL_SCATTER;
    report->group = nccl_group_find(groups, report->group_count, (enum nccl_group_type)group_type, options->rank);
    if (report->group == NULL) {
        bool said = options->compat && options->dump; /* the dump has a word for it */
        return said ? ORR_OK
                    : error_set(err, ORR_EINVAL,
                                "rank %" PRIu32 " has no %s group of two or more among %" PRIu32
                                " GPUs with TP %" PRIu32 " and EP %" PRIu32,
                                options->rank, options->group, options->gpus, show->job.tp, options->ep);
    }
    status = nccl_channels_build(&show->job, report->group, &show->arena, &show->channels, err);
    if (status == ORR_OK) {
        status = api_coll_choose(show, (enum coll_type)type, &choice, err);
    }
    if (status == ORR_OK) {
        status = nccl_flows_build(&show->job, report->group, &show->channels, &choice, (enum coll_type)type,
                                  options->bytes, &show->arena, &show->flows, err);
    }
    return status;
}

static enum orr_status build_pairs(struct show *show, struct orr_error *err)
{
    const struct orr_coll_options *options = show->options;
    if (options->gpus == 0 || options->gpus_per_server == 0) {
        return error_set(err, ORR_EINVAL, "GPUs and GPUs per server must be at least 1");
    }
    struct nccl_pair *pairs = arena_alloc(&show->arena, options->pair_count * sizeof *pairs);
    if (pairs == NULL) {
        return mem_error(show->arena.mem, "the pairs", err);
    }
    for (size_t i = 0; i < options->pair_count; i++) {
        pairs[i] = (struct nccl_pair){options->pairs[i].src, options->pairs[i].dst, options->bytes};
    }
    show->report.type = "send-recv";
    show->report.pairs = true;
    return nccl_pairs_build(&show->job, pairs, (uint32_t)options->pair_count, options->pxn, &show->arena, &show->flows,
                            err);
}

static enum orr_status write_svg(const struct show *show, struct orr_error *err)
{
    if (show->flows.choice.algo == NCCL_COLLNET) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'svg' draws rings and trees of ranks, and parameter 'algo' collnet has neither");
    }
    if (show->report.pairs || show->report.group == NULL) {
        return error_set(err, ORR_EINVAL, "%s follows no rings or trees that could be drawn", show->report.type);
    }
    struct io_outfile *file = NULL;
    enum orr_status status = io_outfile_open(show->options->svg, IO_OUTFILE_PLAIN, &file, err);
    if (status != ORR_OK) {
        return status;
    }
    report_coll_svg(&show->report, io_outfile_stream(file));
    return io_outfile_commit(file, err);
}

static enum orr_status run_show(struct show *show, FILE *stream, struct orr_error *err)
{
    enum orr_status status = check_type(show->options, err);
    status = status == ORR_OK ? read_job(show, err) : status;
    if (status == ORR_OK) {
        status = show->options->pair_count > 0 ? build_pairs(show, err) : build_collective(show, err);
    }
    if (status == ORR_OK && show->options->svg != NULL) {
        status = write_svg(show, err);
    }
    if (status == ORR_OK && show->options->dump) {
        report_coll_dump(&show->report, stream);
    } else if (status == ORR_OK) {
        status = report_coll_text(&show->report, &show->arena, stream, err);
    }
    return status == ORR_OK ? error_of_stream(stream, "the collective", err) : status;
}

enum orr_status orr_coll_show(const struct orr_coll_options *options, FILE *stream, struct orr_error *err)
{
    struct mem mem = {.limit = options->memory_limit};
    struct show show = {.options = options};
    if (options->pair_count > UINT32_MAX / 2) {
        return error_set(err, ORR_ERANGE, "%zu pairs are too many", options->pair_count);
    }
    arena_init(&show.arena, &mem);
    show.report = (struct report_coll){.job = &show.job,
                                       .rank = options->rank,
                                       .channels = &show.channels,
                                       .flows = &show.flows,
                                       .bytes = options->bytes};
    enum orr_status status = run_show(&show, stream, err);
    arena_free(&show.arena);
    return status;
}
