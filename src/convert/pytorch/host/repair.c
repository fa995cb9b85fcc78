/* SPDX-License-Identifier: Apache-2.0 */
/* A recorder that is started again on the same file writes a second document behind the first, or over its end.
 * Splitting at every {"schema": as the AMD project does cannot be fooled by a text in the trace: there the quotes are
 * escaped. A piece may be cut off at its end; one that is damaged in the middle is dropped. */
#include "convert/pytorch/host/repair.h"

#include <inttypes.h>

#include "convert/pytorch/host/fields.h"
#include "io/stream.h"

enum { PIECES_MAX = 1024, BLOCK = 1 << 16 };

struct pieces {
    struct host_piece at[PIECES_MAX];
    uint32_t count;
};

/* Recognises {"schema": with blanks between the tokens, across block boundaries. */
struct scanner {
    uint64_t start;
    unsigned matched; /* characters of `wanted` */
};

static bool scanner_feed(struct scanner *scanner, char c, uint64_t offset)
{
    static const char wanted[] = "{\"schema\":";
    bool between = scanner->matched == 1 || scanner->matched == sizeof wanted - 2;
    if (c == wanted[scanner->matched]) {
        scanner->start = scanner->matched == 0 ? offset : scanner->start;
        scanner->matched++;
    } else if (!between || (c != ' ' && c != '\n' && c != '\r' && c != '\t')) {
        scanner->start = offset;
        scanner->matched = c == '{';
    }
    if (scanner->matched < sizeof wanted - 1) {
        return false;
    }
    scanner->matched = 0;
    return true;
}

static enum orr_status scan(struct io_stream *file, char *block, struct pieces *pieces, struct orr_error *err)
{
    struct scanner scanner = {0};
    uint64_t offset = 0;
    for (;;) {
        size_t size = 0;
        enum orr_status status = io_stream_read(file, block, BLOCK, &size, err);
        if (status != ORR_OK || size == 0) {
            return status;
        }
        for (size_t i = 0; i < size; i++) {
            if (!scanner_feed(&scanner, block[i], offset + i)) {
                continue;
            }
            if (pieces->count == PIECES_MAX) {
                return error_set(err, ORR_EINVAL, "%s: more than %d documents in one file", io_stream_path(file),
                                 PIECES_MAX);
            }
            if (pieces->count > 0) {
                pieces->at[pieces->count - 1].end = scanner.start;
            }
            pieces->at[pieces->count++] = (struct host_piece){scanner.start, UINT64_MAX};
        }
        offset += size;
    }
}

static enum orr_status find_pieces(const char *path, struct mem *mem, struct pieces *pieces, struct orr_error *err)
{
    struct io_stream *file = NULL;
    char *block = mem_alloc(mem, BLOCK);
    if (block == NULL) {
        return mem_error(mem, "a block of the host trace", err);
    }
    enum orr_status status = io_stream_open(path, mem, &file, err);
    if (status == ORR_OK) {
        status = scan(file, block, pieces, err);
    }
    io_stream_close(file);
    mem_free(mem, block, BLOCK);
    return status;
}

struct weight {
    uint64_t nodes, start_ts;
    bool readable;
};

/* ORR_EINVAL only says that the piece is damaged; the reason is of no use to anyone. */
static enum orr_status host_repair_weigh(struct json_stream *stream, const struct host_piece *piece,
                                         struct weight *weight, struct orr_error *err)
{
    struct orr_error lost = {0};
    struct json_part part = {0};
    bool more = true;
    enum orr_status status = json_stream_restart(stream, piece->offset, piece->end, &lost);
    while (status == ORR_OK && more) {
        status = json_stream_next(stream, &part, &more, &lost);
        if (status == ORR_OK && more && strcmp(part.key, "nodes") == 0 && part.is_element) {
            weight->nodes++;
        } else if (status == ORR_OK && more && strcmp(part.key, "start_ts") == 0) {
            (void)host_item_u64(part.item, &weight->start_ts);
        }
    }
    weight->readable = status == ORR_OK && weight->nodes > 0;
    if (status == ORR_OK || status == ORR_EINVAL) {
        return ORR_OK;
    }
    return error_set(err, status, "%s", lost.text);
}

static bool is_better(const struct weight *a, const struct weight *b)
{
    return a->readable && (!b->readable || a->nodes > b->nodes || (a->nodes == b->nodes && a->start_ts > b->start_ts));
}

static enum orr_status host_repair_tell(struct json_stream *stream, const struct pieces *pieces, uint32_t taken,
                                        const struct weight *weight, uint64_t dropped_nodes, uint32_t damaged,
                                        struct notes *notes, struct orr_error *err)
{
    const char *path = json_stream_path(stream);
    if (pieces->count == 1) {
        return notes_add(notes, err, "%s: cut off at its end; the %" PRIu64 " nodes before that are used", path,
                         weight->nodes);
    }
    return notes_add(notes, err,
                     "%s: holds %" PRIu32 " documents; number %" PRIu32 " (byte %" PRIu64 ", %" PRIu64
                     " nodes) is used, %" PRIu64 " nodes of the others are dropped, %" PRIu32 " could not be read",
                     path, pieces->count, taken + 1, pieces->at[taken].offset, weight->nodes, dropped_nodes, damaged);
}

static enum orr_status host_repair_choose(struct json_stream *stream, const struct pieces *pieces, struct notes *notes,
                                          struct host_piece *piece, struct orr_error *err)
{
    struct weight best = {0};
    uint64_t nodes = 0;
    uint32_t taken = 0;
    uint32_t damaged = 0;
    for (uint32_t i = 0; i < pieces->count; i++) {
        struct weight weight = {0};
        enum orr_status status = host_repair_weigh(stream, &pieces->at[i], &weight, err);
        if (status != ORR_OK) {
            return status;
        }
        damaged += !weight.readable;
        nodes += weight.readable ? weight.nodes : 0;
        if (is_better(&weight, &best)) {
            best = weight;
            taken = i;
        }
    }
    if (!best.readable) {
        return ORR_EINVAL;
    }
    enum orr_status status = host_repair_tell(stream, pieces, taken, &best, nodes - best.nodes, damaged, notes, err);
    if (status == ORR_OK) {
        *piece = pieces->at[taken];
    }
    return status;
}

enum orr_status host_repair_find(struct json_stream *stream, struct mem *mem, struct notes *notes,
                                 struct host_piece *piece, struct orr_error *err)
{
    struct pieces *pieces = mem_zalloc(mem, sizeof *pieces);
    if (pieces == NULL) {
        return mem_error(mem, "the documents of a host trace", err);
    }
    enum orr_status status = find_pieces(json_stream_path(stream), mem, pieces, err);
    if (status == ORR_OK) {
        status = host_repair_choose(stream, pieces, notes, piece, err);
    }
    mem_free(mem, pieces, sizeof *pieces);
    return status;
}
