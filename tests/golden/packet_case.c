/* SPDX-License-Identifier: Apache-2.0 */
/* Files are put together in memory and written whole. Words are passed through as they stand, as in case_write.c. */
#include "tests/golden/packet_case.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tests/golden/case_text.h"

enum { MARKS_MAX = 32, KEYS_MAX = 64 };

struct words {
    struct case_slice list[KEYS_MAX];
    size_t count;
};

/* Adds a word, or replaces the one that is equal up to `separator`. */
static bool set_word(struct words *words, struct case_slice word, char separator)
{
    struct case_slice key;
    struct case_slice rest;
    if (!slice_split(word, separator, &key, &rest))
        return false;
    size_t i = 0;
    while (i < words->count &&
           (words->list[i].length <= key.length || memcmp(words->list[i].at, key.at, key.length + 1) != 0))
        i++;
    if (i == KEYS_MAX)
        return false;
    words->list[i] = word;
    words->count += i == words->count ? 1 : 0;
    return true;
}

static bool gather(const struct case_file *file, const struct golden_case *one, const char *keyword, char separator,
                   struct words *words)
{
    for (size_t i = 0; i < one->end; i++) {
        struct case_slice rest = file->lines[i].rest;
        struct case_slice word;
        bool counts = (i < file->default_end || i >= one->first) && slice_is(file->lines[i].keyword, keyword);
        while (counts && slice_word(&rest, &word)) {
            if (!set_word(words, word, separator))
                return false;
        }
    }
    return true;
}

static void put_map(FILE *stream, const char *key, const struct words *marks, unsigned field)
{
    fprintf(stream, "%s %zu", key, marks->count);
    for (size_t i = 0; i < marks->count; i++) {
        struct case_slice rest = marks->list[i];
        struct case_slice rate;
        struct case_slice value = {NULL, 0};
        (void)slice_part(&rest, ':', &rate);
        for (unsigned k = 0; k <= field; k++)
            (void)slice_part(&rest, ':', &value);
        fprintf(stream, " %.*s000000000 %.*s", (int)rate.length, rate.at, (int)value.length, value.at);
    }
    fprintf(stream, "\n");
}

static bool put_config(const struct case_file *file, const struct golden_case *one, FILE *stream)
{
    struct words keys = {0};
    struct words marks = {0};
    if (!gather(file, one, "config", '=', &keys) || !gather(file, one, "marks", ':', &marks))
        return false;
    for (size_t i = 0; i < keys.count; i++) {
        struct case_slice key;
        struct case_slice value;
        (void)slice_split(keys.list[i], '=', &key, &value);
        fprintf(stream, "%.*s %.*s\n", (int)key.length, key.at, (int)value.length, value.at);
    }
    put_map(stream, "KMIN_MAP", &marks, 0);
    put_map(stream, "KMAX_MAP", &marks, 1);
    put_map(stream, "PMAX_MAP", &marks, 2);
    fprintf(stream, "TOPOLOGY_FILE topology.txt\nFCT_OUTPUT_FILE fct.txt\nPFC_OUTPUT_FILE pfc.txt\n");
    return true;
}

/* A-B, or A-B+DA,DB*N: how many links it stands for; 0 when it is neither. */
static unsigned put_link(struct case_slice word, struct case_slice properties, FILE *stream)
{
    char text[80];
    int a = 0;
    int b = 0;
    int da = 0;
    int db = 0;
    unsigned times = 1;
    if (word.length >= sizeof text)
        return 0;
    memcpy(text, word.at, word.length);
    text[word.length] = '\0';
    int read = sscanf(text, "%d-%d%d,%d*%u", &a, &b, &da, &db, &times);
    if (read != 2 && read != 5)
        return 0;
    for (unsigned i = 0; i < times; i++)
        fprintf(stream, "%d %d %.*s\n", a + (int)i * da, b + (int)i * db, (int)properties.length, properties.at);
    return times;
}

static bool put_links(const struct case_line *line, FILE *stream, unsigned *links)
{
    struct case_slice rest = line->rest;
    struct case_slice word;
    struct case_slice properties = rest;
    for (int i = 0; i < 3; i++) {
        if (!slice_word(&rest, &word))
            return false;
    }
    properties.length = (size_t)(word.at + word.length - properties.at);
    while (slice_word(&rest, &word)) {
        unsigned more = put_link(word, properties, stream);
        if (more == 0)
            return false;
        *links += more;
    }
    return true;
}

static bool put_topology(const struct case_file *file, const struct golden_case *one, FILE *stream)
{
    char *text = NULL;
    size_t size = 0;
    FILE *body = open_memstream(&text, &size);
    struct case_slice nodes = {NULL, 0};
    struct rank_list switches = {0};
    unsigned links = 0;
    bool good = body != NULL;
    for (size_t i = one->first; good && i < one->end; i++) {
        struct case_slice rest = file->lines[i].rest;
        if (slice_is(file->lines[i].keyword, "nodes"))
            good = slice_word(&rest, &nodes) && (rest.length == 0 || rank_list_read(rest, &switches));
        else if (slice_is(file->lines[i].keyword, "links"))
            good = put_links(&file->lines[i], body, &links);
    }
    if (body != NULL)
        fclose(body);
    fprintf(stream, "%.*s %u %u\n", (int)nodes.length, nodes.at, switches.count, links);
    for (uint32_t i = 0; i < switches.count; i++)
        fprintf(stream, "%u ", switches.ranks[i]);
    fprintf(stream, "\n%s", text == NULL ? "" : text);
    free(switches.ranks);
    free(text);
    return good && nodes.length > 0;
}

static bool put_logical(const struct case_file *file, const struct golden_case *one, FILE *stream)
{
    const char *before = "{\"logical-dims\": [";
    for (size_t i = one->first; i < one->end; i++) {
        struct case_slice rest = file->lines[i].rest;
        struct case_slice dimension;
        while (slice_is(file->lines[i].keyword, "network") && slice_part(&rest, '|', &dimension)) {
            struct case_slice kind;
            struct case_slice size;
            if (!slice_word(&dimension, &kind) || !slice_word(&dimension, &size))
                return false;
            fprintf(stream, "%s\"%.*s\"", before, (int)size.length, size.at);
            before = ", ";
        }
    }
    fprintf(stream, "]}\n");
    return true;
}

enum orr_status packet_case_write(const struct case_file *file, const struct golden_case *one, const char *folder,
                                  struct orr_error *err)
{
    static const struct {
        const char *name;
        bool (*put)(const struct case_file *file, const struct golden_case *one, FILE *stream);
    } parts[] = {{"config.txt", put_config}, {"topology.txt", put_topology}, {"logical.json", put_logical}};
    enum orr_status status = case_write(file, one, folder, err);
    for (size_t i = 0; status == ORR_OK && i < sizeof parts / sizeof parts[0]; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, parts[i].name);
        FILE *stream = fopen(path, "wb");
        if (stream == NULL)
            return error_set(err, ORR_EIO, "%s cannot be written", path);
        bool good = parts[i].put(file, one, stream);
        if (fclose(stream) != 0)
            return error_set(err, ORR_EIO, "%s cannot be written", path);
        if (!good)
            status = error_set(err, ORR_EINVAL, "%s: case %s: a line for %s cannot be read", file->path, one->name,
                               parts[i].name);
    }
    return status;
}

enum orr_status packet_case_expects(const struct case_file *file, const struct golden_case *one,
                                    struct packet_expectation *expected, struct orr_error *err)
{
    bool good = true;
    *expected = (struct packet_expectation){0};
    for (size_t i = 0; i < file->default_end; i++)
        expected->sorted = expected->sorted || slice_is(file->lines[i].keyword, "sorted");
    for (size_t i = one->first; good && i < one->end; i++) {
        struct case_slice rest = file->lines[i].rest;
        struct case_slice word;
        if (slice_is(file->lines[i].keyword, "flows")) {
            good = slice_word(&rest, &word) && slice_number(word, &expected->flows);
        } else if (slice_is(file->lines[i].keyword, "pauses")) {
            good = slice_word(&rest, &word) && slice_number(word, &expected->pauses) && slice_word(&rest, &word) &&
                   word.length == 17;
            expected->pauses_hash = good ? strtoull(word.at + 1, NULL, 16) : 0;
            expected->has_pauses = true;
        }
    }
    return good ? ORR_OK
                : error_set(err, ORR_EINVAL, "%s: case %s: not what the network shall report", file->path, one->name);
}
