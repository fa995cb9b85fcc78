/* SPDX-License-Identifier: Apache-2.0 */
/* ASTRA-sim's input files from a case's lines. Numbers are passed through as text: whether a value is `50` or `50.0`
 * is part of the case. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "tests/golden/case_file.h"
#include "tests/golden/case_text.h"
#include "tests/golden/case_trace.h"

struct writer {
    const struct case_file *file;
    const struct golden_case *one;
    const char *folder;
    struct orr_error *err;
};

static enum orr_status write_file(const struct writer *w, const char *name, const void *data, size_t length)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", w->folder, name);
    FILE *stream = fopen(path, "wb");
    if (stream == NULL)
        return error_set(w->err, ORR_EIO, "%s: %s", path, strerror(errno));
    bool good = fwrite(data, 1, length, stream) == length;
    if (fclose(stream) != 0 || !good)
        return error_set(w->err, ORR_EIO, "%s: cannot be written", path);
    return ORR_OK;
}

static void add_text(struct et_bytes *out, const char *text)
{
    et_bytes_append(out, text, strlen(text));
}

static void add_slice(struct et_bytes *out, struct case_slice slice)
{
    et_bytes_append(out, slice.at, slice.length);
}

static enum orr_status finish_file(const struct writer *w, const char *name, struct et_bytes *out)
{
    enum orr_status status = write_file(w, name, out->data, out->length);
    et_bytes_free(out);
    return status;
}

/* ---- settings: a small ordered map in which the last value wins ---- */

struct setting {
    struct case_slice key;
    struct case_slice value;
};

struct settings {
    struct setting list[64];
    size_t count;
};

static const char *const list_keys[] = {
    "all-reduce-implementation",        "all-gather-implementation",
    "reduce-scatter-implementation",    "all-to-all-implementation", /* `algorithm` sets those before here */
    "all-reduce-implementation-custom",
};
enum { ALGORITHM_KEYS = 4, LIST_KEYS = sizeof list_keys / sizeof list_keys[0] };

static bool set_one(struct settings *settings, struct case_slice key, struct case_slice value)
{
    size_t i = 0;
    while (i < settings->count &&
           (settings->list[i].key.length != key.length || memcmp(settings->list[i].key.at, key.at, key.length) != 0))
        i++;
    if (i == sizeof settings->list / sizeof settings->list[0])
        return false;
    settings->list[i] = (struct setting){key, value};
    if (i == settings->count)
        settings->count++;
    return true;
}

static bool set_word(struct settings *settings, struct case_slice word)
{
    struct case_slice key;
    struct case_slice value;
    bool good = slice_split(word, '=', &key, &value);
    if (good && slice_is(key, "algorithm")) {
        for (size_t i = 0; i < ALGORITHM_KEYS; i++)
            good = good && set_one(settings, (struct case_slice){list_keys[i], strlen(list_keys[i])}, value);
        return good;
    }
    return good && set_one(settings, key, value);
}

static enum orr_status set_lines(const struct writer *w, const char *keyword, size_t first, size_t end,
                                 struct settings *settings)
{
    for (size_t i = first; i < end; i++) {
        struct case_slice rest = w->file->lines[i].rest;
        struct case_slice word;
        while (slice_is(w->file->lines[i].keyword, keyword) && slice_word(&rest, &word)) {
            if (!set_word(settings, word))
                return error_set(w->err, ORR_EINVAL, "%s:%u: \"%.*s\" is not KEY=VALUE", w->file->path,
                                 w->file->lines[i].number, (int)word.length, word.at);
        }
    }
    return ORR_OK;
}

static void add_quoted(struct et_bytes *out, struct case_slice text)
{
    add_text(out, "\"");
    add_slice(out, text);
    add_text(out, "\"");
}

static void add_value(struct et_bytes *out, const struct setting *setting)
{
    for (size_t i = 0; i < LIST_KEYS; i++) {
        if (!slice_is(setting->key, list_keys[i]))
            continue;
        struct case_slice rest = setting->value;
        struct case_slice item;
        const char *before = "[";
        while (slice_part(&rest, ',', &item)) {
            add_text(out, before);
            add_quoted(out, item);
            before = ", ";
        }
        add_text(out, "]");
        return;
    }
    if (setting->value.length > 0 && *setting->value.at >= '0' && *setting->value.at <= '9')
        add_slice(out, setting->value);
    else
        add_quoted(out, setting->value);
}

static enum orr_status write_settings(const struct writer *w, const char *keyword, const char *name,
                                      const char *without)
{
    struct settings settings = {0};
    struct et_bytes out = {0};
    const char *before = "{\n  ";
    enum orr_status status = set_lines(w, keyword, 0, w->file->default_end, &settings);
    if (status == ORR_OK)
        status = set_lines(w, keyword, w->one->first, w->one->end, &settings);
    if (status != ORR_OK)
        return status;
    if (settings.count == 0)
        return write_file(w, name, without, strlen(without));
    for (size_t i = 0; i < settings.count; i++) {
        if (slice_is(settings.list[i].value, "-"))
            continue;
        add_text(&out, before);
        add_quoted(&out, settings.list[i].key);
        add_text(&out, ": ");
        add_value(&out, &settings.list[i]);
        before = ",\n  ";
    }
    add_text(&out, "\n}\n");
    return finish_file(w, name, &out);
}

/* ---- network, groups, per-node list ---- */

static enum orr_status write_network(const struct writer *w)
{
    static const char *const keys[] = {"topology", "npus_count", "bandwidth", "latency"};
    struct et_bytes out = {0};
    size_t at = w->one->first;
    while (!slice_is(w->file->lines[at].keyword, "network")) /* case_file_open saw one */
        at++;
    for (size_t key = 0; key < 4; key++) {
        struct case_slice rest = w->file->lines[at].rest;
        struct case_slice dimension;
        const char *before = ": [ ";
        add_text(&out, keys[key]);
        while (slice_part(&rest, '|', &dimension)) {
            struct case_slice word = {NULL, 0};
            for (size_t skip = 0; skip <= key; skip++) {
                if (!slice_word(&dimension, &word)) {
                    et_bytes_free(&out);
                    return error_set(w->err, ORR_EINVAL, "%s:%u: a dimension is KIND SIZE GBPS NS", w->file->path,
                                     w->file->lines[at].number);
                }
            }
            add_text(&out, before);
            add_slice(&out, word);
            before = ", ";
        }
        add_text(&out, " ]\n");
    }
    return finish_file(w, "network.yml", &out);
}

static enum orr_status add_group(const struct writer *w, const struct case_line *line, struct et_bytes *out)
{
    struct case_slice rest = line->rest;
    struct case_slice id;
    struct rank_list list;
    if (!slice_word(&rest, &id) || !rank_list_read(rest, &list))
        return error_set(w->err, ORR_EINVAL, "%s:%u: a group is ID RANKS", w->file->path, line->number);
    add_text(out, out->length == 0 ? "{\n " : ",\n ");
    add_quoted(out, id);
    add_text(out, ": [");
    for (uint32_t i = 0; i < list.count; i++) {
        char text[16];
        snprintf(text, sizeof text, "%s%u", i == 0 ? "" : ", ", list.ranks[i]);
        add_text(out, text);
    }
    add_text(out, "]");
    free(list.ranks);
    return ORR_OK;
}

static enum orr_status write_groups(const struct writer *w)
{
    struct et_bytes out = {0};
    for (size_t i = w->one->first; i < w->one->end; i++) {
        if (!slice_is(w->file->lines[i].keyword, "group"))
            continue;
        enum orr_status status = add_group(w, &w->file->lines[i], &out);
        if (status != ORR_OK) {
            et_bytes_free(&out);
            return status;
        }
    }
    if (out.length == 0)
        return ORR_OK;
    add_text(&out, "\n}\n");
    return finish_file(w, "comm_group.json", &out);
}

static enum orr_status write_per_node(const struct writer *w)
{
    struct et_bytes out = {0};
    for (size_t i = w->one->first; i < w->one->end; i++) {
        if (!slice_is(w->file->lines[i].keyword, "pernode"))
            continue;
        add_slice(&out, w->file->lines[i].rest);
        add_text(&out, "\n");
    }
    return out.length == 0 ? ORR_OK : finish_file(w, "pernode.yml", &out);
}

/* ---- traces ---- */

static enum orr_status write_block(const struct writer *w, const char *prefix, size_t header)
{
    struct case_block block = {header + 1, header + 1};
    struct rank_list list;
    struct et_bytes out = {0};
    enum orr_status status = ORR_OK;
    while (block.end < w->one->end && case_line_is_node(w->file, block.end))
        block.end++;
    if (!rank_list_read(w->file->lines[header].rest, &list))
        return error_set(w->err, ORR_EINVAL, "%s:%u: not a list of ranks", w->file->path,
                         w->file->lines[header].number);
    for (uint32_t i = 0; i < list.count && status == ORR_OK; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.%u.et", prefix, list.ranks[i]);
        status = case_trace_encode(w->file, w->one, block, list.ranks[i], i, &out, w->err);
        if (status == ORR_OK)
            status = write_file(w, name, out.data, out.length);
    }
    free(list.ranks);
    et_bytes_free(&out);
    return status;
}

static enum orr_status make_folder(const struct writer *w, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", w->folder, name);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return error_set(w->err, ORR_EIO, "%s: %s", path, strerror(errno));
    return ORR_OK;
}

static enum orr_status write_traces(const struct writer *w)
{
    static const struct {
        const char *keyword;
        const char *folder;
        const char *prefix;
    } blocks[] = {{"trace", "workload", "workload/w"}, {"custom", "custom", "custom/custom_allreduce"}};
    for (size_t i = w->one->first; i < w->one->end; i++) {
        for (size_t b = 0; b < 2; b++) {
            if (!slice_is(w->file->lines[i].keyword, blocks[b].keyword))
                continue;
            enum orr_status status = make_folder(w, blocks[b].folder);
            if (status == ORR_OK)
                status = write_block(w, blocks[b].prefix, i);
            if (status != ORR_OK)
                return status;
        }
    }
    return ORR_OK;
}

enum orr_status case_write(const struct case_file *file, const struct golden_case *one, const char *folder,
                           struct orr_error *err)
{
    const struct writer w = {file, one, folder, err};
    enum orr_status status = write_network(&w);
    if (status == ORR_OK)
        status = write_settings(&w, "system", "system.json", "{}\n");
    if (status == ORR_OK)
        status = write_settings(&w, "memory", "memory.json", "{\"memory-type\": \"NO_MEMORY_EXPANSION\"}\n");
    if (status == ORR_OK)
        status = write_groups(&w);
    if (status == ORR_OK)
        status = write_per_node(&w);
    if (status == ORR_OK)
        status = write_traces(&w);
    return status;
}
