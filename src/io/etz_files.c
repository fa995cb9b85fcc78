/* SPDX-License-Identifier: Apache-2.0 */
/* Between archives and files, one rank at a time. Those who write traces know only files: an archive is made of a
 * folder that lies beside it, on the same disk, and is gone afterwards. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/etz.h"
#include "io/file.h"
#include "io/outfile.h"

static const char *const etz_sides[] = {".groups.json", ".json"};

static enum orr_status etz_path_of(const char *prefix, uint32_t rank, char **path, struct orr_error *err)
{
    free(*path);
    if (asprintf(path, "%s.%" PRIu32 ".et", prefix, rank) < 0) {
        *path = NULL;
        return error_set(err, ORR_ENOMEM, "out of memory for a path");
    }
    return ORR_OK;
}

static enum orr_status pack_sides(const char *prefix, struct etz_writer *writer, struct file_buffer *buffer,
                                  struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (size_t i = 0; status == ORR_OK && i < sizeof etz_sides / sizeof etz_sides[0]; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s%s", prefix, etz_sides[i]) < 0) {
            return error_set(err, ORR_ENOMEM, "out of memory for a path");
        }
        if (file_exists(path)) {
            status = file_buffer_read(buffer, path, err);
            status =
                status == ORR_OK ? etz_writer_add_side(writer, etz_sides[i], buffer->bytes, buffer->size, err) : status;
        }
        free(path);
    }
    return status;
}

static enum orr_status pack_ranks(const char *prefix, struct etz_writer *writer, struct file_buffer *buffer,
                                  struct orr_error *err)
{
    char *path = NULL;
    enum orr_status status = etz_path_of(prefix, 0, &path, err);
    for (uint32_t rank = 0; status == ORR_OK && (rank == 0 || file_exists(path)); rank++) {
        status = file_buffer_read(buffer, path, err);
        status = status == ORR_OK ? etz_writer_add(writer, buffer->bytes, buffer->size, err) : status;
        status = status == ORR_OK ? etz_path_of(prefix, rank + 1, &path, err) : status;
    }
    free(path);
    return status;
}

enum orr_status etz_pack_files(const char *prefix, const char *archive, struct mem *mem, struct etz_counts *counts,
                               struct orr_error *err)
{
    struct etz_writer *writer = NULL;
    struct file_buffer buffer;
    enum orr_status status = etz_writer_open(archive, mem, &writer, err);
    if (status != ORR_OK) {
        return status;
    }
    file_buffer_init(&buffer, mem);
    status = pack_ranks(prefix, writer, &buffer, err);
    status = status == ORR_OK ? pack_sides(prefix, writer, &buffer, err) : status;
    file_buffer_free(&buffer);
    if (status != ORR_OK) {
        etz_writer_abort(writer);
        return status;
    }
    return etz_writer_commit(writer, counts, err);
}

static enum orr_status unpack_sides(const struct etz_reader *reader, const char *prefix, struct etz_bytes *bytes,
                                    struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (uint32_t side = 0; status == ORR_OK && side < reader->sides; side++) {
        char name[ETZ_SIDE_NAME];
        char *path = NULL;
        status = etz_read_side(reader, side, name, bytes, err);
        if (status == ORR_OK && asprintf(&path, "%s%s", prefix, name) < 0) {
            return error_set(err, ORR_ENOMEM, "out of memory for a path");
        }
        status = status == ORR_OK ? file_write(path, bytes->at, bytes->size, err) : status;
        free(path);
    }
    return status;
}

enum orr_status etz_unpack_files(const char *archive, const char *prefix, struct mem *mem, uint32_t *ranks,
                                 struct orr_error *err)
{
    struct etz_reader reader;
    struct etz_bytes bytes = {.mem = mem};
    char *path = NULL;
    enum orr_status status = etz_open(archive, &reader, err);
    if (status != ORR_OK) {
        return status;
    }
    for (uint32_t rank = 0; status == ORR_OK && rank < reader.ranks; rank++) {
        status = etz_read_rank(&reader, rank, &bytes, err);
        status = status == ORR_OK ? etz_path_of(prefix, rank, &path, err) : status;
        status = status == ORR_OK ? file_write(path, bytes.at, bytes.size, err) : status;
    }
    status = status == ORR_OK ? unpack_sides(&reader, prefix, &bytes, err) : status;
    *ranks = reader.ranks;
    free(path);
    etz_bytes_free(&bytes);
    etz_close(&reader);
    return status;
}

/* ---- archives as outputs ---- */

bool etz_is_output(const char *path)
{
    size_t length = path == NULL ? 0 : strlen(path);
    return length > 4 && path[length - 5] != '/' && strcmp(path + length - 4, ".etz") == 0;
}

enum orr_status etz_output_begin(const char *output, struct etz_output *out, struct orr_error *err)
{
    *out = (struct etz_output){.prefix = output, .output = output};
    if (!etz_is_output(output)) {
        return ORR_OK;
    }
    enum orr_status status = io_make_folder_above(output, err);
    if (status == ORR_OK && asprintf(&out->folder, "%s-XXXXXX", output) < 0) {
        out->folder = NULL;
        status = error_set(err, ORR_ENOMEM, "out of memory for a path");
    }
    if (status == ORR_OK && mkdtemp(out->folder) == NULL) {
        status = error_system(err, errno, "%.300s: cannot be made", output);
        free(out->folder);
        out->folder = NULL;
    }
    if (status != ORR_OK) {
        return status;
    }
    out->made = asprintf(&out->made, "%s/t", out->folder) < 0 ? NULL : out->made;
    out->first = out->made == NULL || asprintf(&out->first, "%s.0.et", out->made) < 0 ? NULL : out->first;
    out->prefix = out->made;
    return out->first != NULL ? ORR_OK
                              : etz_output_end(out, error_set(err, ORR_ENOMEM, "out of memory for a path"), NULL, err);
}

static void etz_remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    for (const struct dirent *entry = folder == NULL ? NULL : readdir(folder); entry != NULL; entry = readdir(folder)) {
        (void)unlinkat(dirfd(folder), entry->d_name, 0); /* "." and ".." stay, being folders */
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    (void)rmdir(path);
}

enum orr_status etz_output_end(struct etz_output *out, enum orr_status status, struct mem *mem, struct orr_error *err)
{
    struct etz_counts counts;
    if (out->folder != NULL) {
        status = status == ORR_OK ? etz_pack_files(out->made, out->output, mem, &counts, err) : status;
        etz_remove_folder(out->folder);
    }
    free(out->folder);
    free(out->made);
    free(out->first);
    *out = (struct etz_output){0};
    return status;
}
