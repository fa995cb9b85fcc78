/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in memory that are packed with zstd, unpacked into accounted memory: for what the library carries inside. */
#ifndef ORR_IO_UNPACK_H
#define ORR_IO_UNPACK_H

#include "base/mem.h"

/* One whole frame or several. The caller frees `*bytes` with mem_free and `*size`. `name` begins the error: ORR_EINVAL
 * (no such frame, or damaged) or ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status io_unpack_zstd(const char *name, const void *packed, size_t packed_size, struct mem *mem,
                                              void **bytes, size_t *size, struct orr_error *err);

#endif
