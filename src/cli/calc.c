/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery calc`: the sums one does on paper before a job: batches, groups of ranks, what pipeline stages send. */
#include "cli/cli.h"

#include <inttypes.h>

enum {
    KEY_WORLD = 256,
    KEY_TP,
    KEY_CP,
    KEY_EP,
    KEY_DP,
    KEY_PP,
    KEY_EXPERTS,
    KEY_RANK,
    KEY_NESTING,
    KEY_BATCH,
    KEY_MICRO,
    KEY_COUNT,
    KEY_DATASET,
    KEY_SEQ,
    KEY_HIDDEN,
    KEY_SP,
    KEY_BYTES,
    RANKS_SHOWN = 8,
    NESTINGS = 2
};

struct calc_options {
    struct cli_input input;
    struct orr_calc_degrees degrees;
    struct orr_calc_batch batch;
    struct orr_calc_pp_comm pp_comm;
    uint64_t rank;
    unsigned nesting;
    bool nesting_given;
};

static const uint64_t LARGEST = UINT64_C(1) << 40;
static const char *const nestings[] = {"folded", "own", NULL};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct calc_options *options = state->input;
    struct orr_error *err = &options->input.error;
    const struct {
        int key;
        const char *name;
        uint64_t *value;
        uint64_t least;
    } numbers[] = {
        {KEY_WORLD, "--world", &options->degrees.world, 1},
        {KEY_TP, "--tp", &options->degrees.tp, 1},
        {KEY_CP, "--cp", &options->degrees.cp, 1},
        {KEY_EP, "--ep", &options->degrees.ep, 1},
        {KEY_DP, "--dp", &options->degrees.dp, 1},
        {KEY_PP, "--pp", &options->degrees.pp, 1},
        {KEY_EXPERTS, "--experts", &options->degrees.experts, 1},
        {KEY_RANK, "--rank", &options->rank, 0},
        {KEY_BATCH, "--batch", &options->batch.batch, 1},
        {KEY_MICRO, "--micro-batch", &options->batch.micro_batch, 1},
        {KEY_COUNT, "--micro-batches", &options->batch.micro_batches, 1},
        {KEY_DATASET, "--dataset", &options->batch.dataset, 1},
        {KEY_SEQ, "--seq", &options->pp_comm.seq, 1},
        {KEY_HIDDEN, "--hidden", &options->pp_comm.hidden, 1},
        {KEY_BYTES, "--value-bytes", &options->pp_comm.value_bytes, 1},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (key == numbers[i].key) {
            return cli_options_status(
                param_parse_count(numbers[i].name, arg, numbers[i].least, LARGEST, numbers[i].value, err));
        }
    }
    if (key == KEY_NESTING) {
        options->nesting_given = true;
        return cli_options_status(param_parse_word("--nesting", arg, nestings, &options->nesting, err));
    }
    if (key == KEY_SP) {
        options->pp_comm.sequence_parallel = true;
        return 0;
    }
    return cli_options_default(key, arg, state);
}

/* Reads the options; false when the command is over. */
static bool begin(const struct cli_command *self, int argc, char **argv, struct calc_options *options, int *exit_code)
{
    struct orr_error err = {0};
    if (cli_options_parse(self, argc, argv, &options->input, &err) != ORR_OK) {
        *exit_code = cli_fail(&err);
        return false;
    }
    if (options->input.help) {
        cli_print_help(self, argv[0], stdout);
        *exit_code = 0;
        return false;
    }
    return true;
}

/* ---- groups ---- */

#define DEGREE_OPTIONS                                                                                                 \
    {"world", KEY_WORLD, "N", 0, "Ranks of the job", 0}, {"tp", KEY_TP, "N", 0, "Tensor parallelism. Default: 1", 0},  \
        {"cp", KEY_CP, "N", 0, "Context parallelism. Default: 1", 0},                                                  \
        {"pp", KEY_PP, "N", 0, "Pipeline stages. Default: 1", 0},                                                      \
        {"ep", KEY_EP, "N", 0, "Expert parallelism. Default: 1", 0},                                                   \
    {                                                                                                                  \
        "dp", KEY_DP, "N", 0, "Data parallelism; follows from --world, or --world from it", 0                          \
    }

static const struct argp_option group_options[] = {
    DEGREE_OPTIONS,
    {"experts", KEY_EXPERTS, "N", 0, "Experts of a layer, which ep must divide", 0},
    {"nesting", KEY_NESTING, "NAME", 0,
     "Where expert parallelism lies: folded into data parallelism (Megatron-LM, AICB; world = dp x pp x cp x tp) or a "
     "level of its own (own; world = dp x pp x ep x cp x tp). Default: both are shown",
     0},
    {"rank", KEY_RANK, "R", 0, "Whose groups to list. Default: 0", 0},
    CLI_HELP_OPTION,
    {0},
};

static const struct argp groups_argp = {
    .options = group_options,
    .parser = parse,
    .args_doc = "--world N --tp N --pp N",
    .doc = "Show how ranks fall into groups: the degree of each kind of parallelism, how many neighbouring ranks one "
           "part of it takes up (block), how far apart the ranks of a group are (stride), and one rank's groups.\v"
           "Examples:\n"
           "  orrery calc groups --world 64 --tp 8 --pp 2 --ep 4 --experts 16\n"
           "  orrery calc groups --dp 8 --tp 4 --pp 2 --ep 2 --nesting own --rank 5\n",
};

static void print_ranks(const struct orr_calc_level *level, uint64_t rank)
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
        print_ranks(level, rank);
    }
    if (d->experts != 0) {
        (void)printf("  %" PRIu64 " experts: %" PRIu64 " on a rank\n", d->experts, d->experts / d->ep);
    }
}

/* Both nestings unless one was asked for; it is enough that one of them divides. */
static int run_groups(const struct cli_command *self, int argc, char **argv)
{
    struct calc_options options = {0};
    struct orr_calc_groups groups[NESTINGS];
    struct orr_error errors[NESTINGS] = {0};
    unsigned good = NESTINGS;
    int exit_code = 0;
    if (!begin(self, argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    unsigned first = options.nesting_given ? options.nesting : 0;
    unsigned last = options.nesting_given ? options.nesting : NESTINGS - 1;
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

static const struct argp_option batch_options[] = {
    {"batch", KEY_BATCH, "N", 0, "Samples of a batch, over all ranks", 0},
    {"micro-batch", KEY_MICRO, "N", 0, "Samples of a micro-batch", 0},
    {"micro-batches", KEY_COUNT, "N", 0, "Micro-batches a rank runs before a step (gradient accumulation)", 0},
    {"dataset", KEY_DATASET, "N", 0, "Samples of the data set, to be counted in batches", 0},
    DEGREE_OPTIONS,
    {"nesting", KEY_NESTING, "NAME", 0, "folded (default) or own: see orrery calc groups", 0},
    CLI_HELP_OPTION,
    {0},
};

static const struct argp batch_argp = {
    .options = batch_options,
    .parser = parse,
    .args_doc = "--batch N --micro-batch N --dp N",
    .doc =
        "batch = dp x micro-batches x micro-batch: give two of the three, and dp or the degrees it follows from; the "
        "third is found.\v"
        "Examples:\n"
        "  orrery calc batch --batch 1024 --micro-batch 2 --world 512 --tp 8 --pp 4\n"
        "  orrery calc batch --micro-batch 1 --micro-batches 8 --dp 64 --dataset 9999\n",
};

static enum orr_status find_dp(struct calc_options *options, struct orr_error *err)
{
    struct orr_calc_groups groups;
    enum orr_status status = ORR_OK;
    if (options->degrees.world != 0) {
        status = orr_calc_groups(&options->degrees, (enum orr_calc_nesting)options->nesting, &groups, err);
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
    struct calc_options options = {0};
    struct orr_calc_batch found;
    struct orr_error err = {0};
    int exit_code = 0;
    if (!begin(self, argc, argv, &options, &exit_code)) {
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

static const struct argp_option pp_comm_options[] = {
    {"micro-batch", KEY_MICRO, "N", 0, "Samples of a micro-batch. Default: 1", 0},
    {"seq", KEY_SEQ, "N", 0, "Tokens of a sequence. Required", 0},
    {"hidden", KEY_HIDDEN, "N", 0, "Values a token. Required", 0},
    {"tp", KEY_TP, "N", 0, "Tensor parallelism. Default: 1", 0},
    {"sp", KEY_SP, NULL, 0, "Sequence parallelism: every TP rank sends its part of the sequence", 0},
    {"value-bytes", KEY_BYTES, "N", 0, "Bytes of a value. Default: 2 (bfloat16, float16)", 0},
    CLI_HELP_OPTION,
    {0},
};

static const struct argp pp_comm_argp = {
    .options = pp_comm_options,
    .parser = parse,
    .args_doc = "--seq N --hidden N",
    .doc =
        "pp_comm_value: the bytes a rank sends to the next pipeline stage for one micro-batch, 2 x micro-batch x seq "
        "x hidden, divided by tp with sequence parallelism.\v"
        "Examples:\n"
        "  orrery calc pp-comm --micro-batch 1 --seq 4096 --hidden 8192 --tp 8 --sp\n",
};

static int run_pp_comm(const struct cli_command *self, int argc, char **argv)
{
    struct calc_options options = {.batch = {.micro_batch = 1}};
    struct orr_error err = {0};
    uint64_t bytes = 0;
    int exit_code = 0;
    if (!begin(self, argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    options.pp_comm.micro_batch = options.batch.micro_batch;
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
    .name = "groups", .summary = "how ranks fall into groups", .argp = &groups_argp, .run = run_groups};
static const struct cli_command calc_batch = {
    .name = "batch", .summary = "batches and micro-batches", .argp = &batch_argp, .run = run_batch};
static const struct cli_command calc_pp_comm = {
    .name = "pp-comm", .summary = "what pipeline stages send each other", .argp = &pp_comm_argp, .run = run_pp_comm};

static const struct cli_command *const calculators[] = {&calc_batch, &calc_groups, &calc_pp_comm, NULL};

const struct cli_command cli_calc = {
    .name = "calc",
    .summary = "batches, groups of ranks, bytes between stages",
    .subcommands = calculators,
    .about = "Example:\n  orrery calc groups --world 64 --tp 8 --pp 2 --ep 4\n",
    .run = cli_dispatch,
};
