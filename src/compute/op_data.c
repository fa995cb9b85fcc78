/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose measurements stand in for those that are missing, from near to far: the same device; its relatives; any device;
 * then the same with another type of number, another operator that moves bytes or multiplies alike, another stack. The
 * time is carried by what bounds it: the other set's shares of peak and memory rate on this device's data sheet.
 *
 * Two devices of one architecture whose data sheets differ by less than a sixth run at what their power and cooling
 * allow, not at what the sheet says (GB200 against B200: 11 % on paper, 3 % measured): the peak is then carried as it
 * was measured.
 */
#include "compute/op_data.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define KIN_PEAKS 1.17 /* ratio up to which two of one architecture are taken for equal */

/* Weights of the set and of each helper in the residual: relatives share the library's choice of kernels, not the noise
 * of a measurement. Chosen on b200, gb200 and b300, each left out in turn (docs/accuracy-operators.md). */
static const double main_weight = 0.7;

/* Within which nine of ten shapes were of devices that were taken for never measured, by who answered for them: the
 * worst of those left out (docs/accuracy-operators.md). Row operators were measured on one device: theirs are GEMM's.
 */
static const struct {
    double relative, datasheet;
} left_out[OP_FAMILIES] = {
    [OP_FAMILY_GEMM] = {0.174, 0.384},
    [OP_FAMILY_ATTENTION] = {0.290, 0.432},
    [OP_FAMILY_STREAM] = {0.174, 0.384},
    [OP_FAMILY_CALL] = {0.174, 0.384},
};

struct lookup {
    const bool *hidden;
    /* The last set read of each device, stack, operator and dtype. */
    const struct op_set **index;
    /* How many sets there are of a stack, operator and dtype, whatever the device: mostly none. */
    uint32_t present[ORR_OP_STACK_COUNT][ORR_OP_KINDS][ORR_OP_DTYPE_COUNT];
    /* For the device at hand: who answers for it, nearest first; of them its relatives, itself included. */
    uint32_t order[OP_DEVICES_MOST];
    uint32_t relatives;
};

static size_t index_of(uint32_t device, uint32_t stack, uint32_t kind, uint32_t dtype)
{
    return (((size_t)device * ORR_OP_STACK_COUNT + stack) * ORR_OP_KINDS + kind) * ORR_OP_DTYPE_COUNT + dtype;
}

static const struct op_set *set_of(const struct lookup *l, uint32_t device, uint32_t stack, uint32_t kind,
                                   uint32_t dtype)
{
    return l->hidden != NULL && l->hidden[device] ? NULL : l->index[index_of(device, stack, kind, dtype)];
}

/* The machine that `device` is for constants which were fitted on `from`. */
static struct op_machine compute_op_data_carried(const struct device *device, const struct device *from,
                                                 enum orr_op_dtype dtype)
{
    struct op_machine to = op_machine_of(device, dtype);
    struct op_machine there = op_machine_of(from, dtype);
    double ratio = to.flops > there.flops ? to.flops / there.flops : there.flops / to.flops;
    if (device_is_kin(device, from) && ratio < KIN_PEAKS) {
        to.flops = there.flops;
        to.units = there.units;
    } else if (device->sustained > 0) {
        to.flops *= device->sustained / DEVICE_SUSTAINED;
    }
    to.slower = there.flops / there.units / (to.flops / to.units);
    return to;
}

/* How unlike two devices are by their data sheets. */
static double distance_of(const struct device *a, const struct device *b)
{
    return fabs(log(device_peak_of(a, DEVICE_BF16) / device_peak_of(b, DEVICE_BF16))) +
           fabs(log(a->memory_rate / b->memory_rate));
}

/* Itself, its relatives, then all others, the most alike first. */
static void order_devices(struct lookup *l, uint32_t device)
{
    bool taken[OP_DEVICES_MOST] = {false};
    uint32_t count = 0;
    l->order[count++] = device;
    taken[device] = true;
    for (const char *at = device_rows[device].relatives; *at != '\0'; at += strspn(at, " ")) {
        char name[64];
        size_t length = strcspn(at, " ");
        (void)snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length;
        uint32_t other = device_find(name);
        if (other < device_count && !taken[other]) {
            l->order[count++] = other;
            taken[other] = true;
        }
    }
    l->relatives = count;
    for (; count < device_count; count++) {
        uint32_t nearest = device_count;
        double least = INFINITY;
        for (uint32_t other = 0; other < device_count; other++) {
            double apart = taken[other] ? INFINITY : distance_of(&device_rows[device], &device_rows[other]);
            nearest = apart < least ? other : nearest;
            least = apart < least ? apart : least;
        }
        if (nearest == device_count) {
            break;
        }
        l->order[count] = nearest;
        taken[nearest] = true;
    }
}

/* The set that answers for the device at hand, and those that help it: of the same architecture, its relatives'. */
static const struct op_set *nearest_set(const struct lookup *l, uint32_t stack, uint32_t kind, uint32_t dtype,
                                        const struct op_set *helpers[OP_HELPERS])
{
    const struct op_set *found = NULL;
    uint32_t helped = 0;
    if (l->present[stack][kind][dtype] == 0) {
        return NULL;
    }
    for (uint32_t i = 0; i < device_count; i++) {
        const struct op_set *set = set_of(l, l->order[i], stack, kind, dtype);
        if (set == NULL) {
            continue;
        }
        if (found == NULL) {
            found = set;
            if (i == 0 || i >= l->relatives) {
                break;
            }
        } else if (i < l->relatives && helped < OP_HELPERS &&
                   device_is_kin(&device_rows[found->device], &device_rows[set->device])) {
            helpers[helped++] = set;
        }
    }
    return found;
}

/* Operators whose kernels are alike, in the order in which they stand in for `kind`; ends with itself. */
static const enum orr_op_kind *stand_ins(enum orr_op_kind kind)
{
    static const enum orr_op_kind gemm[] = {ORR_OP_BATCHED_GEMM, ORR_OP_GEMM, ORR_OP_KINDS};
    static const enum orr_op_kind attention[] = {ORR_OP_ATTENTION, ORR_OP_ATTENTION_FULL, ORR_OP_KINDS};
    static const enum orr_op_kind backward[] = {ORR_OP_ATTENTION_BACKWARD, ORR_OP_ATTENTION_FULL_BACKWARD,
                                                ORR_OP_ATTENTION, ORR_OP_ATTENTION_FULL, ORR_OP_KINDS};
    static const enum orr_op_kind norm[] = {ORR_OP_LAYERNORM, ORR_OP_RMSNORM, ORR_OP_ADD, ORR_OP_KINDS};
    static const enum orr_op_kind stream[] = {ORR_OP_ADD, ORR_OP_GELU, ORR_OP_COPY, ORR_OP_KINDS};
    static const enum orr_op_kind optimizer[] = {ORR_OP_ADAMW, ORR_OP_SGD, ORR_OP_COPY, ORR_OP_KINDS};
    static const enum orr_op_kind host[] = {ORR_OP_COPY_FROM_HOST, ORR_OP_COPY_TO_HOST, ORR_OP_KINDS};
    switch (kind) {
    case ORR_OP_COPY_FROM_HOST:
    case ORR_OP_COPY_TO_HOST:
        return host;
    case ORR_OP_ADAMW:
    case ORR_OP_SGD:
        return optimizer;
    case ORR_OP_ATTENTION_BACKWARD:
    case ORR_OP_ATTENTION_FULL_BACKWARD:
        return backward;
    case ORR_OP_RMSNORM:
    case ORR_OP_RMSNORM_BACKWARD:
    case ORR_OP_LAYERNORM_BACKWARD:
    case ORR_OP_BATCHNORM:
    case ORR_OP_BATCHNORM_BACKWARD:
    case ORR_OP_SOFTMAX_BACKWARD:
        return norm;
    default:
        return op_family_of(kind) == OP_FAMILY_GEMM        ? gemm
               : op_family_of(kind) == OP_FAMILY_ATTENTION ? attention
                                                           : stream;
    }
}

/* Types of number whose kernels are alike. */
static const enum orr_op_dtype *stand_in_types(enum orr_op_dtype dtype)
{
    static const enum orr_op_dtype wide[] = {ORR_OP_BF16, ORR_OP_FP16, ORR_OP_FP32, ORR_OP_DTYPE_COUNT};
    static const enum orr_op_dtype narrow[] = {ORR_OP_FP8, ORR_OP_FP8_BLOCK, ORR_OP_BF16, ORR_OP_DTYPE_COUNT};
    return dtype == ORR_OP_FP8 || dtype == ORR_OP_FP8_BLOCK || dtype == ORR_OP_NVFP4 ? narrow : wide;
}

static const struct op_set *any_set(const struct lookup *l, uint32_t stack, enum orr_op_kind kind,
                                    enum orr_op_dtype dtype, struct op_answer *answer)
{
    const struct op_set *set = nearest_set(l, stack, kind, dtype, answer->helpers);
    answer->has_field = true;
    for (const enum orr_op_dtype *t = stand_in_types(dtype); set == NULL && *t != ORR_OP_DTYPE_COUNT; t++) {
        set = nearest_set(l, stack, kind, *t, answer->helpers);
    }
    for (const enum orr_op_kind *k = stand_ins(kind); set == NULL && *k != ORR_OP_KINDS; k++) {
        memset(answer->helpers, 0, sizeof answer->helpers);
        set = nearest_set(l, stack, *k, dtype, answer->helpers);
        for (const enum orr_op_dtype *t = stand_in_types(dtype); set == NULL && *t != ORR_OP_DTYPE_COUNT; t++) {
            set = nearest_set(l, stack, *k, *t, answer->helpers);
        }
        answer->has_field = false;
    }
    return set;
}

static struct op_answer resolve_kernel(const struct lookup *l, uint32_t device, enum orr_op_stack stack,
                                       enum orr_op_kind kind, enum orr_op_dtype dtype)
{
    const enum orr_op_stack other = stack == ORR_OP_SERVING ? ORR_OP_KERNEL : ORR_OP_SERVING;
    const struct device *here = &device_rows[device];
    struct op_answer answer = {.method = ORR_OP_BY_DATASHEET, .machine = op_machine_of(here, dtype)};
    answer.set = any_set(l, stack, kind, dtype, &answer);
    if (answer.set == NULL) {
        answer.set = any_set(l, other, kind, dtype, &answer);
    }
    if (answer.set == NULL) {
        answer.has_field = false;
        return answer;
    }
    const struct device *there = &device_rows[answer.set->device];
    bool is_same = answer.set->device == device;
    bool is_exact = answer.set->kind == kind && answer.set->dtype == dtype && answer.set->stack == stack;
    answer.machine = compute_op_data_carried(here, there, dtype);
    answer.method = is_same ? (is_exact ? ORR_OP_BY_MEASURED : ORR_OP_BY_MODEL)
                            : (device_is_kin(here, there) ? ORR_OP_BY_RELATIVE : ORR_OP_BY_DATASHEET);
    return answer;
}

static struct op_answer resolve(const struct lookup *l, uint32_t device, enum orr_op_stack stack, enum orr_op_kind kind,
                                enum orr_op_dtype dtype)
{
    if (stack != ORR_OP_TORCH) {
        return resolve_kernel(l, device, stack, kind, dtype);
    }
    struct op_answer answer = resolve_kernel(l, device, ORR_OP_KERNEL, kind, dtype);
    struct op_answer call = {.set = NULL};
    answer.call = any_set(l, stack, kind, dtype, &call);
    answer.has_call_field = answer.call != NULL && call.has_field && answer.call->device == device;
    return answer;
}

enum orr_status op_data_make(struct op_sets *sets, const bool *hidden, struct orr_op_data **made, struct orr_error *err)
{
    const size_t count = index_of(device_count, 0, 0, 0);
    struct orr_op_data *data = mem_alloc(&sets->mem, sizeof *data);
    struct op_answer *answers = mem_zalloc(&sets->mem, count * sizeof *answers);
    const struct op_set **index = mem_zalloc(&sets->mem, count * sizeof *index);
    struct lookup lookup = {.hidden = hidden, .index = index};
    if (data == NULL || answers == NULL || index == NULL) {
        enum orr_status status = mem_error(&sets->mem, "the operators' data", err);
        mem_free(&sets->mem, index, count * sizeof *index);
        mem_free(&sets->mem, answers, count * sizeof *answers);
        mem_free(&sets->mem, data, sizeof *data);
        return status;
    }
    for (uint32_t i = 0; i < sets->count; i++) {
        const struct op_set *set = sets->list[i];
        index[index_of(set->device, set->stack, set->kind, set->dtype)] = set;
        lookup.present[set->stack][set->kind][set->dtype]++;
    }
    for (uint32_t device = 0; device < device_count; device++) {
        order_devices(&lookup, device);
        for (uint32_t stack = 0; stack < ORR_OP_STACK_COUNT; stack++) {
            for (uint32_t kind = 0; kind < ORR_OP_KINDS; kind++) {
                for (uint32_t dtype = 0; dtype < ORR_OP_DTYPE_COUNT; dtype++) {
                    answers[index_of(device, stack, kind, dtype)] = resolve(
                        &lookup, device, (enum orr_op_stack)stack, (enum orr_op_kind)kind, (enum orr_op_dtype)dtype);
                }
            }
        }
    }
    mem_free(&sets->mem, index, count * sizeof *index);
    *data = (struct orr_op_data){.sets = *sets, .answers = answers};
    *made = data;
    return ORR_OK;
}

struct op_sets op_data_release(struct orr_op_data *data)
{
    struct op_sets sets = data->sets;
    mem_free(&sets.mem, data->answers, index_of(device_count, 0, 0, 0) * sizeof *data->answers);
    mem_free(&sets.mem, data, sizeof *data);
    return sets;
}

void orr_op_data_close(struct orr_op_data *data)
{
    if (data != NULL) {
        struct op_sets sets = op_data_release(data);
        op_sets_free(&sets);
    }
}

const struct op_answer *op_data_answer(const struct orr_op_data *data, uint32_t device, enum orr_op_stack stack,
                                       enum orr_op_kind kind, enum orr_op_dtype dtype)
{
    return &data->answers[index_of(device, stack, kind, dtype)];
}

enum orr_op_stack op_stack_meant(enum orr_op_kind kind, const char *name, bool is_positional)
{
    bool is_served = kind == ORR_OP_GEMM || kind == ORR_OP_ATTENTION;
    return is_served && !is_positional && strcasecmp(name, "h200") != 0 ? ORR_OP_SERVING : ORR_OP_TORCH;
}

enum orr_op_stack orr_op_stack_meant(enum orr_op_kind kind, const char *device)
{
    return op_stack_meant(kind, device, false);
}

/* Between the answering set and its relatives, in the residual. */
static double compute_op_data_residual_of(const struct op_answer *answer, const double at[OP_AXES],
                                          struct op_place *place)
{
    *place = op_set_place(answer->set, at);
    double sum = 0;
    double helpers = 0;
    for (int i = 0; i < OP_HELPERS; i++) {
        if (answer->helpers[i] != NULL) {
            sum += op_set_place(answer->helpers[i], at).residual;
            helpers++;
        }
    }
    return helpers > 0 ? main_weight * place->residual + (1 - main_weight) * sum / helpers : place->residual;
}

/* What one lone call takes whose kernel was answered already. */
static void compute_op_data_add_call(const struct op_answer *answer, const double at[OP_AXES],
                                     struct orr_op_prediction *prediction)
{
    const struct op_family_row *family = &op_families[OP_FAMILY_CALL];
    double constants[OP_CONSTANTS] = {0};
    for (uint32_t i = 0; i < family->count; i++) {
        constants[i] = answer->call != NULL ? answer->call->constants[i] : family->constants[i].initial;
    }
    double factor = 1;
    if (answer->has_call_field) {
        struct op_place place = op_set_place(answer->call, at);
        factor = place.is_inside ? exp(place.residual) : 1;
        prediction->method = place.is_measured ? ORR_OP_BY_MEASURED : prediction->method;
        prediction->spread = answer->call->p90;
        prediction->device = device_rows[answer->call->device].name;
    }
    prediction->us = op_call_of(prediction->kernel_us, constants) * factor;
    prediction->launch_us = fmin(constants[family->count - 1], prediction->us);
    prediction->kernel_us = prediction->kernel_us < prediction->us ? prediction->kernel_us : prediction->us;
    prediction->stack = ORR_OP_TORCH;
    prediction->bound = prediction->launch_us > prediction->kernel_us ? ORR_OP_BOUND_LAUNCH : prediction->bound;
}

/* Where nothing was measured on the device, how well others know such a one, not how well they know themselves. */
static double compute_op_data_spread(const struct orr_op_prediction *prediction, enum op_family family)
{
    double least = prediction->method == ORR_OP_BY_RELATIVE    ? left_out[family].relative
                   : prediction->method == ORR_OP_BY_DATASHEET ? left_out[family].datasheet
                                                               : 0;
    return fmax(prediction->spread, least);
}

static bool compute_op_data_is_empty(const struct orr_op *op)
{
    for (uint32_t i = 0; i < op_dim_count(op->kind); i++) {
        if (op->dims[i] == 0) {
            return true;
        }
    }
    return false;
}

void orr_op_predict(const struct orr_op_data *data, uint32_t device, enum orr_op_stack stack, const struct orr_op *op,
                    struct orr_op_prediction *prediction)
{
    *prediction = (struct orr_op_prediction){.method = ORR_OP_BY_DATASHEET, .stack = stack};
    if (device >= device_count || (uint32_t)stack >= ORR_OP_STACK_COUNT || (uint32_t)op->kind >= ORR_OP_KINDS ||
        (uint32_t)op->dtype >= ORR_OP_DTYPE_COUNT) {
        prediction->us = prediction->kernel_us = prediction->launch_us = NAN;
        prediction->flops = prediction->bytes = prediction->spread = NAN;
        return;
    }
    if (compute_op_data_is_empty(op)) {
        return;
    }
    const struct op_answer *answer = op_data_answer(data, device, stack, op_kind_of(op), op->dtype);
    const struct op_set *set = answer->set;
    const struct op_family_row *family = &op_families[op_family_of(op->kind)];
    double constants[OP_CONSTANTS];
    double at[OP_AXES] = {0};
    struct op_work work = op_work_of(op);
    *prediction = (struct orr_op_prediction){.flops = work.flops,
                                             .bytes = work.bytes,
                                             .method = answer->method,
                                             .stack = set != NULL ? set->stack : stack,
                                             .spread = 0.5};
    for (uint32_t i = 0; i < OP_CONSTANTS; i++) {
        constants[i] = set != NULL ? set->constants[i] : family->constants[i].initial;
    }
    struct op_base base = op_base_of(op, &answer->machine, constants);
    double factor = 1;
    (void)op_coordinates(op, at);
    if (set != NULL) {
        prediction->device = device_rows[set->device].name;
        prediction->spread = set->p90;
    }
    if (answer->has_field) {
        struct op_place place;
        struct orr_op near;
        factor = exp(compute_op_data_residual_of(answer, at, &place));
        if (answer->method == ORR_OP_BY_MEASURED && !place.is_measured) {
            prediction->method = place.is_inside ? ORR_OP_BY_NEIGHBOURS : ORR_OP_BY_MODEL;
        }
        if (op_set_nearest(set, place.cell, &near)) {
            memcpy(prediction->nearest, near.dims, sizeof near.dims);
        }
    }
    prediction->us = prediction->kernel_us = base.us * factor;
    prediction->launch_us = fmin(base.launch, prediction->us);
    prediction->bound = base.bound;
    if (stack == ORR_OP_TORCH) {
        compute_op_data_add_call(answer, at, prediction);
    }
    prediction->spread = compute_op_data_spread(prediction, op_family_of(op->kind));
}
