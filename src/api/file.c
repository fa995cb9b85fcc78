/* SPDX-License-Identifier: Apache-2.0 */
/* The one writer of files, for callers that made the bytes themselves. */
#include "io/outfile.h"

enum orr_status orr_file_write(const char *path, const void *bytes, size_t size, struct orr_error *err)
{
    struct io_outfile *file = NULL;
    enum orr_status status = io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
    if (status != ORR_OK) {
        return status;
    }
    (void)fwrite(bytes, 1, size, io_outfile_stream(file)); /* a short write shows in the commit */
    return io_outfile_commit(file, err);
}
