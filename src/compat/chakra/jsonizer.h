/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chakra's jsonizer (spec chakra §11): each record of an ET file as protobuf's own JSON, one text right behind the
 * other, which makes the whole no JSON document. Our own, which is one and comes back as the same bytes, is
 * convert/export.h.
 */
#ifndef ORR_COMPAT_CHAKRA_JSONIZER_H
#define ORR_COMPAT_CHAKRA_JSONIZER_H

#include "base/mem.h"
#include "base/notes.h"

/* Reads and writes record by record. A record of length 0 after the metadata ends the file, as it does for Chakra; what
 * follows it is then said in `notes`. ORR_EIO, ORR_EINVAL (no ET file), ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status jsonizer_write(const char *input, const char *output, struct mem *mem,
                                              struct notes *notes, struct orr_error *err);

#endif
