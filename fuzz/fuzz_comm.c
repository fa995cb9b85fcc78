/* SPDX-License-Identifier: Apache-2.0 */
/* What recordings say of communication in texts: names, lists of ranks, splits, the process groups of a host trace. The
 * input's first lines are a name, a list of ranks and splits; the rest is the groups' JSON. Besides not crashing: a
 * refusal is one printable line, a fact is whole, and nothing stays in the account. */
#include <string.h>

#include "convert/pytorch/collective/collective.h"
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES = 3 };

static void resolve(struct fuzz_reading *reading, const struct comm_groups *groups, const struct intern *names,
                    const char *name, const struct kineto_comm *comm)
{
    struct comm_fact fact = {0};
    struct comm_op op = {.name = name, .kineto = comm};
    for (int on_device = 0; on_device < 2; on_device++) {
        struct comm_clue clue = {.node = "input",
                                 .device_name = on_device != 0 ? name : "",
                                 .device = comm,
                                 .annotation_name = name,
                                 .ops = &op,
                                 .op_count = 1,
                                 .kineto_names = names,
                                 .groups = groups,
                                 .rank = 1};
        enum orr_status status = comm_resolve(&clue, &fact, &reading->err);
        fuzz_check_status(reading, status);
        if (status == ORR_OK &&
            (fact.kind == COMM_UNKNOWN || fact.bytes > INT64_MAX || fact.peer_max_bytes > fact.bytes ||
             (fact.kind != COMM_NONE && fact.size_from == PROVENANCE_NONE))) {
            abort();
        }
    }
}

static void read_all(struct fuzz_reading *reading, char *lines[LINES + 1])
{
    struct kineto_trace kineto = {.info = {.rank = 1, .world_size = 4}};
    struct host_trace host = {.process_groups = lines[LINES]};
    struct kineto_comm comm = {.in_elements = 1000,
                               .out_elements = 1000,
                               .group_size = UINT64_MAX,
                               .input_bytes = UINT64_MAX,
                               .src_rank = -1,
                               .dst_rank = -1};
    struct comm_groups groups;
    intern_init(&kineto.names, &reading->mem);
    intern_init(&host.names, &reading->mem);
    comm_groups_init(&groups, &reading->mem);
    if (intern_add(&kineto.names, lines[0], strlen(lines[0]), &comm.collective) &&
        intern_add(&kineto.names, "1", 1, &comm.group_name) &&
        intern_add(&kineto.names, lines[1], strlen(lines[1]), &comm.group_ranks) &&
        intern_add(&kineto.names, lines[2], strlen(lines[2]), &comm.in_split) &&
        intern_add(&kineto.names, "Float", 5, &comm.dtype)) {
        kineto.comms = &comm;
        kineto.comm_count = 1;
        enum orr_status status = comm_groups_add(&groups, 1, &kineto, &host, "input", &reading->err);
        status = status == ORR_OK ? comm_groups_settle(&groups, 2, &reading->err) : status;
        fuzz_check_status(reading, status);
        if (status == ORR_OK) {
            (void)comm_groups_metadata(&groups, &reading->arena);
            resolve(reading, &groups, &kineto.names, lines[0], &comm);
        }
    }
    comm_groups_free(&groups);
    intern_free(&kineto.names);
    intern_free(&host.names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    fuzz_reading_begin(&reading);
    char *text = malloc(size + 1);
    char *lines[LINES + 1];
    if (text == NULL) {
        abort();
    }
    memcpy(text, data, size);
    text[size] = '\0';
    lines[0] = text;
    for (int i = 0; i < LINES; i++) {
        char *end = strchr(lines[i], '\n');
        lines[i + 1] = end == NULL ? lines[i] + strlen(lines[i]) : end + 1;
        if (end != NULL) {
            *end = '\0';
        }
    }
    read_all(&reading, lines);
    (void)comm_dtype_bytes(lines[0]);
    free(text);
    fuzz_reading_end(&reading);
    return 0;
}
