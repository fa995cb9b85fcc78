/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes through our own linker. The first byte says as what: a device trace, linked, written as a linked trace and
 * read back; a host trace or linked trace, converted. Besides not crashing: a refusal is one printable line, every
 * dependency goes to a later node, times are not negative, and nothing stays in the account. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "convert/pytorch/emit/emit.h"
#include "convert/pytorch/hdt/ours.h"
#include "convert/pytorch/link/link.h"
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int make_file(const void *bytes, size_t size, char path[64])
{
    int file = memfd_create("trace", 0);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size) {
        abort();
    }
    (void)snprintf(path, 64, "/proc/self/fd/%d", file);
    return file;
}

static void check_graph(const struct linked_trace *linked)
{
    for (uint32_t i = 0; i < linked->node_count; i++) {
        const struct linked_node *node = &linked->nodes[i];
        if (node->lane >= linked->lane_count || (node->parent != LINKED_NONE && node->parent >= linked->node_count)) {
            abort();
        }
        for (uint32_t d = 0; d < node->dep_count; d++) {
            if (linked->deps[node->first_dep + d] >= i) {
                abort();
            }
        }
    }
}

static void convert(struct fuzz_reading *reading, const char *path)
{
    struct convert_summary summary = {0};
    struct convert_request request = {.input = path,
                                      .output = "/dev/null",
                                      .passes = 1,
                                      .unknown_size = 1024,
                                      .has_unknown_size = true,
                                      .mem = &reading->mem,
                                      .notes = &reading->notes};
    fuzz_check_status(reading, pytorch_convert(&request, &summary, &reading->err));
}

static void link_device(struct fuzz_reading *reading, const char *path)
{
    struct kineto_trace *kineto = NULL;
    struct linked_trace linked;
    struct comm_groups groups;
    linked_init(&linked, &reading->mem);
    comm_groups_init(&groups, &reading->mem);
    enum orr_status status = kineto_read(path, &reading->mem, &reading->notes, &kineto, &reading->err);
    if (status == ORR_OK) {
        status = link_build(kineto, NULL, &reading->mem, &reading->notes, &linked, &reading->err);
    }
    if (status == ORR_OK) {
        check_graph(&linked);
        status = comm_groups_add(&groups, linked.rank, kineto, NULL, "trace", &reading->err);
    }
    if (status == ORR_OK) {
        status = comm_groups_settle(&groups, 1, &reading->err);
    }
    if (status == ORR_OK) {
        status = link_resolve(&linked, kineto, NULL, &groups, "trace", &reading->err);
    }
    if (status == ORR_OK) {
        status = hdt_ours_write(&linked, &groups, NULL, "/dev/null", &reading->err);
    }
    fuzz_check_status(reading, status);
    linked_free(&linked);
    comm_groups_free(&groups);
    kineto_free(kineto);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct fuzz_reading reading;
    if (size == 0) {
        return 0;
    }
    int file = make_file(data + 1, size - 1, path);
    fuzz_reading_begin(&reading);
    if (data[0] == 'd') {
        link_device(&reading, path);
    } else {
        convert(&reading, path);
    }
    fuzz_reading_end(&reading);
    (void)close(file);
    return 0;
}
