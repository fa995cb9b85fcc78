/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gradients of a model in the order in which a backward pass makes them, and the buckets in which PyTorch's
 * DistributedDataParallel all-reduces them (spec rocm §5, §6.3). Counts of elements, nothing else of a model.
 *
 * Once it has seen one step, DDP orders gradients by when they were ready; a bucket is closed by the gradient that
 * brings it to its limit, which is lower for the first one so that communication starts early. With these rules
 * Qwen2.5-0.5B has the 37 buckets and ResNet-50 for CIFAR the 5 that their recordings show.
 */
#ifndef ORR_MODEL_DDP_GRADIENTS_H
#define ORR_MODEL_DDP_GRADIENTS_H

#include "base/arena.h"

struct ddp_list {
    uint64_t *items; /* elements of a gradient, or bytes of a bucket */
    uint32_t count, capacity;
};

/* Names of the models known, NULL after the last. */
const char *const *ddp_models(void);
/* What a model is, in a line. */
const char *ddp_model_text(const char *name);

/* The gradients of a model. Fails with ORR_EINVAL (no such model; names the nearest) or ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status ddp_gradients(const char *model, struct mem *mem, struct ddp_list *gradients,
                                             struct orr_error *err);

/* Buckets of these gradients, in bytes. Fails with ORR_ERANGE or ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status ddp_buckets(const struct ddp_list *gradients, uint64_t element_bytes,
                                           uint64_t first_limit, uint64_t limit, struct mem *mem,
                                           struct ddp_list *buckets, struct orr_error *err);

/* Buckets of a model of which only the number of parameters is known: full ones, and what is left. */
ORR_MUST_CHECK enum orr_status ddp_buckets_even(uint64_t bytes, uint64_t limit, struct mem *mem,
                                                struct ddp_list *buckets, struct orr_error *err);

void ddp_list_free(struct ddp_list *list, struct mem *mem);

#endif
