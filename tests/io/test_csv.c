/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and fields as RFC 4180 has them; what is no table is refused with line and column. */
#include <stdlib.h>

#include "io/csv.h"
#include "io/file.h"
#include "tests/check.h"
#include "tests/folder.h"

static const struct {
    const char *text, *want; /* fields in [], rows by line number; an error's end after '!' */
} cases[] = {
    {"a,b\n1,2\n", "1[a][b]2[1][2]"},
    {"a;b,c;d\n1;2;3", "1[a][b,c][d]2[1][2][3]"},
    {"a\tb\n \t\"x\ty\"\n", "1[a][b]2[ ][x\ty]"},
    {"\"a,1\",\"b\"\"\"\r\n\r\n\"x\ny\",\r\nz,w\r\n", "1[a,1][b\"]3[x\ny][]5[z][w]"},
    {"\n\na\n\n1\n", "3[a]5[1]"},
    {"a,b\n\"1\" ,2\n", "1[a][b]2[1][2]"},
    {"\xEF\xBB\xBF"
     "a,b\n1,2",
     "1[a][b]2[1][2]"},
    {"a,b\n,\n", "1[a][b]2[][]"},
    {"a,b\n1\n", "1[a][b]!:2: 1 fields, where the header has 2"},
    {"a,b\n1,\"2\n3", "1[a][b]!:2:3: a quote that is never closed"},
    {"a,b\n\"1\"2,3\n", "1[a][b]!:2:4: text behind a closing quote"},
    {"a,b\n1\r2,3\n", "1[a][b]!:2:3: a carriage return inside a line"},
    {"", "!: no header line; the first line names the columns"},
};

static void show_row(FILE *stream, const struct csv_row *row)
{
    fprintf(stream, "%" PRIu64, row->line);
    for (uint32_t i = 0; i < row->count; i++) {
        CHECK_U64(strlen(row->fields[i].text), row->fields[i].length, "terminated");
        fprintf(stream, "[%s]", row->fields[i].text);
    }
}

static void a_table_is_read_row_by_row(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "%s/table.csv", folder);
    for (size_t i = 0; i < 2 * COUNT_OF(cases); i++) {
        const char *text = cases[i % COUNT_OF(cases)].text;
        struct mem mem = {0};
        struct orr_error err = {0};
        struct csv_reader *reader = NULL;
        struct csv_row row;
        char *got = NULL;
        size_t size = 0;
        bool more = true;
        CHECK_OK(file_write(path, text, strlen(text), &err), &err);
        FILE *stream = open_memstream(&got, &size);
        /* From a file, then the same text at hand. */
        enum orr_status status = i < COUNT_OF(cases)
                                     ? csv_reader_open(path, &mem, &reader, &err)
                                     : csv_reader_open_text(path, text, strlen(text), &mem, &reader, &err);
        if (status == ORR_OK)
            show_row(stream, csv_reader_header(reader));
        while (status == ORR_OK && more) {
            status = csv_reader_next(reader, &row, &more, &err);
            if (status == ORR_OK && more)
                show_row(stream, &row);
        }
        if (status != ORR_OK)
            fprintf(stream, "!%s", err.text + strlen(path));
        fclose(stream);
        csv_reader_close(reader);
        CHECK_TEXT(got, cases[i % COUNT_OF(cases)].want);
        CHECK_U64(mem.used, 0, "given back");
        free(got);
    }
}

static void a_nul_byte_is_refused(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    struct csv_reader *reader = NULL;
    char path[64];
    snprintf(path, sizeof path, "%s/nul.csv", folder);
    CHECK_OK(file_write(path, "a,\0b\n", 5, &err), &err);
    CHECK_STATUS(csv_reader_open(path, &mem, &reader, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, ":1:3: a NUL byte");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_is_read_row_by_row),
        cmocka_unit_test(a_nul_byte_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
