/* SPDX-License-Identifier: Apache-2.0 */
#include "train/predict.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "compute/device.h"
#include "param/param.h"
#include "report/train.h"
#include "run/machine_read.h"
#include "topo/make/grammar.h"
#include "train/model.h"
#include "train/simulate.h"
#include "train/step.h"

enum { PREDICT_TIMERS = 256, PREDICT_TEXT = 96, PREDICT_CACHE = 40 /* MB of an A100 */ };

/* A timer of collectives, by what it was opened for. */
struct predict_timer {
    char gpu[PREDICT_TEXT], fabric[PREDICT_TEXT];
    uint32_t node_gpus;
    double nic_gbytes;
    struct orr_coll_timer *timer;
};

struct predict_data {
    struct orr_op_data *ops;
    pthread_mutex_t lock;
    struct predict_timer timers[PREDICT_TIMERS];
    size_t timer_count;
};

enum orr_status predict_open(struct predict_data **data, struct orr_error *err)
{
    struct predict_data *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return error_set(err, ORR_ENOMEM, "no memory for the operator data");
    }
    enum orr_status status = orr_op_data_open(NULL, 0, &made->ops, err);
    if (status != ORR_OK) {
        free(made);
        return status;
    }
    (void)pthread_mutex_init(&made->lock, NULL);
    *data = made;
    return ORR_OK;
}

void predict_close(struct predict_data *data)
{
    if (data == NULL) {
        return;
    }
    predict_forget_machines(data);
    (void)pthread_mutex_destroy(&data->lock);
    orr_op_data_close(data->ops);
    free(data);
}

bool predict_is_full(struct predict_data *data)
{
    (void)pthread_mutex_lock(&data->lock);
    bool full = data->timer_count >= PREDICT_TIMERS / 2;
    (void)pthread_mutex_unlock(&data->lock);
    return full;
}

void predict_forget_machines(struct predict_data *data)
{
    for (size_t i = 0; i < data->timer_count; i++) {
        orr_coll_timer_close(data->timers[i].timer);
    }
    data->timer_count = 0;
}

/* ---- the machine ---- */

struct predict_machine {
    uint32_t device;
    char gpu[PREDICT_TEXT], fabric[PREDICT_TEXT];
    uint32_t node_gpus;
    uint32_t gpus;     /* of all of it; 0: the word leaves it open, and one server is meant where it is enough */
    double nic_gbytes; /* GB/s of a NIC, with what the levels above leave of it; 0: the usual */
    uint32_t usual;    /* GPUs of a slice that does not say how many; 0: it is none */
};

/* Whether `word` stands in `text` by itself, in any case of letters: "h100" in "NVIDIA H100 80GB HBM3", not in "gh100".
 */
static bool predict_has_word(const char *text, const char *word, size_t length)
{
    for (const char *at = text; *at != '\0'; at++) {
        bool begins = at == text || !isalnum((unsigned char)at[-1]);
        if (begins && strncasecmp(at, word, length) == 0 && !isalnum((unsigned char)at[length])) {
            return true;
        }
    }
    return false;
}

/* A device as tables of runs name it: a preset's name, or words that have one in them; "40GB" tells one A100 from the
 * other. */
static enum orr_status predict_device(const char *text, uint32_t *device, struct orr_error *err)
{
    if (device_find(text) != device_count) {
        *device = device_find(text);
        return ORR_OK;
    }
    size_t longest = 0;
    for (uint32_t i = 0; i < device_count; i++) {
        const char *name = device_rows[i].name;
        size_t length = strlen(name);
        char spaced[48];
        (void)snprintf(spaced, sizeof spaced, "%s", name);
        for (char *dash = strchr(spaced, '-'); dash != NULL; dash = strchr(dash, '-')) {
            *dash = ' ';
        }
        if (length > longest && (predict_has_word(text, name, length) || predict_has_word(text, spaced, length))) {
            longest = length;
            *device = i;
        }
    }
    if (longest == 0) {
        return device_named(text, device, err);
    }
    char small[48];
    for (uint32_t i = 0; i < device_count; i++) {
        (void)snprintf(small, sizeof small, "%s-%.0fg", device_rows[*device].name, device_rows[i].memory);
        char size[16];
        (void)snprintf(size, sizeof size, "%.0fGB", device_rows[i].memory);
        if (strcmp(device_rows[i].name, small) == 0 && predict_has_word(text, size, strlen(size))) {
            *device = i;
            break;
        }
    }
    return ORR_OK;
}

/* NICs of a server as people write them: "4x100Gb RoCE", "1600 Gbps": how many, and GB/s of each. */
static void predict_nics(const char *text, uint32_t node_gpus, double *gbytes, uint32_t *every)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (!isdigit((unsigned char)*at) || (at != text && isalnum((unsigned char)at[-1]))) {
            continue;
        }
        char *end = NULL;
        double first = strtod(at, &end), rate = 0, count = 0;
        if (*end == 'x' && isdigit((unsigned char)end[1])) {
            count = first;
            rate = strtod(end + 1, &end);
        } else {
            rate = first;
        }
        end += strspn(end, " ");
        if (strncasecmp(end, "Gb", 2) != 0 || end[2] == '/' || end[1] == 'B') {
            continue;
        }
        count = count > 0 ? count : node_gpus;
        if (count > 0 && count <= node_gpus) {
            rate = strstr(text, "per node") != NULL && first == rate ? rate / count : rate;
            *gbytes = rate / 8;
            *every = (uint32_t)(node_gpus / count);
        }
        return;
    }
}

/* How many GPUs a line of servers and levels has, and what a NIC has of the network. */
static enum orr_status predict_line(const char *line, struct predict_machine *machine, struct orr_error *err)
{
    struct run_line_network network;
    enum orr_status status = run_line_network_read(line, &network, err);
    if (status == ORR_OK && network.gpus * network.servers > INT32_MAX) {
        status = error_set(err, ORR_ERANGE, "parameter 'machine': more than 2147483647 GPUs");
    }
    if (status != ORR_OK) {
        return status;
    }
    machine->gpus = (uint32_t)(network.gpus * network.servers);
    machine->node_gpus = machine->node_gpus == 0 ? (uint32_t)network.gpus : machine->node_gpus;
    machine->nic_gbytes = network.nic_gbytes > 0 ? network.nic_gbytes : machine->nic_gbytes;
    return ORR_OK;
}

static enum orr_status predict_machine_of(const struct orr_train_options *options, struct predict_machine *machine,
                                          struct orr_error *err)
{
    struct run_machine named = {0};
    const char *gpu = options->gpu;
    *machine = (struct predict_machine){.node_gpus = options->gpus_per_node};
    if (options->machine != NULL) {
        enum orr_status status = run_machine_parse(options->machine, &named, err);
        if (status != ORR_OK) {
            return status;
        }
        gpu = gpu != NULL ? gpu : named.device;
        uint32_t told = run_machine_told(&named);
        machine->usual = named.usual;
        machine->gpus = told != UINT32_MAX ? told : 0;
        if (named.line != NULL && topo_grammar_is_line(named.line)) {
            status = predict_line(named.line, machine, err);
        } else if (machine->node_gpus == 0 && named.server != NULL) {
            machine->node_gpus = named.server->gpus;
        }
        if (status != ORR_OK) {
            return status;
        }
    }
    if (gpu == NULL) {
        return error_set(err, ORR_EINVAL,
                         "no device: parameter 'machine' names none that is known; parameter 'gpu' does");
    }
    enum orr_status status = predict_device(gpu, &machine->device, err);
    (void)snprintf(machine->gpu, sizeof machine->gpu, "%s", status == ORR_OK ? device_rows[machine->device].name : gpu);
    (void)snprintf(machine->fabric, sizeof machine->fabric, "%s",
                   options->interconnect != NULL ? options->interconnect : "");
    return status;
}

static uint32_t predict_server(const struct predict_machine *machine)
{
    return machine->node_gpus != 0 ? machine->node_gpus : 8;
}

/* GPUs of a job that says nothing of them: the machine's; those of one server, where no number of servers is said and
 * they can be divided so. 0: as many as the degrees need. */
static uint32_t predict_gpus(const struct orr_train_options *options, const struct predict_machine *machine)
{
    const struct orr_train_plan *plan = &options->plan;
    uint64_t inside = (uint64_t)(plan->tp + !plan->tp) * (plan->pp + !plan->pp) * (plan->cp + !plan->cp);
    if (machine->gpus != 0 || options->machine == NULL) {
        return machine->gpus;
    }
    if (machine->usual != 0) {
        return machine->usual;
    }
    if (machine->node_gpus % inside != 0) {
        return 0;
    }
    return machine->node_gpus;
}

/* Opened once for all rows that ask for the same. */
static enum orr_status predict_timer(struct predict_data *data, const struct predict_machine *machine,
                                     const struct orr_coll_timer **timer, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    (void)pthread_mutex_lock(&data->lock);
    for (size_t i = 0; i < data->timer_count; i++) {
        const struct predict_timer *known = &data->timers[i];
        if (known->node_gpus == machine->node_gpus && known->nic_gbytes == machine->nic_gbytes &&
            strcmp(known->gpu, machine->gpu) == 0 && strcmp(known->fabric, machine->fabric) == 0) {
            *timer = known->timer;
            (void)pthread_mutex_unlock(&data->lock);
            return ORR_OK;
        }
    }
    if (data->timer_count == PREDICT_TIMERS) {
        status = error_set(err, ORR_ERANGE, "more than %d different machines in one table", PREDICT_TIMERS);
    } else {
        struct predict_timer *made = &data->timers[data->timer_count];
        struct orr_coll_machine what = {.gpu = machine->gpu,
                                        .fabric = machine->fabric[0] != '\0' ? machine->fabric : NULL,
                                        .node_gpus = machine->node_gpus};
        memcpy(made->gpu, machine->gpu, sizeof made->gpu);
        memcpy(made->fabric, machine->fabric, sizeof made->fabric);
        made->node_gpus = machine->node_gpus;
        made->nic_gbytes = what.nic_gbytes = machine->nic_gbytes;
        predict_nics(machine->fabric, machine->node_gpus != 0 ? machine->node_gpus : 8, &what.nic_gbytes,
                     &what.nic_every);
        status = orr_coll_timer_open(&what, &made->timer, err);
        if (status != ORR_OK && what.fabric != NULL) { /* words that name no network the model knows */
            what.fabric = NULL;
            status = orr_coll_timer_open(&what, &made->timer, err);
        }
        data->timer_count += status == ORR_OK;
        *timer = made->timer;
    }
    (void)pthread_mutex_unlock(&data->lock);
    return status;
}

/* ---- the model ---- */

static enum orr_status predict_model_of(const struct orr_train_options *options, struct orr_train_model *model,
                                        struct orr_error *err)
{
    const struct orr_train_model *shape = &options->shape;
    if (options->model != NULL) {
        enum orr_status status = orr_train_model_find(options->model, model, err);
        if (status != ORR_OK) {
            return status;
        }
    } else if (shape->hidden == 0 && shape->layers == 0) {
        return error_set(
            err, ORR_EINVAL,
            "no model: parameter 'model' names one, as parameter 'list' shows them; or parameter 'layers' and "
            "parameter 'hidden' begin its shape");
    } else {
        *model = (struct orr_train_model){.family = shape->family, .source = "the shape given"};
        (void)snprintf(model->name, sizeof model->name, "%s", "given");
        model->gated = shape->family == ORR_TRAIN_LLAMA;
        model->bias = !model->gated && shape->family != ORR_TRAIN_T5;
    }
#define OVER(field) model->field = shape->field != 0 ? shape->field : model->field
    if (shape->hidden != 0 || shape->heads != 0) { /* what followed from the old numbers does not hold any more */
        model->head_dim = model->kv_rank == 0 ? 0 : model->head_dim;
        model->v_head_dim = model->kv_rank == 0 ? 0 : model->v_head_dim;
    }
    if (shape->heads != 0 && model->kv_heads == model->heads) {
        model->kv_heads = 0; /* as many as heads */
    }
    if (shape->hidden != 0 && model->ffn == 4 * model->hidden) {
        model->ffn = 0;
    }
    if (shape->layers != 0 && !model_is_transformer(model)) {
        memset(model->blocks, 0, sizeof model->blocks);
        model->bottleneck = false;
    }
    OVER(layers), OVER(hidden), OVER(ffn), OVER(heads), OVER(kv_heads), OVER(head_dim), OVER(vocab), OVER(experts);
    OVER(topk), OVER(expert_ffn), OVER(shared_experts), OVER(dense_layers), OVER(image), OVER(positions);
    OVER(patch), OVER(classes), OVER(tables);
    OVER(kv_rank), OVER(q_rank), OVER(rope_dim), OVER(v_head_dim), OVER(window), OVER(window_every);
#undef OVER
    if (options->latent && model->kv_rank == 0) {
        model->kv_rank = 512, model->q_rank = 1536, model->rope_dim = 64;
        model->v_head_dim = shape->v_head_dim != 0 ? shape->v_head_dim : 128;
        model->head_dim = shape->head_dim != 0 ? shape->head_dim : 192;
    }
    if (shape->blocks[0] != 0) {
        memcpy(model->blocks, shape->blocks, sizeof model->blocks);
    }
    model->seq = options->plan.seq != 0 ? options->plan.seq : model->seq;
    model->gated = options->gated >= 0 ? options->gated != 0 : model->gated;
    model->tied = options->tied >= 0 ? options->tied != 0 : model->tied;
    model->bias = options->bias >= 0 ? options->bias != 0 : model->bias;
    model->qkv_bias = options->qkv_bias >= 0 ? options->qkv_bias != 0 : model->qkv_bias;
    return orr_train_model_settle(model, err);
}

/* ---- figures that follow ---- */

/* By dtype: the units that carry its products out. */
static const enum device_peak predict_peaks[ORR_TRAIN_DTYPE_COUNT] = {DEVICE_BF16, DEVICE_FP16, DEVICE_FP8,
                                                                      DEVICE_FP8,  DEVICE_FP4,  DEVICE_FP32};
#define PREDICT_X(symbol, word) word,
static const char *const predict_dtypes[ORR_TRAIN_DTYPE_COUNT] = {ORR_TRAIN_DTYPES(PREDICT_X)};
#undef PREDICT_X

/* Products of matrices of one token, forwards and backwards: 6 for a weight it meets, and attention over the tokens
 * before it (all, where it looks both ways). */
static double predict_model_flops(const struct orr_train_model *model, const struct orr_train_parameters *count,
                                  double seq)
{
    double weights = (double)count->active - (double)count->embedding;
    if (model->tied) {
        weights += (double)model->vocab * model->hidden;
    }
    double width = (double)model->heads * (model->head_dim + model->v_head_dim) / 2;
    double global = model_global_share(model, seq);
    double looked_at = (model_is_two_way(model) ? 2 : 1) * global * seq + 2 * (1 - global) * model->window;
    double attention = 6.0 * model->layers * looked_at * width;
    return 6 * weights + attention;
}

/* `again`: the share of the forward pass that the backward pass runs again. */
static void predict_figures(const struct device *device, double again, struct orr_train_result *result)
{
    const struct orr_train_plan *plan = &result->plan;
    double seconds = (double)result->step_ns * 1e-9, tokens = (double)plan->global_batch * plan->seq;
    double peak = device_peak_of(device, predict_peaks[plan->dtype]) * 1e12;
    bool decoder = result->model.family <= ORR_TRAIN_BERT; /* others' weights do not all meet every token */
    if (decoder) {
        result->model_flops = predict_model_flops(&result->model, &result->parameters, plan->seq) * tokens;
    }
    double flops = result->model_flops / plan->gpus;
    double hardware = 1 + again / 3;
    result->tokens_per_s = tokens / seconds;
    result->tokens_per_s_per_gpu = result->tokens_per_s / plan->gpus;
    result->tflops_per_gpu = flops / seconds * 1e-12;
    result->hardware_tflops_per_gpu = result->tflops_per_gpu * hardware;
    result->mfu = peak > 0 ? flops / seconds / peak : 0;
    result->hfu = result->mfu * hardware;
}

/* Where nobody says: what is divided over data alone is PyTorch's, what a library divides is Megatron-LM's. */
static const char *predict_framework(const struct predict_job *job)
{
    return job->plan.gpus == 1 || !model_is_transformer(&job->model) ? "torch" : "megatron";
}

/* SGD has a momentum where AdamW has two moments: one state less, and of 14 bytes that a weight, its gradient and its
 * states read and write, ten. */
static void predict_optimizer(const struct orr_train_plan *plan, struct framework *framework)
{
    if (plan->optimizer == ORR_TRAIN_OPTIMIZER_SGD) {
        framework->state_bytes -= framework->state_bytes > 4 ? 4 : framework->state_bytes / 2;
        framework->optimizer_bytes *= 10.0 / 14;
    }
}

/* FSDP's frameworks divide the weights unless they are told not to; in a pipeline they keep them gathered between
 * micro-batches and divide gradients and states. */
static void predict_shards(const struct framework *framework, struct orr_train_plan *plan)
{
    if (framework->shards && plan->zero == 0 && !plan->zero_said && plan->sharding == ORR_TRAIN_SHARDING_NONE &&
        plan->dp * plan->cp > 1) {
        plan->zero = plan->pp > 1 ? 2 : 3;
    }
}

/* Model, machine and plan of what is asked for. `plan` is as asked for and becomes settled. */
static enum orr_status predict_begin(const struct orr_train_options *options, struct orr_train_model *model,
                                     struct orr_train_plan *plan, struct predict_machine *machine,
                                     struct orr_error *err)
{
    enum orr_status status = predict_model_of(options, model, err);
    if (status == ORR_OK) {
        status = predict_machine_of(options, machine, err);
    }
    if (status == ORR_OK) {
        if (plan->gpus == 0 && plan->dp == 0) {
            plan->gpus = predict_gpus(options, machine);
        }
        status = orr_train_plan_settle(model, plan, err);
    }
    if (status == ORR_OK && machine->gpus != 0 && plan->gpus > machine->gpus) {
        status = error_set(err, ORR_EINVAL, "the job has %" PRIu32 " GPUs, machine '%s' has %" PRIu32, plan->gpus,
                           options->machine, machine->gpus);
    }
    return status;
}

enum orr_status predict_settle(struct predict_data *data, const struct orr_train_options *options,
                               struct predict_job *job, struct orr_error *err)
{
    struct predict_machine machine;
    const struct orr_coll_timer *timer = NULL;
    const struct framework *named = NULL;
    *job = (struct predict_job){.plan = options->plan};
    enum orr_status status = predict_begin(options, &job->model, &job->plan, &machine, err);
    if (status == ORR_OK) {
        status = predict_timer(data, &machine, &timer, err);
    }
    if (status == ORR_OK) {
        const char *name = options->framework != NULL ? options->framework : predict_framework(job);
        status = framework_find(name, &named, err);
    }
    if (status == ORR_OK) {
        job->framework = *named;
        predict_optimizer(&job->plan, &job->framework);
        predict_shards(named, &job->plan);
        job->framework_name = named->name;
        status = framework_take_release(&job->framework, options->release, err);
    }
    if (status == ORR_OK) {
        if (job->plan.cuda_graphs) {
            framework_take_graphs(&job->framework);
        }
        status = options->framework_set != NULL ? framework_set(&job->framework, options->framework_set, err) : ORR_OK;
    }
    if (status != ORR_OK) {
        return status;
    }
    const struct device *device = &device_rows[machine.device];
    if (device->peaks[predict_peaks[job->plan.dtype]] == 0) {
        return error_set(err, ORR_EINVAL, "parameter 'dtype': %s has no units for %s", device->name,
                         predict_dtypes[job->plan.dtype]);
    }
    job->device = device;
    job->cost = (struct cost_machine){
        .ops = data->ops,
        .device = machine.device,
        .timer = timer,
        .is_recent =
            strncmp(device->architecture, "hopper", 6) == 0 || strncmp(device->architecture, "blackwell", 9) == 0,
        .matrix_to_vector = device_peak_of(device, DEVICE_BF16) / fmax(1, device_peak_of(device, DEVICE_FP32)),
        .throttled = cost_throttled(device_peak_of(device, DEVICE_BF16),
                                    options->power_watts > 0 ? options->power_watts : device->power),
        .cached = fmin(1, device->l2 / PREDICT_CACHE),
        .node_gpus = predict_server(&machine)};
    job->job = (struct work_job){.model = &job->model, .plan = &job->plan, .framework = &job->framework};
    plan_settle_group(&job->plan, device->matrix > 0 ? job->plan.gpus : job->cost.node_gpus); /* a TPU's slice is one */
    return ORR_OK;
}

enum orr_status predict_step(struct predict_data *data, const struct orr_train_options *options, struct mem *mem,
                             struct orr_train_result *result, struct orr_error *err)
{
    struct predict_job job;
    enum orr_status status = predict_settle(data, options, &job, err);
    if (status != ORR_OK) {
        return status;
    }
    struct orr_train_result made = {.plan = job.plan, .model = job.model};
    orr_train_model_count(&made.model, &made.parameters);
    status = step_predict(&job.cost, &job.job, job.device->memory * 1073741824.0, mem, &made, err);
    if (status == ORR_OK && options->simulates) {
        status = simulate_step(&job, options, &made.simulated, err);
    }
    if (status == ORR_OK) {
        predict_figures(job.device, work_again(&job.job), &made);
        order_places(&job.plan, job.cost.node_gpus, made.places);
        made.device = job.device->name;
        made.framework = job.framework_name;
        *result = made;
    }
    return status;
}

enum orr_status predict_asked(struct orr_train_options *options, struct orr_train_model *model, uint32_t *server,
                              struct orr_error *err)
{
    struct predict_machine machine;
    struct orr_train_plan settled = options->plan;
    enum orr_status status = predict_begin(options, model, &settled, &machine, err);
    if (status == ORR_OK) {
        options->plan.gpus = settled.gpus;
        options->plan.seq = settled.seq;
        *server = predict_server(&machine);
    }
    return status;
}

void orr_train_options_init(struct orr_train_options *options)
{
    static const struct param_table tables[] = {{param_train, 0, 0}, {0}};
    *options = (struct orr_train_options){.size = sizeof *options, .gated = -1, .tied = -1, .bias = -1, .qkv_bias = -1};
    param_defaults(tables, options);
}

enum orr_status orr_train_print(const struct orr_train_result *result, FILE *stream, struct orr_error *err)
{
    report_train_text(result, stream);
    return error_of_stream(stream, "the step", err);
}

enum orr_status orr_train_json(const struct orr_train_result *result, FILE *stream, struct orr_error *err)
{
    report_train_json(result, stream);
    return error_of_stream(stream, "the step", err);
}

enum orr_status orr_train_chart(const struct orr_train_result *result, FILE *stream, struct orr_error *err)
{
    report_train_chart(result, stream);
    return error_of_stream(stream, "the chart", err);
}
