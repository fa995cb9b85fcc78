/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built program as a child process: what it printed, how it ended. Each test executable works in a folder of its
 * own under the system's temporary folder, which is its working directory and is removed at the end.
 *
 * The program's path comes from the environment variable ORRERY, which meson sets.
 */
#ifndef ORR_TESTS_CLI_PROGRAM_H
#define ORR_TESTS_CLI_PROGRAM_H

#include <sys/types.h>

#include "tests/check.h"

struct program_result {
    int exit_code; /* 128 + signal when a signal ended it */
    char out[1 << 18];
    char err[1 << 16];
};

enum { PROGRAM_MAX_ARGS = 32 };

/* Enters the folder; harmless when already there. Every test begins with it. */
void program_enter(void);

/* Runs `orrery` with the words of `line` (split at spaces) and waits for its end. */
const struct program_result *program_run(const char *line);
/* The same, with `program` as argv[0] and the file to execute, `env` ("NAME=value" or NULL) added to the environment,
 * and standard output sent to `out` unless it is NULL. */
const struct program_result *program_run_as(const char *program, const char *line, const char *env, const char *out);

/* Starts it without waiting; program_wait collects it. Standard error goes to `err` (a terminal) unless it is NULL. */
pid_t program_start(const char *line, const char *err);
/* The same with standard output sent to `out`. */
pid_t program_start_to(const char *line, const char *out);
const struct program_result *program_wait(pid_t pid);

/* Small files. Reading gives "" for a file that is not there. */
void program_write(const char *path, const void *bytes, size_t size);
void program_write_text(const char *path, const char *text);
const char *program_read(const char *path, size_t *size);
bool program_exists(const char *path);

/* system.json and network.yml: a ring of `npus` with `splits` chunks, as in the first demo of the tutorial. */
void program_write_machine(unsigned npus, unsigned splits);

#define CHECK_EXIT(result, want)                                                                                       \
    do {                                                                                                               \
        const struct program_result *check_result = (result);                                                          \
        CHECK(check_result->exit_code == (want), "exit code %d, not %d; stderr: %s", check_result->exit_code, (want),  \
              check_result->err);                                                                                      \
    } while (0)

/* Standard error is one line that starts with "orrery: ". */
#define CHECK_ONE_LINE(result)                                                                                         \
    do {                                                                                                               \
        const char *check_line = (result)->err;                                                                        \
        const char *check_end = strchr(check_line, '\n');                                                              \
        CHECK(strncmp(check_line, "orrery: ", 8) == 0 && check_end != NULL && check_end[1] == '\0',                    \
              "not one line of ours: \"%s\"", check_line);                                                             \
    } while (0)

#endif
