/* SPDX-License-Identifier: Apache-2.0 */
/* The file is the job's own with a few other values, so that what is in it beside collectives stays. */
#include <stdlib.h>
#include <string.h>

#include "advise/tune.h"
#include "base/text_stream.h"
#include "io/json.h"
#include "io/json_write.h"
#include "run/files.h"

/* ---- values ---- */

static void tune_write_value(struct json_writer *writer, const struct io_value *value)
{
    switch (value->kind) {
    case IO_NULL:
        json_write_null(writer);
        break;
    case IO_BOOL:
        json_write_bool(writer, value->boolean);
        break;
    case IO_INTEGER:
        json_write_i64(writer, value->integer);
        break;
    case IO_REAL:
        json_write_real(writer, value->real);
        break;
    case IO_TEXT:
        json_write_string(writer, value->text);
        break;
    case IO_LIST:
        json_write_array(writer, true);
        for (const struct io_value *one = value->first; one != NULL; one = one->next) {
            tune_write_value(writer, one);
        }
        json_write_array_end(writer);
        break;
    case IO_MAP:
        json_write_object(writer, true);
        for (const struct io_value *one = value->first; one != NULL; one = one->next) {
            json_write_key(writer, one->key);
            tune_write_value(writer, one);
        }
        json_write_object_end(writer);
        break;
    }
}

/* A word as --set takes it: a number, or a text. */
static void tune_write_word(struct advise_document *document, struct json_writer *writer, const char *word,
                            size_t length)
{
    while (length > 0 && *word == ' ') {
        word++, length--;
    }
    while (length > 0 && word[length - 1] == ' ') {
        length--;
    }
    const char *text = advise_text(document, "%.*s", (int)length, word);
    struct io_value number = {.kind = IO_NULL};
    if (io_number_parse(text, &number)) {
        tune_write_value(writer, &number);
    } else if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        json_write_bool(writer, text[0] == 't');
    } else {
        json_write_string(writer, text);
    }
}

/* One of the algorithms' lists is a list even where it has one entry, as ASTRA-sim reads it. */
static void tune_write_setting(struct advise_document *document, struct json_writer *writer, const char *key,
                               const char *value)
{
    size_t length = strlen(value), ending = strlen("-implementation");
    bool brackets = length > 1 && value[0] == '[' && value[length - 1] == ']';
    bool algorithms = strlen(key) > ending && strcmp(key + strlen(key) - ending, "-implementation") == 0;
    json_write_key(writer, key);
    if (!brackets && !algorithms) {
        tune_write_word(document, writer, value, length);
        return;
    }
    json_write_array(writer, true);
    const char *end = value + length - (brackets ? 1 : 0);
    for (const char *at = value + (brackets ? 1 : 0); at < end;) {
        size_t word = strcspn(at, ",]");
        word = at + word > end ? (size_t)(end - at) : word;
        tune_write_word(document, writer, at, word);
        at += word + 1;
    }
    json_write_array_end(writer);
}

/* ---- the file ---- */

const char *tune_system_key(const struct orr_override *override, bool wired)
{
    const char *file = override->file, *key = override->key;
    struct orr_error unsaid = {0};
    if (file == NULL && config_key_find(override->key, wired, NULL, "", 1, &file, &key, &unsaid) != ORR_OK) {
        return NULL; /* the run has refused it already */
    }
    return strcmp(file, "system") == 0 ? key : NULL;
}

struct tune_said {
    const char *key, *value;
};

/* What goes before the file, the last one counts: the job's own overrides, then the change. */
static uint32_t tune_said_of(const struct orr_run_options *options, const struct advise_change *change,
                             struct tune_said *said)
{
    static const char file[] = "system.";
    uint32_t count = 0;
    for (size_t i = 0; i < options->override_count; i++) {
        const char *key = tune_system_key(&options->overrides[i], options->backend >= ORR_BACKEND_PACKET);
        if (key != NULL) {
            said[count++] = (struct tune_said){key, options->overrides[i].value};
        }
    }
    for (uint32_t i = 0; i < change->setting_count; i++) {
        const struct advise_setting *setting = &change->settings[i];
        if (setting->key != NULL && strncmp(setting->key, file, sizeof file - 1) == 0) {
            said[count++] = (struct tune_said){setting->key + sizeof file - 1, setting->value};
        }
    }
    return count;
}

static const struct tune_said *tune_said_find(const struct tune_said *said, uint32_t count, const char *key)
{
    const struct tune_said *found = NULL;
    for (uint32_t i = 0; i < count; i++) {
        found = strcmp(said[i].key, key) == 0 ? &said[i] : found;
    }
    return found;
}

static void tune_write_system(struct advise_document *document, const struct io_value *root,
                              const struct tune_said *said, uint32_t count, FILE *stream)
{
    struct json_writer writer;
    json_write_document(&writer, stream);
    for (const struct io_value *one = root->first; one != NULL; one = one->next) {
        const struct tune_said *found = tune_said_find(said, count, one->key);
        if (found != NULL) {
            tune_write_setting(document, &writer, found->key, found->value);
        } else {
            json_write_key(&writer, one->key);
            tune_write_value(&writer, one);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        bool met = tune_said_find(said, count, said[i].key) != &said[i];
        for (const struct io_value *one = root->first; one != NULL && !met; one = one->next) {
            met = strcmp(one->key, said[i].key) == 0;
        }
        if (!met) {
            tune_write_setting(document, &writer, said[i].key, said[i].value);
        }
    }
    json_write_document_end(&writer);
}

/* The text that the run read: the file's, or that of a machine which was made. */
static enum orr_status tune_read_system(struct advise_document *document, const struct orr_run_options *options,
                                        const struct orr_run *run, struct io_value **root, struct orr_error *err)
{
    static const char ending[] = "system.json";
    struct run_file file;
    struct orr_run_options plain = *options;
    plain.override_count = 0;
    if (options->system != NULL) {
        enum orr_status status = run_file_open(&plain, "system", options->system, &document->arena, &file, err);
        if (status == ORR_OK) {
            status = io_json_parse(options->system, file.text.text, file.text.size, &document->arena, root, err);
            run_file_close(&file);
        }
        return status;
    }
    for (uint32_t i = 0; i < run->machine.texts.count; i++) {
        const struct orr_text *made = &run->machine.texts.text[i];
        size_t length = strlen(made->path);
        if (length >= sizeof ending - 1 && strcmp(made->path + length - sizeof ending + 1, ending) == 0) {
            return io_json_parse(made->path, made->text, made->size, &document->arena, root, err);
        }
    }
    return error_set(err, ORR_EINVAL, "missing parameter 'system' FILE: a replay has no collectives to tune");
}

enum orr_status tune_system_text(struct advise_document *document, const struct orr_run_options *options,
                                 const struct orr_run *run, const struct advise_change *change, const char **text,
                                 struct orr_error *err)
{
    struct io_value *root = NULL;
    struct tune_said *said = arena_alloc(&document->arena, (options->override_count + ADVISE_SETTINGS) * sizeof *said);
    if (said == NULL) {
        return mem_error(&document->mem, "a system file", err);
    }
    uint32_t count = tune_said_of(options, change, said);
    enum orr_status status = tune_read_system(document, options, run, &root, err);
    if (status != ORR_OK || root == NULL) {
        return status;
    }
    char *made = NULL;
    size_t size = 0;
    FILE *stream = text_stream_open(&made, &size);
    if (stream != NULL) {
        tune_write_system(document, root, said, count, stream);
    }
    bool failed = stream == NULL || fclose(stream) != 0;
    *text = failed ? NULL : arena_strndup(&document->arena, made, size);
    free(made);
    return *text == NULL ? mem_error(&document->mem, "a system file", err) : ORR_OK;
}
