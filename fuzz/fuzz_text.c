/* SPDX-License-Identifier: Apache-2.0 */
/* Text workloads: both readers of ASTRA-sim's format with both graphs, and SimAI's. Besides not crashing: a refusal is
 * one printable line, every dependency is on an earlier node, and nothing stays in the account. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compat/chakra/text.h"
#include "convert/text/simai.h"
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RANKS = 8, PASSES = 2, WAYS = 3 };

static void check_work(const struct work *work)
{
    for (uint32_t i = 0; i < work->node_count; i++) {
        const struct work_node *node = &work->nodes[i];
        for (uint32_t d = 0; d < node->dep_count; d++) {
            if (work->deps[node->first_dep + d] >= i) {
                abort();
            }
        }
    }
}

static enum orr_status convert(const char *path, unsigned way, struct fuzz_reading *reading, struct work *work)
{
    struct convert_request request = {.input = path, .passes = PASSES, .mem = &reading->mem, .notes = &reading->notes};
    struct text_workload workload;
    uint32_t ranks = 0;
    if (way == 2) {
        return simai_graph(&request, work, &ranks, &reading->err);
    }
    enum orr_status status = way == 0 ? text_read_compat(path, &reading->mem, &workload, &reading->err)
                                      : text_read(path, &reading->mem, &workload, &reading->err);
    if (status != ORR_OK) {
        return status;
    }
    status = way == 0 ? text_graph_compat(&workload, PASSES, work, &reading->err)
                      : text_graph(&workload, RANKS, PASSES, work, &reading->notes, &reading->err);
    text_free(&workload);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32];
    int descriptor = memfd_create("workload", MFD_CLOEXEC);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size) {
        abort();
    }
    for (unsigned way = 0; way < WAYS; way++) {
        struct fuzz_reading reading;
        struct work work;
        fuzz_reading_begin(&reading);
        work_init(&work, &reading.mem);
        fuzz_check_status(&reading, convert(path, way, &reading, &work));
        check_work(&work);
        work_free(&work);
        fuzz_reading_end(&reading);
    }
    (void)close(descriptor);
    return 0;
}
