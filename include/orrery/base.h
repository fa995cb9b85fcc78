/* SPDX-License-Identifier: Apache-2.0 */
/* What every part of the interface needs: statuses, errors, warnings. Included by orrery.h. */
#ifndef ORRERY_BASE_H
#define ORRERY_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__GNUC__) || defined(__clang__)
#define ORR_MUST_CHECK        __attribute__((warn_unused_result))
#define ORR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define ORR_MUST_CHECK
#define ORR_PRINTF(fmt, args)
#endif

/* What is declared between these two is all that the shared library exports. */
#ifdef __cplusplus
#define ORR_LANGUAGE_BEGIN extern "C" {
#define ORR_LANGUAGE_END   }
#else
#define ORR_LANGUAGE_BEGIN
#define ORR_LANGUAGE_END
#endif
#if defined(__GNUC__) || defined(__clang__)
#define ORR_BEGIN ORR_LANGUAGE_BEGIN _Pragma("GCC visibility push(default)")
#define ORR_END   _Pragma("GCC visibility pop") ORR_LANGUAGE_END
#else
#define ORR_BEGIN ORR_LANGUAGE_BEGIN
#define ORR_END   ORR_LANGUAGE_END
#endif

ORR_BEGIN

/* name, exit code of the program, meaning. Exit codes: 0 done, 1 the run failed, 2 bad usage or input, 3 resource
 * limit, 4 stall. */
#define ORR_STATUSES(X)                                                                                                \
    X(OK, 0, "done")                                                                                                   \
    X(EFAIL, 1, "the run failed")                                                                                      \
    X(EINTR, 1, "interrupted")                                                                                         \
    X(EINVAL, 2, "bad input")                                                                                          \
    X(ERANGE, 2, "value out of range")                                                                                 \
    X(EIO, 2, "a file cannot be read or written")                                                                      \
    X(ENOMEM, 3, "resource limit")                                                                                     \
    X(ESTALL, 4, "the run stalled")

enum orr_status {
#define ORR_X(name, exit_code, text) ORR_##name,
    ORR_STATUSES(ORR_X)
#undef ORR_X
};

/* How an answer is written: for people, as one JSON document, as a table (RFC 4180). */
enum orr_form { ORR_FORM_TEXT, ORR_FORM_JSON, ORR_FORM_CSV };

/* One line, without a trailing newline; starts with "file:line: " or "file: byte N: " where a file is at fault. */
struct orr_error {
    enum orr_status status;
    char text[1024];
};

const char *orr_version(void);
/* sizeof a struct of this interface, by its name ("orr_node"), as this library was compiled; 0: it tells of none of
 * that name. For other languages, which write structs down by themselves and had better find out that they differ. */
size_t orr_struct_size(const char *name);
const char *orr_status_text(enum orr_status status);
int orr_status_exit_code(enum orr_status status);

/* Makes or replaces a file at once, as all functions here do that write one: whoever reads it sees the old or the new
 * one, and on failure the old one stays. A device or a pipe is written directly, a symbolic link followed. Fails with
 * ORR_EIO (no such folder, no right), ORR_EFAIL (the disk is full or broken) or ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status orr_file_write(const char *path, const void *bytes, size_t size, struct orr_error *err);

/* ---- streams ---------------------------------------------------------------------------------------------------- */

/*
 * Functions that print take a FILE *: one of the program's own, or one of these two, which end in a function or in
 * memory. What a function printed has been handed on when it returns.
 *
 * `write` gets the bytes in pieces of any size and returns whether it took them; once it did not, it is not called
 * again, and whoever printed fails with ORR_EFAIL. It is called by the thread that prints, and must not throw.
 */
ORR_MUST_CHECK enum orr_status orr_stream_to(bool (*write)(void *context, const char *bytes, size_t size),
                                             void *context, FILE **stream, struct orr_error *err);
/* `*text`, which ends with a NUL that `*size` does not count, and `*size` are set by orr_stream_close; the caller gives
 * the text back with orr_free. */
ORR_MUST_CHECK enum orr_status orr_stream_text(char **text, size_t *size, FILE **stream, struct orr_error *err);
/* Closes either of them. What could not be written is an error here too; text is then NULL. */
ORR_MUST_CHECK enum orr_status orr_stream_close(FILE *stream, struct orr_error *err);
void orr_free(void *memory); /* NULL is fine */

/* ---- warnings --------------------------------------------------------------------------------------------------- */

/* Where a function that repairs, infers, drops or defaults something says so, one line each without a newline. With
 * `strict` the first such line is the error instead. `warn` may be NULL: the lines are then lost. */
struct orr_notices {
    void (*warn)(void *context, const char *line);
    void *context;
    bool strict;
};

ORR_END

#endif
