/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery doctor`: what the program finds on this machine, and whether its collectives add up. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { SMI_MOST = 64 };

struct doctor_options {
    struct orr_doctor_options doctor;
    const char *smi[SMI_MOST];
    struct cli_forms forms;
    bool json_open; /* --json was given without a value: the next argument may be it */
    struct orr_doctor_result result;
};

static enum orr_status cli_doctor_read_smi(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct doctor_options *options = into;
    if (options->doctor.smi_count == SMI_MOST) {
        return error_set(err, ORR_ERANGE, "parameter '%s': more than %d files", row->name, SMI_MOST);
    }
    options->smi[options->doctor.smi_count++] = text;
    return ORR_OK;
}

static enum orr_status read_json(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct doctor_options *options = into;
    (void)row;
    (void)err;
    options->forms.json = text == NULL ? "-" : text;
    options->json_open = text == NULL;
    return ORR_OK;
}

/* "--json OUT", as with other commands. */
static enum orr_status cli_doctor_take_word(void *into, const char *word, struct orr_error *err)
{
    struct doctor_options *options = into;
    (void)err;
    if (!options->json_open) {
        return ORR_EINVAL;
    }
    options->forms.json = word;
    options->json_open = false;
    return ORR_OK;
}

#define AT(field) .place = offsetof(struct doctor_options, field)

static const struct param rows[] = {
    {"smi", .kind = PARAM_READ, .flags = PARAM_MANY, .value = "FILE", .read = cli_doctor_read_smi,
     .help = "Clocks of the GPUs in FILE, instead of this machine's: what amd-smi metric --clock, amd-smi monitor, "
             "amd-smi version, rocm-smi or rocm-smi --showclocks printed, as text or JSON, or nvidia-smi -q. May be "
             "given several times"},
    {"sysfs", .kind = PARAM_PATH, .value = "DIR", AT(doctor.sysfs), .unwritten = "/sys",
     .help = "Look for GPUs below DIR, a copy of another machine's /sys/class/drm/card*/device"},
    {"no-collectives", .kind = PARAM_FLAG, AT(doctor.no_collectives),
     .help = "Leave the numeric test of the collectives out"},
    {"json", .kind = PARAM_READ, .flags = PARAM_OPTIONAL, .value = "OUT", .read = read_json,
     .help = "Also write JSON to the file OUT; - or nothing: to standard output, in place of the text. Clocks in MHz, "
             "memory in bytes"},
    {0},
};

static const struct cli_usage usage = {
    .tables = (const struct param_table[]){{rows, 0, 0}, {0}},
    .about = "Show what this machine has: versions, processors and memory, other useful programs, GPUs with their "
             "clocks (from sysfs, or from saved output of amd-smi or rocm-smi). Then test the collectives: each "
             "algorithm is executed on integers in many sizes, and every sum, mean and copy is checked. Needs no GPU "
             "and no Python. Exit code 1 when a "
             "result is wrong.",
    .examples = "  orrery doctor\n"
                "  orrery doctor --smi amd-smi.txt --no-collectives\n"
                "  orrery doctor --json=doctor.json\n",
    .argument = cli_doctor_take_word,
};

static enum orr_status cli_doctor_check(const struct doctor_options *options, struct orr_error *err)
{
    if (options->doctor.sysfs != NULL && options->doctor.smi_count > 0) {
        return error_set(err, ORR_EINVAL, "--sysfs and --smi both say where to look for GPUs");
    }
    return cli_forms_check(&options->forms, (struct cli_inputs){options->smi, options->doctor.smi_count}, err);
}

static enum orr_status visit(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    struct doctor_options *options = context;
    return orr_doctor(&options->doctor, form == ORR_FORM_JSON, stream, &options->result, err);
}

static int cli_doctor_run(const struct cli_command *self, int argc, char **argv)
{
    struct doctor_options options = {.doctor = {0}};
    int code = 0;
    struct orr_error err = {0};
    options.doctor.smi = options.smi;
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    enum orr_status status = cli_doctor_check(&options, &err);
    status = status == ORR_OK ? cli_forms_put(&options.forms, visit, &options, &err) : status;
    if (status != ORR_OK) {
        return cli_fail(&err);
    }
    if (options.result.wrong > 0) {
        cli_error("%u of %u rows of the numeric test came out wrong", (unsigned)options.result.wrong,
                  (unsigned)options.result.checks);
        return orr_status_exit_code(ORR_EFAIL);
    }
    return 0;
}

const struct cli_command cli_doctor = {.name = "doctor",
                                       .summary = "check this machine, and that collectives are right",
                                       .usage = &usage,
                                       .run = cli_doctor_run};
