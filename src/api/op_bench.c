/* SPDX-License-Identifier: Apache-2.0 */
/* The measuring program is the one of collect/, handed to the interpreter as a file of its own: a user without the
 * source tree has it too. */
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compute/device.h"
#include "orrery.h"
#include "recipes.h"

extern char **environ;

static enum orr_status write_script(char *path, struct orr_error *err)
{
    int fd = mkstemps(path, 3);
    if (fd < 0) {
        return error_set(err, ORR_EIO, "%s: cannot be made", path);
    }
    (void)close(fd);
    return orr_file_write(path, recipe_bench_ops, sizeof recipe_bench_ops - 1, err);
}

static enum orr_status op_bench_run_script(const struct orr_op_bench_options *options, char *script,
                                           struct orr_error *err)
{
    const char *python = options->python != NULL ? options->python : "python3";
    char seconds[16];
    (void)snprintf(seconds, sizeof seconds, "%u", options->seconds > 0 ? options->seconds : 600);
    const char *const words[] = {python,
                                 script,
                                 "-o",
                                 options->table,
                                 "--device-name",
                                 options->device,
                                 "--seconds",
                                 seconds,
                                 options->only != NULL ? "--only" : NULL,
                                 options->only,
                                 NULL};
    char *arguments[sizeof words / sizeof words[0]];
    memcpy(arguments, words, sizeof words);
    pid_t child = 0;
    int failed = posix_spawnp(&child, python, NULL, NULL, arguments, environ);
    if (failed != 0) {
        return error_system(err, failed, "%s cannot be started", python);
    }
    int ended = 0;
    if (waitpid(child, &ended, 0) < 0 || !WIFEXITED(ended) || WEXITSTATUS(ended) != 0) {
        return error_set(err, ORR_EFAIL, "%s: bench_ops.py did not end well (it needs PyTorch and a GPU)", python);
    }
    return ORR_OK;
}

enum orr_status orr_op_bench(const struct orr_op_bench_options *options, FILE *stream, struct orr_error *err)
{
    char script[] = "/tmp/orrery-bench-XXXXXX.py";
    uint32_t device = 0;
    enum orr_status status = device_named(options->device, &device, err);
    if (status != ORR_OK) {
        return status;
    }
    status = write_script(script, err);
    status = status != ORR_OK ? status : op_bench_run_script(options, script, err);
    (void)unlink(script);
    if (status == ORR_OK && options->output != NULL) {
        const char *const inputs[] = {options->table};
        const struct orr_op_fit_options fit = {.inputs = inputs,
                                               .input_count = 1,
                                               .output = options->output,
                                               .import = true,
                                               .memory_limit = options->memory_limit};
        status = orr_op_fit(&fit, stream, err);
    }
    return status;
}
