/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between a pair are met in the order of sending, so each pair has a queue: a list through one array of
 * messages. Members take turns, each going as far as it can, until nobody moves; an algorithm that needs no more than
 * its messages gets to its end whatever the order of the turns.
 */
#include "api/doctor/stage.h"

#include <inttypes.h>
#include <string.h>

enum { NO_MESSAGE = UINT32_MAX };

struct message {
    uint64_t blocks, bytes;
    int64_t *values; /* those of the blocks, lowest first */
    uint32_t next;
};

struct queue {
    uint32_t first, last;
};

struct post {
    struct message *messages;
    struct queue *queues; /* from x to */
    uint32_t count;
};

enum orr_status doctor_stage_begin(struct doctor_stage *stage, uint32_t members, uint32_t blocks, struct arena *arena,
                                   struct orr_error *err)
{
    struct doctor_member *made = arena_zalloc(arena, members * sizeof *made);
    for (uint32_t i = 0; i < members && made != NULL; i++) {
        made[i].values = arena_zalloc(arena, (size_t)blocks * DOCTOR_BLOCK_BYTES);
        made = made[i].values == NULL ? NULL : made;
    }
    if (made == NULL) {
        return mem_error(arena->mem, "a collective acted out", err);
    }
    *stage = (struct doctor_stage){.arena = arena, .members = made, .member_count = members, .block_count = blocks};
    return ORR_OK;
}

static void doctor_stage_add(struct doctor_stage *stage, uint32_t member, struct doctor_move move)
{
    struct doctor_member *who = &stage->members[member];
    if (who->count == who->capacity) {
        uint32_t capacity = who->capacity == 0 ? 16 : 2 * who->capacity;
        struct doctor_move *more = arena_alloc(stage->arena, capacity * sizeof *more);
        if (more == NULL) {
            stage->refused = true;
            return;
        }
        if (who->count > 0) {
            memcpy(more, who->moves, who->count * sizeof *more);
        }
        who->moves = more;
        who->capacity = capacity;
    }
    who->moves[who->count++] = move;
}

void doctor_stage_send(struct doctor_stage *stage, uint32_t member, uint32_t peer, uint64_t blocks, uint64_t bytes)
{
    stage->messages++;
    doctor_stage_add(stage, member,
                     (struct doctor_move){.blocks = blocks, .bytes = bytes, .peer = peer, .sends = true});
}

void doctor_stage_receive(struct doctor_stage *stage, uint32_t member, uint32_t peer, enum doctor_receive how,
                          uint64_t bytes)
{
    doctor_stage_add(stage, member, (struct doctor_move){.bytes = bytes, .peer = peer, .adds = how == DOCTOR_ADDS});
}

static enum orr_status post_letter(struct doctor_stage *stage, struct post *post, uint32_t member,
                                   const struct doctor_move *move, struct orr_error *err)
{
    struct message *message = &post->messages[post->count];
    uint32_t blocks = (uint32_t)__builtin_popcountll(move->blocks);
    if (move->bytes != (uint64_t)blocks * DOCTOR_BLOCK_BYTES) {
        return error_set(err, ORR_EFAIL,
                         "member %" PRIu32 " sends %" PRIu32 " blocks of %d bytes to member %" PRIu32
                         " in a message of %" PRIu64 " bytes",
                         member, blocks, DOCTOR_BLOCK_BYTES, move->peer, move->bytes);
    }
    *message = (struct message){.blocks = move->blocks, .bytes = move->bytes, .next = NO_MESSAGE};
    message->values = arena_alloc(stage->arena, (size_t)blocks * DOCTOR_BLOCK_BYTES);
    if (message->values == NULL) {
        return mem_error(stage->arena->mem, "a collective acted out", err);
    }
    int64_t *to = message->values;
    for (uint32_t b = 0; b < stage->block_count; b++) {
        if ((move->blocks >> b & 1) != 0) {
            memcpy(to, doctor_stage_values(stage, member, b), DOCTOR_BLOCK_BYTES);
            to += DOCTOR_VALUES;
        }
    }
    struct queue *queue = &post->queues[(size_t)member * stage->member_count + move->peer];
    *(queue->first == NO_MESSAGE ? &queue->first : &post->messages[queue->last].next) = post->count;
    queue->last = post->count++;
    if (post->count == stage->spoiled && blocks > 0) {
        message->values[0]++;
    }
    return ORR_OK;
}

static void open_letter(struct doctor_stage *stage, uint32_t member, const struct message *message, bool adds)
{
    const int64_t *from = message->values;
    for (uint32_t b = 0; b < stage->block_count; b++) {
        if ((message->blocks >> b & 1) == 0) {
            continue;
        }
        int64_t *to = doctor_stage_values(stage, member, b);
        for (unsigned k = 0; k < DOCTOR_VALUES; k++) {
            to[k] = adds ? to[k] + from[k] : from[k];
        }
        from += DOCTOR_VALUES;
    }
}

/* One move, if it can be made. */
static enum orr_status go_on(struct doctor_stage *stage, struct post *post, uint32_t member, bool *moved,
                             struct orr_error *err)
{
    struct doctor_member *who = &stage->members[member];
    const struct doctor_move *move = &who->moves[who->at];
    *moved = true;
    if (move->sends) {
        who->at++;
        return post_letter(stage, post, member, move, err);
    }
    struct queue *queue = &post->queues[(size_t)move->peer * stage->member_count + member];
    if (queue->first == NO_MESSAGE) {
        *moved = false;
        return ORR_OK;
    }
    const struct message *message = &post->messages[queue->first];
    if (message->bytes != move->bytes) {
        return error_set(err, ORR_EFAIL,
                         "member %" PRIu32 " expects %" PRIu64 " bytes from member %" PRIu32 " and gets %" PRIu64,
                         member, move->bytes, move->peer, message->bytes);
    }
    open_letter(stage, member, message, move->adds);
    queue->first = message->next;
    who->at++;
    return ORR_OK;
}

static enum orr_status take_turns(struct doctor_stage *stage, struct post *post, struct orr_error *err)
{
    bool anyone = true;
    while (anyone) {
        anyone = false;
        for (uint32_t member = 0; member < stage->member_count; member++) {
            bool moved = true;
            while (moved && stage->members[member].at < stage->members[member].count) {
                enum orr_status status = go_on(stage, post, member, &moved, err);
                if (status != ORR_OK) {
                    return status;
                }
                anyone = anyone || moved;
            }
        }
    }
    return ORR_OK;
}

static enum orr_status check_end(const struct doctor_stage *stage, const struct post *post, struct orr_error *err)
{
    for (uint32_t member = 0; member < stage->member_count; member++) {
        const struct doctor_member *who = &stage->members[member];
        if (who->at < who->count) {
            return error_set(err, ORR_EFAIL, "member %" PRIu32 " waits for ever for a message from member %" PRIu32,
                             member, who->moves[who->at].peer);
        }
    }
    const struct queue *queue = post->queues;
    for (uint32_t from = 0; from < stage->member_count; from++) {
        for (uint32_t to = 0; to < stage->member_count; to++, queue++) {
            if (queue->first != NO_MESSAGE) {
                return error_set(err, ORR_EFAIL,
                                 "a message from member %" PRIu32 " to member %" PRIu32 " is never received", from, to);
            }
        }
    }
    return ORR_OK;
}

enum orr_status doctor_stage_run(struct doctor_stage *stage, struct orr_error *err)
{
    size_t pairs = (size_t)stage->member_count * stage->member_count;
    struct post post = {.messages = arena_alloc(stage->arena, stage->messages * sizeof *post.messages),
                        .queues = arena_alloc(stage->arena, pairs * sizeof *post.queues)};
    if (stage->refused || post.messages == NULL || post.queues == NULL) {
        return mem_error(stage->arena->mem, "a collective acted out", err);
    }
    memset(post.queues, 0xff, pairs * sizeof *post.queues); /* NO_MESSAGE */
    enum orr_status status = take_turns(stage, &post, err);
    return status == ORR_OK ? check_end(stage, &post, err) : status;
}
