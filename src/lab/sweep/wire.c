/* SPDX-License-Identifier: Apache-2.0 */
/* One function a struct, for both ways: what is written and what is read cannot come apart. Numbers are varints, a text
 * is its length plus 1 and its bytes, or 0 for none. */
#include "lab/sweep/wire.h"

#include <stdlib.h>
#include <string.h>

#include "io/wire.h"

struct carrying {
    struct etz_bytes *into;  /* NULL: bytes are read */
    const uint8_t *at, *end; /* what is left of them */
    struct arena *arena;     /* for what is read */
    bool failed;
};

static void carry_u64(struct carrying *c, uint64_t *value)
{
    if (c->into != NULL) {
        etz_bytes_number(c->into, *value);
        return;
    }
    const uint8_t *next = c->failed ? NULL : wire_varint(c->at, c->end, value);
    c->failed = next == NULL;
    c->at = c->failed ? c->end : next;
    *value = c->failed ? 0 : *value;
}

static void carry_u32(struct carrying *c, uint32_t *value)
{
    uint64_t wide = *value;
    carry_u64(c, &wide);
    c->failed = c->failed || wide > UINT32_MAX;
    *value = (uint32_t)wide;
}

static void carry_text(struct carrying *c, const char **text)
{
    uint64_t length = c->into != NULL && *text != NULL ? strlen(*text) + 1 : 0;
    carry_u64(c, &length);
    if (c->into != NULL) {
        etz_bytes_put(c->into, *text, length > 0 ? (size_t)length - 1 : 0);
        return;
    }
    *text = NULL;
    if (length == 0 || c->failed) {
        return;
    }
    c->failed = length - 1 > (uint64_t)(c->end - c->at) || memchr(c->at, '\0', (size_t)length - 1) != NULL;
    *text = c->failed ? NULL : arena_strndup(c->arena, (const char *)c->at, (size_t)length - 1);
    c->failed = c->failed || *text == NULL;
    c->at += c->failed ? 0 : length - 1;
}

/* Room for the items of a list, each of which has a byte at least. */
static void *carry_list(struct carrying *c, uint32_t *count, const void *items, size_t item_bytes)
{
    carry_u32(c, count);
    if (c->into != NULL) {
        return (void *)(uintptr_t)items; /* only read */
    }
    c->failed = c->failed || *count > (uint64_t)(c->end - c->at);
    void *made = c->failed ? NULL : arena_zalloc(c->arena, ((size_t)*count + 1) * item_bytes);
    c->failed = made == NULL;
    *count = c->failed ? 0 : *count;
    return made;
}

static void carry_manifest(struct carrying *c, struct lab_manifest *manifest)
{
    const char **texts[] = {&manifest->kind,         &manifest->command,    &manifest->folder,
                            &manifest->tag,          &manifest->backend,    &manifest->topology,
                            &manifest->logical_dims, &manifest->comm_scale, &manifest->fingerprint};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        carry_text(c, texts[i]);
    }
    carry_u64(c, &manifest->seed);
    carry_u32(c, &manifest->world);
    carry_u32(c, &manifest->source_world);
    struct lab_input *inputs = carry_list(c, &manifest->input_count, manifest->inputs, sizeof *inputs);
    for (uint32_t i = 0; i < manifest->input_count; i++) {
        carry_text(c, &inputs[i].role);
        carry_text(c, &inputs[i].path);
        carry_text(c, &inputs[i].hash);
        carry_u64(c, &inputs[i].bytes);
    }
    struct lab_setting *settings = carry_list(c, &manifest->setting_count, manifest->settings, sizeof *settings);
    for (uint32_t i = 0; i < manifest->setting_count; i++) {
        carry_text(c, &settings[i].key);
        carry_text(c, &settings[i].value);
    }
    manifest->inputs = inputs;
    manifest->settings = settings;
}

static void carry_state(struct carrying *c, enum lab_run_state *state)
{
    uint32_t value = (uint32_t)*state;
    carry_u32(c, &value);
    c->failed = c->failed || value >= LAB_RUN_STATE_COUNT;
    *state = c->failed ? LAB_RUN_FAILED : (enum lab_run_state)value;
}

static void carry_rank(struct carrying *c, struct lab_rank_row *rank)
{
    uint32_t finished = rank->finished;
    uint64_t *const figures[] = {&rank->finish_ns, &rank->compute_ns, &rank->exposed_comm_ns, &rank->exposed_other_ns,
                                 &rank->idle_ns};
    carry_u32(c, &finished);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        carry_u64(c, figures[i]);
    }
    rank->finished = finished != 0;
}

static void carry_results(struct carrying *c, struct lab_results *results)
{
    uint64_t *const figures[] = {&results->total_ns, &results->steps,  &results->comm_ns,  &results->compute_ns,
                                 &results->wall_ms,  &results->events, &results->messages, &results->peak_bytes};
    carry_state(c, &results->state);
    carry_text(c, &results->error);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        carry_u64(c, figures[i]);
    }
    struct lab_rank_row *ranks = carry_list(c, &results->rank_count, results->ranks, sizeof *ranks);
    for (uint32_t i = 0; i < results->rank_count; i++) {
        struct lab_rank_row row = ranks[i];
        carry_rank(c, &row);
        if (c->into == NULL) {
            ranks[i] = row;
        }
    }
    struct lab_collective_row *rows = carry_list(c, &results->collective_count, results->collectives, sizeof *rows);
    for (uint32_t i = 0; i < results->collective_count; i++) {
        struct lab_collective_row row = rows[i];
        uint64_t *const numbers[] = {&row.bytes, &row.count, &row.total_ns, &row.min_ns, &row.max_ns};
        carry_text(c, &row.type);
        carry_u32(c, &row.group_size);
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            carry_u64(c, numbers[k]);
        }
        if (c->into == NULL) {
            rows[i] = row;
        }
    }
    results->ranks = ranks;
    results->collectives = rows;
}

static void carry_outcome(struct carrying *c, struct lab_outcome *outcome)
{
    uint64_t *const figures[] = {&outcome->total_ns, &outcome->comm_ns, &outcome->compute_ns, &outcome->exposed_comm_ns,
                                 &outcome->wall_ms,  &outcome->events,  &outcome->messages};
    carry_state(c, &outcome->state);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        carry_u64(c, figures[i]);
    }
    carry_u32(c, &outcome->world);
    carry_u32(c, &outcome->source_world);
}

/* A status, which is a small number; and why, which is a line. */
static void carry_error(struct carrying *c, enum orr_status *recording, struct orr_error *err)
{
    uint32_t kept = (uint32_t)*recording;
    uint32_t status = (uint32_t)err->status;
    const char *text = err->text;
    carry_u32(c, &kept);
    carry_u32(c, &status);
    carry_text(c, &text);
    if (c->into == NULL) {
        *recording = (enum orr_status)kept;
        err->status = (enum orr_status)status;
        (void)snprintf(err->text, sizeof err->text, "%s", text == NULL ? "" : text);
    }
}

static void carry_made(struct carrying *c, struct sweep_made *made)
{
    carry_u64(c, &made->point);
    carry_u64(c, &made->steps);
    carry_error(c, &made->recording, &made->err);
    carry_outcome(c, &made->outcome);
    if (made->recording == ORR_OK) {
        carry_manifest(c, &made->record.manifest);
        carry_results(c, &made->record.results);
    }
    uint32_t warnings = made->warnings.count;
    carry_u32(c, &warnings);
    for (uint32_t i = 0; i < warnings && !c->failed; i++) {
        struct orr_error unsaid = {0};
        const char *line = c->into != NULL ? made->warnings.lines[i] : NULL;
        carry_text(c, &line);
        c->failed =
            c->failed || line == NULL || (c->into == NULL && notes_add(&made->warnings, &unsaid, "%s", line) != ORR_OK);
    }
}

bool sweep_wire_put(const struct sweep_made *made, struct etz_bytes *bytes)
{
    struct sweep_made copy = *made; /* carried as it is: nothing behind it is written to */
    struct carrying c = {.into = bytes};
    carry_made(&c, &copy);
    return !c.failed && !bytes->refused;
}

struct sweep_made *sweep_wire_take(const uint8_t *bytes, size_t size)
{
    struct sweep_made *made = sweep_made_new(0);
    struct carrying c = {.at = bytes, .end = bytes + size};
    if (made == NULL) {
        return NULL;
    }
    c.arena = &made->arena;
    carry_made(&c, made);
    if (c.failed || c.at != c.end) {
        sweep_made_free(made);
        return NULL;
    }
    return made;
}
