/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an archive of traces. The first says how: as the file itself; as one whose rows carry their right
 * checks, so that what the rows say is met; as the form of a trace; as a trace that is brought into the form and back,
 * which must give the same bytes wherever the writer would take it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/reading.h"
#include "io/etz_index.h"
#include "io/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MODES = 4, RANKS_MOST = 16 };

static void repair_row(uint8_t *row, size_t size)
{
    etz_put32(row + size - ETZ_CHECK_BYTES, etz_check_of(row, size));
}

static void repair(uint8_t *bytes, size_t size)
{
    enum { ROW = ETZ_TRAILER_BYTES - ETZ_MAGIC_BYTES };
    static const size_t row_bytes[] = {ETZ_CONTENT_BYTES, ETZ_RUN_BYTES, ETZ_SIDE_BYTES};
    if (size < ETZ_MAGIC_BYTES + ETZ_TRAILER_BYTES) {
        return;
    }
    uint8_t *trailer = bytes + size - ETZ_TRAILER_BYTES;
    uint64_t at = wire_fixed64(trailer);
    memcpy(bytes, ETZ_MAGIC, ETZ_MAGIC_BYTES);
    memcpy(trailer + ROW, ETZ_MAGIC, ETZ_MAGIC_BYTES);
    repair_row(trailer, ROW);
    for (size_t kind = 0; kind < 3; kind++) {
        for (uint32_t i = 0; i < wire_fixed32(trailer + 8 + 4 * kind) && i < 64; i++) {
            if (at > size || size - at < row_bytes[kind]) {
                return;
            }
            repair_row(bytes + at, row_bytes[kind]);
            at += row_bytes[kind];
        }
    }
}

static void read_archive(const uint8_t *bytes, size_t size, struct fuzz_reading *reading)
{
    char path[64];
    char name[ETZ_SIDE_NAME];
    struct etz_reader reader;
    struct etz_bytes read = {.mem = &reading->mem};
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size) {
        abort();
    }
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    enum orr_status status = etz_open(path, &reader, &reading->err);
    fuzz_check_status(reading, status);
    for (uint32_t i = 0; status == ORR_OK && i < reader.ranks && i < RANKS_MOST; i++) {
        fuzz_check_status(reading, etz_read_rank(&reader, i, &read, &reading->err));
    }
    for (uint32_t i = 0; status == ORR_OK && i < reader.sides && i < RANKS_MOST; i++) {
        fuzz_check_status(reading, etz_read_side(&reader, i, name, &read, &reading->err));
    }
    etz_close(&reader);
    etz_bytes_free(&read);
    (void)close(fd);
}

static void there_and_back(const uint8_t *bytes, size_t size, struct fuzz_reading *reading)
{
    struct etz_form form;
    struct etz_form again;
    struct etz_bytes file = {.mem = &reading->mem};
    etz_form_init(&form, &reading->mem);
    etz_form_init(&again, &reading->mem);
    form.rank = again.rank = 3;
    if (etz_form_make(bytes, size, &form) && etz_form_undo(&form, &file)) {
        /* What comes back is canonical: the same form, and the same bytes from then on. */
        if (!etz_form_make(file.at, file.size, &again) || again.body.size != form.body.size ||
            memcmp(again.body.at, form.body.at, form.body.size) != 0) {
            abort();
        }
    }
    etz_form_free(&form);
    etz_form_free(&again);
    etz_bytes_free(&file);
}

static void undo(const uint8_t *bytes, size_t size, struct fuzz_reading *reading)
{
    struct etz_form form;
    struct etz_bytes file = {.mem = &reading->mem};
    etz_form_init(&form, &reading->mem);
    size_t names = size > 0 ? bytes[0] % size : 0;
    etz_bytes_put(&form.names, bytes, names);
    etz_bytes_put(&form.body, bytes + names, size - names);
    form.base = size;
    (void)etz_form_undo(&form, &file);
    etz_form_free(&form);
    etz_bytes_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct fuzz_reading reading;
    if (size == 0) {
        return 0;
    }
    fuzz_reading_begin(&reading);
    uint8_t *copy = malloc(size);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, bytes + 1, size - 1);
    switch (bytes[0] % MODES) {
    case 1:
        repair(copy, size - 1);
        read_archive(copy, size - 1, &reading);
        break;
    case 2:
        undo(copy, size - 1, &reading);
        break;
    case 3:
        there_and_back(copy, size - 1, &reading);
        break;
    default:
        read_archive(copy, size - 1, &reading);
        break;
    }
    free(copy);
    fuzz_reading_end(&reading);
    return 0;
}
