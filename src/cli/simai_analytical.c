/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `orrery simai analytical`: SimAI's options as SimAI spells them, rewritten by one table to ours, which argp reads.
 * Result files go where SimAI puts them (results/FOLDER/PREFIXEndToEnd.csv), and with -o anywhere.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/dashed.h"
#include "cli/simai.h"

enum {
    KEY_GPUS_PER_SERVER = 256,
    KEY_NICS_PER_SERVER,
    KEY_NVLINK,
    KEY_NIC,
    KEY_NIC_TYPE,
    KEY_GPU_TYPE,
    KEY_FOLDER,
    KEY_TP,
    KEY_DP,
    KEY_EP,
    KEY_PP,
    KEY_SCHEDULE,
    KEY_BUSBW,
    KEY_RATIOS,
    KEY_COMPAT,
    KEY_STRICT,
    KEY_LIMIT,
    PATH_SIZE = 4096
};

/* What SimAI's parser knows, and what only its documentation does. */
static const struct cli_dashed spellings[] = {
    {.theirs = "-g_p_s", .ours = "--gpus-per-server"},
    {.theirs = "-n_p_s", .ours = "--nics-per-server"},
    {.theirs = "--nic_per_server", .ours = "--nics-per-server"},
    {.theirs = "-nv", .ours = "--nvlink"},
    {.theirs = "-nic", .ours = "--nic"},
    {.theirs = "--nic_busbw", .ours = "--nic"},
    {.theirs = "-nic_t", .ours = "--nic-type"},
    {.theirs = "--nic_type", .ours = "--nic-type"},
    {.theirs = "-g_type", .ours = "--gpu-type"},
    {.theirs = "--gpu_type", .ours = "--gpu-type"},
    {.theirs = "-r_f", .ours = "--result-folder"},
    {.theirs = "--result_folder", .ours = "--result-folder"},
    {.theirs = "-dp_o", .ours = "--dp-overlap"},
    {.theirs = "--dp_overlap", .ours = "--dp-overlap"},
    {.theirs = "--dp-overlap-ratio", .ours = "--dp-overlap"},
    {.theirs = "-tp_o", .ours = "--tp-overlap"},
    {.theirs = "--tp_overlap", .ours = "--tp-overlap"},
    {.theirs = "--tp-overlap-ratio", .ours = "--tp-overlap"},
    {.theirs = "-ep_o", .ours = "--ep-overlap"},
    {.theirs = "--ep_overlap", .ours = "--ep-overlap"},
    {.theirs = "--ep-overlap-ratio", .ours = "--ep-overlap"},
    {.theirs = "-pp_o", .ours = "--pp-overlap"},
    {.theirs = "--pp_overlap", .ours = "--pp-overlap"},
    {.theirs = "--pp-overlap-ratio", .ours = "--pp-overlap"},
    {.theirs = "-busbw", .ours = "--busbw"},
    {.theirs = "--bus-bandwidth", .ours = "--busbw"},
    {.theirs = "-v", .ours = "--visual", .when_alone = "1"},
    {.theirs = "--visual", .ours = "--visual", .when_alone = "1"},
    {.theirs = NULL},
};

/* What the names of the results were made of. */
struct paths {
    char name[PATH_SIZE / 4]; /* what PREFIX is */
    char csv[PATH_SIZE], chart[PATH_SIZE];
    char label[PATH_SIZE / 4];
};

struct analytical_options {
    struct cli_input input;
    struct orr_simai_analytical run;
    const char *result, *folder, *output;
    bool visual, strict;
    struct paths paths;
};

static const struct argp_option table[] = {
    {"workload", 'w', "FILE", 0, "SimAI workload text, as AICB writes it. Required", 0},
    {"gpus", 'g', "N", 0, "GPUs of the job. Required", 0},
    {NULL, 0, NULL, 0, "The machine (bandwidths in GB/s, 2^30 bytes a second):", 1},
    {"gpus-per-server", KEY_GPUS_PER_SERVER, "N", 0, "-g_p_s: GPUs per server. Required without -busbw", 1},
    {"nics-per-server", KEY_NICS_PER_SERVER, "N", 0, "-n_p_s: NICs per server. Required without -busbw", 1},
    {"nvlink", KEY_NVLINK, "GB/s", 0, "-nv: bus bandwidth of a GPU inside its server", 1},
    {"gpu-type", KEY_GPU_TYPE, "NAME", 0,
     "-g_type: instead of -nv: A100, A800, H100, H800, H20 (240, 160, 370.8, 164.8, 370.8), H200 (370.8), B200, GB200 "
     "(741.6), MI300X (294), MI355X (352.8)",
     1},
    {"nic", KEY_NIC, "GB/s", 0, "-nic: bandwidth of a NIC", 1},
    {"nic-type", KEY_NIC_TYPE, "NAME", 0, "-nic_t: cx6, cx7 or bf3 instead of -nic (23.5, 48.5, 48.5). Default: cx7",
     1},
    {"busbw", KEY_BUSBW, "FILE", 0,
     "-busbw: bus bandwidths measured on a machine, by group and operation (docs/simai.md); what it does not say comes "
     "from the options above",
     1},
    {"ratio-dir", KEY_RATIOS, "DIR", 0,
     "Folder of SimAI's tables of achieved bandwidth (nic_ratio.csv, nvlink_ratio.csv, ata_ratio.csv). Default: "
     "astra-sim-alibabacloud/inputs/ratio where it is there, else every collective reaches the full bandwidth",
     1},
    {NULL, 0, NULL, 0, "What hides behind compute (shares from 0 to 1):", 2},
    {"tp-overlap", KEY_TP, "SHARE", 0, "-tp_o: of tensor-parallel collectives. Default: 0", 2},
    {"dp-overlap", KEY_DP, "SHARE", 0, "-dp_o: of data-parallel collectives. Default: 0", 2},
    {"ep-overlap", KEY_EP, "SHARE", 0, "-ep_o: of expert-parallel collectives. Default: 0", 2},
    {"pp-overlap", KEY_PP, "SHARE", 0,
     "-pp_o: of what pipeline stages send each other, beyond what the schedule hides. Default: 0, with --compat simai "
     "1",
     2},
    {"schedule", KEY_SCHEDULE, "1f1b|interleaved", 0,
     "Of pipeline stages: one forward, one backward in turn (default), or the same in as many chunks as vpp: says. "
     "SimAI "
     "itself (--compat simai) reckons with the latter",
     2},
    {NULL, 0, NULL, 0, "Results:", 3},
    {"output", 'o', "FILE", 0, "SimAI's table of rows, as CSV", 3},
    {"result", 'r', "PREFIX", 0, "The same as results/PREFIXEndToEnd.csv", 3},
    {"result-folder", KEY_FOLDER, "DIR", 0, "-r_f: results/DIR/PREFIXEndToEnd.csv instead", 3},
    {"visual", 'v', "0|1", 0, "1: also a page with a chart, PREFIXchart.html, or FILE.html beside that of -o", 3},
    {"lang", 'l', "en|ja", 0, "Language of the chart. Default: en", 3},
    {NULL, 0, NULL, 0, "Other:", 4},
    {"compat", KEY_COMPAT, "simai", 0, "SimAI's own numbers, with what is wrong in them (docs/differences.md)", 4},
    {"strict", KEY_STRICT, NULL, 0, CLI_STRICT_HELP, 4},
    {"memory-limit", KEY_LIMIT, "SIZE", 0, CLI_LIMIT_HELP, 4},
    CLI_HELP_OPTION,
    {0},
};

static enum orr_status parse_number(const char *option, const char *text, uint32_t *value, struct orr_error *err)
{
    uint64_t number = 0;
    enum orr_status status = param_parse_count(option, text, 1, INT32_MAX, &number, err);
    *value = (uint32_t)number;
    return status;
}

static enum orr_status parse_share(const char *option, const char *text, double *value, struct orr_error *err)
{
    double number = 0;
    enum orr_status status = param_parse_real(option, text, &number, err);
    if (status == ORR_OK && number > 1) {
        return error_set(err, ORR_ERANGE, "%s: %s is not a share between 0 and 1", option, text);
    }
    *value = number;
    return status;
}

static enum orr_status parse_rate(const char *option, const char *text, double *value, struct orr_error *err)
{
    enum orr_status status = param_parse_real(option, text, value, err);
    return status == ORR_OK && *value == 0 ? error_set(err, ORR_ERANGE, "%s: a bandwidth is above 0", option) : status;
}

static enum orr_status parse_word(int key, const char *arg, struct analytical_options *options)
{
    static const char *const switches[] = {"0", "1", NULL};
    static const char *const languages[] = {"en", "ja", NULL};
    static const char *const compats[] = {"simai", NULL};
    static const char *const schedules[] = {"1f1b", "interleaved", NULL};
    struct orr_error *err = &options->input.error;
    unsigned index = 0;
    enum orr_status status;
    switch (key) {
    case 'v':
        status = param_parse_word("-v", arg, switches, &index, err);
        options->visual = index == 1;
        return status;
    case 'l':
        status = param_parse_word("-l", arg, languages, &index, err);
        options->run.japanese = index == 1;
        return status;
    case KEY_SCHEDULE:
        status = param_parse_word("--schedule", arg, schedules, &index, err);
        options->run.schedule = index == 1 ? ORR_SIMAI_INTERLEAVED : ORR_SIMAI_1F1B;
        return status;
    default:
        options->run.compat = true;
        return param_parse_word("--compat", arg, compats, &index, err);
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct analytical_options *options = state->input;
    struct orr_simai_analytical *run = &options->run;
    struct orr_error *err = &options->input.error;
    switch (key) {
    case 'w':
        run->workload = arg;
        return 0;
    case 'g':
        return cli_options_status(parse_number("-g", arg, &run->gpus, err));
    case KEY_GPUS_PER_SERVER:
        return cli_options_status(parse_number("-g_p_s", arg, &run->gpus_per_server, err));
    case KEY_NICS_PER_SERVER:
        return cli_options_status(parse_number("-n_p_s", arg, &run->nics_per_server, err));
    case KEY_NVLINK:
        return cli_options_status(parse_rate("-nv", arg, &run->nvlink, err));
    case KEY_NIC:
        return cli_options_status(parse_rate("-nic", arg, &run->nic, err));
    case KEY_GPU_TYPE:
        run->gpu_type = arg;
        return 0;
    case KEY_NIC_TYPE:
        run->nic_type = arg;
        return 0;
    case KEY_BUSBW:
        run->busbw = arg;
        return 0;
    case KEY_RATIOS:
        run->ratio_folder = arg;
        return 0;
    case KEY_TP:
        return cli_options_status(parse_share("-tp_o", arg, &run->tp_overlap, err));
    case KEY_DP:
        return cli_options_status(parse_share("-dp_o", arg, &run->dp_overlap, err));
    case KEY_EP:
        return cli_options_status(parse_share("-ep_o", arg, &run->ep_overlap, err));
    case KEY_PP:
        return cli_options_status(parse_share("-pp_o", arg, &run->pp_overlap, err));
    case 'o':
        options->output = arg;
        return 0;
    case 'r':
        options->result = arg;
        return 0;
    case KEY_FOLDER:
        options->folder = arg;
        return 0;
    case 'v':
    case 'l':
    case KEY_SCHEDULE:
    case KEY_COMPAT:
        return cli_options_status(parse_word(key, arg, options));
    case KEY_STRICT:
        options->strict = true;
        return 0;
    case KEY_LIMIT:
        return cli_options_status(cli_parse_limit("--memory-limit", arg, &run->memory_limit, err));
    default:
        return cli_options_default(key, arg, state);
    }
}

static const struct argp analytical_argp = {
    .options = table,
    .parser = parse,
    .args_doc = "-w FILE -g N",
    .doc = "Time one iteration of a SimAI workload by arithmetic: every collective costs its size over the bandwidth "
           "of its group, compute is as the workload says, and a pipeline's bubble is estimated. Prints where the time "
           "goes and what would help.\v"
           "Options are SimAI's; its own spellings (-g_p_s 8) are accepted.\n\n"
           "Examples:\n"
           "  orrery simai analytical -w workload.txt -g 128 -g_p_s 8 -n_p_s 8 \\\n"
           "      -nv 360 -nic 48.5 -o rows.csv\n"
           "  orrery simai analytical -w workload.txt -g 128 -g_p_s 8 -n_p_s 8 \\\n"
           "      -g_type H100 -nic_t cx7 -dp_o 0.8 -pp_o 0 -r h100- -v 1\n",
};

/* ---- the name SimAI gives a result for which there is none ---- */

/* Of the last "WORD123" in a file's name; 0 where there is none. */
static int64_t number_behind(const char *name, const char *word)
{
    int64_t value = 0;
    for (const char *at = strstr(name, word); at != NULL; at = strstr(at + 1, word)) {
        const char *digits = at + strlen(word);
        if (*digits >= '0' && *digits <= '9') {
            value = strtol(digits, NULL, 10);
        }
    }
    return value;
}

static void make_name(const struct analytical_options *options, char *name, size_t size)
{
    const char *slash = strrchr(options->run.workload, '/');
    const char *file = slash != NULL ? slash + 1 : options->run.workload;
    const char *world = strstr(file, "world_size");
    int64_t tp = number_behind(file, "tp");
    int64_t pp = number_behind(file, "pp");
    int64_t dp = tp * pp == 0 ? 0 : number_behind(file, "world_size") / (tp * pp);
    int64_t samples = dp * number_behind(file, "mbs");
    int64_t ga = samples == 0 ? 0 : number_behind(file, "gbs") / samples;
    (void)snprintf(
        name, size,
        "%.*s-tp%" PRId64 "-pp%" PRId64 "-dp%" PRId64 "-ga%" PRId64 "-ep%" PRId64 "-NVL%" PRIu32 "-%.1fG-DP%.1f-",
        world != NULL && world > file ? (int)(world - file - 1) : 0, file, tp, pp, dp, ga, number_behind(file, "ep"),
        options->run.gpus_per_server, options->run.nic * 8, options->run.dp_overlap);
}

/* ---- where results go ---- */

static enum orr_status join(char path[PATH_SIZE], const char *const parts[4], struct orr_error *err)
{
    int length = snprintf(path, PATH_SIZE, "%s%s%s%s", parts[0], parts[1], parts[2], parts[3]);
    return length < PATH_SIZE ? ORR_OK : error_set(err, ORR_EINVAL, "the path of the results is too long");
}

/* Everything lies in results/, as SimAI has it; but for a folder named from the root on. */
static enum orr_status place_results(struct analytical_options *options, struct orr_error *err)
{
    struct paths *paths = &options->paths;
    bool named = options->result != NULL || options->folder != NULL || options->run.compat;
    const char *folder = options->folder != NULL ? options->folder : "";
    size_t length = strlen(folder);
    char base[PATH_SIZE];
    if (options->result == NULL) {
        make_name(options, paths->name, sizeof paths->name);
    }
    const char *prefix = options->result != NULL ? options->result : paths->name;
    enum orr_status status = join(base,
                                  (const char *const[4]){folder[0] == '/' ? "" : "results/", folder,
                                                         length > 0 && folder[length - 1] != '/' ? "/" : "", prefix},
                                  err);
    if (status == ORR_OK && named) {
        status = join(paths->csv, (const char *const[4]){base, "EndToEnd.csv", "", ""}, err);
        options->run.csv[0] = paths->csv;
    }
    options->run.csv[1] = options->output;
    if (status == ORR_OK && options->visual) {
        status = join(paths->chart,
                      (const char *const[4]){named                     ? base
                                             : options->output != NULL ? options->output
                                                                       : "",
                                             named ? "chart" : "", ".html", ""},
                      err);
        options->run.chart = paths->chart;
    }
    const char *of = named ? prefix : options->run.workload;
    const char *slash = strrchr(of, '/');
    (void)snprintf(paths->label, sizeof paths->label, "%s", slash != NULL ? slash + 1 : of);
    options->run.label = paths->label;
    return status;
}

static enum orr_status check_paths(const struct analytical_options *options, struct orr_error *err)
{
    const char *const outputs[] = {options->run.csv[0], options->run.csv[1], options->run.chart};
    const char *const inputs[] = {options->run.workload, options->run.busbw};
    if (options->visual && options->run.chart != NULL && strcmp(options->run.chart, ".html") == 0) {
        return error_set(err, ORR_EINVAL, "-v 1 needs a name for the chart: give -r PREFIX or -o FILE");
    }
    for (size_t out = 0; out < sizeof outputs / sizeof outputs[0]; out++) {
        for (size_t in = 0; in < sizeof inputs / sizeof inputs[0]; in++) {
            if (outputs[out] != NULL && cli_same_file(outputs[out], inputs[in])) {
                return error_set(err, ORR_EINVAL, "the results would replace the input %s", inputs[in]);
            }
        }
    }
    return options->output != NULL ? cli_check_name("-o", options->output, err) : ORR_OK;
}

static void print_written(const struct analytical_options *options)
{
    const char *const written[] = {options->run.csv[0], options->run.csv[1], options->run.chart};
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
        if (written[i] != NULL) {
            (void)printf("%sWrote %s.\n", i == 0 || written[0] == NULL ? "\n" : "", written[i]);
        }
    }
}

static enum orr_status count(struct analytical_options *options, struct orr_error *err)
{
    struct cli_warnings warnings = {0};
    struct orr_notices notices = cli_notices(&warnings, options->strict);
    if (options->run.workload == NULL) {
        return error_set(err, ORR_EINVAL, "missing -w FILE (the workload)");
    }
    enum orr_status status = place_results(options, err);
    status = status == ORR_OK ? check_paths(options, err) : status;
    status = status == ORR_OK ? cli_limit_default(&options->run.memory_limit, err) : status;
    status = status == ORR_OK ? orr_simai_analytical(&options->run, &notices, stdout, err) : status;
    cli_warnings_end(&warnings);
    if (status == ORR_OK) {
        print_written(options);
    }
    return status;
}

static int run_analytical(const struct cli_command *self, int argc, char **argv, bool compat)
{
    struct analytical_options options = {.run = ORR_SIMAI_ANALYTICAL_DEFAULT};
    struct cli_dashed_vector vector;
    struct orr_error err = {0};
    options.run.compat = compat;
    enum orr_status status = cli_dashed_translate(spellings, argc, argv, &vector, &err);
    if (status != ORR_OK) {
        return cli_fail(&err);
    }
    status = cli_options_parse(self, vector.argc, vector.argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
    } else if (status == ORR_OK) {
        status = count(&options, &err);
    }
    cli_dashed_free(&vector);
    return status == ORR_OK ? 0 : cli_fail(&err);
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    return run_analytical(self, argc, argv, false);
}

int cli_simai_as_analytical(int argc, char **argv)
{
    return run_analytical(&cli_simai_analytical, argc, argv, true);
}

const struct cli_command cli_simai_analytical = {
    .name = "analytical",
    .summary = "one iteration by size over bandwidth (SimAI-Analytical)",
    .argp = &analytical_argp,
    .run = run,
};
