/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `orrery run`: the parameters of a run (param/run.c), and what the program does with the results. */
#include "cli/run.h"

#include <string.h>

#define AT(field)     .place = offsetof(struct run_outputs, field)
#define OUTPUT(field) .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE", AT(field)

enum { BOTH = PARAM_OF_RUN | PARAM_OF_SIMAI };

static const char *const formats[] = {"text", "astra", "json", NULL}; /* the first of enum orr_output */

const struct param run_output_rows[] = {
    {"format", .commands = PARAM_OF_RUN, .kind = PARAM_WORD, .group = PARAM_OUTPUT, .flags = PARAM_SINGLE,
     .value = "NAME", AT(format), .given = offsetof(struct run_outputs, format_given), .words = formats,
     .first = ORR_OUTPUT_TEXT, .help = "Standard output. astra: ASTRA-sim's lines", .unwritten = "text"},
    {"json", .commands = BOTH, OUTPUT(json), .flags = PARAM_SINGLE,
     .help = "Also write JSON to the file; - is standard output, in place of the text"},
    {"csv", .commands = BOTH, .kind = PARAM_PATH, .group = PARAM_OUTPUT, .flags = PARAM_SINGLE, .value = "DIR", AT(csv),
     .help = "Also write tables to the folder DIR: a run has several. ranks.csv, collectives.csv, dimensions.csv, on "
             "wires links.csv and, where memory is tracked, memory.csv"},
    {"timeline", .commands = BOTH, OUTPUT(timeline), .flags = PARAM_SINGLE,
     .help = "Also write a timeline for Perfetto or chrome://tracing. Chrome's JSON; FILE.pftrace: Perfetto's "
             "protobuf, a third of the size; compressed when the name ends in .gz; DIR/: a file a rank, as PyTorch's "
             "profiler records them, for Holistic Trace Analysis (docs/timeline.md)"},
    {"report", .commands = BOTH, OUTPUT(report), .flags = PARAM_SINGLE,
     .help = "Also write a page to open in a browser (HTML, docs/report.md), the timeline in it"},
    {"dump-comm-intervals", .commands = BOTH, OUTPUT(comm_intervals), .flags = PARAM_SINGLE | PARAM_RARE,
     .help = "Also write, as CSV, when each communication of each rank was in flight"},
    {"fct", .commands = BOTH, OUTPUT(fct), .flags = PARAM_SINGLE | PARAM_RARE | PARAM_WIRED,
     .help = "On wires: also write one line a message, as ns-3's fct.txt"},
    {"pfc", .commands = BOTH, OUTPUT(pfc), .flags = PARAM_SINGLE | PARAM_RARE | PARAM_WIRED,
     .help = "On wires: also write one line a pause or resume, as ns-3's pfc.txt"},
    {"qlen", .commands = PARAM_OF_RUN, OUTPUT(qlen), .flags = PARAM_SINGLE | PARAM_RARE | PARAM_WIRED,
     .help = "On wires: also write every 100 ns the switch queues of 1000 B and more, as ns-3's qlen.txt; ends after "
             "4 million queues"},
    {"status-file", .commands = BOTH, OUTPUT(status_file), .flags = PARAM_SINGLE | PARAM_RARE,
     .help = "Keep a small JSON of the progress current while running"},
    {"quiet", .commands = BOTH, .letter = 'q', .kind = PARAM_FLAG, .group = PARAM_OTHER, AT(quiet),
     .help = "Neither warnings nor progress"},
    {"no-progress", .commands = BOTH, .kind = PARAM_FLAG, .group = PARAM_OTHER, .flags = PARAM_RARE, AT(no_progress),
     .help = "No progress on standard error"},
    {0},
};
#undef AT

#define AT(field) .place = offsetof(struct run_options, field)

static enum orr_status read_qbb(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct run_options *options = into;
    bool enabled = true;
    (void)row;
    enum orr_status status = param_parse_bool("--ns3::QbbNetDevice::QbbEnabled", text, &enabled, err);
    options->run.no_pfc = status == ORR_OK ? !enabled : options->run.no_pfc;
    return status;
}

static const struct param rows[] = {
    {"calibration", .kind = PARAM_PATH, .group = PARAM_COMPUTE, .flags = PARAM_RARE, .value = "FILE", AT(calibration),
     .help = "Calibration file (orrery calib fit): gives --compute-factor, --host-factor and --launch-overhead where "
             "they are not given"},
    {"repeat", .kind = PARAM_COUNT, .group = PARAM_SIMULATION, .flags = PARAM_RARE, .value = "N", AT(repeat),
     .least = 1, .most = 10000000,
     .help = "Run by N seeds, from --seed on, and tell mean, p50, p90, p99 and worst beside the run without chance"},
    {"threads", .letter = 'j', .kind = PARAM_COUNT32, .group = PARAM_SIMULATION, .flags = PARAM_RARE, .value = "N",
     AT(threads), .most = 1024, .help = "Of --repeat; the answer is the same", .unwritten = "one for each processor"},
    {"qbb-enabled", .kind = PARAM_READ, .group = PARAM_OTHER, .flags = PARAM_HIDDEN, .value = "BOOL", .read = read_qbb,
     .help = "What ns-3's attribute of that name becomes"},
    {0},
};

static const struct param_table tables[] = {{param_run, PARAM_OF_RUN, offsetof(struct run_options, run)},
                                            {run_output_rows, PARAM_OF_RUN, offsetof(struct run_options, out)},
                                            {rows, 0, 0},
                                            {0}};

const struct cli_usage run_usage = {
    .tables = tables,
    .forms = "--workload PREFIX --machine NAME\n--workload PREFIX --system FILE --network FILE",
    .about = "Simulate a training job: the traces of all ranks on a machine given by name or by configuration files. A "
             "single trace needs no machine.",
    .notes = "ASTRA-sim's own options are accepted unchanged (--workload-configuration, --system-configuration, "
             "--network-configuration, --logical-topology-configuration, --remote-memory-configuration, "
             "--comm-group-configuration, --num-queues-per-dim, --injection-scale, --rendezvous-protocol; "
             "--compute-scale, --logging-configuration and --logging-folder have no effect).",
    .examples = "  orrery run -w traces/allreduce -m dgx-h100:2 --grow\n"
                "  orrery run -w traces/allreduce -s system.json -n network.yml\n"
                "  orrery run -w traces/x -s sys.json -n net.yml --backend aware --json x.json\n"
                "  orrery run -w traces/x -s sys.json -n net.yml --timeline x.json.gz\n"
                "  orrery run -w traces/x -s sys.json -n config.txt --backend packet\n",
    .ending = "Exit codes: 0 done, 1 failed or interrupted, 2 bad usage or input, 3 resource limit, 4 the job stalls.",
};

const struct cli_foreign_option run_astra_options[] = {
    {"workload-configuration", "workload", CLI_FOREIGN_VALUE, NULL},
    {"system-configuration", "system", CLI_FOREIGN_VALUE, NULL},
    {"network-configuration", "network", CLI_FOREIGN_VALUE, NULL},
    {"remote-memory-configuration", "memory", CLI_FOREIGN_VALUE, NULL},
    {"comm-group-configuration", "groups", CLI_FOREIGN_VALUE, NULL},
    {"logical-topology-configuration", "logical", CLI_FOREIGN_VALUE, NULL},
    {"ns3::QbbNetDevice::QbbEnabled", "qbb-enabled", CLI_FOREIGN_VALUE, NULL},
    {"num-queues-per-dim", "queues-per-dim", CLI_FOREIGN_VALUE, NULL},
    {"injection-scale", "injection-scale", CLI_FOREIGN_VALUE, NULL},
    {"rendezvous-protocol", "rendezvous", CLI_FOREIGN_BOOL, NULL},
    {"compute-scale", NULL, CLI_FOREIGN_NO_EFFECT, "ASTRA-sim accepts it and never uses it"},
    {"comm-scale", NULL, CLI_FOREIGN_NO_EFFECT, "ASTRA-sim accepts it and never uses it"},
    {"logging-configuration", NULL, CLI_FOREIGN_NO_EFFECT, "there are no loggers to configure"},
    {"logging-folder", NULL, CLI_FOREIGN_NO_EFFECT, "no log files are written"},
    {NULL, NULL, CLI_FOREIGN_VALUE, NULL},
};

/* Outputs of a network on wires, asked of another. */
static enum orr_status check_outputs_of_wires(const struct run_options *options, struct orr_error *err)
{
    static const struct run_outputs none;
    for (const struct param *row = run_output_rows; row->name != NULL; row++) {
        bool given = (row->flags & PARAM_WIRED) != 0 && !param_same(row, &options->out, &none);
        if (given && options->run.backend < ORR_BACKEND_PACKET && options->run.compat != ORR_COMPAT_ASTRA) {
            return error_set(err, ORR_EINVAL, "--%s needs --backend packet, flow or auto", row->name);
        }
    }
    return ORR_OK;
}

enum orr_status run_outputs_settle(struct run_outputs *outputs, struct orr_error *err)
{
    if (outputs->json == NULL || strcmp(outputs->json, "-") != 0) {
        return ORR_OK;
    }
    if (outputs->format_given && outputs->format != ORR_OUTPUT_JSON) {
        return error_set(err, ORR_EINVAL,
                         "--json - and --format %s both want standard output; give one of them, or a file to --json",
                         outputs->format == ORR_OUTPUT_ASTRA ? "astra" : "text");
    }
    outputs->format = ORR_OUTPUT_JSON;
    outputs->json = NULL;
    return ORR_OK;
}

static enum orr_status check_repeat(const struct run_options *options, struct orr_error *err)
{
    static const struct run_outputs none;
    bool jobs = options->run.job_count > 0;
    if (options->repeat == 0 && options->threads > 0) {
        return error_set(err, ORR_EINVAL, "--threads is for --repeat");
    }
    if (jobs && options->repeat > 0) {
        return error_set(err, ORR_EINVAL, "--repeat does not go with --job");
    }
    if (options->repeat == 0 && !jobs) {
        return ORR_OK;
    }
    for (const struct param *row = run_output_rows; row->name != NULL; row++) {
        bool kept = strcmp(row->name, "json") == 0 || strcmp(row->name, "status-file") == 0;
        if ((row->flags & PARAM_SINGLE) != 0 && !kept && !param_same(row, &options->out, &none) &&
            options->out.format != ORR_OUTPUT_JSON) {
            return error_set(err, ORR_EINVAL, "--%s is of one run; %s has text and --json", row->name,
                             jobs ? "--job" : "--repeat");
        }
    }
    return ORR_OK;
}

static enum orr_status cli_run_options_settle(struct run_options *options, struct orr_error *err)
{
    enum orr_status status = orr_run_settle(&options->run, err);
    if (status == ORR_OK) {
        status = check_outputs_of_wires(options, err);
    }
    if (status == ORR_OK) {
        status = run_outputs_settle(&options->out, err);
    }
    if (status == ORR_OK) {
        status = check_repeat(options, err);
    }
    return status == ORR_OK ? cli_limit_default(&options->run.memory_limit, err) : status;
}

enum orr_status run_options_read(const struct cli_command *command, bool lenient, int argc, char **argv,
                                 struct run_options *options, struct cli_vector *vector, enum cli_help *help,
                                 struct orr_error *err)
{
    enum orr_status status = cli_foreign_translate(run_astra_options, command, lenient, argc, argv, vector, err);
    if (status == ORR_OK) {
        status = cli_read(command, vector->argc, vector->argv, options, help, err);
    }
    if (status != ORR_OK || *help != CLI_HELP_NONE) {
        return status;
    }
    if (options->run.strict && vector->warning_count > 0) {
        return error_set(err, ORR_EINVAL, "%s (an error because of --strict)", vector->warnings[0]);
    }
    return cli_run_options_settle(options, err);
}

const char *run_options_single(const struct run_options *options)
{
    static const struct run_outputs none;
    for (const struct param *row = run_output_rows; row->name != NULL; row++) {
        if ((row->flags & PARAM_SINGLE) != 0 &&
            (!param_same(row, &options->out, &none) || (row->given != 0 && options->out.format_given))) {
            return row->name;
        }
    }
    return NULL;
}
