/* SPDX-License-Identifier: Apache-2.0 */
/* Graphviz as a child process, never through a shell. What it complains about goes into a temporary file, whose first
 * line becomes our message: a library must not print. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compat/chakra/visualizer.h"

static enum orr_status visualizer_layout_start(int source, const char *option, int drawing, int complaints,
                                               pid_t *child, bool *found, struct orr_error *err)
{
    static char name[] = "dot";
    char *argv[] = {name, (char *)(uintptr_t)option, NULL};
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed == 0) {
        failed = posix_spawn_file_actions_adddup2(&actions, source, STDIN_FILENO);
        failed = failed != 0 ? failed : posix_spawn_file_actions_adddup2(&actions, drawing, STDOUT_FILENO);
        failed = failed != 0 ? failed : posix_spawn_file_actions_adddup2(&actions, complaints, STDERR_FILENO);
        failed = failed != 0 ? failed : posix_spawnp(child, name, &actions, NULL, argv, environ);
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    *found = failed != ENOENT && failed != EACCES;
    return failed == 0 || !*found ? ORR_OK
                                  : error_set(err, ORR_EFAIL, "Graphviz's dot cannot be run: %s", strerror(failed));
}

static enum orr_status visualizer_layout_finish(pid_t child, FILE *complaints, struct orr_error *err)
{
    int status = 0;
    char line[256] = "";
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return error_set(err, ORR_EFAIL, "Graphviz's dot cannot be waited for: %s", strerror(errno));
        }
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return ORR_OK;
    }
    rewind(complaints);
    if (fgets(line, sizeof line, complaints) != NULL) {
        line[strcspn(line, "\n")] = '\0';
    }
    return error_set(err, ORR_EFAIL, "Graphviz's dot failed with %s %d: %s",
                     WIFSIGNALED(status) ? "signal" : "exit code",
                     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), line);
}

enum orr_status visualizer_lay_out(FILE *source, const char *format, FILE *drawing, bool *found, struct orr_error *err)
{
    char option[16];
    pid_t child = 0;
    FILE *complaints = tmpfile();
    if (complaints == NULL || fflush(drawing) != 0) {
        int reason = errno;
        if (complaints != NULL) {
            (void)fclose(complaints);
        }
        return error_system(err, reason, "no temporary file can be made");
    }
    rewind(source); /* the descriptor too: the child reads from the same place */
    (void)lseek(fileno(source), 0, SEEK_SET);
    (void)snprintf(option, sizeof option, "-T%s", format);
    enum orr_status status =
        visualizer_layout_start(fileno(source), option, fileno(drawing), fileno(complaints), &child, found, err);
    if (status == ORR_OK && *found) {
        status = visualizer_layout_finish(child, complaints, err);
    }
    (void)fclose(complaints);
    return status;
}
