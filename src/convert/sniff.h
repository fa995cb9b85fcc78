/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which format a file to convert has, told by its first bytes: a person who names a file should not have to name its
 * format too. Looks at content only, never at the file's name, and guesses nothing: what it does not recognise is an
 * error that lists the formats.
 */
#ifndef ORR_CONVERT_SNIFF_H
#define ORR_CONVERT_SNIFF_H

#include "base/mem.h"
#include "orrery/trace.h"

/* What the first `size` unpacked bytes of a file look like; ORR_FORMAT_AUTO = nothing known. `hint` then is NULL or
 * ends the sentence "the file …". */
enum orr_format convert_sniff_bytes(const char *bytes, size_t size, const char **hint);

/* The same for a file, packed or not. ORR_EINVAL when nothing is recognised; ORR_EIO, ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status convert_sniff(const char *path, struct mem *mem, enum orr_format *format,
                                             struct orr_error *err);

#endif
