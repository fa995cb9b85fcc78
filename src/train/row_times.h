/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compute times of the rows of AICB's and SimAI's workloads from the operator model: the lists of a step (train/work.h)
 * as Megatron-LM has them, with the shapes the rows stand for, taken apart by row. What `orrery train` says of the same
 * job's kernels is the same sum. Reads no rows: model/aicb/part_times.h is what it fills.
 */
#ifndef ORR_TRAIN_ROW_TIMES_H
#define ORR_TRAIN_ROW_TIMES_H

#include "convert/text/simai_read.h"
#include "model/aicb/compute_file.h"
#include "model/aicb/options.h"
#include "orrery.h"

/* Of the job that the options of gen aicb describe, on options->device (or gpu_type). ORR_EINVAL: no such device, a
 * dtype it has no units for, sizes the model does not know. */
ORR_MUST_CHECK enum orr_status row_times_of_aicb(const struct aicb_options *options, struct mem *mem,
                                                 struct aicb_part_times *times, struct orr_error *err);

/* Of one forward pass of the model that the options of gen aicb inference name: of whole sequences, or of a token
 * behind seq_length others. AICB_NO_TIME where the model has no such part. */
ORR_MUST_CHECK enum orr_status row_times_of_inference(const struct aicb_options *options, struct mem *mem,
                                                      struct aicb_inference_times *times, struct orr_error *err);

/* Of a workload text: its header says how the job is divided, `asked` the model's shape. ORR_EINVAL names what neither
 * says, and what does not fit together. */
ORR_MUST_CHECK enum orr_status row_times_of_text(const struct simai_text *text, const struct orr_simai_compute *asked,
                                                 uint32_t gpus, struct mem *mem, struct aicb_part_times *times,
                                                 struct orr_error *err);

#endif
