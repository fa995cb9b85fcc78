/* SPDX-License-Identifier: Apache-2.0 */
/* A frame that was written as a stream does not tell its size: the room grows as it is unpacked. */
#include "io/unpack.h"

#include <zstd.h>

enum orr_status io_unpack_zstd(const char *name, const void *packed, size_t packed_size, struct mem *mem, void **bytes,
                               size_t *size, struct orr_error *err)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_inBuffer in = {packed, packed_size, 0};
    void *block = NULL;
    size_t capacity = 0;
    size_t used = 0;
    size_t left = 1;
    enum orr_status status = context != NULL ? ORR_OK : error_set(err, ORR_ENOMEM, "%s: out of memory", name);
    while (status == ORR_OK && (in.pos < in.size || left > 0)) {
        size_t before = in.pos;
        if (!mem_reserve_bytes(mem, &block, &capacity, used, packed_size + 65536)) {
            status = mem_error(mem, name, err);
            break;
        }
        ZSTD_outBuffer out = {block, capacity, used};
        left = ZSTD_decompressStream(context, &out, &in);
        if (ZSTD_isError(left) || (left > 0 && in.pos == before && out.pos == used)) {
            status = error_set(err, ORR_EINVAL, "%s: is not packed with zstd, or is damaged", name);
        }
        used = out.pos;
    }
    (void)ZSTD_freeDCtx(context);
    void *fitting = status == ORR_OK ? mem_resize(mem, block, capacity, used) : NULL;
    if (fitting == NULL) {
        mem_free(mem, block, capacity);
        return status == ORR_OK ? mem_error(mem, name, err) : status;
    }
    *bytes = fitting;
    *size = used;
    return ORR_OK;
}
