/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an API call does, told by its name. Both vendors name alike after a prefix (cudaMemcpyAsync, hipMemcpyAsync,
 * cuMemcpyAsync) and version their entry points behind an underscore (cuMemcpyHtoD_v2, hipLaunchKernel_spt), so one
 * table of what stands between serves all of them.
 */
#include <string.h>

#include "convert/pytorch/kineto/kineto.h"

static const struct {
    const char *stem;
    enum kineto_call call;
} calls[] = {
    {"LaunchKernel", KINETO_CALL_LAUNCH},
    {"LaunchKernelEx", KINETO_CALL_LAUNCH},
    {"LaunchKernelExC", KINETO_CALL_LAUNCH},
    {"LaunchCooperativeKernel", KINETO_CALL_LAUNCH},
    {"LaunchCooperativeKernelMultiDevice", KINETO_CALL_LAUNCH},
    {"LaunchByPtr", KINETO_CALL_LAUNCH},
    {"Launch", KINETO_CALL_LAUNCH},
    {"LaunchGrid", KINETO_CALL_LAUNCH},
    {"LaunchGridAsync", KINETO_CALL_LAUNCH},
    {"GraphLaunch", KINETO_CALL_LAUNCH},
    {"ExtLaunchKernel", KINETO_CALL_LAUNCH},
    {"ExtLaunchMultiKernelMultiDevice", KINETO_CALL_LAUNCH},
    {"ExtModuleLaunchKernel", KINETO_CALL_LAUNCH},
    {"HccModuleLaunchKernel", KINETO_CALL_LAUNCH},
    {"ModuleLaunchKernel", KINETO_CALL_LAUNCH},
    {"ModuleLaunchKernelEx", KINETO_CALL_LAUNCH},
    {"ModuleLaunchCooperativeKernel", KINETO_CALL_LAUNCH},
    {"ModuleLaunchCooperativeKernelMultiDevice", KINETO_CALL_LAUNCH},
    {"DrvLaunchKernelEx", KINETO_CALL_LAUNCH},
    {"EventRecord", KINETO_CALL_EVENT_RECORD},
    {"EventRecordWithFlags", KINETO_CALL_EVENT_RECORD},
    {"StreamWaitEvent", KINETO_CALL_STREAM_WAIT},
    {"EventSynchronize", KINETO_CALL_EVENT_SYNC},
    {"StreamSynchronize", KINETO_CALL_STREAM_SYNC},
    {"DeviceSynchronize", KINETO_CALL_DEVICE_SYNC},
    {"ThreadSynchronize", KINETO_CALL_DEVICE_SYNC},
    {"CtxSynchronize", KINETO_CALL_DEVICE_SYNC},
};

/* Every copy and set is work for the device, whatever its form: 2D, 3D, Peer, HtoD, ToSymbol, D8Async, Batch … */
static const char *const launch_stems[] = {"Memcpy", "Memset"};

static const char *const prefixes[] = {"cuda", "hip", "cu"};

/* The part after the vendor's prefix; NULL when the name is none of an API's. */
static const char *stem_of(const char *name)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) == 0 && name[length] >= 'A' && name[length] <= 'Z') {
            return name + length;
        }
    }
    return NULL;
}

bool kineto_is_call(const char *name)
{
    return stem_of(name) != NULL;
}

enum kineto_call kineto_call_of(const char *name)
{
    const char *stem = stem_of(name);
    if (stem == NULL) {
        return KINETO_CALL_OTHER;
    }
    for (size_t i = 0; i < sizeof launch_stems / sizeof launch_stems[0]; i++) {
        if (strncmp(stem, launch_stems[i], strlen(launch_stems[i])) == 0) {
            return KINETO_CALL_LAUNCH;
        }
    }
    size_t length = strcspn(stem, "_");
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (strncmp(stem, calls[i].stem, length) == 0 && calls[i].stem[length] == '\0') {
            return calls[i].call;
        }
    }
    return KINETO_CALL_OTHER;
}

bool kineto_is_launch(const char *name)
{
    return kineto_call_of(name) == KINETO_CALL_LAUNCH;
}
