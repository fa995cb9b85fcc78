/* SPDX-License-Identifier: Apache-2.0 */
/* Recording scripts out of the program itself: the files of collect/, embedded when it is built, so that the machine
 * with the GPUs needs nothing but `orrery`. What differs between vendors is how a script is started and what the
 * profiler needs to be told; that stands as comments behind the script's first line. What a caller picks becomes the
 * defaults of the script: the PyTorch one has a line for them. */
#include <inttypes.h>
#include <string.h>

#include "api/recipes.h" /* made from collect/ by tools/embed */
#include "base/error.h"
#include "orrery.h"
#include "param/param.h"

void orr_recipe_options_init(struct orr_recipe_options *options)
{
    *options = (struct orr_recipe_options){.trace_wait = -1};
}

static const char *const pytorch_notes[] = {
    [ORR_VENDOR_NVIDIA] = "# NVIDIA: the profiler reports synchronisation through CUPTI; nothing else is needed.\n"
                          "#   torchrun --nproc-per-node 2 record_pytorch.py%s --output-dir recording\n"
                          "# Two ranks on one device: add --backend gloo (NCCL refuses to share a device).\n",
    [ORR_VENDOR_AMD] =
        "# AMD: roctracer reports no synchronisation events, so a few are made (--inject-sync-hack); the core clock "
        "comes\n"
        "# from /sys/class/drm/card*/device/pp_dpm_sclk, amd-smi or rocm-smi.\n"
        "#   torchrun --nproc-per-node 2 record_pytorch.py%s --inject-sync-hack \\\n"
        "#       --output-dir recording\n",
};

static const char *const tensorflow_notes[] = {
    [ORR_VENDOR_NVIDIA] = "# NVIDIA: the account needs access to the performance counters (CUPTI):\n"
                          "#   python3 record_tensorflow.py --output-dir recording\n",
    [ORR_VENDOR_AMD] = "# AMD: the package is tensorflow-rocm; device activity comes from roctracer:\n"
                       "#   python3 record_tensorflow.py --output-dir recording\n",
};

static const char *const horovod_notes[] = {
    [ORR_VENDOR_NVIDIA] = "# NVIDIA: Horovod built with HOROVOD_GPU_OPERATIONS=NCCL shows NCCL_ activities:\n"
                          "#   horovodrun -np 2 python3 record_horovod.py --output-dir recording\n",
    [ORR_VENDOR_AMD] = "# AMD: Horovod built with HOROVOD_GPU=ROCM HOROVOD_GPU_OPERATIONS=NCCL (RCCL):\n"
                       "#   horovodrun -np 2 python3 record_horovod.py --output-dir recording\n",
};

static const struct {
    const char *script;
    const char *const *notes;
} recipes[] = {
    [ORR_FRAMEWORK_PYTORCH] = {recipe_pytorch, pytorch_notes},
    [ORR_FRAMEWORK_TENSORFLOW] = {recipe_tensorflow, tensorflow_notes},
    [ORR_FRAMEWORK_HOROVOD] = {recipe_horovod, horovod_notes},
};

/* What record_pytorch.py can train: its MODELS, with what a traced step of each writes. */
struct recipe_model {
    const char *name;
    uint32_t step_kb;
    bool language;
};
static const struct recipe_model models[] = {
    {"cifar10", 660, false}, {"resnet18", 3200, false}, {"resnet50", 7600, false},
    {"bert", 10200, true},   {"qwen05b", 28000, true},  {"llama1b", 19000, true},
};
static const char *const model_names[] = {"cifar10", "resnet18", "resnet50", "bert", "qwen05b", "llama1b", NULL};
static const char *const picture_names[] = {"mnist", "cifar10", "cifar100", "tiny-imagenet", "imagenet", NULL};
static const char *const dataset_names[] = {"mnist",    "cifar10", "cifar100", "tiny-imagenet",
                                            "imagenet", "tokens",  NULL};

enum { LARGE_MB = 200, DEFAULT_EPOCHS = 3, DEFAULT_PROFILE_EPOCH = 2 }; /* as record_pytorch.py has them */
static const char picked_line[] = "\nPICKED = {}";

static bool listed(const char *name, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (strcmp(name, *names) == 0) {
            return true;
        }
    }
    return false;
}

static bool anything_picked(const struct orr_recipe_options *options)
{
    return options->model != NULL || options->dataset != NULL || options->epochs != 0 || options->batch_size != 0 ||
           options->profile_epoch != 0 || options->trace_wait >= 0 || options->trace_steps != 0 ||
           options->inject_sync_hack;
}

static const struct recipe_model *api_recipe_model_of(const struct orr_recipe_options *options)
{
    for (size_t i = 0; options->model != NULL && i < sizeof models / sizeof *models; i++) {
        if (strcmp(options->model, models[i].name) == 0) {
            return &models[i];
        }
    }
    return &models[0];
}

ORR_MUST_CHECK static enum orr_status check_picked(const struct orr_recipe_options *options, struct orr_error *err)
{
    if (options->framework != ORR_FRAMEWORK_PYTORCH) {
        return error_set(err, ORR_EINVAL, "only the script for pytorch has models and datasets to choose from");
    }
    const struct {
        const char *where, *word;
        const char *const *words;
    } named[] = {{"parameter 'model'", options->model, model_names},
                 {"parameter 'dataset'", options->dataset, dataset_names}};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        unsigned index = 0;
        enum orr_status status = named[i].word == NULL
                                     ? ORR_OK
                                     : param_parse_word(named[i].where, named[i].word, named[i].words, &index, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    const struct recipe_model *model = api_recipe_model_of(options);
    if (options->dataset != NULL && model->language == listed(options->dataset, picture_names)) {
        return error_set(err, ORR_EINVAL, "parameter 'dataset' %s does not fit parameter 'model' %s, which takes %s",
                         options->dataset, model->name,
                         model->language ? "tokens" : "mnist, cifar10, cifar100, tiny-imagenet or imagenet");
    }
    uint32_t epochs = options->epochs == 0 ? DEFAULT_EPOCHS : options->epochs;
    uint32_t traced = options->profile_epoch == 0 ? DEFAULT_PROFILE_EPOCH : options->profile_epoch;
    if (traced > epochs) {
        return error_set(err, ORR_EINVAL,
                         "the epoch to trace, %" PRIu32 ", lies after the last of %" PRIu32
                         " epochs; parameter 'profile-epoch' and parameter 'epochs' set them",
                         traced, epochs);
    }
    return ORR_OK;
}

/* A Python dict of what was picked. */
static void write_picked(const struct orr_recipe_options *options, FILE *stream)
{
    const char *before = "";
    (void)fputs("\nPICKED = {", stream);
    const struct {
        const char *name, *word;
    } words[] = {{"model", options->model}, {"dataset", options->dataset}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i].word != NULL) {
            (void)fprintf(stream, "%s\"%s\": \"%s\"", before, words[i].name, words[i].word);
            before = ", ";
        }
    }
    const struct {
        const char *name;
        int64_t value;
        bool picked;
    } numbers[] = {{"epochs", options->epochs, options->epochs != 0},
                   {"batch_size", options->batch_size, options->batch_size != 0},
                   {"profile_epoch", options->profile_epoch, options->profile_epoch != 0},
                   {"trace_wait", options->trace_wait, options->trace_wait >= 0},
                   {"trace_steps", options->trace_steps, options->trace_steps != 0}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i].picked) {
            (void)fprintf(stream, "%s\"%s\": %" PRId64, before, numbers[i].name, numbers[i].value);
            before = ", ";
        }
    }
    if (options->inject_sync_hack) {
        (void)fprintf(stream, "%s\"inject_sync_hack\": True", before);
    }
    (void)fputs("}", stream);
}

/* The notes, with the one %s that some have replaced. */
static void write_notes(const char *notes, const char *options, FILE *stream)
{
    const char *place = strstr(notes, "%s");
    if (place == NULL) {
        (void)fputs(notes, stream);
        return;
    }
    (void)fwrite(notes, 1, (size_t)(place - notes), stream);
    (void)fprintf(stream, "%s%s", options, place + 2);
}

static void warn_of_size(const struct orr_recipe_options *options, const struct orr_notices *notices)
{
    const struct recipe_model *model = api_recipe_model_of(options);
    uint64_t megabytes = (uint64_t)model->step_kb * options->trace_steps / 1000;
    if (megabytes <= LARGE_MB || notices == NULL || notices->warn == NULL) {
        return;
    }
    char line[160];
    (void)snprintf(line, sizeof line,
                   "parameter 'trace-steps' %" PRIu32 " of %s: about %" PRIu64
                   " MB of traces a rank; 2 to 4 steps tell as much",
                   options->trace_steps, model->name, megabytes);
    notices->warn(notices->context, line);
}

enum orr_status orr_recipe(const struct orr_recipe_options *options, const struct orr_notices *notices, FILE *stream,
                           struct orr_error *err)
{
    bool picked = anything_picked(options);
    enum orr_status status = picked ? check_picked(options, err) : ORR_OK;
    if (status != ORR_OK) {
        return status;
    }
    const char *script = recipes[options->framework].script;
    const char *line_end = strchr(script, '\n');
    size_t first = line_end == NULL ? 0 : (size_t)(line_end + 1 - script);
    (void)fwrite(script, 1, first, stream);
    write_notes(recipes[options->framework].notes[options->vendor], picked ? "" : " --model resnet50", stream);
    const char *rest = script + first;
    const char *place = picked ? strstr(rest, picked_line) : NULL;
    if (place != NULL) {
        (void)fwrite(rest, 1, (size_t)(place - rest), stream);
        write_picked(options, stream);
        rest = place + strlen(picked_line);
        warn_of_size(options, notices);
    }
    (void)fputs(rest, stream);
    return error_of_stream(stream, "the output", err);
}
