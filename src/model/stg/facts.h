/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the template's tensors come to in numbers, once for all layers, micro-batches and ranks: operations, elements,
 * bytes, and the texts that name shape and size in a trace. Under compat the original's rounding is kept (doubles, cut
 * to whole numbers; sizes in elements); otherwise every dimension must be whole, and what is not names its symbols.
 */
#ifndef ORR_MODEL_STG_FACTS_H
#define ORR_MODEL_STG_FACTS_H

#include "model/stg/model.h"
#include "model/stg/text.h"

struct stg_fact {
    uint64_t ops;                     /* operations: multiply-adds count two, under compat one */
    uint64_t size;                    /* bytes of the result; elements under compat */
    uint64_t moved;                   /* bytes read and written; under compat the result's elements */
    uint32_t shape, shape_length;     /* the result's shape as text, in `texts` */
    uint32_t io_size, io_size_length; /* its size as text */
};

struct stg_facts {
    struct mem *mem;
    struct stg_fact *list; /* by tensor */
    uint32_t count;
    struct stg_text texts;
};

/* ORR_EINVAL for a dimension that is not whole, ORR_ERANGE for what does not fit 63 bits, ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status stg_facts_build(const struct stg_config *config, struct stg_model *model,
                                               struct mem *mem, struct stg_facts *facts, struct orr_error *err);
void stg_facts_free(struct stg_facts *facts);

#endif
