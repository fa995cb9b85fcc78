/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery doctor`: what the program finds on this machine, and whether its collectives add up. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_SMI = 256, KEY_SYSFS, KEY_JSON, KEY_NO_COLLECTIVES, SMI_MOST = 64 };

struct doctor_options {
    struct cli_input input;
    struct orr_doctor_options doctor;
    const char *smi[SMI_MOST];
    const char *json; /* a path, "-", or NULL */
    bool json_open;   /* --json was given without a value: the next argument may be it */
};

static const struct argp_option options_table[] = {
    {"smi", KEY_SMI, "FILE", 0,
     "Clocks of the GPUs in FILE, instead of this machine's: what amd-smi metric --clock, amd-smi monitor, amd-smi "
     "version, rocm-smi or rocm-smi --showclocks printed, as text or JSON, or nvidia-smi -q. May be given several "
     "times",
     0},
    {"sysfs", KEY_SYSFS, "DIR", 0,
     "Look for GPUs below DIR, a copy of another machine's /sys/class/drm/card*/device. Default: /sys", 0},
    {"no-collectives", KEY_NO_COLLECTIVES, NULL, 0, "Leave the numeric test of the collectives out", 0},
    {"json", KEY_JSON, "OUT", OPTION_ARG_OPTIONAL,
     "Write JSON instead, to standard output or to the file OUT; clocks in MHz, memory in bytes", 0},
    CLI_HELP_OPTION,
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct doctor_options *options = state->input;
    struct orr_error *err = &options->input.error;
    switch (key) {
    case KEY_SMI:
        if (options->doctor.smi_count == SMI_MOST) {
            return cli_options_status(error_set(err, ORR_ERANGE, "--smi: more than %d files", SMI_MOST));
        }
        options->smi[options->doctor.smi_count++] = arg;
        return 0;
    case KEY_SYSFS:
        options->doctor.sysfs = arg;
        return 0;
    case KEY_NO_COLLECTIVES:
        options->doctor.no_collectives = true;
        return 0;
    case KEY_JSON:
        options->json = arg == NULL ? "-" : arg;
        options->json_open = arg == NULL;
        return 0;
    case ARGP_KEY_ARG:
        if (options->json_open) { /* "--json OUT", as with other commands */
            options->json = arg;
            options->json_open = false;
            return 0;
        }
        return cli_options_default(key, arg, state);
    default:
        return cli_options_default(key, arg, state);
    }
}

static enum orr_status check(const struct doctor_options *options, struct orr_error *err)
{
    bool to_file = options->json != NULL && strcmp(options->json, "-") != 0;
    if (options->doctor.sysfs != NULL && options->doctor.smi_count > 0) {
        return error_set(err, ORR_EINVAL, "--sysfs and --smi both say where to look for GPUs");
    }
    for (size_t i = 0; i < options->doctor.smi_count && to_file; i++) {
        if (cli_same_file(options->json, options->smi[i])) {
            return error_set(err, ORR_EINVAL, "--json would replace the file of --smi: %s", options->smi[i]);
        }
    }
    return to_file ? cli_check_writable("--json", options->json, err) : ORR_OK;
}

/* What is found is whole before any of it is shown. */
static enum orr_status visit(const struct doctor_options *options, struct orr_doctor_result *result,
                             struct orr_error *err)
{
    struct cli_text made;
    enum orr_status status = cli_text_open(&made, err);
    if (status == ORR_OK) {
        status = orr_doctor(&options->doctor, options->json != NULL, made.stream, result, err);
        status = cli_text_close(&made, status, options->json, err);
    }
    return status;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct doctor_options options = {0};
    struct orr_doctor_result result = {0};
    struct orr_error err = {0};
    options.doctor.smi = options.smi;
    enum orr_status status = cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    status = status == ORR_OK ? check(&options, &err) : status;
    status = status == ORR_OK ? visit(&options, &result, &err) : status;
    if (status != ORR_OK) {
        return cli_fail(&err);
    }
    if (result.wrong > 0) {
        cli_error("%u of %u rows of the numeric test came out wrong", (unsigned)result.wrong, (unsigned)result.checks);
        return orr_status_exit_code(ORR_EFAIL);
    }
    return 0;
}

static const struct argp argp = {
    .options = options_table,
    .parser = parse,
    .doc = "Tell what the program has to work with: versions, processors and memory, other programs that could be of "
           "use, GPUs with their clocks (from sysfs, or from what amd-smi or rocm-smi printed elsewhere). Then check "
           "the collectives: whole numbers are moved as each algorithm says, in many sizes, and every sum, mean and "
           "copy is compared with what the collective promises. Needs no GPU and no Python. Exit code 1 when a result "
           "is wrong.\v"
           "Examples:\n"
           "  orrery doctor\n"
           "  orrery doctor --smi amd-smi.txt --no-collectives\n"
           "  orrery doctor --json=doctor.json\n",
};

const struct cli_command cli_doctor = {
    .name = "doctor", .summary = "what this machine has, and whether collectives add up", .argp = &argp, .run = run};
