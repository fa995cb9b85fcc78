/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compression hangs under the same FILE as plain output (io/pack.h), so writers do not know whether they are
 * compressed. Write errors are not looked at one by one: stdio remembers them, and the finish asks once. That includes
 * the errors that only a flush or a close brings out, as on a full disk.
 *
 * The temporary has no name while it is being written, where the file system can do that (O_TMPFILE): a program that is
 * killed then leaves nothing behind. It gets one just before the rename, since a link cannot replace an existing file.
 */
#include "io/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "io/etz.h"
#include "io/pack.h"

enum { TEMPORARY_TRIES = 100, STREAM_BUFFER = 1 << 16 };

struct io_outfile {
    char *shown;     /* path as the caller gave it, for messages */
    char *target;    /* where the rename goes: links followed; NULL when written directly */
    char *temporary; /* its name; NULL while it has none, when written directly, and after the rename */
    int nameless;    /* the temporary while it has no name, or -1 */
    FILE *stream;    /* NULL once finished */
    int write_errno; /* first error seen below stdio by the compressor, or 0 */
};

/* Takes over `descriptor`, also on failure. */
static FILE *stream_open(struct io_outfile *file, int descriptor, enum io_outfile_form form)
{
    FILE *stream = NULL;
    switch (form) {
    case IO_OUTFILE_PLAIN:
        stream = fdopen(descriptor, "w");
        if (stream == NULL) {
            (void)close(descriptor);
        }
        break;
    case IO_OUTFILE_GZIP:
        stream = io_pack_gzip(descriptor, &file->write_errno);
        break;
    case IO_OUTFILE_ZSTD:
        stream = io_pack_zstd(descriptor, &file->write_errno);
        break;
    }
    if (stream != NULL) {
        (void)setvbuf(stream, NULL, _IOFBF, STREAM_BUFFER);
    }
    return stream;
}

static void outfile_free(struct io_outfile *file)
{
    free(file->shown);
    free(file->target);
    free(file->temporary);
    free(file);
}

/*
 * Finds a name beside the target that nobody has and makes it the temporary's: a new file's, or, with a `nameless` one
 * already written, a link to that. Gives the new descriptor, 0 for a link, or -1 with errno set.
 */
static int temporary_name(struct io_outfile *file, int nameless)
{
    size_t room = strlen(file->target) + 48;
    char self[48];
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", nameless);
    file->temporary = malloc(room);
    if (file->temporary == NULL) {
        return -1;
    }
    for (int attempt = 0; attempt < TEMPORARY_TRIES; attempt++) {
        (void)snprintf(file->temporary, room, "%s.tmp-%ld-%d", file->target, (long)getpid(), attempt);
        int made = nameless >= 0 ? linkat(AT_FDCWD, self, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW)
                                 : open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (made >= 0) {
            return made;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    int reason = errno;
    free(file->temporary);
    file->temporary = NULL;
    errno = reason;
    return -1;
}

/* -1 where the file system has no files without names, or nothing could name them later. */
static int nameless_open(const char *target)
{
    if (access("/proc/self/fd", X_OK) != 0) {
        return -1;
    }
    const char *slash = strrchr(target, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(target, slash == target ? 1 : (size_t)(slash - target));
    int descriptor = folder == NULL ? -1 : open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    free(folder);
    return descriptor;
}

/* A new file beside the target, with the mode the target has or would get. -1 with errno set on failure. */
static int temporary_open(struct io_outfile *file, const struct stat *existing)
{
    int descriptor = nameless_open(file->target);
    if (descriptor >= 0) {
        /* The stream closes its own; this one keeps the file alive until it has a name. */
        file->nameless = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
        if (file->nameless < 0) {
            (void)close(descriptor);
            return -1;
        }
    } else {
        descriptor = temporary_name(file, -1);
    }
    if (descriptor >= 0 && existing != NULL) {
        (void)fchmod(descriptor, existing->st_mode & 07777);
    }
    return descriptor;
}

/* "/dev/stdout" may lead to a regular file, which the shell holds open: replacing that would lose what follows. Returns
 * a copy of our own descriptor where the file is our standard output or error, or -1. */
static int standard_stream(const struct stat *found)
{
    for (int descriptor = STDOUT_FILENO; descriptor <= STDERR_FILENO; descriptor++) {
        struct stat own;
        if (fstat(descriptor, &own) == 0 && own.st_dev == found->st_dev && own.st_ino == found->st_ino) {
            return fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
        }
    }
    return -1;
}

static int descriptor_open(struct io_outfile *file, const char *path)
{
    struct stat found;
    bool exists = stat(path, &found) == 0;
    if (!exists && errno != ENOENT) {
        return -1;
    }
    if (exists && S_ISDIR(found.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    int own = exists ? standard_stream(&found) : -1;
    if (own >= 0) {
        return own;
    }
    if (exists && !S_ISREG(found.st_mode)) {
        return open(path, O_WRONLY | O_CLOEXEC);
    }
    if (exists && access(path, W_OK) != 0) {
        return -1; /* a file made read-only is meant to stay, though a rename would be allowed to replace it */
    }
    file->target = exists ? realpath(path, NULL) : strdup(path);
    return file->target == NULL ? -1 : temporary_open(file, exists ? &found : NULL);
}

static enum orr_status write_error(const char *path, int reason, struct orr_error *err)
{
    return error_system(err, reason, "%s: cannot be written", path);
}

enum orr_status io_outfile_open(const char *path, enum io_outfile_form form, struct io_outfile **file,
                                struct orr_error *err)
{
    if (etz_has(path)) {
        return error_set(err, ORR_EIO,
                         "%.300s: is in an archive, which stays as it is; orrery trace unpack makes files", path);
    }
    struct io_outfile *made = calloc(1, sizeof *made);
    if (made == NULL || (made->shown = strdup(path)) == NULL) {
        free(made);
        return error_set(err, ORR_ENOMEM, "%s: out of memory opening it for writing", path);
    }
    made->nameless = -1;
    errno = 0;
    int descriptor = descriptor_open(made, path);
    if (descriptor >= 0) {
        made->stream = stream_open(made, descriptor, form);
    }
    if (made->stream == NULL) {
        enum orr_status status = write_error(path, errno, err);
        io_outfile_abort(made);
        return status;
    }
    *file = made;
    return ORR_OK;
}

static bool outfile_ends_with(const char *path, const char *ending)
{
    size_t length = strlen(path);
    size_t tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

enum io_outfile_form io_outfile_form_of(const char *path)
{
    return outfile_ends_with(path, ".gz")    ? IO_OUTFILE_GZIP
           : outfile_ends_with(path, ".zst") ? IO_OUTFILE_ZSTD
                                             : IO_OUTFILE_PLAIN;
}

FILE *io_outfile_stream(struct io_outfile *file)
{
    return file->stream;
}

static void nameless_close(struct io_outfile *file)
{
    if (file->nameless >= 0) {
        (void)close(file->nameless);
        file->nameless = -1;
    }
}

/* stdio remembers that a write failed, but not why when others followed; a full disk still shows. */
static int forgotten_reason(FILE *stream)
{
    struct statvfs room;
    int descriptor = fileno(stream);
    return descriptor >= 0 && fstatvfs(descriptor, &room) == 0 && room.f_bavail == 0 ? ENOSPC : 0;
}

enum orr_status io_outfile_finish(struct io_outfile *file, struct orr_error *err)
{
    if (file->stream == NULL) {
        return ORR_OK;
    }
    errno = 0;
    bool bad = ferror(file->stream) != 0;
    bad = fflush(file->stream) != 0 || bad;
    int reason = errno != 0 || !bad ? errno : forgotten_reason(file->stream);
    bad = fclose(file->stream) != 0 || bad;
    file->stream = NULL;
    reason = file->write_errno != 0 ? file->write_errno : reason != 0 ? reason : errno;
    bad = bad || file->write_errno != 0;
    if (!bad && file->nameless >= 0 && temporary_name(file, file->nameless) < 0) {
        bad = true;
        reason = errno;
    }
    nameless_close(file);
    return bad ? write_error(file->shown, reason, err) : ORR_OK;
}

enum orr_status io_outfile_commit(struct io_outfile *file, struct orr_error *err)
{
    enum orr_status status = io_outfile_finish(file, err);
    if (status == ORR_OK && file->temporary != NULL) {
        if (rename(file->temporary, file->target) == 0) {
            free(file->temporary);
            file->temporary = NULL;
        } else {
            status = write_error(file->shown, errno, err);
        }
    }
    io_outfile_abort(file);
    return status;
}

enum orr_status io_outfile_end(struct io_outfile *file, enum orr_status status, struct orr_error *err)
{
    if (status == ORR_OK && file != NULL) {
        return io_outfile_commit(file, err);
    }
    io_outfile_abort(file);
    return status;
}

void io_outfile_abort(struct io_outfile *file)
{
    if (file == NULL) {
        return;
    }
    if (file->stream != NULL) {
        (void)fclose(file->stream);
    }
    nameless_close(file);
    if (file->temporary != NULL) {
        (void)unlink(file->temporary);
    }
    outfile_free(file);
}

enum orr_status io_make_folder(const char *path, struct orr_error *err)
{
    char *copy = strdup(path);
    if (copy == NULL) {
        return error_set(err, ORR_ENOMEM, "%s: out of memory making this folder", path);
    }
    int reason = 0;
    for (char *at = copy + 1; copy[0] != '\0' && reason == 0; at++) {
        if (*at == '/' || *at == '\0') {
            char kept = *at;
            *at = '\0';
            if (mkdir(copy, 0777) != 0 && errno != EEXIST) {
                reason = errno;
            }
            *at = kept;
            if (kept == '\0') {
                break;
            }
        }
    }
    free(copy);
    struct stat found;
    if (reason == 0 && stat(path, &found) != 0) {
        reason = errno;
    } else if (reason == 0 && !S_ISDIR(found.st_mode)) {
        reason = ENOTDIR;
    }
    return reason == 0 ? ORR_OK : error_system(err, reason, "%s: cannot make this folder", path);
}

enum orr_status io_make_folder_above(const char *path, struct orr_error *err)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path) {
        return ORR_OK;
    }
    char *folder = strndup(path, (size_t)(slash - path));
    if (folder == NULL) {
        return error_set(err, ORR_ENOMEM, "%s: out of memory", path);
    }
    enum orr_status status = io_make_folder(folder, err);
    free(folder);
    return status;
}
