/* SPDX-License-Identifier: Apache-2.0 */
/* A training step in a browser: one question, one document, as `orrery train --json -` writes it. */
#include <stdlib.h>
#include <string.h>

#include <emscripten.h>

#include "io/json_write.h"
#include "orrery.h"

/* Lines of NAME=VALUE, the parameters of orrery train. */
static enum orr_status step_read(struct orr_train_options *options, char *lines, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (char *next = lines; status == ORR_OK && next != NULL && *next != '\0';) {
        char *line = next;
        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        char *value = strchr(line, '=');
        if (value != NULL) {
            *value++ = '\0';
        }
        status = orr_train_set(options, line, value, err);
    }
    return status;
}

/* The answer, or {"error": ...}; the caller frees it. `lines` is changed. What predictions are made of is read once. */
EMSCRIPTEN_KEEPALIVE char *orrery_train(char *lines)
{
    static struct orr_trainer *trainer;
    struct orr_train_options options;
    struct orr_train_result result;
    struct orr_error err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = NULL;
    orr_train_options_init(&options);
    enum orr_status status = trainer == NULL ? orr_trainer_open(&trainer, &err) : ORR_OK;
    status = status == ORR_OK ? step_read(&options, lines, &err) : status;
    status = status == ORR_OK ? orr_trainer_step(trainer, &options, &result, &err) : status;
    if (orr_stream_text(&text, &size, &stream, &(struct orr_error){0}) != ORR_OK) {
        return NULL;
    }
    status = status == ORR_OK ? orr_train_json(&result, stream, &err) : status;
    if (status != ORR_OK) {
        struct json_writer json;
        json_write_begin(&json, stream);
        json_write_object(&json, true);
        json_write_member_string(&json, "error", err.text);
        json_write_object_end(&json);
        json_write_end(&json);
    }
    return orr_stream_close(stream, &err) == ORR_OK ? text : NULL;
}
