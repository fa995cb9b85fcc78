/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables as text (RFC 4180), row by row, in the memory of one row: fields in quotes may hold separators, line ends and
 * doubled quotes; lines end in LF or CRLF; empty lines are passed over, as are lines that
 * begin with # before the header; a byte order mark is dropped. The separator
 * (comma, semicolon or tab) is the one the header line has most of, outside quotes. Every row has as many fields as
 * the header. Files may be packed (io/stream.h). Knows no column.
 */
#ifndef ORR_IO_CSV_H
#define ORR_IO_CSV_H

#include <stdio.h>

#include "base/mem.h"

struct csv_field {
    const char *text; /* terminated; without the quotes */
    uint32_t length;
    uint32_t column; /* byte in its line where the field starts, from 1 */
};

/* Valid until the next call on the same reader. */
struct csv_row {
    const struct csv_field *fields;
    uint32_t count;
    uint64_t line; /* where it starts, from 1 */
};

struct csv_reader;

/* Opens and reads the header row. Fails as io_stream_open, and with ORR_EINVAL when there is no header. */
ORR_MUST_CHECK enum orr_status csv_reader_open(const char *path, struct mem *mem, struct csv_reader **reader,
                                               struct orr_error *err);
/* The same for a table at hand, which `name` stands for in errors; both are borrowed while open. */
ORR_MUST_CHECK enum orr_status csv_reader_open_text(const char *name, const char *text, size_t size, struct mem *mem,
                                                    struct csv_reader **reader, struct orr_error *err);
void csv_reader_close(struct csv_reader *reader); /* NULL is fine */

/* Valid while open. */
const struct csv_row *csv_reader_header(const struct csv_reader *reader);
char csv_reader_separator(const struct csv_reader *reader);

/* The next row, or `*more` false at the end. ORR_EINVAL with "file:line:column: …" when it is no such row; one of
 * another number of fields is in `row` all the same, and the next call goes on behind it. */
ORR_MUST_CHECK enum orr_status csv_reader_next(struct csv_reader *reader, struct csv_row *row, bool *more,
                                               struct orr_error *err);

/* Writing: the field alone, in quotes where its text needs them, whatever the separator. */
void csv_write_field(const char *text, FILE *stream);

/* A table that is answered with further columns, whose names end with NULL: a column that has the name of an added one
 * is an earlier answer, and the new one takes its place. */
bool csv_is_added(const char *column, const char *const added[]);
/* The fields of a row that stay, each with the separator behind it: as many as the header has, also of a row with fewer
 * or more. */
void csv_write_kept(const struct csv_row *header, const struct csv_row *row, const char *const added[], char separator,
                    FILE *stream);
/* The names of the added columns, which end the header's line. */
void csv_write_added(const char *const added[], char separator, FILE *stream);

#endif
