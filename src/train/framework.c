/* SPDX-License-Identifier: Apache-2.0 */
/* The rows are made of presets/frameworks/ by the build. */
#include "train/framework.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/words.h"
#include "io/json_write.h"
#include "orrery/train.h"
#include "presets.h"

#define FRAMEWORK_FIELDS(...) {__VA_ARGS__},
#define FRAMEWORK_X(fields)   FRAMEWORK_FIELDS fields

static const struct framework frameworks[] = {PRESET_FRAMEWORKS(FRAMEWORK_X)};

enum { FRAMEWORK_COUNT = sizeof frameworks / sizeof frameworks[0] };

const struct framework *framework_at(size_t index)
{
    return index < FRAMEWORK_COUNT ? &frameworks[index] : NULL;
}

enum orr_status framework_find(const char *name, const struct framework **framework, struct orr_error *err)
{
    const char *known[FRAMEWORK_COUNT + 1] = {NULL};
    for (size_t i = 0; i < FRAMEWORK_COUNT; i++) {
        known[i] = frameworks[i].name;
        if (strcmp(frameworks[i].name, name) == 0 || words_have(frameworks[i].synonyms, name, strlen(name), false)) {
            *framework = &frameworks[i];
            return ORR_OK;
        }
    }
    const char *near = error_nearest(name, known);
    if (near != NULL) {
        return error_set(err, ORR_EINVAL, "parameter 'framework': there is no '%s'; the nearest is '%s'", name, near);
    }
    char all[256] = "";
    for (size_t i = 0, length = 0; i < FRAMEWORK_COUNT && length < sizeof all; i++) {
        length += (size_t)snprintf(all + length, sizeof all - length, "%s%s", i > 0 ? ", " : "", frameworks[i].name);
    }
    return error_set(err, ORR_EINVAL, "parameter 'framework': there is no '%s'; there are %s", name, all);
}

/* ---- numbers by name ---- */

#define NUMBER(name, field)                                                                                            \
    {                                                                                                                  \
        name, offsetof(struct framework, field)                                                                        \
    }

static const struct {
    const char *name;
    size_t place;
} framework_numbers[] = {
    NUMBER("gradient_bytes", gradient_bytes),
    NUMBER("accumulate_bytes", accumulate_bytes),
    NUMBER("optimizer_bytes", optimizer_bytes),
    NUMBER("state_bytes", state_bytes),
    NUMBER("bucket_bytes", bucket_bytes),
    NUMBER("logit_bytes", logit_bytes),
    NUMBER("kept_states", kept_states),
    NUMBER("queued_states", queued_states),
    NUMBER("workspace", workspace),
    NUMBER("usable", usable),
    NUMBER("gemm", gemm),
    NUMBER("attention", attention),
    NUMBER("stream", stream),
    NUMBER("selective", selective),
    NUMBER("selective_keeps", selective_keeps),
    NUMBER("experts", experts),
    NUMBER("attention_hopper", attention_hopper),
    NUMBER("host_layer", host_layer_us),
    NUMBER("host_op", host_op_us),
    NUMBER("host_power", host_power),
    NUMBER("host_backward", host_backward),
    NUMBER("host_tp", host_tp_us),
    NUMBER("host_micro", host_micro_us),
    NUMBER("host_step", host_step_us),
    NUMBER("host_pipeline", host_pipeline_us),
    NUMBER("host_zero", host_zero_us),
    NUMBER("comm", comm),
    NUMBER("comm_rank", comm_rank_us),
    NUMBER("overlap_tp", overlap_tp),
    NUMBER("overlap_dp", overlap_dp),
};

enum { FRAMEWORK_NUMBERS = sizeof framework_numbers / sizeof framework_numbers[0] };

static enum orr_status framework_no_number(const char *name, size_t length, struct orr_error *err)
{
    const char *known[FRAMEWORK_NUMBERS + 1] = {NULL};
    char word[48];
    (void)snprintf(word, sizeof word, "%.*s", (int)length, name);
    for (size_t i = 0; i < FRAMEWORK_NUMBERS; i++) {
        known[i] = framework_numbers[i].name;
    }
    const char *near = error_nearest(word, known);
    return error_set(err, ORR_EINVAL, "parameter 'framework-set': a framework has no number '%s'%s%s%s", word,
                     near != NULL ? "; the nearest is '" : "", near != NULL ? near : "", near != NULL ? "'" : "");
}

enum orr_status framework_set(struct framework *framework, const char *text, struct orr_error *err)
{
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, "=,"), i = 0;
        while (i < FRAMEWORK_NUMBERS &&
               (strlen(framework_numbers[i].name) != length || memcmp(framework_numbers[i].name, at, length) != 0)) {
            i++;
        }
        if (i == FRAMEWORK_NUMBERS) {
            return framework_no_number(at, length, err);
        }
        char *end = NULL;
        double value = at[length] == '=' ? strtod(at + length + 1, &end) : -1;
        if (end == NULL || (*end != ',' && *end != '\0') || !(value >= 0 && value <= 1e9)) {
            return error_set(err, ORR_EINVAL,
                             "parameter 'framework-set': '%s' wants a number from 0 to 10^9 behind '='",
                             framework_numbers[i].name);
        }
        *(double *)(void *)((char *)framework + framework_numbers[i].place) = value;
        at = end + (*end == ',');
    }
    return ORR_OK;
}

/* ---- releases ---- */

/* Like 26.04.01: numbers with points between them, up to a blank or the end. False: it is none. */
static bool framework_read_release(const char *text, const char *ends, double *release)
{
    double unit = 1;
    *release = 0;
    for (const char *at = text;; at++) {
        char *end = NULL;
        if (*at < '0' || *at > '9') {
            return false;
        }
        unsigned long part = strtoul(at, &end, 10);
        if (part > 9999 || unit > 1e8) {
            return false;
        }
        *release += (double)part / unit;
        unit *= 1e4;
        if (*end == '\0' || strchr(ends, *end) != NULL) {
            return true;
        }
        if (*end != '.') {
            return false;
        }
        at = end;
    }
}

bool framework_is_release(const char *text)
{
    double release;
    return framework_read_release(text, " ,;|)", &release);
}

enum orr_status framework_take_release(struct framework *framework, const char *release, struct orr_error *err)
{
    double asked = 0, from = 0, factor = 0;
    if (release == NULL) {
        return ORR_OK;
    }
    if (!framework_read_release(release, " ,;|)", &asked)) {
        return error_set(err, ORR_EINVAL, "parameter 'release': \"%.40s\" is none; one is 26.04 or 25.11.01", release);
    }
    for (const char *at = framework->releases; at != NULL && *at != '\0'; at += strspn(at, " ")) {
        if (framework_read_release(at, "=", &from) && (factor == 0 || from <= asked)) {
            factor = plain_strtod(strchr(at, '=') + 1, NULL);
        }
        at += strcspn(at, " ");
    }
    double *const times[] = {&framework->gemm,          &framework->attention,     &framework->stream,
                             &framework->comm,          &framework->host_layer_us, &framework->host_op_us,
                             &framework->host_micro_us, &framework->host_step_us,  &framework->host_tp_us};
    for (size_t i = 0; factor > 0 && i < sizeof times / sizeof times[0]; i++) {
        *times[i] *= factor;
    }
    return ORR_OK;
}

void framework_take_graphs(struct framework *framework)
{
    framework->host_layer_us = framework->host_op_us = framework->host_tp_us = 0;
    framework->host_micro_us = framework->host_pipeline_us = 0;
}

enum orr_status orr_train_frameworks_json(FILE *stream, struct orr_error *err)
{
    struct json_writer writer;
    json_write_begin(&writer, stream);
    json_write_object(&writer, false);
    json_write_key(&writer, "frameworks");
    json_write_array(&writer, false);
    for (size_t i = 0; i < FRAMEWORK_COUNT; i++) {
        json_write_object(&writer, true);
        json_write_member_string(&writer, "name", frameworks[i].name);
        json_write_member_string(&writer, "synonyms", frameworks[i].synonyms);
        json_write_member_string(&writer, "source", frameworks[i].source);
        json_write_object_end(&writer);
    }
    json_write_array_end(&writer);
    json_write_object_end(&writer);
    json_write_end(&writer);
    return error_of_stream(stream, "the list of frameworks", err);
}
