/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocprofv3's JSON (--output-format json --hip-trace --kernel-trace [--memory-copy-trace]) as a device trace: kernels,
 * copies and HIP calls with their correlation ids, in the form that Kineto's recordings have (kineto.h), so that the
 * linker need not know the difference. There are no ops of the program in it: what the host did between its calls is
 * known only as time.
 */
#ifndef ORR_CONVERT_PYTORCH_KINETO_ROCPROF_H
#define ORR_CONVERT_PYTORCH_KINETO_ROCPROF_H

#include "convert/pytorch/kineto/kineto.h"

/* As kineto_read. Fails with ORR_EIO, ORR_EINVAL (no JSON, not of rocprofv3, neither kernels nor calls), ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status rocprof_read(const char *path, struct mem *mem, struct notes *notes,
                                            struct kineto_trace **trace, struct orr_error *err);

#endif
