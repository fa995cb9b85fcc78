/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a Chakra ET file whose nodes name tensors. */
#include <stdlib.h>

#include "trace/tensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct mem mem = {.limit = 1 << 26};
    struct orr_error err = {0};
    struct trace_tensors *tensors = NULL;
    if (trace_tensors_parse(bytes, size, "t.et", &mem, &tensors, &err) == ORR_OK) {
        for (uint32_t i = 0; i < tensors->node_count; i++) {
            if (trace_tensors_find(tensors, tensors->nodes[i].id) == NULL) {
                abort(); /* a node that is there is found */
            }
        }
        trace_tensors_free(tensors);
    }
    if (mem.used != 0) {
        abort();
    }
    return 0;
}
