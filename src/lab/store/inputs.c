/* SPDX-License-Identifier: Apache-2.0 */
/* Traces are one input whose path is their prefix: its hash runs over all of them in order of rank (lab/experiment.c).
 * A file of another size has changed, and is not read. */
#include "lab/store/inputs.h"

#include <inttypes.h>
#include <string.h>

#include "io/file.h"
#include "io/hash.h"

static const char *store_inputs_place_of(const struct store_run *run, const char *path, struct arena *arena)
{
    return path[0] == '/' || run->folder[0] == '\0' ? path : arena_printf(arena, "%s/%s", run->folder, path);
}

/* False when it is not there. */
static bool add_size(const char *path, uint64_t *bytes)
{
    uint64_t size = 0;
    bool there = file_size(path, &size);
    *bytes += size;
    return there;
}

/* The `rank`-th file of the input; NULL when there is no memory. */
static const char *part_of(const char *path, bool traces, uint64_t rank, struct arena *arena)
{
    return traces ? arena_printf(arena, "%s.%" PRIu64 ".et", path, rank) : path;
}

static enum orr_status hash_parts(const char *path, bool traces, uint64_t parts, struct arena *arena,
                                  char text[IO_HASH_TEXT], bool *read, struct orr_error *err)
{
    struct io_hash *hash = NULL;
    struct orr_error unread = {0};
    uint64_t bytes = 0;
    *read = true;
    enum orr_status status = io_hash_open(&hash, err);
    for (uint64_t i = 0; status == ORR_OK && *read && i < parts; i++) {
        const char *part = part_of(path, traces, i, arena);
        if (part == NULL) {
            status = mem_error(arena->mem, "a path", err);
        } else {
            enum orr_status hashed = io_hash_file(hash, part, &bytes, &unread);
            *read = hashed == ORR_OK;
            status = hashed == ORR_ENOMEM ? error_set(err, hashed, "%s", unread.text) : ORR_OK;
        }
    }
    if (status == ORR_OK) {
        io_hash_result(hash, text);
    }
    io_hash_close(hash);
    return status;
}

static enum orr_status lab_store_inputs_look(const struct store_run *run, struct store_input *input,
                                             struct arena *arena, struct orr_error *err)
{
    bool traces = strcmp(input->role, "workload") == 0;
    uint64_t parts = traces ? run->source_world : 1;
    const char *path = store_inputs_place_of(run, input->path, arena);
    uint64_t bytes = 0;
    bool there = true;
    for (uint64_t i = 0; path != NULL && there && i < parts; i++) {
        const char *part = part_of(path, traces, i, arena);
        path = part == NULL ? NULL : path;
        there = part != NULL && add_size(part, &bytes);
    }
    if (path == NULL) {
        return mem_error(arena->mem, "a path", err);
    }
    if (!there || bytes != input->bytes) {
        input->now = there ? STORE_INPUT_CHANGED : STORE_INPUT_GONE;
        return ORR_OK;
    }
    char text[IO_HASH_TEXT];
    bool read = false;
    enum orr_status status = hash_parts(path, traces, parts, arena, text, &read, err);
    if (status == ORR_OK) {
        input->now = !read ? STORE_INPUT_GONE : strcmp(text, input->hash) == 0 ? STORE_INPUT_SAME : STORE_INPUT_CHANGED;
    }
    return status;
}

enum orr_status store_inputs_look(const struct store_run *run, struct arena *arena, struct store_input *inputs,
                                  uint32_t count, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; status == ORR_OK && i < count; i++) {
        status = lab_store_inputs_look(run, &inputs[i], arena, err);
    }
    return status;
}
