/* Recording scripts out of the program itself: the files of collect/, embedded when it is built, so that the machine
 * with the GPUs needs nothing but `orrery`. What differs between vendors is how a script is started and what the
 * profiler needs to be told; that stands as comments behind the script's first line. */
#include <string.h>

#include "base/error.h"
#include "lab/recipes.h" /* made from collect/ by tools/embed */
#include "lab/written.h"

static const char *const pytorch_notes[] = {
    [ORR_VENDOR_NVIDIA] = "# NVIDIA: the profiler reports synchronisation through CUPTI; nothing else is needed.\n"
                          "#   torchrun --nproc-per-node 2 record_pytorch.py --model resnet50 --output-dir recording\n"
                          "# Two ranks on one device: add --backend gloo (NCCL refuses to share a device).\n",
    [ORR_VENDOR_AMD] =
        "# AMD: roctracer reports no synchronisation events, so a few are made (--inject-sync-hack); the core clock "
        "comes\n"
        "# from /sys/class/drm/card*/device/pp_dpm_sclk, amd-smi or rocm-smi.\n"
        "#   torchrun --nproc-per-node 2 record_pytorch.py --model resnet50 --inject-sync-hack \\\n"
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

enum orr_status orr_recipe(enum orr_framework framework, enum orr_vendor vendor, FILE *stream, struct orr_error *err)
{
    const char *script = recipes[framework].script;
    const char *line_end = strchr(script, '\n');
    size_t first = line_end == NULL ? 0 : (size_t)(line_end + 1 - script);
    (void)fwrite(script, 1, first, stream);
    (void)fputs(recipes[framework].notes[vendor], stream);
    (void)fputs(script + first, stream);
    return written(stream, "the output", err);
}
