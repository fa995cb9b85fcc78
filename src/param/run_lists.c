/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of a run that are more than one value: lists that grow with every time they are given. */
#include "param/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINK_DOWNS_MOST = 64, SETS_MOST = 32, SET_NAME = 80 };

/* What orr_run_options.lists points to. */
struct orr_run_lists {
    struct orr_link_down downs[LINK_DOWNS_MOST];
    struct orr_override sets[SETS_MOST];
    char names[SETS_MOST][SET_NAME];
};

static enum orr_status lists_of(struct orr_run_options *options, struct orr_run_lists **lists, struct orr_error *err)
{
    if (options->lists == NULL) {
        options->lists = calloc(1, sizeof *options->lists);
    }
    *lists = options->lists;
    return *lists != NULL ? ORR_OK : error_set(err, ORR_ENOMEM, "out of memory reading the parameters");
}

void orr_run_options_free(struct orr_run_options *options)
{
    if (options == NULL || options->lists == NULL) {
        return;
    }
    if (options->link_downs == options->lists->downs) {
        options->link_downs = NULL;
        options->link_down_count = 0;
    }
    if (options->overrides == options->lists->sets) {
        options->overrides = NULL;
        options->override_count = 0;
    }
    free(options->lists);
    options->lists = NULL;
}

enum orr_status param_run_read_grow(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct orr_run_options *options = into;
    (void)row;
    (void)err;
    options->grow = true;
    options->growth.parallel = text != NULL ? text : options->growth.parallel;
    return ORR_OK;
}

enum orr_status param_run_read_spray(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    (void)row;
    (void)text;
    (void)err;
    ((struct orr_run_options *)into)->routing = ORR_ROUTING_SPRAY;
    return ORR_OK;
}

bool param_run_write_grow(const struct param *row, const void *from, size_t index, FILE *stream)
{
    (void)row;
    (void)stream; /* the roles are a parameter of their own */
    return index == 0 && ((const struct orr_run_options *)from)->grow;
}

/* ---- keys of files ---- */

struct orr_override *param_run_sets(struct orr_run_options *options)
{
    return options->lists != NULL && options->overrides == options->lists->sets ? options->lists->sets : NULL;
}

/* As with any parameter the last one counts. */
enum orr_status param_run_read_set(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct orr_run_options *options = into;
    struct orr_run_lists *lists = NULL;
    const char *equals = strchr(text, '=');
    size_t length = equals == NULL ? 0 : (size_t)(equals - text);
    if (length == 0 || length >= SET_NAME || equals[1] == '\0') {
        return error_set(err, ORR_EINVAL, "parameter '%s': \"%.100s\" is not KEY=VALUE, as in network.bandwidth=100",
                         row->name, text);
    }
    enum orr_status status = lists_of(options, &lists, err);
    if (status != ORR_OK) {
        return status;
    }
    size_t count = options->overrides == lists->sets ? options->override_count : 0;
    if (count == SETS_MOST) {
        return error_set(err, ORR_ERANGE, "parameter '%s' is given more than %d times", row->name, SETS_MOST);
    }
    memcpy(lists->names[count], text, length);
    lists->names[count][length] = '\0';
    lists->sets[count] = (struct orr_override){
        .key = lists->names[count], .value = equals + 1, .origin = "parameter 'set'", .line = (uint32_t)count + 1};
    options->overrides = lists->sets;
    options->override_count = count + 1;
    return ORR_OK;
}

bool param_run_write_set(const struct param *row, const void *from, size_t index, FILE *stream)
{
    const struct orr_run_options *options = from;
    (void)row;
    if (options->lists == NULL || options->overrides != options->lists->sets || index >= options->override_count) {
        return false;
    }
    const struct orr_override *set = &options->overrides[index];
    (void)fprintf(stream, "%s%s%s=%s", set->file != NULL ? set->file : "", set->file != NULL ? "." : "", set->key,
                  set->value);
    return true;
}

/* ---- links that go down ---- */

static enum orr_status bad_link_down(const struct param *row, const char *text, struct orr_error *err)
{
    return error_set(err, ORR_EINVAL,
                     "parameter '%s': \"%.100s\" is not A-B@TIME or A-B@TIME..TIME, as in 0-8@10us..1ms", row->name,
                     text);
}

/* Digits that fit; behind them, or NULL. */
static const char *read_node(const char *text, uint32_t *node)
{
    size_t length = strspn(text, "0123456789");
    unsigned long long number = length > 0 && length <= 10 ? strtoull(text, NULL, 10) : UINT64_MAX;
    *node = (uint32_t)number;
    return number <= UINT32_MAX ? text + length : NULL;
}

/* "A-B@TIME", "A-B@TIME..TIME". */
static enum orr_status parse_link_down(const struct param *row, const char *text, struct orr_link_down *down,
                                       struct orr_error *err)
{
    char from[64];
    char where[40];
    const char *at = strchr(text, '@');
    const char *dots = at == NULL ? NULL : strstr(at, "..");
    const char *end = read_node(text, &down->a);
    end = end != NULL && *end == '-' ? read_node(end + 1, &down->b) : NULL;
    size_t length = at == NULL ? 0 : dots == NULL ? strlen(at + 1) : (size_t)(dots - at - 1);
    if (at == NULL || end != at || length == 0 || length >= sizeof from) {
        return bad_link_down(row, text, err);
    }
    memcpy(from, at + 1, length);
    from[length] = '\0';
    (void)snprintf(where, sizeof where, "parameter '%s'", row->name);
    enum orr_status status = param_parse_time(where, from, "us", &down->down_ns, err);
    if (status == ORR_OK && dots != NULL) {
        status = param_parse_time(where, dots + 2, "us", &down->up_ns, err);
    }
    if (status == ORR_OK && down->up_ns <= down->down_ns) {
        return error_set(err, ORR_EINVAL, "%s: \"%.100s\" is up again before it is down", where, text);
    }
    return status;
}

enum orr_status param_run_read_link_down(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct orr_run_options *options = into;
    struct orr_run_lists *lists = NULL;
    struct orr_link_down down = {.up_ns = UINT64_MAX};
    enum orr_status status = parse_link_down(row, text, &down, err);
    if (status == ORR_OK) {
        status = lists_of(options, &lists, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    size_t count = options->link_downs == lists->downs ? options->link_down_count : 0;
    if (count == LINK_DOWNS_MOST) {
        return error_set(err, ORR_ERANGE, "parameter '%s' is given more than %d times", row->name, LINK_DOWNS_MOST);
    }
    lists->downs[count] = down;
    options->link_downs = lists->downs;
    options->link_down_count = count + 1;
    return ORR_OK;
}

bool param_run_write_link_down(const struct param *row, const void *from, size_t index, FILE *stream)
{
    const struct orr_run_options *options = from;
    (void)row;
    if (index >= options->link_down_count) {
        return false;
    }
    const struct orr_link_down *down = &options->link_downs[index];
    (void)fprintf(stream, "%" PRIu32 "-%" PRIu32 "@%" PRIu64 "ns", down->a, down->b, down->down_ns);
    if (down->up_ns != UINT64_MAX) {
        (void)fprintf(stream, "..%" PRIu64 "ns", down->up_ns);
    }
    return true;
}
