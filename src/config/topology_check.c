/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First the reader that runs use: what it refuses is the first finding, what it notes are findings too. A file that it
 * refuses is then gone through line by line, each link by itself, so that one bad line does not hide the next; a file
 * that it takes is asked the questions of topo/check.h.
 */
#include "config/topology_check.h"

#include <inttypes.h>
#include <string.h>

#include "config/wired.h"
#include "config/words.h"
#include "io/file.h"
#include "io/kind.h"
#include "topo/check.h"

enum { LINE_FINDINGS_MOST = 100 };

struct lines {
    const char *path;
    struct notes *notes;
    const char *first; /* what the reader said, which is not said again */
    uint64_t nodes;    /* of the header; 0 where it has none */
    uint64_t number;   /* of the line */
    uint64_t links;
    uint32_t found;
    enum orr_status status; /* of adding a note */
    struct orr_error *err;
};

static void config_topology_check_find(struct lines *lines, const struct orr_error *reason)
{
    if (lines->status == ORR_OK && lines->found < LINE_FINDINGS_MOST && strcmp(reason->text, lines->first) != 0) {
        lines->found++;
        lines->status = notes_add(lines->notes, lines->err, "%s", reason->text);
    }
}

static void config_topology_check_end(struct lines *lines, const struct words *words, const struct word *word,
                                      uint64_t *end)
{
    struct orr_error reason = {0};
    if (word_count(words, word, "a link's end", UINT32_MAX, end, &reason) != ORR_OK) {
        config_topology_check_find(lines, &reason);
    } else if (lines->nodes > 0 && *end >= lines->nodes) {
        (void)error_set(&reason, ORR_EINVAL,
                        "%s:%" PRIu64 ": a link ends at node %" PRIu64 "; the nodes are 0 to %" PRIu64, lines->path,
                        lines->number, *end, lines->nodes - 1);
        config_topology_check_find(lines, &reason);
    }
}

static void check_link(struct lines *lines, struct words *words, struct word *word)
{
    struct orr_error reason = {0};
    uint64_t ends[2] = {0, 1};
    uint64_t value = 0;
    double real = 0;
    config_topology_check_end(lines, words, &word[0], &ends[0]);
    config_topology_check_end(lines, words, &word[1], &ends[1]);
    if (ends[0] == ends[1]) {
        (void)error_set(&reason, ORR_EINVAL, "%s:%" PRIu64 ": a link joins node %" PRIu64 " to itself", lines->path,
                        lines->number, ends[0]);
        config_topology_check_find(lines, &reason);
    }
    if (word_rate(words, &word[2], "a link's rate", &value, &reason) != ORR_OK) {
        config_topology_check_find(lines, &reason);
    }
    if (word_time(words, &word[3], "a link's delay", &value, &reason) != ORR_OK) {
        config_topology_check_find(lines, &reason);
    }
    if (word_real(words, &word[4], "a link's share of lost packets", 0, 1, &real, &reason) != ORR_OK) {
        config_topology_check_find(lines, &reason);
    }
}

static void config_topology_check_line(struct lines *lines, const char *text, size_t size)
{
    struct words words;
    struct word word[6];
    unsigned count = 0;
    words_init(&words, lines->path, text, size);
    while (count < 6 && words_next(&words, &word[count])) {
        word[count].line = lines->number;
        count++;
    }
    if (lines->number == 1 && count > 0) {
        uint64_t nodes = 0;
        bool good = word_count(&words, &word[0], "nodes", UINT32_MAX, &nodes, NULL) == ORR_OK;
        lines->nodes = good ? nodes : 0;
    } else if (lines->number > 2 && count == 5) {
        lines->links++;
        check_link(lines, &words, word);
    } else if (lines->number > 2 && count > 0) {
        struct orr_error reason = {0};
        (void)error_set(&reason, ORR_EINVAL,
                        "%s:%" PRIu64 ": %s%u words, and a link has five: source, destination, rate, delay, loss",
                        lines->path, lines->number, count == 6 ? "at least " : "", count);
        config_topology_check_find(lines, &reason);
    }
}

static enum orr_status check_lines(const char *path, const char *text, size_t size, const char *first,
                                   struct notes *notes, struct orr_error *err)
{
    struct lines lines = {.path = path, .notes = notes, .first = first, .number = 1, .err = err};
    for (size_t at = 0; at < size && lines.status == ORR_OK; lines.number++) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end == NULL ? size - at : (size_t)(end - text) - at;
        config_topology_check_line(&lines, text + at, length);
        at += length + 1;
    }
    return lines.status;
}

enum orr_status config_check_topology_text(const char *name, const char *text, size_t size, struct notes *notes,
                                           struct mem *mem, struct orr_error *err)
{
    struct arena arena;
    struct topo_graph graph = {0};
    struct config_wired_extra extra = {0};
    struct orr_error reason = {0};
    arena_init(&arena, mem);
    if (file_kind_check(name, text, size, FILE_KIND_WIRES, NULL, err) != ORR_OK) { /* no fault of its lines */
        return err->status;
    }
    enum orr_status status = config_parse_topology(name, text, size, &arena, notes, &graph, &extra, &reason);
    if (status == ORR_OK) {
        status = topo_check(&graph, name, notes, mem, err);
    } else if (status == ORR_ENOMEM) {
        *err = reason;
    } else {
        status = notes_add(notes, err, "%s", reason.text);
        if (status == ORR_OK) {
            status = check_lines(name, text, size, reason.text, notes, err);
        }
    }
    topo_graph_free(&graph);
    arena_free(&arena);
    return status;
}

enum orr_status config_check_topology(const char *path, struct notes *notes, struct mem *mem, struct orr_error *err)
{
    struct file_buffer buffer;
    file_buffer_init(&buffer, mem);
    enum orr_status status = file_buffer_read(&buffer, path, err);
    if (status == ORR_OK) {
        status = config_check_topology_text(path, (const char *)buffer.bytes, buffer.size, notes, mem, err);
    }
    file_buffer_free(&buffer);
    return status;
}
