/* What is written behind the options of `orrery run`: words of a list, numbers with units, links that go down. */
#include <stdlib.h>
#include <string.h>

#include "cli/run_keys.h"

static error_t read_word(struct run_options *run, const char *option, const char *arg, const char *const *words,
                         unsigned *index)
{
    return cli_options_status(param_parse_word(option, arg, words, index, &run->input.error));
}

/* Choices, in the order of their enumerations in orrery.h. */
error_t run_choice_parse(int key, const char *arg, struct run_options *run)
{
    static const char *const backends[] = {"unaware", "aware", "packet", "flow", "auto", NULL};
    static const char *const policies[] = {"astra", "safe", "streams", NULL};
    static const char *const broadcasts[] = {"replay", "simulate", NULL};
    static const char *const formats[] = {"text", "astra", "json", NULL};
    static const char *const compats[] = {"none", "astra", NULL};
    static const char *const routings[] = {"ecmp", "spray", "adaptive", NULL};
    static const char *const controls[] = {"none", "dcqcn", "hpcc", "timely", "dctcp", "pint", "swift", "credit", NULL};
    static const char *const places[] = {"gpu", "cpu", NULL};
    unsigned index = 0;
    error_t failed = 0;
    switch (key) {
    case KEY_MISSING_CPU_OP:
        failed = read_word(run, "--missing-cpu-op", arg, places, &index);
        run->run.missing_is_cpu = index == 1;
        return failed;
    case KEY_COMP_SOURCE:
        failed = read_word(run, "--comp-source", arg, cli_compute_sources, &index);
        run->run.tuning.source = (enum orr_compute_source)index;
        run->source_given = true;
        return failed;
    case KEY_BACKEND:
        failed = read_word(run, "--backend", arg, backends, &index);
        run->run.backend = (enum orr_backend)index;
        run->run.backend_open = false;
        return failed;
    case KEY_POLICY:
        failed = read_word(run, "--policy", arg, policies, &index);
        run->run.policy = (enum orr_policy)index;
        return failed;
    case KEY_ROUTING:
        failed = read_word(run, "--routing", arg, routings, &index);
        run->run.routing = (enum orr_routing)index;
        return failed;
    case KEY_CC:
        failed = read_word(run, "--cc", arg, controls, &index);
        run->run.congestion = (enum orr_congestion)(index + ORR_CONGESTION_NONE);
        return failed;
    case KEY_COMPAT:
        failed = read_word(run, "--compat", arg, compats, &index);
        run->run.compat = (enum orr_compat)index;
        return failed;
    case KEY_BROADCAST:
        failed = read_word(run, "--broadcast", arg, broadcasts, &index);
        run->run.broadcast = (enum orr_broadcast)index;
        return failed;
    default:
        failed = read_word(run, "--format", arg, formats, &index);
        run->format = (enum orr_output)index;
        run->format_given = true;
        return failed;
    }
}

static enum orr_status parse_time(const char *option, const char *text, uint64_t *ns, struct orr_error *err)
{
    enum orr_status status = param_parse_time(option, text, "us", ns, err);
    if (status == ORR_OK && (*ns == 0 || *ns > UINT64_C(1) << 40)) {
        return error_set(err, ORR_ERANGE, "%s: %s must be more than 0 and at most 18 minutes", option, text);
    }
    return status;
}

static enum orr_status parse_positive(const char *option, const char *text, double *value, struct orr_error *err)
{
    enum orr_status status = param_parse_real(option, text, value, err);
    if (status == ORR_OK && !(*value >= 1e-9 && *value <= 1e9)) {
        return error_set(err, ORR_ERANGE, "%s: %s must be more than 0, and between 1e-9 and 1e9", option, text);
    }
    return status;
}

static enum orr_status bad_link_down(const char *text, struct orr_error *err)
{
    return error_set(err, ORR_EINVAL, "--link-down: \"%s\" is not A-B@TIME or A-B@TIME..TIME, as in 0-8@10us..1ms",
                     text);
}

/* Digits that fit; behind them, or NULL. */
static const char *read_node(const char *text, uint32_t *node)
{
    size_t length = strspn(text, "0123456789");
    unsigned long long number = length > 0 && length <= 10 ? strtoull(text, NULL, 10) : UINT64_MAX;
    *node = (uint32_t)number;
    return number <= UINT32_MAX ? text + length : NULL;
}

/* "A-B@TIME", "A-B@TIME..TIME". */
enum orr_status run_link_down_parse(const char *text, struct run_options *run)
{
    struct orr_error *err = &run->input.error;
    struct orr_link_down down = {.up_ns = UINT64_MAX};
    char from[64];
    const char *at = strchr(text, '@');
    const char *dots = at == NULL ? NULL : strstr(at, "..");
    const char *end = read_node(text, &down.a);
    end = end != NULL && *end == '-' ? read_node(end + 1, &down.b) : NULL;
    if (at == NULL || end != at) {
        return bad_link_down(text, err);
    }
    size_t length = dots == NULL ? strlen(at + 1) : (size_t)(dots - at - 1);
    if (length == 0 || length >= sizeof from) {
        return bad_link_down(text, err);
    }
    memcpy(from, at + 1, length);
    from[length] = '\0';
    enum orr_status status = param_parse_time("--link-down", from, "us", &down.down_ns, err);
    if (status == ORR_OK && dots != NULL) {
        status = param_parse_time("--link-down", dots + 2, "us", &down.up_ns, err);
    }
    if (status == ORR_OK && down.up_ns <= down.down_ns) {
        return error_set(err, ORR_EINVAL, "--link-down: \"%s\" comes back before it goes", text);
    }
    if (status == ORR_OK && run->run.link_down_count == RUN_LINK_DOWNS_MOST) {
        return error_set(err, ORR_ERANGE, "--link-down is given more than %d times", RUN_LINK_DOWNS_MOST);
    }
    if (status == ORR_OK) {
        run->link_downs[run->run.link_down_count++] = down;
        run->run.link_downs = run->link_downs;
    }
    return status;
}

/* What a calibration changes; run_check.c settles what was left out. */
error_t run_tuning_parse(int key, const char *arg, struct run_options *run)
{
    struct orr_error *err = &run->input.error;
    struct orr_tuning *tuning = &run->run.tuning;
    switch (key) {
    case KEY_FORCED_NS:
        return cli_options_status(
            param_parse_count("--force-avg-kernel-ns", arg, 1, UINT64_C(1) << 50, &tuning->forced_ns, err));
    case KEY_GPU_MHZ:
        return cli_options_status(parse_positive("--default-gpu-freq", arg, &tuning->gpu_mhz, err));
    case KEY_COMPUTE_FACTOR:
        return cli_options_status(parse_positive("--compute-factor", arg, &tuning->compute_scale, err));
    case KEY_HOST_FACTOR:
        return cli_options_status(parse_positive("--host-factor", arg, &tuning->host_scale, err));
    default:
        return cli_options_status(parse_time("--launch-overhead", arg, &tuning->launch_ns, err));
    }
}

error_t run_number_parse(int key, const char *arg, struct run_options *run)
{
    struct orr_error *err = &run->input.error;
    uint64_t count = 0;
    enum orr_status status = ORR_OK;
    switch (key) {
    case KEY_QUEUES:
        status = param_parse_count("--queues-per-dim", arg, 1, UINT32_MAX, &count, err);
        run->run.queues_per_dim = (uint32_t)count;
        return cli_options_status(status);
    case KEY_SEED:
        return cli_options_status(param_parse_count("--seed", arg, 0, UINT64_MAX, &run->run.seed, err));
    case KEY_CONTENTION:
        return cli_options_status(param_parse_real("--contention", arg, &run->run.contention, err));
    case KEY_JITTER:
        return cli_options_status(param_parse_real("--jitter", arg, &run->run.jitter, err));
    case KEY_RTO:
        return cli_options_status(parse_time("--rto", arg, &run->run.rto_ns, err));
    case KEY_INJECTION:
        return cli_options_status(param_parse_real("--injection-scale", arg, &run->run.injection_scale, err));
    default:
        return cli_options_status(cli_parse_limit("--memory-limit", arg, &run->run.memory_limit, err));
    }
}

error_t run_flag_parse(int key, struct run_options *run)
{
    bool *flag = key == KEY_STRICT       ? &run->run.strict
                 : key == KEY_REPLAY     ? &run->run.replay
                 : key == KEY_NO_PFC     ? &run->run.no_pfc
                 : key == KEY_PARALLEL   ? &run->run.parallel_links
                 : key == KEY_NO_FORWARD ? &run->run.no_fast_forward
                 : key == KEY_STRONG     ? &run->growth.strong
                 : key == 'q'            ? &run->quiet
                                         : &run->no_progress;
    *flag = true;
    return 0;
}
