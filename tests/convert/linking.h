/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording written down as a table of events, one line each, for tests of our linker: the table becomes a device
 * trace as the profiler writes it, which is read and linked. Times are microseconds.
 */
#ifndef ORR_TESTS_CONVERT_LINKING_H
#define ORR_TESTS_CONVERT_LINKING_H

#include "convert/pytorch/link/link.h"
#include "tests/check.h"
#include "tests/folder.h"

struct line {
    const char *cat;
    int where; /* host thread, or stream */
    const char *name;
    double ts, dur;
    int id;           /* rf_id of a host op, correlation of a call or of device work; 0 = none */
    const char *args; /* more of them: "\"stream\": 7, …"; or NULL */
};

#define OP(thread, name, ts, dur, rf)         "cpu_op", thread, name, ts, dur, rf, NULL
#define MARK(thread, name, ts, dur)           "user_annotation", thread, name, ts, dur, 0, NULL
#define CALL(thread, name, ts, dur, id)       "cuda_runtime", thread, name, ts, dur, id, NULL
#define KERNEL(stream, name, ts, dur, id)     "kernel", stream, name, ts, dur, id, NULL
#define COPY(stream, name, ts, dur, id)       "gpu_memcpy", stream, name, ts, dur, id, NULL
#define SYNC(stream, name, ts, dur, id, args) "cuda_sync", stream, name, ts, dur, id, args

struct linking {
    struct mem mem;
    struct notes notes;
    struct kineto_trace *kineto;
    struct linked_trace linked;
    struct orr_error err;
};

static inline bool line_is_device(const struct line *line)
{
    return strcmp(line->cat, "kernel") == 0 || strncmp(line->cat, "gpu_mem", 7) == 0 ||
           strcmp(line->cat, "cuda_sync") == 0;
}

static inline void write_lines(const char *path, const struct line *lines, size_t count)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fprintf(stream, "{\"schemaVersion\": 1, \"traceEvents\": [\n");
    for (size_t i = 0; i < count; i++) {
        bool device = line_is_device(&lines[i]);
        fprintf(stream,
                "%s{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d, \"ts\": %.3f, "
                "\"dur\": %.3f, \"args\": {\"n\": %zu",
                i == 0 ? "" : ",\n", lines[i].cat, lines[i].name, device ? 0 : 99, lines[i].where, lines[i].ts,
                lines[i].dur, i);
        if (lines[i].id != 0) {
            bool host = strcmp(lines[i].cat, "cpu_op") == 0 || strcmp(lines[i].cat, "user_annotation") == 0;
            fprintf(stream, ", \"%s\": %d", host ? "Record function id" : "correlation", lines[i].id);
        }
        if (device) {
            fprintf(stream, ", \"stream\": %d", lines[i].where);
        }
        fprintf(stream, "%s%s}}", lines[i].args == NULL ? "" : ", ", lines[i].args == NULL ? "" : lines[i].args);
    }
    fprintf(stream, "\n]}\n");
    assert_int_equal(fclose(stream), 0);
}

static inline void linking_open(struct linking *linking, const struct line *lines, size_t count)
{
    char path[64];
    *linking = (struct linking){0};
    notes_init(&linking->notes, &linking->mem, false);
    snprintf(path, sizeof path, "%s/lines.json", folder);
    write_lines(path, lines, count);
    CHECK_OK(kineto_read(path, &linking->mem, &linking->notes, &linking->kineto, &linking->err), &linking->err);
    CHECK_OK(link_build(linking->kineto, NULL, &linking->mem, &linking->notes, &linking->linked, &linking->err),
             &linking->err);
}

static inline void linking_close(struct linking *linking)
{
    linked_free(&linking->linked);
    kineto_free(linking->kineto);
    notes_free(&linking->notes);
    CHECK_U64(linking->mem.used, 0, "memory left over");
}

/* The node of this name; of several the `which`th, from 0. LINKED_NONE when there is none. */
static inline uint32_t node_named(const struct linking *linking, const char *name, uint32_t which)
{
    for (uint32_t i = 0; i < linking->linked.node_count; i++) {
        if (strcmp(intern_text(&linking->linked.names, linking->linked.nodes[i].name), name) == 0 && which-- == 0) {
            return i;
        }
    }
    return LINKED_NONE;
}

static inline const struct linked_node *node_at(const struct linking *linking, const char *name)
{
    uint32_t node = node_named(linking, name, 0);
    CHECK(node != LINKED_NONE, "no node \"%s\"", name);
    return &linking->linked.nodes[node];
}

static inline bool node_depends(const struct linking *linking, uint32_t node, uint32_t from)
{
    for (uint32_t i = 0; i < linking->linked.nodes[node].dep_count; i++) {
        if (linking->linked.deps[linking->linked.nodes[node].first_dep + i] == from) {
            return true;
        }
    }
    return false;
}

/* "b c": what the node depends on, by name, in order. */
static inline const char *deps_of(const struct linking *linking, const char *name, char text[512])
{
    const struct linked_node *node = node_at(linking, name);
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < node->dep_count; i++) {
        uint32_t from = linking->linked.deps[node->first_dep + i];
        used += (size_t)snprintf(text + used, 512 - used, "%s%s", i == 0 ? "" : ", ",
                                 intern_text(&linking->linked.names, linking->linked.nodes[from].name));
    }
    return text;
}

#define CHECK_DEPS(linking, name, want)                                                                                \
    do {                                                                                                               \
        char check_deps[512];                                                                                          \
        CHECK_TEXT(deps_of((linking), (name), check_deps), (want));                                                    \
    } while (0)

#endif
