/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `orrery simai analytical`: SimAI's options as SimAI spells them, rewritten by one table to ours.
 * Result files go where SimAI puts them (results/FOLDER/PREFIXEndToEnd.csv), and with -o anywhere.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/dashed.h"
#include "cli/simai.h"

enum { PATH_SIZE = 4096 };

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
    struct orr_simai_analytical run;
    const char *result, *folder, *output;
    bool visual, strict;
    struct paths paths;
};

#define AT(field) .place = offsetof(struct analytical_options, field)

static const char *const switches[] = {"0", "1", NULL};

static const struct param rows[] = {
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE", AT(output),
     .help = "SimAI's table of rows, as CSV"},
    {"result", .letter = 'r', .kind = PARAM_TEXT, .group = PARAM_OUTPUT, .value = "PREFIX", AT(result),
     .help = "The same as results/PREFIXEndToEnd.csv"},
    {"result-folder", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "DIR", AT(folder),
     .help = "-r_f: results/DIR/PREFIXEndToEnd.csv instead"},
    {"visual", .letter = 'v', .kind = PARAM_CHOICE, .group = PARAM_OUTPUT, .value = "0|1", AT(visual),
     .words = switches, .help = "1: also a page with a chart, PREFIXchart.html, or FILE.html beside that of -o"},
    CLI_ROW_STRICT(struct analytical_options, strict),
    {0},
};

static const struct param_table tables[] = {
    {param_simai_analytical, 0, offsetof(struct analytical_options, run)}, {rows, 0, 0}, {0}};

static const char *const headings[PARAM_GROUPS] = {
    [PARAM_MACHINE] = "The machine (bandwidths in GB/s, 2^30 bytes a second):",
    [PARAM_COMPUTE] = "What hides behind compute (shares from 0 to 1):",
};

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "-w FILE -g N",
    .about = "Time one iteration of a SimAI workload by arithmetic: every collective costs its size over the "
             "bandwidth of its group, compute is as the workload says, and a pipeline's bubble is estimated. Prints "
             "where the time goes and what would help.",
    .notes = "Options are SimAI's; its own spellings (-g_p_s 8) are accepted.",
    .examples = "  orrery simai analytical -w workload.txt -g 128 -g_p_s 8 -n_p_s 8 \\\n"
                "      -nv 360 -nic 48.5 -o rows.csv\n"
                "  orrery simai analytical -w workload.txt -g 128 -g_p_s 8 -n_p_s 8 \\\n"
                "      -g_type H100 -nic_t cx7 -dp_o 0.8 -pp_o 0 -r h100- -v 1\n",
    .headings = headings,
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

static void cli_simai_analytical_print_written(const struct analytical_options *options)
{
    const char *const written[] = {options->run.csv[0], options->run.csv[1], options->run.chart};
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
        if (written[i] != NULL) {
            (void)printf("%sWrote %s.\n", i == 0 || written[0] == NULL ? "\n" : "", written[i]);
        }
    }
}

static enum orr_status cli_simai_analytical_count(struct analytical_options *options, struct orr_error *err)
{
    struct cli_warnings warnings = {0};
    struct orr_notices notices = cli_notices(&warnings, options->strict);
    if (options->run.workload == NULL) {
        return error_set(err, ORR_EINVAL, "missing --workload FILE (the workload)");
    }
    enum orr_status status = place_results(options, err);
    status = status == ORR_OK ? check_paths(options, err) : status;
    status = status == ORR_OK ? cli_limit_default(&options->run.memory_limit, err) : status;
    status = status == ORR_OK ? orr_simai_analytical(&options->run, &notices, stdout, err) : status;
    cli_warnings_end(&warnings);
    if (status == ORR_OK) {
        cli_simai_analytical_print_written(options);
    }
    return status;
}

static int run_analytical(const struct cli_command *self, int argc, char **argv, bool compat)
{
    struct analytical_options options = {0};
    struct cli_dashed_vector vector;
    struct orr_error err = {0};
    int exit_code = 0;
    orr_simai_analytical_init(&options.run);
    options.run.compat = compat;
    if (cli_dashed_translate(spellings, argc, argv, &vector, &err) != ORR_OK) {
        return cli_fail(&err);
    }
    if (cli_begin(self, vector.argc, vector.argv, &options, &exit_code)) {
        exit_code = cli_simai_analytical_count(&options, &err) == ORR_OK ? 0 : cli_fail(&err);
    }
    cli_dashed_free(&vector);
    return exit_code;
}

static int cli_simai_analytical_run(const struct cli_command *self, int argc, char **argv)
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
    .usage = &usage,
    .run = cli_simai_analytical_run,
};
