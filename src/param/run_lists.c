/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of a run that are more than one value: lists that grow with every time they are given. */
#include "param/run.h"

#include "base/plain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINK_DOWNS_MOST = 64, SETS_MOST = 32, SET_NAME = 80, JOBS_MOST = 64, JOB_TEXT = 512 };

/* What orr_run_options.lists points to. */
struct orr_run_lists {
    struct orr_link_down downs[LINK_DOWNS_MOST];
    struct orr_override sets[SETS_MOST];
    char names[SETS_MOST][SET_NAME];
    struct orr_job jobs[JOBS_MOST];
    char job_texts[JOBS_MOST][JOB_TEXT];
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
    if (options->jobs == options->lists->jobs) {
        options->jobs = NULL;
        options->job_count = 0;
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

/* ---- several jobs ---- */

/* "A=traces/a:0-63"; what follows the last colon is ranks if it can be. */
enum orr_status param_run_read_job(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct orr_run_options *options = into;
    struct orr_run_lists *lists = NULL;
    enum orr_status status = lists_of(options, &lists, err);
    if (status != ORR_OK) {
        return status;
    }
    size_t count = options->jobs == lists->jobs ? options->job_count : 0;
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0' || strlen(text) >= JOB_TEXT) {
        return error_set(err, ORR_EINVAL, "parameter '%s': \"%.100s\" is not NAME=PREFIX or NAME=PREFIX:RANKS",
                         row->name, text);
    }
    if (count == JOBS_MOST) {
        return error_set(err, ORR_ERANGE, "parameter '%s' is given more than %d times", row->name, JOBS_MOST);
    }
    char *own = lists->job_texts[count];
    memcpy(own, text, strlen(text) + 1);
    char *colon = strrchr(own, ':');
    bool ranked = colon != NULL && colon[1] != '\0' && colon[1 + strspn(colon + 1, "0123456789+-")] == '\0';
    own[equals - text] = '\0';
    if (ranked) {
        *colon = '\0';
    }
    lists->jobs[count] =
        (struct orr_job){.name = own, .workload = own + (equals - text) + 1, .ranks = ranked ? colon + 1 : NULL};
    for (size_t i = 0; i < count; i++) {
        if (strcmp(lists->jobs[i].name, own) == 0) {
            return error_set(err, ORR_EINVAL, "parameter '%s': there are two jobs %.60s", row->name, own);
        }
    }
    options->jobs = lists->jobs;
    options->job_count = count + 1;
    return ORR_OK;
}

bool param_run_write_job(const struct param *row, const void *from, size_t index, FILE *stream)
{
    const struct orr_run_options *options = from;
    (void)row;
    if (index >= options->job_count) {
        return false;
    }
    const struct orr_job *job = &options->jobs[index];
    (void)fprintf(stream, "%s=%s%s%s", job->name, job->workload, job->ranks != NULL ? ":" : "",
                  job->ranks != NULL ? job->ranks : "");
    return true;
}

/* ---- chance ---- */

/* Of messages: a number alone. */
static const struct param message_jitter = {"jitter", .kind = PARAM_REAL,
                                            .place = offsetof(struct orr_run_options, jitter), .initial = "0"};

static const char *const noise_kinds[] = {"none", "normal", "lognormal", "uniform", "exponential", NULL};
static const char *const noise_pers[] = {"node", "rank", "step", NULL};

/* The index of the `length` bytes in the list of words; that of its end: none of them. */
static size_t param_word_index(const char *const *words, const char *text, size_t length)
{
    size_t i = 0;
    while (words[i] != NULL && (strlen(words[i]) != length || strncmp(words[i], text, length) != 0)) {
        i++;
    }
    return i;
}

/* "5%", "0.05". */
static const char *read_noise_spread(const char *text, double *spread)
{
    char *end = NULL;
    if (strspn(text, "0123456789.") == 0) {
        return NULL;
    }
    *spread = plain_strtod(text, &end);
    *spread = *end == '%' ? *spread / 100.0 : *spread;
    return *end == '%' ? end + 1 : end;
}

enum orr_status param_noise_check(const struct orr_noise *noise, struct orr_error *err)
{
    double most = noise->kind == ORR_NOISE_UNIFORM ? 1.0 : 10.0;
    if ((unsigned)noise->kind > ORR_NOISE_EXPONENTIAL || (unsigned)noise->per > ORR_NOISE_PER_STEP) {
        return error_set(err, ORR_EINVAL, "parameter 'jitter': %d and %d are no kind of chance", (int)noise->kind,
                         (int)noise->per);
    }
    return noise->spread >= 0.0 && noise->spread <= most
               ? ORR_OK
               : error_set(err, ORR_ERANGE, "parameter 'jitter': a spread of %g is not between 0 and %g", noise->spread,
                           most);
}

enum orr_status param_run_read_jitter(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct orr_run_options *options = into;
    const char *colon = strchr(text, ':');
    size_t kind = param_word_index(noise_kinds, text, colon != NULL ? (size_t)(colon - text) : strlen(text));
    if (colon == NULL && noise_kinds[kind] == NULL) {
        return param_read(&message_jitter, NULL, text, into, err);
    }
    struct orr_noise noise = {0};
    const char *end = colon != NULL ? read_noise_spread(colon + 1, &noise.spread) : NULL;
    size_t per = end != NULL && *end == ':' ? param_word_index(noise_pers, end + 1, strlen(end + 1)) : 0;
    bool ends = end != NULL && (*end == '\0' || *end == ':');
    if (noise_kinds[kind] == NULL || kind == 0 || !ends || noise_pers[per] == NULL) {
        return error_set(err, ORR_EINVAL,
                         "parameter '%s': \"%.60s\" is neither a number nor normal:5%%, lognormal:5%%, uniform:5%% or "
                         "exponential:5%%, with :node, :rank or :step behind it",
                         row->name, text);
    }
    noise.kind = (enum orr_noise_kind)kind;
    noise.per = (enum orr_noise_per)per;
    enum orr_status status = param_noise_check(&noise, err);
    options->noise = status == ORR_OK ? noise : options->noise;
    return status;
}

bool param_run_write_jitter(const struct param *row, const void *from, size_t index, FILE *stream)
{
    const struct orr_run_options *options = from;
    const struct orr_noise *noise = &options->noise;
    (void)row;
    if (options->jitter != 0.0 && index == 0) {
        return param_write(&message_jitter, from, 0, stream);
    }
    if (noise->kind == ORR_NOISE_NONE || index > (options->jitter != 0.0 ? 1 : 0)) {
        return false;
    }
    (void)plain_fprintf(stream, "%s:%.15g:%s", noise_kinds[noise->kind], noise->spread, noise_pers[noise->per]);
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
