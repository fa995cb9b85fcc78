/* SPDX-License-Identifier: Apache-2.0 */
/* What the parameters of a run mean together: what is missing, what contradicts, what implies what. The same sentences
 * for whoever filled them. */
#include "param/param.h"

#include <string.h>

static const struct param_table tables[] = {{param_run, 0, 0}, {0}};

void orr_run_options_init(struct orr_run_options *options)
{
    *options = (struct orr_run_options){.size = sizeof *options, .policy = ORR_POLICY_AUTO, .backend_open = true};
    param_defaults(tables, options);
}

static enum orr_status check_required(const struct orr_run_options *options, struct orr_error *err)
{
    const struct {
        const char *value, *name, *what;
    } needed[] = {
        {options->workload, "workload", "PREFIX (the traces, PREFIX.RANK.et)"},
        {options->system, "system", "FILE (the system file, JSON)"},
        {options->network, "network", "FILE (the network file, YAML)"},
    };
    /* A replay needs no machine, and one that is named needs no files; jobs bring their traces. */
    size_t count = options->replay || options->machine != NULL ? 1 : sizeof needed / sizeof needed[0];
    if (count > 1 && options->workload != NULL && options->system == NULL && options->network == NULL) {
        return error_set(err, ORR_EINVAL,
                         "missing parameter 'machine' NAME (dgx-h100:16, ring:8, a line or a file); or parameter "
                         "'system' and parameter 'network' with its files");
    }
    for (size_t i = options->job_count > 0 ? 1 : 0; i < count; i++) {
        if (needed[i].value == NULL || needed[i].value[0] == '\0') {
            return error_set(err, ORR_EINVAL, "missing parameter '%s' %s", needed[i].name, needed[i].what);
        }
    }
    const char *other = options->network != NULL ? "network" : options->logical != NULL ? "logical" : NULL;
    if (options->machine != NULL && other != NULL) {
        return error_set(err, ORR_EINVAL, "parameter 'machine' and parameter '%s' both say what the machine is", other);
    }
    if (options->machine == NULL && (options->bandwidth != NULL || options->latency != NULL)) {
        return error_set(err, ORR_EINVAL,
                         "parameter '%s' is for parameter 'machine'; the files have keys of their own, for parameter "
                         "'set'",
                         options->bandwidth != NULL ? "bandwidth" : "latency");
    }
    for (const struct param *row = param_run; row->name != NULL; row++) {
        const char *text = NULL;
        if (row->kind == PARAM_PATH) {
            memcpy((void *)&text, (const char *)options + row->place, sizeof text);
        }
        if (text != NULL && text[0] == '\0') {
            return error_set(err, ORR_EINVAL, "parameter '%s': \"\" is not the name of a file; leave it out for none",
                             row->name);
        }
    }
    return ORR_OK;
}

enum orr_status param_wired_check(const struct orr_run_options *options, struct orr_error *err)
{
    struct orr_run_options initial;
    orr_run_options_init(&initial);
    const char *name = options->link_down_count > 0 ? "link-down" : NULL;
    for (const struct param *row = param_run; row->name != NULL && name == NULL; row++) {
        name = (row->flags & PARAM_WIRED) != 0 && !param_same(row, options, &initial) ? row->name : NULL;
    }
    return name == NULL || options->backend >= ORR_BACKEND_PACKET || options->compat == ORR_COMPAT_ASTRA
               ? ORR_OK
               : error_set(err, ORR_EINVAL, "parameter '%s' needs parameter 'backend' packet, flow or auto", name);
}

static enum orr_status check_rows(const struct orr_run_options *options, struct orr_error *err)
{
    bool machine_says = options->machine != NULL && options->backend_open; /* which network it is */
    for (const struct param *row = param_run; row->name != NULL; row++) {
        bool policy = row->place == offsetof(struct orr_run_options, policy); /* which has two more, without a word */
        enum orr_status status = policy ? ORR_OK : param_check(row, options, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    if (!(options->jitter >= 0.0) || options->jitter > 1e300) {
        return error_set(err, ORR_ERANGE, "parameter 'jitter': %g must be a number of at least 0", options->jitter);
    }
    if (options->no_packets && (options->backend == ORR_BACKEND_PACKET || options->backend == ORR_BACKEND_AUTO)) {
        return error_set(err, ORR_EINVAL, "parameter 'no-packets' needs parameter 'backend' flow");
    }
    if ((unsigned)options->policy > ORR_POLICY_AUTO_SAFE) {
        return error_set(err, ORR_ERANGE, "parameter 'policy': %d is no value of it", (int)options->policy);
    }
    enum orr_status status = param_noise_check(&options->noise, err);
    return status == ORR_OK && !machine_says ? param_wired_check(options, err) : status;
}

/* What is said of one job, where there are several. */
static enum orr_status check_jobs(const struct orr_run_options *options, struct orr_error *err)
{
    if (options->job_count == 0) {
        return ORR_OK;
    }
    const char *other = options->workload != NULL ? "workload"
                        : options->groups != NULL ? "groups"
                        : options->grow           ? "grow"
                        : options->loaded != NULL ? "workload"
                        : options->replay         ? "replay"
                                                  : NULL;
    return other == NULL ? ORR_OK
                         : error_set(err, ORR_EINVAL, "parameter '%s' does not go with parameter 'job'", other);
}

/* Said of how to grow without asking for it: a mistake rather than a wish. */
static enum orr_status check_growth(const struct orr_run_options *options, struct orr_error *err)
{
    const struct orr_growth *growth = &options->growth;
    const char *given = growth->role != NULL       ? "grow-role"
                        : growth->parallel != NULL ? "parallel"
                        : growth->strong           ? "strong"
                                                   : NULL;
    if (given != NULL && !options->grow) {
        return error_set(err, ORR_EINVAL, "parameter '%s' needs parameter 'grow'", given);
    }
    if (options->replay && options->network == NULL && (options->backend >= ORR_BACKEND_PACKET || options->grow)) {
        return error_set(err, ORR_EINVAL, "a replay without a network file has no %s",
                         options->grow ? "machine to grow to" : "wires");
    }
    const char *compute = options->devices != NULL                ? "devices"
                          : options->stragglers != NULL           ? "stragglers"
                          : options->noise.kind != ORR_NOISE_NONE ? "jitter"
                                                                  : NULL;
    if (options->replay && compute != NULL) {
        return error_set(err, ORR_EINVAL, "parameter '%s' changes nothing in a replay: nodes take the time they carry",
                         compute);
    }
    return ORR_OK;
}

enum orr_status param_tuning_settle(struct orr_tuning *tuning, bool source_given, struct orr_error *err)
{
    if (!source_given && tuning->source == ORR_COMPUTE_AUTO) {
        tuning->source = tuning->forced_ns > 0 ? ORR_COMPUTE_FORCED
                         : tuning->gpu_mhz > 0 ? ORR_COMPUTE_CYCLES
                                               : ORR_COMPUTE_AUTO;
    }
    if (tuning->forced_ns > 0 && tuning->source != ORR_COMPUTE_FORCED) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'force-avg-kernel-ns' has no effect with this parameter "
                         "'comp-source'; forced has it");
    }
    if (tuning->forced_ns == 0 && tuning->source == ORR_COMPUTE_FORCED) {
        return error_set(err, ORR_EINVAL, "parameter 'comp-source' forced needs parameter 'force-avg-kernel-ns' NS");
    }
    /* A forced time needs no clock, but ROCm-ASTRAsim's users give both. */
    if (tuning->gpu_mhz > 0 && tuning->source != ORR_COMPUTE_CYCLES && tuning->source != ORR_COMPUTE_FORCED) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'default-gpu-freq' has no effect with this parameter "
                         "'comp-source'; cycles has it");
    }
    if (tuning->gpu_mhz == 0 && tuning->source == ORR_COMPUTE_CYCLES) {
        tuning->gpu_mhz = 2400;
    }
    return ORR_OK;
}

enum orr_status param_run_settle(struct orr_run_options *options, struct orr_error *err)
{
    /* Who fills the struct by hand and names a network means it. */
    options->backend_open = options->backend_open && options->backend == ORR_BACKEND_UNAWARE;
    enum orr_status status = check_required(options, err);
    if (status == ORR_OK) {
        status = check_rows(options, err);
    }
    if (status == ORR_OK) {
        status = check_jobs(options, err);
    }
    if (status == ORR_OK) {
        status = check_growth(options, err);
    }
    return status == ORR_OK ? param_tuning_settle(&options->tuning, options->source_given, err) : status;
}
