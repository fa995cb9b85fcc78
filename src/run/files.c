/* SPDX-License-Identifier: Apache-2.0 */
/* Texts go before files, so that the files of a machine which exists in memory only may have any names. */
#include "run/files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/kind.h"
#include "param/param.h"

const struct orr_text *run_text_find(const struct orr_run_options *options, const char *path)
{
    for (size_t i = 0; i < options->text_count; i++) {
        if (strcmp(options->texts[i].path, path) == 0) {
            return &options->texts[i];
        }
    }
    return NULL;
}

bool run_file_exists(const struct orr_run_options *options, const char *path)
{
    return run_text_find(options, path) != NULL || file_exists(path);
}

static bool run_files_is_of(const struct orr_override *override, const char *option)
{
    return option != NULL && strcmp(override->file, option) == 0;
}

static enum orr_status take_overrides(const struct orr_run_options *options, const char *option, struct arena *arena,
                                      struct config_text *text, struct orr_error *err)
{
    uint32_t count = 0;
    for (size_t i = 0; i < options->override_count; i++) {
        count += run_files_is_of(&options->overrides[i], option) ? 1 : 0;
    }
    struct config_override *list = count == 0 ? NULL : arena_alloc(arena, count * sizeof *list);
    if (count > 0 && list == NULL) {
        return mem_error(arena->mem, "the overrides of a run", err);
    }
    uint32_t used = 0;
    for (size_t i = 0; list != NULL && i < options->override_count; i++) {
        const struct orr_override *one = &options->overrides[i];
        if (run_files_is_of(one, option)) {
            list[used++] = (struct config_override){
                one->key, one->value, one->origin != NULL ? one->origin : "override", one->line > 0 ? one->line : 1};
        }
    }
    text->overrides = list;
    text->override_count = count;
    return ORR_OK;
}

static enum orr_status check_kind(const struct orr_run_options *options, const char *option,
                                  const struct config_text *text, struct orr_error *err)
{
    static const struct {
        const char *option;
        enum file_kind kind, wired;
    } files[] = {{"system", FILE_KIND_SYSTEM, FILE_KIND_SYSTEM},
                 {"network", FILE_KIND_NETWORK, FILE_KIND_PACKET},
                 {"config", FILE_KIND_PACKET, FILE_KIND_PACKET},
                 {"memory", FILE_KIND_MEMORY, FILE_KIND_MEMORY},
                 {"logical", FILE_KIND_LOGICAL, FILE_KIND_LOGICAL}};
    bool wired = options->backend >= ORR_BACKEND_PACKET;
    for (size_t i = 0; option != NULL && i < sizeof files / sizeof files[0]; i++) {
        if (strcmp(files[i].option, option) == 0) {
            char where[80];
            bool of_network = files[i].kind != files[i].wired;
            (void)snprintf(where, sizeof where, "parameter '%s'%s%s", option,
                           of_network ? " with parameter 'backend' " : "",
                           of_network ? param_backends[options->backend] : "");
            return file_kind_check(text->name, text->text, text->size, wired ? files[i].wired : files[i].kind, where,
                                   err);
        }
    }
    return ORR_OK;
}

enum orr_status run_file_open(const struct orr_run_options *options, const char *option, const char *path,
                              struct arena *arena, struct run_file *file, struct orr_error *err)
{
    const struct orr_text *text = run_text_find(options, path);
    struct run_file opened = {.text = {.name = path}};
    file_buffer_init(&opened.buffer, arena->mem);
    enum orr_status status = take_overrides(options, option, arena, &opened.text, err);
    if (status == ORR_OK && text == NULL) {
        status = file_buffer_read(&opened.buffer, path, err);
    }
    if (status != ORR_OK) {
        file_buffer_free(&opened.buffer);
        return status;
    }
    opened.text.text = text != NULL ? text->text : (const char *)opened.buffer.bytes;
    opened.text.size = text != NULL ? text->size : opened.buffer.size;
    status = check_kind(options, option, &opened.text, err);
    if (status != ORR_OK) {
        file_buffer_free(&opened.buffer);
        return status;
    }
    *file = opened;
    return ORR_OK;
}

void run_file_close(struct run_file *file)
{
    file_buffer_free(&file->buffer);
}

enum orr_status run_overrides_check(const struct orr_run_options *options, struct orr_error *err)
{
    const struct {
        const char *option, *path;
    } files[] = {{"system", options->system},
                 {"network", options->network},
                 {"memory", options->memory},
                 {"logical", options->backend >= ORR_BACKEND_PACKET ? options->logical : NULL}};
    for (size_t i = 0; i < options->override_count; i++) {
        const struct orr_override *one = &options->overrides[i];
        bool found = false;
        for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
            found = found || (files[k].path != NULL && strcmp(files[k].option, one->file) == 0);
        }
        if (!found) {
            return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": \"%.40s.%.80s\": the run has no %.40s file",
                             one->origin != NULL ? one->origin : "override", one->line, one->file, one->key, one->file);
        }
    }
    return ORR_OK;
}
