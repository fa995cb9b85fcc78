/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery goodput`: how much of a long job's time makes progress, and how often it should save its state. */
#include "cli/cli.h"

struct goodput_options {
    struct orr_goodput_options goodput;
    struct orr_goodput result;
    struct cli_forms forms;
};

#define AT(field) .place = offsetof(struct goodput_options, goodput.field)
#define DURATION(field)                                                                                                \
    .kind = PARAM_TIME, .unit = "s", .value = "TIME", .least = 1, .most = UINT64_C(1) << 62,                           \
    .place = offsetof(struct goodput_options, goodput.field)

static const struct param goodput_rows[] = {
    {"gpus", .kind = PARAM_COUNT, .group = PARAM_MACHINE, .value = "N", AT(gpus), .least = 1, .most = UINT64_C(1) << 32,
     .help = "GPUs of the job"},
    {"gpus-per-node", .kind = PARAM_COUNT, .group = PARAM_MACHINE, .value = "N", AT(gpus_per_node), .least = 1,
     .most = 65536, .initial = "8", .help = "GPUs that fail and are replaced together"},
    {"gpu-mtbf", DURATION(gpu_mtbf_ns), .group = PARAM_MACHINE, .unwritten = "GPUs do not fail by themselves",
     .help = "Mean time between failures of one GPU: 50000h, 800d; a bare number is in s"},
    {"node-mtbf", "mtbf", DURATION(node_mtbf_ns), .group = PARAM_MACHINE,
     .unwritten = "nodes do not fail by themselves", .help = "Mean time between failures of one node"},
    {"spares", .kind = PARAM_COUNT, .group = PARAM_MACHINE, .value = "N", AT(spares), .most = 1000000, .initial = "0",
     .help = "Nodes that take the place of broken ones; with --repair"},
    {"repair", DURATION(repair_ns), .group = PARAM_MACHINE, .unwritten = "what the restart does not do is not needed",
     .help = "Mean time until a broken node is back; with more broken than --spares the job waits"},
    {"restart", DURATION(restart_ns), .group = PARAM_WHAT, .unwritten = "0",
     .help = "From a failure until work resumes from the last checkpoint: 5min"},
    {"checkpoint-time", DURATION(checkpoint_ns), .group = PARAM_WHAT,
     .help = "How long the job stops for a checkpoint"},
    {"checkpoint-bytes", .kind = PARAM_SIZE, .group = PARAM_WHAT, .value = "SIZE", AT(checkpoint_bytes),
     .help = "Or its size, with --checkpoint-rate"},
    {"model", .kind = PARAM_TEXT, .group = PARAM_WHAT, .value = "NAME", AT(model),
     .help = "Or the model whose state is saved: a preset of orrery train or a config.json"},
    {"bytes-per-parameter", .kind = PARAM_REAL, .group = PARAM_WHAT, .value = "N", AT(bytes_per_parameter),
     .real_least = 0.1, .real_most = 1000, .initial = "14",
     .help = "Of --model: 2 for bf16 weights, 12 for fp32 weights and Adam's two moments"},
    {"checkpoint-rate", .kind = PARAM_REAL, .unit = "GB/s", .group = PARAM_WHAT, .value = "RATE",
     AT(checkpoint_gbytes_per_s), .real_most = 1e9, .help = "Total bandwidth for writing checkpoints: 200GB/s"},
    {"interval", DURATION(interval_ns), .group = PARAM_WHAT, .unwritten = "the best",
     .help = "Work between two checkpoints"},
    {"step", DURATION(step_ns), .group = PARAM_WHAT, .unwritten = "checkpoints at any time",
     .help = "Step time: checkpoints are taken between whole steps only"},
    CLI_ROW_JSON(struct goodput_options, forms.json),
    {0},
};

static enum orr_status goodput_answer(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    const struct goodput_options *options = context;
    return orr_goodput_write(&options->goodput, &options->result, form, stream, err);
}

static int goodput_run(const struct cli_command *self, int argc, char **argv)
{
    struct goodput_options options = {0};
    struct orr_error err = {0};
    int code = 0;
    orr_goodput_options_init(&options.goodput);
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    enum orr_status status = cli_forms_check(&options.forms, (struct cli_inputs){&options.goodput.model, 1}, &err);
    if (status == ORR_OK) {
        status = orr_goodput_find(&options.goodput, &options.result, &err);
    }
    if (status == ORR_OK) {
        status = cli_forms_put(&options.forms, goodput_answer, &options, &err);
    }
    return cli_end(status, &err);
}

static const struct param_table goodput_tables[] = {{goodput_rows, 0, 0}, {0}};

static const struct cli_usage goodput_usage = {
    .tables = goodput_tables,
    .forms = "--gpus N --gpu-mtbf TIME --checkpoint-time TIME",
    .about = "Compute how much of a long job's time is spent on progress when GPUs and nodes fail: checkpoints, "
             "repeated work, restarts and waiting for repair, at the best checkpoint interval (exact for this model, "
             "with Young's and Daly's estimates for comparison) or at a given one.",
    .examples = "  orrery goodput --gpus 16384 --gpu-mtbf 50000h --checkpoint-time 30s --restart 5min\n"
                "  orrery goodput --gpus 16384 --node-mtbf 300d --model llama3-405b --checkpoint-rate 200GB/s "
                "--restart 5min --spares 8 --repair 12h\n"
                "  orrery goodput --gpus 1024 --mtbf 1000d --checkpoint-time 20s --interval 30min --step 8s\n",
};

const struct cli_command cli_goodput = {.name = "goodput",
                                        .summary = "checkpoint intervals, and the time that failures cost",
                                        .usage = &goodput_usage,
                                        .run = goodput_run};
