/* Where results go: a result that could not be written is never reported as success, and a file is either whole or as
 * it was. The library has its own writer of files; this one serves the few that the program itself makes. */
#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cli_stdout_failed(const char *reason)
{
    cli_error("standard output: %s; the result is not complete", reason);
    __fpurge(stdout); /* said once: nothing is left that could fail again */
    clearerr(stdout);
    return orr_status_exit_code(ORR_EFAIL);
}

/* stdio remembers that a write failed but not why; a pipe still tells that nobody reads it. */
static const char *forgotten_reason(void)
{
    struct pollfd pipe_end = {.fd = STDOUT_FILENO};
    bool reader_left = poll(&pipe_end, 1, 0) > 0 && (pipe_end.revents & POLLERR) != 0;
    return strerror(reader_left ? EPIPE : EIO);
}

int cli_finish(int exit_code)
{
    bool failed = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == 0 && !failed) {
        return exit_code;
    }
    int failure = cli_stdout_failed(errno != 0 ? strerror(errno) : forgotten_reason());
    return exit_code == 0 ? failure : exit_code;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

enum orr_status cli_check_writable(const char *option, const char *path, struct orr_error *err)
{
    const char *slash = strrchr(path, '/');
    if (path[0] == '\0' || (slash != NULL && slash[1] == '\0')) {
        return error_set(err, ORR_EINVAL, "%s: \"%s\" is not the name of a file", option, path);
    }
    if (is_folder(path)) {
        return error_set(err, ORR_EIO, "%s: cannot be written (%s): it is a folder", path, option);
    }
    if (slash == NULL || slash == path) {
        return ORR_OK;
    }
    char folder[4096];
    size_t length = (size_t)(slash - path);
    if (length >= sizeof folder) {
        return error_set(err, ORR_EINVAL, "%s: the path is longer than %zu bytes", option, sizeof folder - 1);
    }
    memcpy(folder, path, length);
    folder[length] = '\0';
    if (!is_folder(folder)) {
        return error_set(err, ORR_EIO, "%s: cannot be written (%s): there is no folder %s", path, option, folder);
    }
    return ORR_OK;
}

static bool write_bytes(const char *path, const char *text, size_t size)
{
    FILE *stream = fopen(path, "we");
    if (stream == NULL) {
        return false;
    }
    bool written = fwrite(text, 1, size, stream) == size;
    return fclose(stream) == 0 && written;
}

static bool replace(const char *target, const char *text, size_t size)
{
    char *temporary = NULL;
    if (asprintf(&temporary, "%s.%ld.tmp", target, (long)getpid()) < 0) {
        errno = ENOMEM;
        return false;
    }
    bool replaced = write_bytes(temporary, text, size) && rename(temporary, target) == 0;
    int reason = errno;
    if (!replaced) {
        (void)unlink(temporary);
    }
    free(temporary);
    errno = reason;
    return replaced;
}

enum orr_status cli_write_file(const char *path, const char *text, size_t size, struct orr_error *err)
{
    struct stat st;
    /* Renaming over a device would replace it; renaming over a link would replace the link. */
    bool direct = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
    char *target = direct ? NULL : realpath(path, NULL);
    bool written = direct ? write_bytes(path, text, size) : replace(target != NULL ? target : path, text, size);
    int reason = errno;
    free(target);
    return written ? ORR_OK : error_set(err, ORR_EIO, "%s: cannot be written: %s", path, strerror(reason));
}
