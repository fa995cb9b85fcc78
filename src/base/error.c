/* SPDX-License-Identifier: Apache-2.0 */
/* The nearest-name search counts insertions, deletions, substitutions and swapped neighbours, the commonest slip of all
 * ("Gpbs" is one step from "Gbps"); in full, since the lists are short and the words human. */
#include "base/error.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"

enum { NEAREST_MAX_WORD = 64 };

static void error_fill(struct orr_error *err, enum orr_status status, const char *fmt, va_list args) ORR_PRINTF(3, 0);

static void error_fill(struct orr_error *err, enum orr_status status, const char *fmt, va_list args)
{
    (void)plain_vsnprintf(err->text, sizeof err->text, fmt, args);
    err->status = status;
}

enum orr_status error_set(struct orr_error *err, enum orr_status status, const char *fmt, ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, fmt);
        error_fill(err, status, fmt, args);
        va_end(args);
    }
    return status;
}

static enum orr_status status_of_system(int reason)
{
    switch (reason) {
    case ENOMEM:
    case EMFILE:
    case ENFILE:
        return ORR_ENOMEM;
    case 0:
    case EIO:
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EPIPE:
        return ORR_EFAIL;
    default:
        return ORR_EIO;
    }
}

enum orr_status error_system(struct orr_error *err, int reason, const char *fmt, ...)
{
    enum orr_status status = status_of_system(reason);
    if (err != NULL) {
        va_list args;
        va_start(args, fmt);
        error_fill(err, status, fmt, args);
        va_end(args);
        size_t used = strlen(err->text);
        errno = reason == 0 ? EIO : reason;
        (void)(reason == ENOMEM ? snprintf(err->text + used, sizeof err->text - used, ": out of memory")
                                : snprintf(err->text + used, sizeof err->text - used, ": %m"));
    }
    return status;
}

enum orr_status error_of_stream(FILE *stream, const char *what, struct orr_error *err)
{
    bool failed = ferror(stream) != 0;
    errno = 0;
    if (fflush(stream) == 0 && !failed) {
        return ORR_OK;
    }
    int reason = errno;
    if (reason == 0 && fileno(stream) < 0) { /* no file below it: what does not take bytes says again why */
        (void)fputc(0, stream);
        errno = 0;
        (void)fflush(stream);
        reason = errno == 0 ? ENOMEM : errno;
    }
    return reason == ECANCELED ? error_set(err, ORR_EFAIL, "%s cannot be written: who was to take it did not", what)
                               : error_system(err, reason, "%s cannot be written", what);
}

const char *orr_status_text(enum orr_status status)
{
    static const char *const texts[] = {
#define ORR_X(name, exit_code, text) text,
        ORR_STATUSES(ORR_X)
#undef ORR_X
    };
    size_t index = (size_t)status;
    return index < sizeof texts / sizeof texts[0] ? texts[index] : "unknown status";
}

int orr_status_exit_code(enum orr_status status)
{
    static const int codes[] = {
#define ORR_X(name, exit_code, text) exit_code,
        ORR_STATUSES(ORR_X)
#undef ORR_X
    };
    size_t index = (size_t)status;
    return index < sizeof codes / sizeof codes[0] ? codes[index] : 1;
}

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

static size_t edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t rows[3][NEAREST_MAX_WORD + 1]; /* two above, above, current */
    for (size_t j = 0; j <= nb; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= na; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            row[j] = smallest(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1));
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && two_above[j - 2] + 1 < row[j]) {
                row[j] = two_above[j - 2] + 1;
            }
        }
    }
    return rows[na % 3][nb];
}

const char *error_nearest(const char *word, const char *const *known)
{
    size_t word_length = strlen(word);
    if (word_length > NEAREST_MAX_WORD) {
        return NULL;
    }
    const char *best = NULL;
    size_t best_distance = SIZE_MAX;
    for (; *known != NULL; known++) {
        size_t length = strlen(*known);
        if (length > NEAREST_MAX_WORD) {
            continue;
        }
        size_t distance = edit_distance(word, word_length, *known, length);
        if (distance < best_distance) {
            best_distance = distance;
            best = *known;
        }
    }
    /* A proposal that changes more than about a third of the word confuses more than it helps. */
    return best_distance <= 1 + word_length / 4 && best_distance < word_length ? best : NULL;
}

struct error_proposal error_propose(const char *word, const char *const *known)
{
    struct error_proposal proposal = {""};
    const char *nearest = error_nearest(word, known);
    if (nearest != NULL) {
        (void)snprintf(proposal.text, sizeof proposal.text, "; did you mean \"%s\"?", nearest);
    }
    return proposal;
}

enum orr_status error_unknown(const char *what, const char *word, const char *const *known, struct orr_error *err)
{
    struct error_proposal near = error_propose(word, known);
    char list[400] = "; accepted: ";
    for (size_t used = strlen(list); near.text[0] == '\0' && *known != NULL; known++) {
        bool fits = used + strlen(*known) + sizeof ", …" < sizeof list;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", fits ? *known : "…",
                                 fits && known[1] != NULL ? ", " : "");
        if (!fits) {
            break;
        }
    }
    return error_set(err, ORR_EINVAL, "unknown %s \"%.60s\"%s", what, word, near.text[0] != '\0' ? near.text : list);
}
