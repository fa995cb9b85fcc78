/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An archive of all traces of a job, NAME.etz (docs/formats.md): each different trace once, packed with zstd, an index
 * behind them. Traces that differ in nothing but a constant in their ids, or in ranks of partners counted from their
 * own, are one; others are packed against one that is like them. A rank is found and unpacked without reading the rest.
 *
 * The trace of rank R in NAME.etz has the path NAME.etz.R.et, and a file beside the traces NAME.etz.groups.json:
 * io/file.h opens such paths like files, which is how every command reads archives. Of Chakra ET this knows as much as
 * io/etz_form.h says.
 */
#ifndef ORR_IO_ETZ_H
#define ORR_IO_ETZ_H

#include "io/etz_form.h"

/* First and last bytes of an archive. */
#define ETZ_MAGIC "orr.etz\1"
enum { ETZ_MAGIC_BYTES = 8, ETZ_SIDE_NAME = 48 };

/* ---- reading ---- */

struct etz_reader {
    char *path;
    int fd; /* -1: closed */
    uint64_t index;
    uint32_t contents, runs, sides, ranks;
};

/* Where a rank's trace is. Ranks with one `content`, of which none is by_rank, differ in the ids alone, by the
 * difference of their bases. */
struct etz_place {
    uint32_t content;
    bool by_rank; /* partners are counted from the rank, or groups have names */
    uint64_t base;
};

/* ORR_EIO, ORR_EINVAL where it is no archive or is damaged. Nothing of the index stays in memory. */
ORR_MUST_CHECK enum orr_status etz_open(const char *path, struct etz_reader *reader, struct orr_error *err);
void etz_close(struct etz_reader *reader);

ORR_MUST_CHECK enum orr_status etz_find(const struct etz_reader *reader, uint32_t rank, struct etz_place *place,
                                        struct orr_error *err);
/* The bytes of a rank's trace, or of the file `side` (0 to sides - 1), whose ending is copied to `name`. */
ORR_MUST_CHECK enum orr_status etz_read_rank(const struct etz_reader *reader, uint32_t rank, struct etz_bytes *bytes,
                                             struct orr_error *err);
ORR_MUST_CHECK enum orr_status etz_read_side(const struct etz_reader *reader, uint32_t side, char name[ETZ_SIDE_NAME],
                                             struct etz_bytes *bytes, struct orr_error *err);

/* Whether the file at `path` begins like an archive. */
bool etz_is_archive(const char *path);
/* Whether `path` is one of those that an archive has: its own path and ".R.et" or the ending of a side file. */
bool etz_has(const char *path);
/* Its bytes in a file without a name, which the caller closes. `*through`: the path goes through an archive, of which
 * the error then tells. */
ORR_MUST_CHECK enum orr_status etz_open_member(const char *path, int *fd, uint64_t *size, bool *through,
                                               struct orr_error *err);

/* ---- writing ---- */

struct etz_writer;

/* What became of the traces. */
struct etz_counts {
    uint32_t ranks, different, likened; /* of the different traces, packed against another */
    uint32_t contents;                  /* these, lists of names and side files */
    uint64_t bytes, packed;             /* of all traces; of the archive */
};

/* Whoever opens one ends it with exactly one commit or abort; nothing is there under the name before the commit. */
ORR_MUST_CHECK enum orr_status etz_writer_open(const char *path, struct mem *mem, struct etz_writer **writer,
                                               struct orr_error *err);
/* The trace of the next rank, from 0. */
ORR_MUST_CHECK enum orr_status etz_writer_add(struct etz_writer *writer, const uint8_t *bytes, size_t size,
                                              struct orr_error *err);
/* A file beside the traces; `ending` is what its name has behind that of the archive: ".groups.json". */
ORR_MUST_CHECK enum orr_status etz_writer_add_side(struct etz_writer *writer, const char *ending, const uint8_t *bytes,
                                                   size_t size, struct orr_error *err);
ORR_MUST_CHECK enum orr_status etz_writer_commit(struct etz_writer *writer, struct etz_counts *counts,
                                                 struct orr_error *err);
void etz_writer_abort(struct etz_writer *writer); /* NULL is fine */

/* ---- files and archives ---- */

/* Makes an archive of PREFIX.0.et, PREFIX.1.et … as many as there are, with PREFIX.groups.json and PREFIX.json where
 * these are there. ORR_EIO where not even rank 0 is. */
ORR_MUST_CHECK enum orr_status etz_pack_files(const char *prefix, const char *archive, struct mem *mem,
                                              struct etz_counts *counts, struct orr_error *err);
/* The same files again, under another prefix: all of them, or ORR_EIO. */
ORR_MUST_CHECK enum orr_status etz_unpack_files(const char *archive, const char *prefix, struct mem *mem,
                                                uint32_t *ranks, struct orr_error *err);

/* Whether an output's name asks for an archive. */
bool etz_is_output(const char *path);

/* For those who write PREFIX.R.et: what they write to where an archive was asked for, files in a folder of their own
 * beside it. */
struct etz_output {
    const char *prefix; /* to write to: the output itself where that is no archive */
    const char *output;
    char *folder, *made, *first; /* NULL where it is none; `first` is for the one trace of those who write one */
};

/* Every begin that succeeds is followed by an end, which packs the files, when `status` is ORR_OK, and takes the folder
 * away; it returns `status` or what went wrong. */
ORR_MUST_CHECK enum orr_status etz_output_begin(const char *output, struct etz_output *out, struct orr_error *err);
ORR_MUST_CHECK enum orr_status etz_output_end(struct etz_output *out, enum orr_status status, struct mem *mem,
                                              struct orr_error *err);

#endif
