/* SPDX-License-Identifier: Apache-2.0 */
/* Named ranks are taken first, whatever the order of the entries, so that those that are drawn are others. Each rank's
 * draw is its own: with one more straggler the same ranks are slow, and one more. */
#include "run/stragglers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/draw.h"
#include "base/numbers.h"
#include "base/plain.h"
#include "base/scan.h"
#include "config/devices.h"

enum { STREAM = 0x73747261 }; /* apart from what else is drawn from the seed */

struct stragglers {
    uint32_t ranks;
    uint64_t seed;
    double *factors; /* 0: not settled yet */
    uint64_t *order; /* the draw above, the rank below; made once it is needed */
    uint32_t next;   /* in it */
    struct arena *arena;
    struct orr_error *err;
};

struct entry {
    const char *text;
    size_t length; /* of all of it */
    size_t who;    /* up to the colon */
    double factor;
};

static enum orr_status straggle_complain(const struct stragglers *all, const struct entry *entry)
{
    return error_set(all->err, ORR_EINVAL,
                     "parameter 'stragglers': \"%.*s\" is neither N:FACTOR, as in 2:1.3x, nor ranks=LIST:FACTOR, as in "
                     "ranks=3+17-19:2x",
                     (int)(entry->length < 80 ? entry->length : 80), entry->text);
}

static bool straggle_read_entry(struct entry *entry)
{
    const char *colon = memchr(entry->text, ':', entry->length);
    char number[32];
    if (colon == NULL) {
        return false;
    }
    entry->who = (size_t)(colon - entry->text);
    const char *at = colon[1] == 'x' ? colon + 2 : colon + 1;
    size_t length = entry->length - (size_t)(at - entry->text);
    if (length == 0 || length >= sizeof number || !scan_is_digit(*at)) {
        return false;
    }
    memcpy(number, at, length);
    number[length] = '\0';
    char *end = NULL;
    entry->factor = plain_strtod(number, &end);
    end += *end == 'x' && at == colon + 1 ? 1 : 0;
    return *end == '\0' && entry->factor >= 1e-3 && entry->factor <= 1e6;
}

static enum orr_status take_named(struct stragglers *all, const struct entry *entry)
{
    const char *end = entry->text + entry->who;
    for (const char *at = strchr(entry->text, '=') + 1;; at++) {
        uint32_t first = 0;
        uint32_t last = 0;
        at = config_rank_range(at, &first, &last);
        if (at == NULL || at > end || (at < end && *at != '+')) {
            return straggle_complain(all, entry);
        }
        if (last >= all->ranks) {
            return error_set(all->err, ORR_ERANGE,
                             "parameter 'stragglers': there is no rank %" PRIu32
                             "; the machine has ranks 0 to %" PRIu32,
                             last, all->ranks - 1);
        }
        for (uint32_t rank = first; rank <= last; rank++) {
            if (all->factors[rank] != 0) {
                return error_set(all->err, ORR_EINVAL, "parameter 'stragglers': rank %" PRIu32 " is named twice", rank);
            }
            all->factors[rank] = entry->factor;
        }
        if (at == end) {
            return ORR_OK;
        }
    }
}

static bool draw_order(struct stragglers *all)
{
    if (all->order != NULL) {
        return true;
    }
    all->order = arena_alloc(all->arena, all->ranks * sizeof *all->order);
    for (uint32_t rank = 0; all->order != NULL && rank < all->ranks; rank++) {
        uint64_t drawn = draw_key(draw_key(all->seed, STREAM), rank);
        all->order[rank] = (drawn & ~(uint64_t)UINT32_MAX) | rank;
    }
    if (all->order != NULL) {
        qsort(all->order, all->ranks, sizeof *all->order, numbers_order_u64);
    }
    return all->order != NULL;
}

static enum orr_status take_drawn(struct stragglers *all, const struct entry *entry)
{
    uint64_t count = 0;
    if (!scan_whole(entry->text, entry->who, UINT32_MAX, &count)) {
        return straggle_complain(all, entry);
    }
    if (!draw_order(all)) {
        return mem_error(all->arena->mem, "the stragglers", all->err);
    }
    for (; count > 0 && all->next < all->ranks; all->next++) {
        uint32_t rank = (uint32_t)all->order[all->next];
        if (all->factors[rank] == 0) {
            all->factors[rank] = entry->factor;
            count--;
        }
    }
    return count == 0
               ? ORR_OK
               : error_set(all->err, ORR_ERANGE, "parameter 'stragglers': \"%.*s\": the machine has %" PRIu32 " ranks",
                           (int)(entry->length < 80 ? entry->length : 80), entry->text, all->ranks);
}

static enum orr_status straggle_all(struct stragglers *all, const char *text, bool named)
{
    static const char word[] = "ranks=";
    for (const char *at = text;; at++) {
        struct entry entry = {.text = at, .length = strcspn(at, ",")};
        if (!straggle_read_entry(&entry)) {
            return straggle_complain(all, &entry);
        }
        if ((strncmp(at, word, sizeof word - 1) == 0) == named) {
            enum orr_status status = named ? take_named(all, &entry) : take_drawn(all, &entry);
            if (status != ORR_OK) {
                return status;
            }
        }
        at += entry.length;
        if (*at == '\0') {
            return ORR_OK;
        }
    }
}

enum orr_status run_stragglers_read(const char *text, uint32_t ranks, uint64_t seed, struct arena *arena,
                                    const double **factors, struct orr_error *err)
{
    struct stragglers all = {.ranks = ranks, .seed = seed, .arena = arena, .err = err};
    all.factors = arena_zalloc(arena, ranks * sizeof *all.factors);
    if (all.factors == NULL) {
        return mem_error(arena->mem, "the stragglers", err);
    }
    enum orr_status status = straggle_all(&all, text, true);
    if (status == ORR_OK) {
        status = straggle_all(&all, text, false);
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        all.factors[rank] = all.factors[rank] == 0 ? 1.0 : all.factors[rank];
    }
    *factors = status == ORR_OK ? all.factors : *factors;
    return status;
}
