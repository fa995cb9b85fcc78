/* SPDX-License-Identifier: Apache-2.0 */
/* The text is read once, cut into lines, and the lines into cases; arguments are read when they are asked for, because
 * most of them depend on the rank. Errors name file and line: these files are also edited by hand. */
#include "tests/golden/case_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tests/golden/case_text.h"

static void *checked(void *block)
{
    if (block == NULL)
        abort();
    return block;
}

static void add_line(struct case_file *file, char *at, size_t length, unsigned number)
{
    struct case_slice rest = {at, length};
    struct case_slice keyword;
    if (!slice_word(&rest, &keyword) || keyword.at[0] == '#')
        return;
    if ((file->line_count & (file->line_count - 1)) == 0) {
        size_t capacity = file->line_count == 0 ? 1 : 2 * file->line_count;
        file->lines = checked(realloc(file->lines, capacity * sizeof *file->lines));
    }
    file->lines[file->line_count++] = (struct case_line){number, keyword, rest};
}

/* Joins continued lines with spaces, so that a line is one stretch of text and line numbers can still be counted. */
static void split_lines(struct case_file *file)
{
    unsigned number = 1;
    char *line = file->text;
    while (*line != '\0') {
        unsigned first = number;
        char *end = line;
        for (; *end != '\0' && *end != '\n'; end++) {
            if (end[0] == '\\' && end[1] == '\n') {
                end[0] = end[1] = ' ';
                end++;
                number++;
            }
        }
        add_line(file, line, (size_t)(end - line), first);
        number++;
        line = *end == '\0' ? end : end + 1;
    }
}

static enum orr_status network_ranks(const struct case_file *file, const struct case_line *line, uint32_t *ranks,
                                     struct orr_error *err)
{
    struct case_slice rest = line->rest;
    struct case_slice dimension;
    uint64_t product = 1;
    while (slice_part(&rest, '|', &dimension)) {
        struct case_slice kind;
        struct case_slice size;
        uint64_t number = 0;
        if (!slice_word(&dimension, &kind) || !slice_word(&dimension, &size) || !slice_number(size, &number) ||
            number == 0 || number > 65536)
            return error_set(err, ORR_EINVAL, "%s:%u: a dimension is KIND SIZE GBPS NS", file->path, line->number);
        product *= number;
    }
    if (product > 65536)
        return error_set(err, ORR_EINVAL, "%s:%u: %llu ranks are more than a case may have", file->path, line->number,
                         (unsigned long long)product);
    *ranks = (uint32_t)product;
    return ORR_OK;
}

static enum orr_status add_case(struct case_file *file, size_t header, struct orr_error *err)
{
    struct case_slice name = file->lines[header].rest;
    struct golden_case one = {.first = header + 1};
    if (name.length == 0 || name.length >= sizeof one.name)
        return error_set(err, ORR_EINVAL, "%s:%u: a case needs a name of 1 to %zu letters", file->path,
                         file->lines[header].number, sizeof one.name - 1);
    memcpy(one.name, name.at, name.length);
    for (one.end = one.first; one.end < file->line_count; one.end++) {
        const struct case_line *line = &file->lines[one.end];
        if (slice_is(line->keyword, "case"))
            break;
        if (slice_is(line->keyword, "unreliable"))
            one.unreliable = true;
        if (slice_is(line->keyword, "network")) {
            enum orr_status status = network_ranks(file, line, &one.ranks, err);
            if (status != ORR_OK)
                return status;
        }
    }
    if (one.ranks == 0)
        return error_set(err, ORR_EINVAL, "%s:%u: case %s has no network", file->path, file->lines[header].number,
                         one.name);
    file->cases = checked(realloc(file->cases, (file->case_count + 1) * sizeof *file->cases));
    file->cases[file->case_count++] = one;
    return ORR_OK;
}

static enum orr_status find_cases(struct case_file *file, struct orr_error *err)
{
    size_t i = 0;
    while (i < file->line_count && !slice_is(file->lines[i].keyword, "case"))
        i++;
    file->default_end = i;
    while (i < file->line_count) {
        enum orr_status status = add_case(file, i, err);
        if (status != ORR_OK)
            return status;
        i = file->cases[file->case_count - 1].end;
    }
    return ORR_OK;
}

/* Takes `text`. */
static enum orr_status take_text(const char *path, char *text, struct case_file *file, struct orr_error *err)
{
    *file = (struct case_file){.path = path, .text = text};
    split_lines(file);
    enum orr_status status = find_cases(file, err);
    if (status != ORR_OK)
        case_file_close(file);
    return status;
}

enum orr_status case_file_parse(const char *name, const char *text, struct case_file *file, struct orr_error *err)
{
    return take_text(name, checked(strdup(text)), file, err);
}

enum orr_status case_file_open(const char *path, struct case_file *file, struct orr_error *err)
{
    struct et_bytes bytes = {0};
    char part[4096];
    size_t got = 0;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return error_set(err, ORR_EIO, "%s: %s", path, strerror(errno));
    while ((got = fread(part, 1, sizeof part, stream)) > 0)
        et_bytes_append(&bytes, part, got);
    bool bad = ferror(stream) != 0;
    fclose(stream);
    if (bad) {
        et_bytes_free(&bytes);
        return error_set(err, ORR_EIO, "%s: cannot be read", path);
    }
    et_bytes_append(&bytes, "", 1);
    return take_text(path, (char *)bytes.data, file, err);
}

void case_file_close(struct case_file *file)
{
    free(file->text);
    free(file->lines);
    free(file->cases);
    *file = (struct case_file){0};
}

bool case_has(const struct case_file *file, const struct golden_case *one, const char *keyword)
{
    for (size_t i = one->first; i < one->end; i++) {
        if (slice_is(file->lines[i].keyword, keyword))
            return true;
    }
    return false;
}

struct case_slice case_option(const struct case_file *file, const struct golden_case *one, const char *name)
{
    for (size_t i = one->first; i < one->end; i++) {
        struct case_slice key;
        struct case_slice value;
        if (slice_is(file->lines[i].keyword, "option") && slice_split(file->lines[i].rest, '=', &key, &value) &&
            slice_is(key, name))
            return value;
    }
    return (struct case_slice){NULL, 0};
}

/* FINISH[/EXPOSED][*N] or -[*N] */
static bool read_run(struct case_slice word, struct case_rank *rank, uint64_t *times)
{
    struct case_slice value = word;
    struct case_slice count;
    struct case_slice finish;
    struct case_slice exposed;
    *times = 1;
    if (slice_split(word, '*', &value, &count) && !slice_number(count, times))
        return false;
    *rank = (struct case_rank){.finished = !slice_is(value, "-")};
    if (!rank->finished)
        return true;
    if (slice_split(value, '/', &finish, &exposed))
        return slice_number(finish, &rank->finish) && slice_number(exposed, &rank->exposed);
    bool good = slice_number(value, &rank->finish);
    rank->exposed = rank->finish;
    return good;
}

static bool read_runs(struct case_slice rest, uint32_t ranks, struct case_rank **result)
{
    struct case_slice word;
    struct case_rank *list = NULL;
    uint32_t count = 0;
    while (slice_word(&rest, &word)) {
        struct case_rank rank;
        uint64_t times = 0;
        if (list == NULL)
            list = checked(calloc(ranks, sizeof *list));
        if (!read_run(word, &rank, &times) || times > ranks - count) {
            free(list);
            return false;
        }
        for (; times > 0; times--)
            list[count++] = rank;
    }
    if (list != NULL && count != ranks) {
        free(list);
        return false;
    }
    *result = list;
    return true;
}

static bool read_hash(struct case_slice *rest, struct case_outcome *outcome)
{
    struct case_slice ahead = *rest;
    struct case_slice word;
    if (!slice_word(&ahead, &word) || word.at[0] != '#')
        return true;
    if (word.length != 17)
        return false;
    for (size_t i = 1; i < word.length; i++) {
        const char *digit = strchr("0123456789abcdef", word.at[i]);
        if (digit == NULL || *digit == '\0')
            return false;
        outcome->hash = outcome->hash << 4 | (uint64_t)((digit - "0123456789abcdef") & 15);
    }
    outcome->has_hash = true;
    *rest = ahead;
    return true;
}

static bool read_outcome(struct case_slice rest, uint32_t ranks, struct case_outcome *outcome)
{
    static const char *const kinds[] = {"OK", "INCOMPLETE", "EXIT", "SIGNAL"};
    struct case_slice word;
    size_t kind = 0;
    *outcome = (struct case_outcome){0};
    if (!slice_word(&rest, &word))
        return false;
    while (kind < 4 && !slice_is(word, kinds[kind]))
        kind++;
    if (kind == 4)
        return false;
    outcome->kind = (enum case_kind)kind;
    if (outcome->kind == CASE_EXIT || outcome->kind == CASE_SIGNAL) {
        uint64_t code = 0;
        if (!slice_word(&rest, &word) || !slice_number(word, &code) || code > 255)
            return false;
        outcome->code = (int)code;
    }
    if (outcome->kind != CASE_OK) {
        if (!slice_word(&rest, &word) || word.length >= sizeof outcome->reason)
            return false;
        memcpy(outcome->reason, word.at, word.length);
    }
    return read_hash(&rest, outcome) && read_runs(rest, ranks, &outcome->ranks);
}

enum orr_status case_outcome_read(const struct case_file *file, const struct golden_case *one, enum orr_backend backend,
                                  struct case_outcome *outcome, struct orr_error *err)
{
    static const char *const keywords[] = {
        [ORR_BACKEND_UNAWARE] = "unaware", [ORR_BACKEND_AWARE] = "aware", [ORR_BACKEND_PACKET] = "packet"};
    const char *keyword = keywords[backend];
    bool analytical = backend != ORR_BACKEND_PACKET;
    for (size_t i = one->first; i < one->end; i++) {
        const struct case_line *line = &file->lines[i];
        if (!(analytical && slice_is(line->keyword, "both")) && !slice_is(line->keyword, keyword))
            continue;
        if (!read_outcome(line->rest, one->ranks, outcome))
            return error_set(err, ORR_EINVAL, "%s:%u: not an outcome for %u ranks", file->path, line->number,
                             one->ranks);
        return ORR_OK;
    }
    return error_set(err, ORR_EINVAL, "%s: case %s states no outcome on %s", file->path, one->name, keyword);
}

void case_outcome_free(struct case_outcome *outcome)
{
    free(outcome->ranks);
    *outcome = (struct case_outcome){0};
}
