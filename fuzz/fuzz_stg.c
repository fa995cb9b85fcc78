/* SPDX-License-Identifier: Apache-2.0 */
/* Sheets of symbolic tensors: the input is a table and, behind a line of "---", its ports. Besides not crashing: a
 * refusal is one printable line, nothing stays in the account, and every expression that was read prints as a text that
 * reads back as the same one. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/reading.h"
#include "model/stg/expr_text.h"
#include "model/stg/sheet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int make_file(const uint8_t *data, size_t size, char path[32])
{
    int descriptor = memfd_create("sheet", MFD_CLOEXEC);
    (void)snprintf(path, 32, "/proc/self/fd/%d", descriptor);
    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size) {
        abort();
    }
    return descriptor;
}

static void check_text(struct stg_space *space, uint32_t expr)
{
    struct stg_text text;
    struct orr_error err = {0};
    uint32_t again = 0;
    stg_text_init(&text, space->mem);
    stg_expr_print(&space->exprs, expr, &text);
    if (!text.refused && stg_expr_parse(&space->exprs, "again", 1, text.bytes, text.size, &again, &err) == ORR_OK &&
        again != expr) {
        abort();
    }
    stg_text_free(&text);
}

static void check_sheet(struct stg_graph *sheet)
{
    for (uint32_t i = 0; i < sheet->count; i++) {
        uint32_t count = 0;
        const uint32_t *dims = stg_shape_dims(sheet->space, sheet->tensors[i].y_shape, &count);
        for (uint32_t d = 0; d < count; d++) {
            check_text(sheet->space, dims[d]);
            dims = stg_shape_dims(sheet->space, sheet->tensors[i].y_shape, &count);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char line[] = "\n---\n";
    const uint8_t *cut = memmem(data, size, line, sizeof line - 1);
    size_t table_size = cut == NULL ? size : (size_t)(cut - data) + 1;
    const uint8_t *ports = cut == NULL ? data + size : cut + sizeof line - 1;
    char paths[2][32];
    int files[2] = {make_file(data, table_size, paths[0]), make_file(ports, (size_t)(data + size - ports), paths[1])};
    struct fuzz_reading reading;
    struct stg_space space;
    struct stg_graph sheet;
    fuzz_reading_begin(&reading);
    stg_space_init(&space, &reading.mem);
    stg_graph_init(&sheet, &space);
    enum orr_status status = stg_sheet_read(paths[0], paths[1], &sheet, &reading.err);
    fuzz_check_status(&reading, status);
    if (status == ORR_OK) {
        check_sheet(&sheet);
    }
    stg_graph_free(&sheet);
    stg_space_free(&space);
    fuzz_reading_end(&reading);
    (void)close(files[0]);
    (void)close(files[1]);
    return 0;
}
