/* What the options of `orrery run` mean together, once all are read: what is missing, what contradicts, what implies
 * what.
 */
#include <string.h>

#include "cli/run_keys.h"

static enum orr_status check_required(const struct run_options *options, struct orr_error *err)
{
    const struct {
        const char *value, *option, *what;
    } needed[] = {
        {options->run.workload, "--workload PREFIX", "the traces, PREFIX.RANK.et"},
        {options->run.system, "--system FILE", "the system file, JSON"},
        {options->run.network, "--network FILE", "the network file, YAML"},
    };
    size_t count = options->run.replay ? 1 : sizeof needed / sizeof needed[0]; /* a replay needs no machine */
    for (size_t i = 0; i < count; i++) {
        if (needed[i].value == NULL || needed[i].value[0] == '\0') {
            return error_set(err, ORR_EINVAL, "missing %s (%s); orrery run --help shows the options", needed[i].option,
                             needed[i].what);
        }
    }
    bool no_memory = options->run.memory != NULL && options->run.memory[0] == '\0';
    if (no_memory || (options->run.groups != NULL && options->run.groups[0] == '\0')) {
        return error_set(err, ORR_EINVAL, "%s: \"\" is not the name of a file; leave the option out for none",
                         no_memory ? "--memory" : "--groups");
    }
    return ORR_OK;
}

/* Said of how to grow without asking for it: a mistake rather than a wish. */
static enum orr_status check_growth(const struct run_options *options, struct orr_error *err)
{
    const struct orr_growth *growth = &options->growth;
    const char *given = growth->role != NULL         ? "--grow-role"
                        : growth->comm_scale != NULL ? "--grow-comm"
                        : growth->strong             ? "--strong"
                                                     : NULL;
    if (given != NULL && options->run.growth == NULL) {
        return error_set(err, ORR_EINVAL, "%s needs --grow", given);
    }
    return ORR_OK;
}

const char *const cli_compute_sources[] = {"auto", "duration", "cycles", "roofline", "forced", NULL};

enum orr_status cli_tuning_settle(struct orr_tuning *tuning, bool source_given, struct orr_error *err)
{
    if (!source_given) {
        tuning->source = tuning->forced_ns > 0 ? ORR_COMPUTE_FORCED
                         : tuning->gpu_mhz > 0 ? ORR_COMPUTE_CYCLES
                                               : tuning->source;
    }
    if (tuning->forced_ns > 0 && tuning->source != ORR_COMPUTE_FORCED) {
        return error_set(err, ORR_EINVAL, "--force-avg-kernel-ns has no effect with this --comp-source; forced has it");
    }
    if (tuning->forced_ns == 0 && tuning->source == ORR_COMPUTE_FORCED) {
        return error_set(err, ORR_EINVAL, "--comp-source forced needs --force-avg-kernel-ns NS");
    }
    /* A forced time needs no clock, but ROCm-ASTRAsim's users give both. */
    if (tuning->gpu_mhz > 0 && tuning->source != ORR_COMPUTE_CYCLES && tuning->source != ORR_COMPUTE_FORCED) {
        return error_set(err, ORR_EINVAL, "--default-gpu-freq has no effect with this --comp-source; cycles has it");
    }
    if (tuning->gpu_mhz == 0 && tuning->source == ORR_COMPUTE_CYCLES) {
        tuning->gpu_mhz = 2400;
    }
    return ORR_OK;
}

/* What only a network on a wired topology can do: asked of another it is a mistake. */
static enum orr_status check_backend(const struct run_options *options, struct orr_error *err)
{
    const struct orr_run_options *run = &options->run;
    const struct {
        const char *option;
        bool given;
    } wired[] = {
        {"--logical", run->logical != NULL},
        {"--fct", options->fct != NULL},
        {"--pfc", options->pfc != NULL},
        {"--qlen", options->qlen != NULL},
        {"--no-pfc", run->no_pfc},
        {"--rto", run->rto_ns > 0},
        {"--no-fast-forward", run->no_fast_forward},
        {"--routing", run->routing != ORR_ROUTING_ECMP},
        {"--cc", run->congestion != ORR_CONGESTION_FILE},
        {"--parallel-links", run->parallel_links},
        {"--link-down", run->link_down_count > 0},
    };
    for (size_t i = 0; i < sizeof wired / sizeof wired[0]; i++) {
        if (wired[i].given && run->backend < ORR_BACKEND_PACKET) {
            return error_set(err, ORR_EINVAL, "%s needs --backend packet, flow or auto", wired[i].option);
        }
    }
    return ORR_OK;
}

/* `--json -` is `--format json`: two documents on one stream would be of use to nobody. */
static enum orr_status resolve_dash(struct run_options *options, struct orr_error *err)
{
    if (options->json == NULL || strcmp(options->json, "-") != 0) {
        return ORR_OK;
    }
    if (options->format_given && options->format != ORR_OUTPUT_JSON) {
        return error_set(err, ORR_EINVAL,
                         "--json - and --format %s both want standard output; give one of them, or a file to --json",
                         options->format == ORR_OUTPUT_ASTRA ? "astra" : "text");
    }
    options->format = ORR_OUTPUT_JSON;
    options->json = NULL;
    return ORR_OK;
}

enum orr_status run_options_settle(struct run_options *options, bool lenient, struct orr_error *err)
{
    enum orr_status status = check_required(options, err);
    if (status == ORR_OK && !lenient) {
        status = check_backend(options, err);
    }
    if (status == ORR_OK) {
        status = check_growth(options, err);
    }
    if (status == ORR_OK) {
        status = cli_tuning_settle(&options->run.tuning, options->source_given, err);
    }
    if (status == ORR_OK) {
        status = resolve_dash(options, err);
    }
    if (status == ORR_OK) {
        status = run_sets_resolve(options, err);
    }
    return status == ORR_OK ? cli_limit_default(&options->run.memory_limit, err) : status;
}
