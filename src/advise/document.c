/* SPDX-License-Identifier: Apache-2.0 */
/* Lists grow in blocks of the document's account and are freed with it; only pointers of the finished lists are shown.
 */
#include "advise/advise.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/text_stream.h"
#include "param/param.h"
#include "report/advice.h"
#include "report/summary.h"

enum { EVIDENCE_MOST = 12, NUMBERS_MOST = 16 };

enum { GAIN_LEAST = 200 }; /* one part in so many; smaller gains are not worth a change */

struct advise_document *advise_document_new(uint64_t memory_limit, struct orr_error *err)
{
    struct advise_document *made = calloc(1, sizeof *made);
    if (made == NULL) {
        (void)error_set(err, ORR_ENOMEM, "out of memory: advice needs %zu bytes", sizeof *made);
        return NULL;
    }
    made->mem.limit = memory_limit;
    arena_init(&made->arena, &made->mem);
    made->shown.command = made->shown.network = made->shown.summary = "";
    return made;
}

void orr_advice_free(struct orr_advice *advice)
{
    struct advise_document *document = (struct advise_document *)(void *)advice;
    if (document != NULL) {
        mem_free(&document->mem, document->findings, document->finding_room * sizeof *document->findings);
        mem_free(&document->mem, document->suggestions, document->suggestion_room * sizeof *document->suggestions);
        mem_free(&document->mem, document->trials, document->trial_room * sizeof *document->trials);
        arena_free(&document->arena);
        free(document);
    }
}

const char *advise_text(struct advise_document *document, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int length = plain_vsnprintf(NULL, 0, format, list);
    char *text = length < 0 ? NULL : arena_alloc(&document->arena, (size_t)length + 1);
    if (text != NULL) {
        (void)plain_vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    va_end(list);
    document->failed = document->failed || text == NULL;
    return text != NULL ? text : "";
}

/* ---- findings ---- */

void advise_find(struct advise_document *document, const char *id, double share, const char *title)
{
    struct orr_advice *shown = &document->shown;
    if (!MEM_RESERVE(&document->mem, document->findings, document->finding_room, shown->finding_count + 1)) {
        document->failed = true;
        return;
    }
    const char **evidence = arena_zalloc(&document->arena, EVIDENCE_MOST * sizeof *evidence);
    struct orr_advice_number *numbers = arena_zalloc(&document->arena, NUMBERS_MOST * sizeof *numbers);
    document->failed = document->failed || evidence == NULL || numbers == NULL;
    document->findings[shown->finding_count++] =
        (struct orr_advice_finding){.id = id,
                                    .title = title,
                                    .severity = share >= 0.25 || share == 0 ? "high"
                                                : share >= 0.1              ? "medium"
                                                                            : "low",
                                    .share = share,
                                    .evidence = evidence,
                                    .numbers = numbers};
}

static struct orr_advice_finding *advise_last(struct advise_document *document)
{
    return document->failed || document->shown.finding_count == 0
               ? NULL
               : &document->findings[document->shown.finding_count - 1];
}

void advise_evidence(struct advise_document *document, const char *format, ...)
{
    struct orr_advice_finding *finding = advise_last(document);
    char text[600];
    va_list list;
    va_start(list, format);
    (void)plain_vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (finding != NULL && finding->evidence_count < EVIDENCE_MOST) {
        /* The list is the document's own; only readers see it as constant. */
        ((const char **)(uintptr_t)finding->evidence)[finding->evidence_count++] = advise_text(document, "%s", text);
    }
}

void advise_number(struct advise_document *document, const char *name, double value)
{
    struct orr_advice_finding *finding = advise_last(document);
    if (finding != NULL && finding->number_count < NUMBERS_MOST) {
        ((struct orr_advice_number *)(uintptr_t)finding->numbers)[finding->number_count++] =
            (struct orr_advice_number){name, value};
    }
}

/* ---- changes ---- */

struct advise_change *advise_change(struct advise_document *document, struct advise_changes *changes,
                                    const char *family, const char *kind, const char *title)
{
    if (changes->count == changes->room) {
        /* Blocks double in the arena: few, and gone with the document. */
        uint32_t room = changes->room == 0 ? 64 : 2 * changes->room;
        struct advise_change *larger = arena_alloc(&document->arena, room * sizeof *larger);
        if (larger == NULL) {
            document->failed = true;
        } else {
            if (changes->count > 0) {
                memcpy(larger, changes->list, changes->count * sizeof *larger);
            }
            changes->list = larger;
            changes->room = room;
        }
    }
    bool seen = changes->count < changes->room;
    struct advise_change *made = seen ? &changes->list[changes->count++] : &document->unseen;
    *made = (struct advise_change){.family = family, .kind = kind, .title = title};
    return made;
}

void advise_option(struct advise_change *change, const char *option, const char *value)
{
    if (change->setting_count < ADVISE_SETTINGS) {
        change->settings[change->setting_count++] = (struct advise_setting){option, NULL, value};
    }
}

void advise_set(struct advise_change *change, const char *key, const char *value)
{
    if (change->setting_count < ADVISE_SETTINGS) {
        change->settings[change->setting_count++] = (struct advise_setting){"set", key, value};
    }
}

const char *advise_twice(struct advise_document *document, const char *text)
{
    static const char *const units[] = {"Gbps", "Mbps", "Tbps", "GB/s"};
    const char *made = "";
    bool found = false;
    for (const char *at = text; at != NULL && *at != '\0';) {
        char *end = NULL;
        bool begins = (*at >= '0' && *at <= '9') && (at == text || strchr(" :,[=", at[-1]) != NULL);
        double value = begins ? plain_strtod(at, &end) : 0;
        size_t unit = 0;
        while (begins && unit < 4 && strncmp(end, units[unit], 4) != 0) {
            unit++;
        }
        if (begins && unit < 4) {
            made = advise_text(document, "%s%.10g%s", made, 2 * value, units[unit]);
            at = end + 4;
            found = true;
        } else {
            made = advise_text(document, "%s%c", made, *at);
            at++;
        }
    }
    return found ? made : NULL;
}

const char *advise_change_text(struct advise_document *document, const struct advise_change *change)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = text_stream_open(&text, &size);
    for (uint32_t i = 0; stream != NULL && i < change->setting_count; i++) {
        const struct advise_setting *setting = &change->settings[i];
        const char *word =
            setting->key == NULL ? setting->value : advise_text(document, "%s=%s", setting->key, setting->value);
        (void)fprintf(stream, "%s--%s", i == 0 ? "" : " ", setting->option);
        if (word != NULL) { /* of what may be left out the value stands behind an equals sign */
            (void)fputc(strcmp(word, "false") == 0 ? '=' : ' ', stream);
            param_write_word(word, stream);
        }
    }
    bool failed = stream == NULL || fclose(stream) != 0;
    const char *copy = failed ? NULL : arena_strndup(&document->arena, text, size);
    document->failed = document->failed || copy == NULL;
    free(text);
    return copy != NULL ? copy : "";
}

enum orr_status advise_command(struct advise_document *document, const char *name, const struct param *rows,
                               unsigned commands, const void *options, const void *initial, struct orr_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = text_stream_open(&text, &size);
    enum orr_status status = stream == NULL || fputs(name, stream) < 0
                                 ? error_set(err, ORR_ENOMEM, "out of memory for a command")
                                 : param_write_command(rows, commands, options, initial, stream, err);
    if (stream != NULL && fclose(stream) != 0 && status == ORR_OK) {
        status = error_set(err, ORR_ENOMEM, "out of memory for a command");
    }
    const char *copy = status == ORR_OK ? arena_strndup(&document->arena, text, size) : NULL;
    free(text);
    document->shown.command = copy != NULL ? copy : "";
    return status == ORR_OK && copy == NULL ? mem_error(&document->mem, "a command", err) : status;
}

/* ---- what becomes of them ---- */

bool advise_helps(const struct advise_change *change)
{
    return change->because == NULL && change->after_ns > 0 && change->after_ns < change->before_ns &&
           change->before_ns - change->after_ns >= change->before_ns / GAIN_LEAST;
}

const struct advise_change *advise_best_of(const struct advise_changes *changes, const char *family)
{
    const struct advise_change *best = NULL;
    for (uint32_t i = 0; i < changes->count; i++) {
        const struct advise_change *one = &changes->list[i];
        if (strcmp(one->family, family) == 0 && advise_helps(one) && (best == NULL || one->after_ns < best->after_ns)) {
            best = one;
        }
    }
    return best;
}

static void advise_suggest(struct advise_document *document, const struct advise_change *change)
{
    struct orr_advice *shown = &document->shown;
    if (!MEM_RESERVE(&document->mem, document->suggestions, document->suggestion_room, shown->suggestion_count + 1)) {
        document->failed = true;
        return;
    }
    struct advise_change told = *change;
    bool elsewhere = shown->network[0] != '\0' && strcmp(report_backend_name(change->backend), shown->network) != 0;
    const char *network = elsewhere ? report_backend_name(change->backend) : shown->network;
    if (elsewhere && told.setting_count < ADVISE_SETTINGS) {
        memmove(&told.settings[1], &told.settings[0], told.setting_count++ * sizeof told.settings[0]);
        told.settings[0] = (struct advise_setting){"backend", NULL, network};
    }
    const char *text = advise_change_text(document, &told);
    document->suggestions[shown->suggestion_count++] = (struct orr_advice_suggestion){
        .title = change->title,
        .kind = change->kind,
        .change = text,
        .repeat = advise_text(document, "%s %s", shown->command, text),
        .network = network,
        .before_ns = change->before_ns,
        .after_ns = change->after_ns,
        .gain = (double)(change->before_ns - change->after_ns) / (double)change->before_ns};
}

/* One row for a family of which nothing helps: the first of it, and how many more. */
static void advise_give_up(struct advise_document *document, const struct advise_changes *changes, uint32_t first)
{
    struct orr_advice *shown = &document->shown;
    const struct advise_change *one = &changes->list[first];
    uint32_t more = 0;
    const char *because = one->because;
    for (uint32_t i = first + 1; i < changes->count; i++) {
        bool same = strcmp(changes->list[i].family, one->family) == 0;
        more += same ? 1 : 0;
        because = same && because != NULL && changes->list[i].because == NULL ? NULL : because;
    }
    if (!MEM_RESERVE(&document->mem, document->trials, document->trial_room, shown->trial_count + 1)) {
        document->failed = true;
        return;
    }
    document->trials[shown->trial_count++] = (struct orr_advice_trial){
        .title = more == 0 ? one->title : advise_text(document, "%s, and %u more of the kind", one->title, more),
        .change = advise_change_text(document, one),
        .because = because != NULL ? because : "no gain"};
}

void advise_conclude(struct advise_document *document, const struct advise_changes *changes)
{
    for (uint32_t i = 0; i < changes->count; i++) {
        const char *family = changes->list[i].family;
        bool met = false;
        for (uint32_t k = 0; k < i; k++) {
            met = met || strcmp(changes->list[k].family, family) == 0;
        }
        const struct advise_change *best = met ? NULL : advise_best_of(changes, family);
        if (best != NULL) {
            advise_suggest(document, best);
        } else if (!met) {
            advise_give_up(document, changes, i);
        }
    }
}

static int advise_by_gain(const void *a, const void *b)
{
    const struct orr_advice_suggestion *one = a;
    const struct orr_advice_suggestion *other = b;
    int order = (one->gain < other->gain) - (one->gain > other->gain);
    return order != 0 ? order : strcmp(one->change, other->change);
}

static int advise_rank(const char *severity)
{
    return strcmp(severity, "high") == 0 ? 0 : strcmp(severity, "medium") == 0 ? 1 : 2;
}

static int advise_by_share(const void *a, const void *b)
{
    const struct orr_advice_finding *one = a;
    const struct orr_advice_finding *other = b;
    int order = advise_rank(one->severity) - advise_rank(other->severity);
    order = order != 0 ? order : (one->share < other->share) - (one->share > other->share);
    return order != 0 ? order : strcmp(one->id, other->id);
}

enum orr_status advise_finish(struct advise_document *document, struct orr_error *err)
{
    struct orr_advice *shown = &document->shown;
    if (document->failed) {
        return mem_error(&document->mem, "advice", err);
    }
    if (shown->suggestion_count > 0) {
        qsort(document->suggestions, shown->suggestion_count, sizeof *document->suggestions, advise_by_gain);
    }
    if (shown->finding_count > 0) {
        qsort(document->findings, shown->finding_count, sizeof *document->findings, advise_by_share);
    }
    shown->findings = document->findings;
    shown->suggestions = document->suggestions;
    shown->trials = document->trials;
    return ORR_OK;
}

void orr_advise_options_init(struct orr_advise_options *options)
{
    *options = (struct orr_advise_options){.size = sizeof *options, .tries = 200};
}

enum orr_status orr_advice_print(const struct orr_advice *advice, FILE *stream, struct orr_error *err)
{
    report_advice_text(advice, stream);
    return error_of_stream(stream, "the advice", err);
}

enum orr_status orr_advice_json(const struct orr_advice *advice, FILE *stream, struct orr_error *err)
{
    report_advice_json(advice, stream);
    return error_of_stream(stream, "the advice", err);
}
