/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery calc`: the sums one does on paper before a job: batches, groups of ranks, what pipeline stages send. */
#include "cli/cli.h"

#include <inttypes.h>

enum { RANKS_SHOWN = 8, NESTINGS = 2 };

struct calc_options {
    struct orr_calc_degrees degrees;
    struct orr_calc_batch batch;
    struct orr_calc_pp_comm pp_comm;
    uint64_t rank;
    enum orr_calc_nesting nesting;
    bool nesting_given;
};

static const char *const nestings[] = {"folded", "own", NULL};

#define AT(field) .place = offsetof(struct calc_options, field)
#define CALC_COUNT(field)                                                                                              \
    .kind = PARAM_COUNT, .value = "N", .least = 1, .most = UINT64_C(1) << 40,                                          \
    .place = offsetof(struct calc_options, field)
#define ROW_TP                                                                                                         \
    {                                                                                                                  \
        "tp", CALC_COUNT(degrees.tp), .help = "Tensor parallelism", .unwritten = "1"                                   \
    }

/* 0, which cannot be given, is what follows from the others; of tp, cp, pp and ep that is 1. */
static const struct param degree_rows[] = {
    {"world", CALC_COUNT(degrees.world), .help = "Ranks of the job"},
    ROW_TP,
    {"cp", CALC_COUNT(degrees.cp), .help = "Context parallelism", .unwritten = "1"},
    {"pp", CALC_COUNT(degrees.pp), .help = "Pipeline stages", .unwritten = "1"},
    {"ep", CALC_COUNT(degrees.ep), .help = "Expert parallelism", .unwritten = "1"},
    {"dp", CALC_COUNT(degrees.dp), .help = "Data parallelism; follows from --world, or --world from it"},
    {0},
};

/* ---- groups ---- */

static const struct param group_rows[] = {
    {"experts", CALC_COUNT(degrees.experts), .help = "Experts of a layer, which ep must divide"},
    {"nesting", .kind = PARAM_WORD, .value = "NAME", AT(nesting), .given = offsetof(struct calc_options, nesting_given),
     .words = nestings, .unwritten = "both are shown",
     .help = "Where expert parallelism lies: folded into data parallelism (Megatron-LM, AICB; world = dp x pp x cp x "
             "tp) or a level of its own (own; world = dp x pp x ep x cp x tp)"},
    {"rank", .kind = PARAM_COUNT, .value = "R", AT(rank), .most = UINT64_C(1) << 40, .initial = "0",
     .help = "Whose groups to list"},
    {0},
};

static const struct cli_usage groups_usage = {
    .tables = (const struct param_table[]){{degree_rows, 0, 0}, {group_rows, 0, 0}, {0}},
    .forms = "--world N --tp N --pp N",
    .about = "Show how ranks fall into groups: the degree of each kind of parallelism, how many neighbouring ranks one "
             "part of it takes up (block), how far apart the ranks of a group are (stride), and one rank's groups.",
    .examples = "  orrery calc groups --world 64 --tp 8 --pp 2 --ep 4 --experts 16\n"
                "  orrery calc groups --dp 8 --tp 4 --pp 2 --ep 2 --nesting own --rank 5\n",
};

static void cli_calc_print_ranks(const struct orr_calc_level *level, uint64_t rank)
{
    uint64_t place = rank / level->stride % level->degree;
    uint64_t first = rank - place * level->stride;
    for (uint64_t i = 0; i < level->degree && i < RANKS_SHOWN; i++) {
        (void)printf("%s%" PRIu64, i == 0 ? "" : " ", first + i * level->stride);
    }
    (void)printf("%s\n", level->degree > RANKS_SHOWN ? " ..." : "");
}

static void print_groups(const struct orr_calc_groups *groups, unsigned nesting, uint64_t rank)
{
    const struct orr_calc_degrees *d = &groups->degrees;
    (void)printf("%s: world %" PRIu64 " = dp %" PRIu64 " x pp %" PRIu64, nestings[nesting], d->world, d->dp, d->pp);
    if (nesting == ORR_CALC_OWN) {
        (void)printf(" x ep %" PRIu64, d->ep);
    }
    (void)printf(" x cp %" PRIu64 " x tp %" PRIu64 "\n", d->cp, d->tp);
    (void)printf("  %-6s %8s %8s %8s %8s  ranks with %" PRIu64 "\n", "group", "degree", "groups", "block", "stride",
                 rank);
    for (uint32_t i = 0; i < groups->level_count; i++) {
        const struct orr_calc_level *level = &groups->levels[i];
        (void)printf("  %-6s %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "  ", level->name, level->degree,
                     level->groups, level->block, level->stride);
        cli_calc_print_ranks(level, rank);
    }
    if (d->experts != 0) {
        (void)printf("  %" PRIu64 " experts: %" PRIu64 " on a rank\n", d->experts, d->experts / d->ep);
    }
}

/* Both nestings unless one was asked for; it is enough that one of them divides. */
static int run_groups(const struct cli_command *self, int argc, char **argv)
{
    struct calc_options options = {.rank = 0};
    struct orr_calc_groups groups[NESTINGS];
    struct orr_error errors[NESTINGS] = {0};
    unsigned good = NESTINGS;
    int exit_code = 0;
    if (!cli_begin(self, argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    unsigned first = options.nesting_given ? (unsigned)options.nesting : 0;
    unsigned last = options.nesting_given ? (unsigned)options.nesting : NESTINGS - 1;
    for (unsigned i = first; i <= last; i++) {
        if (orr_calc_groups(&options.degrees, (enum orr_calc_nesting)i, &groups[i], &errors[i]) == ORR_OK) {
            if (options.rank >= groups[i].degrees.world) {
                (void)error_set(&errors[i], ORR_ERANGE, "--rank %" PRIu64 " of %" PRIu64 " ranks, counted from 0",
                                options.rank, groups[i].degrees.world);
                return cli_fail(&errors[i]);
            }
            good = i;
        }
    }
    if (good == NESTINGS) {
        return cli_fail(&errors[first]);
    }
    for (unsigned i = first; i <= last; i++) {
        (void)printf("%s", i > first ? "\n" : "");
        if (errors[i].status == ORR_OK) {
            print_groups(&groups[i], i, options.rank);
        } else {
            (void)printf("%s: does not divide: %s\n", nestings[i], errors[i].text);
        }
    }
    return 0;
}

/* ---- batches ---- */

static const struct param batch_rows[] = {
    {"batch", CALC_COUNT(batch.batch), .help = "Samples of a batch, over all ranks"},
    {"micro-batch", CALC_COUNT(batch.micro_batch), .help = "Samples per micro-batch"},
    {"micro-batches", CALC_COUNT(batch.micro_batches),
     .help = "Micro-batches a rank runs before a step (gradient accumulation)"},
    {"dataset", CALC_COUNT(batch.dataset), .help = "Samples of the data set, to be counted in batches"},
    {"nesting", .kind = PARAM_WORD, .value = "NAME", AT(nesting), .words = nestings, .initial = "folded",
     .help = "folded or own: see orrery calc groups"},
    {0},
};

static const struct cli_usage batch_usage = {
    .tables = (const struct param_table[]){{batch_rows, 0, 0}, {degree_rows, 0, 0}, {0}},
    .forms = "--batch N --micro-batch N --dp N",
    .about = "batch = dp x micro-batches x micro-batch: give two of the three, and dp or the degrees it follows from; "
             "the third is found.",
    .examples = "  orrery calc batch --batch 1024 --micro-batch 2 --world 512 --tp 8 --pp 4\n"
                "  orrery calc batch --micro-batch 1 --micro-batches 8 --dp 64 --dataset 9999\n",
};

static enum orr_status find_dp(struct calc_options *options, struct orr_error *err)
{
    struct orr_calc_groups groups;
    enum orr_status status = ORR_OK;
    if (options->degrees.world != 0) {
        status = orr_calc_groups(&options->degrees, options->nesting, &groups, err);
        options->degrees.dp = status == ORR_OK ? groups.degrees.dp : 0;
    }
    if (status == ORR_OK && options->degrees.dp == 0) {
        status = error_set(err, ORR_EINVAL, "missing --dp N, or --world N with --tp and --pp");
    }
    options->batch.dp = options->degrees.dp;
    return status;
}

static int run_batch(const struct cli_command *self, int argc, char **argv)
{
    struct calc_options options = {.rank = 0};
    struct orr_calc_batch found;
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_begin(self, argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    enum orr_status status = find_dp(&options, &err);
    status = status == ORR_OK ? orr_calc_batch(&options.batch, &found, &err) : status;
    if (status != ORR_OK) {
        return cli_fail(&err);
    }
    (void)printf("batch %" PRIu64 " = dp %" PRIu64 " x %" PRIu64 " micro-batches x %" PRIu64 " samples\n", found.batch,
                 found.dp, found.micro_batches, found.micro_batch);
    if (found.dataset != 0) {
        (void)printf("%" PRIu64 " samples: %" PRIu64 " batches, %" PRIu64 " samples left over\n", found.dataset,
                     found.batches, found.left_over);
    }
    return 0;
}

/* ---- what stages send ---- */

static const struct param pp_comm_rows[] = {
    {"micro-batch", CALC_COUNT(pp_comm.micro_batch), .initial = "1", .help = "Samples per micro-batch"},
    {"seq", CALC_COUNT(pp_comm.seq), .help = "Required: tokens of a sequence"},
    {"hidden", CALC_COUNT(pp_comm.hidden), .help = "Required: values a token"},
    ROW_TP,
    {"sp", .kind = PARAM_FLAG, AT(pp_comm.sequence_parallel),
     .help = "Sequence parallelism: every TP rank sends its part of the sequence"},
    {"value-bytes", CALC_COUNT(pp_comm.value_bytes), .unwritten = "2 (bfloat16, float16)", .help = "Bytes of a value"},
    {0},
};

static const struct param_table pp_comm_tables[] = {{pp_comm_rows, 0, 0}, {0}};

static const struct cli_usage pp_comm_usage = {
    .tables = pp_comm_tables,
    .forms = "--seq N --hidden N",
    .about = "pp_comm_value: the bytes a rank sends to the next pipeline stage for one micro-batch, 2 x micro-batch x "
             "seq x hidden, divided by tp with sequence parallelism.",
    .examples = "  orrery calc pp-comm --micro-batch 1 --seq 4096 --hidden 8192 --tp 8 --sp\n",
};

static int run_pp_comm(const struct cli_command *self, int argc, char **argv)
{
    struct calc_options options = {.rank = 0};
    struct orr_error err = {0};
    uint64_t bytes = 0;
    int exit_code = 0;
    param_defaults(pp_comm_tables, &options);
    if (!cli_begin(self, argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    options.pp_comm.tp = options.degrees.tp;
    enum orr_status status = options.pp_comm.seq == 0 || options.pp_comm.hidden == 0
                                 ? error_set(&err, ORR_EINVAL, "missing --seq N or --hidden N")
                                 : orr_calc_pp_comm(&options.pp_comm, &bytes, &err);
    if (status != ORR_OK) {
        return cli_fail(&err);
    }
    (void)printf("pp_comm_value %" PRIu64 " bytes (%.2f MiB) a rank and micro-batch\n", bytes,
                 (double)bytes / (1024 * 1024));
    return 0;
}

static const struct cli_command calc_groups = {
    .name = "groups", .summary = "how ranks fall into groups", .usage = &groups_usage, .run = run_groups};
static const struct cli_command calc_batch = {
    .name = "batch", .summary = "batches and micro-batches", .usage = &batch_usage, .run = run_batch};
static const struct cli_command calc_pp_comm = {
    .name = "pp-comm", .summary = "what pipeline stages send each other", .usage = &pp_comm_usage, .run = run_pp_comm};

static const struct cli_command *const calculators[] = {&calc_batch, &calc_groups, &calc_pp_comm, NULL};

const struct cli_command cli_calc = {
    .name = "calc",
    .summary = "batches, groups of ranks, bytes between stages",
    .subcommands = calculators,
    .about = "Example:\n  orrery calc groups --world 64 --tp 8 --pp 2 --ep 4\n",
    .run = cli_dispatch,
};
