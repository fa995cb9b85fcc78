/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that can be refused is refused here, before there is a folder: names, sizes, rates, contradictions. */
#include "lab/lab_run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/notices.h"
#include "base/plain.h"
#include "io/file.h"
#include "run/network_choice.h"
#include "trace/graph.h"

void lab_plan_init(struct lab_plan *plan, const struct orr_lab_options *options, const struct orr_notices *notices)
{
    *plan = (struct lab_plan){.options = options, .notices = notices, .mem = {.limit = options->run.memory_limit}};
    arena_init(&plan->arena, &plan->mem);
}

void lab_plan_free(struct lab_plan *plan)
{
    arena_free(&plan->arena);
}

static enum orr_status lab_plan_no_memory(const struct lab_plan *plan, struct orr_error *err)
{
    return mem_error(&plan->mem, "the plan of a run", err);
}

/* A line for the user, or with strict notices the error. */
ORR_PRINTF(3, 4)
static enum orr_status lab_plan_warn(const struct lab_plan *plan, struct orr_error *err, const char *fmt, ...)
{
    char line[512];
    va_list args;
    va_start(args, fmt);
    (void)plain_vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (plan->notices == NULL) {
        return ORR_OK;
    }
    if (plan->notices->strict) {
        return error_set(err, ORR_EINVAL, "%s (parameter 'strict')", line);
    }
    if (plan->notices->warn != NULL) {
        plan->notices->warn(plan->notices->context, line);
    }
    return ORR_OK;
}

/* ---- what was typed ---- */

static enum orr_status check_tag(const char *tag, struct orr_error *err)
{
    static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_+";
    size_t length = tag == NULL ? 1 : strlen(tag);
    if (tag != NULL && (length == 0 || length > 64 || strspn(tag, fine) != length)) {
        return error_set(
            err, ORR_EINVAL,
            "parameter 'tag': \"%.80s\" becomes part of a folder's name: 1 to 64 letters, digits, '.', '-', '_', '+'",
            tag);
    }
    return ORR_OK;
}

static enum orr_status check_typed(const struct orr_lab_options *options, struct orr_error *err)
{
    if (options->run.workload == NULL || options->run.workload[0] == '\0') {
        return error_set(err, ORR_EINVAL,
                         "missing parameter 'workload': a folder or prefix of traces, or a folder of recordings");
    }
    if (options->virtual_scale != 0 && options->world_size != 0) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'virtual-scale' and parameter 'world-size' both say how many ranks; give one");
    }
    return check_tag(options->tag, err);
}

/* What the traces ask for where the user did not say; recordings become traces that ask to run side by side. */
static enum orr_status lab_plan_settle_policy(struct lab_plan *plan, struct orr_error *err)
{
    plan->policy = plan->options->run.policy;
    if (plan->policy != ORR_POLICY_AUTO && plan->policy != ORR_POLICY_AUTO_SAFE) {
        return ORR_OK;
    }
    bool streams = plan->workload.prefix == NULL;
    if (!streams) {
        const char *path = arena_printf(&plan->arena, "%s.0.et", plan->workload.prefix);
        if (path == NULL) {
            return mem_error(&plan->mem, "a path", err);
        }
        streams = trace_file_side_by_side(path, &plan->mem);
    }
    plan->policy = streams ? ORR_POLICY_STREAMS : plan->policy == ORR_POLICY_AUTO ? ORR_POLICY_ASTRA : ORR_POLICY_SAFE;
    return ORR_OK;
}

static enum orr_status read_typed(struct lab_plan *plan, struct orr_error *err)
{
    const struct orr_lab_options *options = plan->options;
    const char *topology = options->run.machine != NULL ? options->run.machine : "auto:1d";
    enum orr_status status = check_typed(options, err);
    if (status == ORR_OK) {
        status =
            run_machine_read(topology, &options->run, &plan->arena, &plan->machine, &plan->rates, &plan->times, err);
    }
    if (status == ORR_OK) {
        status = run_workload_find(options->run.workload, options->prefix, options->recording_tag, &plan->arena,
                                   &plan->workload, err);
    }
    return status == ORR_OK ? lab_plan_settle_policy(plan, err) : status;
}

/* ---- how many ranks ---- */

static enum orr_status asked_size(const struct lab_plan *plan, uint32_t *asked, struct orr_error *err)
{
    uint64_t size = plan->options->world_size;
    if (plan->options->virtual_scale != 0) {
        size = (uint64_t)plan->workload.ranks * plan->options->virtual_scale;
    }
    if (size > INT32_MAX) {
        return error_set(err, ORR_ERANGE,
                         "parameter 'virtual-scale': %" PRIu32 " times %" PRIu32 " traces are more than %d ranks",
                         plan->options->virtual_scale, plan->workload.ranks, INT32_MAX);
    }
    *asked = (uint32_t)size;
    return ORR_OK;
}

static enum orr_status lab_plan_refuse_size(const struct lab_plan *plan, uint32_t told, struct orr_error *err)
{
    uint32_t traces = plan->workload.ranks;
    char scale[40] = "";
    if (told % traces == 0) {
        (void)snprintf(scale, sizeof scale, "parameter 'virtual-scale' %" PRIu32 " or ", told / traces);
    }
    return error_set(err, ORR_EINVAL,
                     "parameter 'machine': it has %" PRIu32 " ranks, and there %s %" PRIu32
                     " trace%s; a machine of %" PRIu32 " fits, or %sparameter 'world-size' %" PRIu32
                     " makes the job as large as the machine",
                     told, traces == 1 ? "is" : "are", traces, traces == 1 ? "" : "s", traces, scale, told);
}

/* One ring of hundreds of ranks is built by nobody, and twice as many messages as ranks follow each other in it. */
enum { ONE_RING_MOST = 64 };

static enum orr_status lab_plan_settle_size(struct lab_plan *plan, struct orr_error *err)
{
    uint32_t asked = 0;
    uint32_t told = run_machine_told(&plan->machine);
    uint32_t traces = plan->workload.ranks;
    enum orr_status status = asked_size(plan, &asked, err);
    if (status != ORR_OK) {
        return status;
    }
    if (told != 0 && asked == 0 && told != traces) {
        return lab_plan_refuse_size(plan, told, err);
    }
    if (told != 0 && asked != 0 && told != asked) {
        char option[48];
        (void)snprintf(option, sizeof option,
                       plan->options->world_size != 0 ? "parameter 'world-size' %" PRIu32
                                                      : "parameter 'virtual-scale' %" PRIu32,
                       plan->options->world_size != 0 ? asked : plan->options->virtual_scale);
        status = lab_plan_warn(plan, err,
                               "%s of %" PRIu32 " trace%s is %" PRIu32 " ranks, and the topology has %" PRIu32
                               "; the topology's size is taken",
                               option, traces, traces == 1 ? "" : "s", asked, told);
    }
    plan->world = told != 0 ? told : asked != 0 ? asked : traces;
    if (status == ORR_OK && plan->world == 1) {
        status = error_set(
            err, ORR_EINVAL,
            "there is one trace, and a machine of one rank has no network; parameter 'world-size' says how many "
            "ranks it shall become");
    }
    if (status == ORR_OK && plan->options->run.machine == NULL && plan->world > ONE_RING_MOST) {
        status = run_machine_parse("auto:3d", &plan->machine, err);
    }
    const struct orr_growth *growth = &plan->options->run.growth;
    plan->grows = plan->world != traces || growth->parallel != NULL || growth->role != NULL ||
                  growth->comm_scale != NULL || growth->strong;
    return status;
}

/* ---- the machine ---- */

static enum orr_status lab_plan_settle_backend(struct lab_plan *plan, struct orr_error *err)
{
    struct notes notes;
    notices_begin(&notes, &plan->mem, plan->notices);
    enum orr_status status = run_network_settle(&plan->machine, &plan->options->run, &notes, &plan->backend, err);
    notices_end(&notes, plan->notices);
    return status;
}

static const char *file_stem(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = strcspn(name, ".");
    char *stem = arena_strndup(arena, name, length < 40 ? length : 40);
    for (char *at = stem; at != NULL && *at != '\0'; at++) {
        bool fine =
            (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '-';
        *at = fine ? *at : '_';
    }
    return stem;
}

static enum orr_status settle_names(struct lab_plan *plan, bool named, struct orr_error *err)
{
    char text[RUN_MACHINE_NAME];
    run_machine_dims_text(&plan->machine, text);
    plan->dims = arena_strndup(&plan->arena, text, strlen(text));
    if (plan->machine.kind == RUN_MACHINE_FILE) {
        const char *stem = file_stem(&plan->arena, plan->machine.path);
        plan->name = stem == NULL ? NULL : arena_printf(&plan->arena, "%" PRIu32 "gpu_file_%s", plan->world, stem);
    } else if (named && plan->machine.kind != RUN_MACHINE_MADE) {
        plan->name = plan->options->run.machine;
    } else {
        run_machine_name(&plan->machine, text);
        plan->name = arena_strndup(&plan->arena, text, strlen(text));
    }
    plan->output = plan->options->output_folder != NULL ? plan->options->output_folder : "runs";
    size_t length = strlen(plan->output);
    while (length > 1 && plan->output[length - 1] == '/') {
        length--;
    }
    plan->output = arena_strndup(&plan->arena, plan->output, length);
    plan->store = plan->options->store;
    if (plan->store == NULL && plan->output != NULL) {
        plan->store = arena_printf(&plan->arena, "%s/orrery.db", plan->output);
    }
    return plan->dims != NULL && plan->name != NULL && plan->store != NULL ? ORR_OK : lab_plan_no_memory(plan, err);
}

enum orr_status lab_plan_make(struct lab_plan *plan, struct orr_error *err)
{
    enum orr_status status = read_typed(plan, err);
    bool named = plan->machine.ranks != 0;
    if (status == ORR_OK) {
        status = lab_plan_settle_size(plan, err);
    }
    if (status == ORR_OK) {
        status = run_machine_lay_out(&plan->machine, plan->world, &plan->arena, &plan->rates, &plan->times, err);
    }
    if (status == ORR_OK) {
        status = lab_plan_settle_backend(plan, err);
    }
    if (status == ORR_OK) {
        const struct run_machine_request request = {
            .machine = &plan->machine, .backend = plan->backend, .rates = &plan->rates, .times = &plan->times};
        status = run_machine_check(&request, err);
    }
    return status == ORR_OK ? settle_names(plan, named, err) : status;
}
