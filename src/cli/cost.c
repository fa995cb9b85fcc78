/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery cost`: what machines cost, and what a step on them costs. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lab.h"

enum { MACHINES_MOST = 64 };

struct cost_options {
    struct orr_cost_options cost;
    struct orr_cost_machine machines[MACHINES_MOST];
    struct orr_cost_counts counts;
    uint64_t steps[MACHINES_MOST];
    uint64_t runs[MACHINES_MOST];
    size_t step_count, run_count, what_count;
    struct cli_forms forms;
    struct cli_warnings warnings;
    bool template, by_hand, strict;
};

/* Calls `take` with each piece of "a,b,c". */
static enum orr_status cli_cost_read_list(const struct param *row, const char *text, size_t *count, uint64_t *values,
                                          enum orr_status (*take)(const char *where, const char *piece, uint64_t *value,
                                                                  struct orr_error *err),
                                          struct orr_error *err)
{
    char where[40];
    char piece[64];
    enum orr_status status = ORR_OK;
    (void)snprintf(where, sizeof where, "parameter '%s'", row->name);
    for (bool more = true; more && status == ORR_OK;) {
        size_t length = strcspn(text, ",");
        (void)snprintf(piece, sizeof piece, "%.*s", (int)(length < sizeof piece ? length : sizeof piece), text);
        status = *count == MACHINES_MOST ? error_set(err, ORR_ERANGE, "%s: more than %d values", where, MACHINES_MOST)
                                         : take(where, piece, &values[*count], err);
        *count += status == ORR_OK;
        more = text[length] == ',';
        text += length + 1;
    }
    return status;
}

static enum orr_status take_time(const char *where, const char *piece, uint64_t *value, struct orr_error *err)
{
    enum orr_status status = param_parse_time(where, piece, "us", value, err);
    if (status == ORR_OK && *value == 0) {
        return error_set(err, ORR_EINVAL, "%s: a step takes longer than 0", where);
    }
    return status;
}

static enum orr_status cli_cost_take_run(const char *where, const char *piece, uint64_t *value, struct orr_error *err)
{
    return param_parse_count(where, piece, 0, INT64_MAX, value, err);
}

static enum orr_status cli_cost_read_steps(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct cost_options *options = into;
    return cli_cost_read_list(row, text, &options->step_count, options->steps, take_time, err);
}

static enum orr_status read_runs(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct cost_options *options = into;
    return cli_cost_read_list(row, text, &options->run_count, options->runs, cli_cost_take_run, err);
}

static enum orr_status take_machine(void *into, const char *word, struct orr_error *err)
{
    struct cost_options *options = into;
    if (options->what_count == MACHINES_MOST) {
        return error_set(err, ORR_ERANGE, "more than %d machines", MACHINES_MOST);
    }
    options->machines[options->what_count++].what = word;
    return ORR_OK;
}

static enum orr_status cli_cost_read_machine(const struct param *row, const char *text, void *into,
                                             struct orr_error *err)
{
    (void)row;
    return take_machine(into, text, err);
}

#define AT(field) .place = offsetof(struct cost_options, field)
#define COUNTED(field)                                                                                                 \
    .kind = PARAM_COUNT, .group = PARAM_MACHINE, .value = "N", AT(counts.field), .most = UINT64_C(1) << 40,            \
    .given = offsetof(struct cost_options, by_hand)

static const struct param rows[] = {
    {"prices", .kind = PARAM_PATH, .group = PARAM_WHAT, .value = "FILE", AT(cost.prices),
     .unwritten = "example prices, which are nobody's offer", .help = "Price list (YAML)"},
    {"template", .kind = PARAM_FLAG, .group = PARAM_WHAT, AT(template),
     .help = "Print a price list to start from, and exit"},
    {"step-time", .kind = PARAM_READ, .group = PARAM_WHAT, .value = "TIME,...", .read = cli_cost_read_steps,
     .help = "How long a step takes: 662ms, 1.9s; a bare number is in us. One for each machine, or one for all"},
    {"run", .kind = PARAM_READ, .group = PARAM_WHAT, .value = "N,...", .read = read_runs,
     .help = "Take the time of a step from runs of the result store. One for each machine (0: the newest); without "
             "MACHINE, also the machine"},
    CLI_ROW_STORE(struct cost_options, cost.store),
    {"samples", .kind = PARAM_COUNT, .group = PARAM_WHAT, .value = "N", AT(cost.samples), .least = 1,
     .most = UINT64_C(1) << 50,
     .help = "Samples (or tokens) of a step, over all ranks: also give samples per unit of currency"},
    {"machine", "topology topo", .letter = 'm', .kind = PARAM_READ, .group = PARAM_WHAT, .flags = PARAM_MANY,
     .value = "MACHINE", .read = cli_cost_read_machine, .help = "Another way to give a MACHINE"},
    {"gpus", COUNTED(gpus), .help = "GPUs"},
    {"servers", COUNTED(servers), .unwritten = "by the price list's gpus-per-server", .help = "Servers"},
    {"nics", COUNTED(nics), .unwritten = "by the price list's nics-per-server", .help = "NICs"},
    {"nvswitches", COUNTED(nvswitches), .unwritten = "none", .help = "Switches inside servers"},
    {"leaves", COUNTED(leaves), .unwritten = "none", .help = "Switches that GPUs are on"},
    {"spines", COUNTED(spines), .unwritten = "none", .help = "Switches without GPUs"},
    {"switches", COUNTED(switches), .unwritten = "none", .help = "Switches of any level"},
    {"links", COUNTED(links), .unwritten = "none", .help = "Cables"},
    CLI_ROW_JSON(struct cost_options, forms.json),
    CLI_ROW_STRICT(struct cost_options, strict),
    {0},
};

static const char *const headings[PARAM_GROUPS] = {
    [PARAM_WHAT] = "Prices and steps:", [PARAM_MACHINE] = "Without MACHINE, its parts:"};

static const struct cli_usage usage = {
    .tables = (const struct param_table[]){{rows, 0, 0}, {0}},
    .headings = headings,
    .forms = "[MACHINE...]",
    .about =
        "Compute what machines cost from a price list that you edit: a bill of GPUs, servers, NICs, switches and "
        "cables, the cost per hour and, given a step time, the cost per step and the steps per unit of currency. A "
        "MACHINE is a topology file, a name of orrery machine list (dgx-h100:16, "
        "tpu-v4), "
        "a name of orrery topo list, or a line of orrery topo make; with several, each is compared with the first.",
    .examples = "  orrery cost --template > prices.yml\n"
                "  orrery cost --prices prices.yml 'dgx-h100:16 > rail:400Gbps > spine:8'\n"
                "  orrery cost --prices prices.yml fat-tree torus --step-time 1.9s,2.6s\n"
                "  orrery cost --prices prices.yml --gpus 128 --switches 24\n"
                "  orrery cost --prices prices.yml --run 1\n",
    .argument = take_machine,
};

/* Who is costed, and with which step. */
static enum orr_status line_up(struct cost_options *options, struct orr_error *err)
{
    size_t count = options->what_count > 0 ? options->what_count : options->by_hand ? 1 : options->run_count;
    if (count == 0) {
        return error_set(err, ORR_EINVAL,
                         "no machine given: a topology file, a line such as 'dgx-h100:16 > rail:400Gbps > spine:8', "
                         "--run N or --gpus N");
    }
    if (options->what_count > 0 && options->by_hand) {
        return error_set(err, ORR_EINVAL, "--gpus, --switches and the like are for a machine without a topology");
    }
    if (options->run_count > 0 && options->run_count != count) {
        return error_set(err, ORR_EINVAL, "--run names %zu runs for %zu machines", options->run_count, count);
    }
    if (options->step_count > 1 && options->step_count != count) {
        return error_set(err, ORR_EINVAL, "--step-time has %zu times for %zu machines", options->step_count, count);
    }
    for (size_t i = 0; i < count; i++) {
        struct orr_cost_machine *machine = &options->machines[i];
        bool counted = options->what_count == 0 && options->by_hand;
        machine->counts = options->counts;
        machine->run = options->run_count == 0 || counted ? ORR_COST_NO_RUN : (int64_t)options->runs[i];
        machine->step_ns = options->step_count == 0 ? 0 : options->steps[options->step_count == 1 ? 0 : i];
    }
    if (options->run_count > 0 && options->what_count == 0 && options->by_hand) {
        return error_set(err, ORR_EINVAL, "--run and --gpus both say which machine it is");
    }
    options->cost.machines = options->machines;
    options->cost.machine_count = count;
    return ORR_OK;
}

static enum orr_status cli_cost_check_output(const struct cost_options *options, struct orr_error *err)
{
    const char *inputs[MACHINES_MOST + 2] = {options->cost.prices,
                                             options->cost.store == NULL ? CLI_STORE_DEFAULT : options->cost.store};
    for (size_t i = 0; i < options->what_count; i++) {
        inputs[2 + i] = options->machines[i].what;
    }
    return cli_forms_check(&options->forms, (struct cli_inputs){inputs, 2 + options->what_count}, err);
}

/* What there is to warn of is said once. */
static enum orr_status cli_cost_count(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    struct cost_options *options = context;
    struct orr_notices notices = cli_notices(&options->warnings, options->strict);
    enum orr_status status = orr_cost(&options->cost, form == ORR_FORM_JSON, &notices, stream, err);
    cli_warnings_end(&options->warnings);
    options->warnings.quiet = true;
    return status;
}

static int cli_cost_run(const struct cli_command *self, int argc, char **argv)
{
    struct cost_options options = {.what_count = 0};
    struct orr_error err = {0};
    int code = 0;
    if (argc == 1) {
        return cli_print_brief(self, argv[0]);
    }
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    if (options.template) {
        return cli_end(orr_cost_template(stdout, &err), &err);
    }
    enum orr_status status = line_up(&options, &err);
    status = status == ORR_OK ? cli_cost_check_output(&options, &err) : status;
    status = status == ORR_OK ? cli_forms_put(&options.forms, cli_cost_count, &options, &err) : status;
    return status == ORR_OK ? 0 : cli_fail(&err);
}

const struct cli_command cli_cost = {.name = "cost",
                                     .summary = "what machines cost, and what a step on them costs",
                                     .usage = &usage,
                                     .run = cli_cost_run};
