/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fuzz targets of the converters of foreign formats share: the input as a file in memory, a workload, and what
 * must hold: a refusal is one printable line, what is accepted can be ordered or says why not, nothing stays in the
 * account.
 */
#ifndef ORR_FUZZ_CONVERTING_H
#define ORR_FUZZ_CONVERTING_H

#include <sys/mman.h>
#include <unistd.h>

#include "convert/workload.h"
#include "fuzz/reading.h"

/* The bytes under a path; close the descriptor. */
static inline int fuzz_file(const uint8_t *data, size_t size, char path[64])
{
    int file = memfd_create("input", 0);
    if (file < 0 || (size > 0 && write(file, data, size) != (ssize_t)size)) {
        abort();
    }
    (void)snprintf(path, 64, "/proc/self/fd/%d", file);
    return file;
}

static inline void fuzz_convert(const uint8_t *data, size_t size, const char *map,
                                enum orr_status (*read)(const struct convert_request *, struct workload *,
                                                        struct orr_error *))
{
    struct fuzz_reading reading;
    struct workload workload;
    char path[64];
    int file = fuzz_file(data, size, path);
    fuzz_reading_begin(&reading);
    struct convert_request request = {.input = path,
                                      .output = "none",
                                      .map = map,
                                      .unknown_size = 64,
                                      .has_unknown_size = size % 2 == 0,
                                      .passes = 1,
                                      .mem = &reading.mem,
                                      .notes = &reading.notes};
    workload_init(&workload, &reading.mem);
    enum orr_status status = read(&request, &workload, &reading.err);
    fuzz_check_status(&reading, status);
    if (status == ORR_OK) {
        fuzz_check_status(&reading, workload_check(&workload, path, &reading.err));
    }
    workload_free(&workload);
    fuzz_reading_end(&reading);
    (void)close(file);
}

#endif
