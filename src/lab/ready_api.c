/* The public function behind `trace ready`: which runs of the folder, each looked at by itself, then one report. */
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "lab/ready/text.h"
#include "lab/written.h"

struct looking {
    const struct orr_ready_options *options;
    struct arena arena; /* names of files and tags */
    struct mem mem;
    struct ready_run *runs;
    uint32_t run_count;
};

static enum orr_status choose_tags(struct looking *looking, const char *const **tags, uint32_t *count,
                                   struct orr_error *err)
{
    const struct orr_ready_options *options = looking->options;
    const char **found = NULL;
    if (options->tag_count > 0) {
        *tags = options->tags;
        *count = (uint32_t)options->tag_count;
        return ORR_OK;
    }
    enum orr_status status = import_tags(options->folder, &looking->arena, &found, count, err);
    *tags = found;
    return status;
}

/* Told before anything is read, which may take long. */
static enum orr_status check_output(const struct orr_ready_options *options, const struct import_pair *pairs,
                                    uint32_t count, struct orr_error *err)
{
    for (uint32_t i = 0; options->writes != NULL && i < count; i++) {
        const char *files[] = {pairs[i].host, pairs[i].device};
        for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
            if (files[k] != NULL && file_is_same(options->writes, files[k])) {
                return error_set(err, ORR_EINVAL, "the report would replace the recording %s", files[k]);
            }
        }
    }
    return ORR_OK;
}

static enum orr_status look(struct looking *looking, struct orr_error *err)
{
    const struct orr_ready_options *options = looking->options;
    const char *const *tags = NULL;
    uint32_t count = 0;
    enum orr_status status = choose_tags(looking, &tags, &count, err);
    if (status != ORR_OK) {
        return status;
    }
    looking->runs = arena_zalloc(&looking->arena, (size_t)count * sizeof *looking->runs);
    if (looking->runs == NULL) {
        return mem_error(&looking->mem, "the runs of a folder", err);
    }
    for (uint32_t i = 0; status == ORR_OK && i < count; i++) {
        struct import_pair *pairs = NULL;
        uint32_t pair_count = 0;
        status = import_find(options->folder, tags[i], options->ranks, options->rank_count, &looking->arena, &pairs,
                             &pair_count, err);
        status = status != ORR_OK ? status : check_output(options, pairs, pair_count, err);
        status = status != ORR_OK ? status
                                  : ready_check(tags[i], pairs, pair_count, options->rank_count > 0, &looking->mem,
                                                &looking->runs[looking->run_count], err);
        looking->run_count += status == ORR_OK;
    }
    return status;
}

static void report(const struct looking *looking, FILE *stream)
{
    const struct orr_ready_options *options = looking->options;
    if (options->json) {
        ready_text_json(options->folder, looking->runs, looking->run_count, stream);
        return;
    }
    if (options->compare) {
        ready_text_compare(looking->runs, looking->run_count, stream);
        (void)fputc('\n', stream);
    }
    for (uint32_t i = 0; i < looking->run_count; i++) {
        (void)fputs(i > 0 ? "\n" : "", stream);
        ready_text_run(options->folder, &looking->runs[i], options->brief || options->compare, stream);
    }
}

enum orr_status orr_trace_ready(const struct orr_ready_options *options, FILE *stream, bool *usable,
                                struct orr_error *err)
{
    struct looking looking = {.options = options, .mem = {.limit = options->memory_limit}};
    if (options->folder == NULL || options->folder[0] == '\0') {
        return error_set(err, ORR_EINVAL, "a folder with recordings is needed");
    }
    arena_init(&looking.arena, &looking.mem);
    enum orr_status status = look(&looking, err);
    if (status == ORR_OK && stream != NULL) {
        report(&looking, stream);
        status = written(stream, "the report", err);
    }
    if (status == ORR_OK) {
        *usable = true;
        for (uint32_t i = 0; i < looking.run_count; i++) {
            *usable = *usable && looking.runs[i].usable;
        }
    }
    for (uint32_t i = 0; i < looking.run_count; i++) {
        ready_run_free(&looking.runs[i]);
    }
    arena_free(&looking.arena);
    return status;
}
