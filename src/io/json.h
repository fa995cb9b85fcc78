/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON text, checked by jansson, as a tree of io/value.h. Meant for configuration: the whole text is in memory and the
 * tree is kept. Duplicate keys, numbers that do not fit, text that is not UTF-8 and deep nesting are refused.
 */
#ifndef ORR_IO_JSON_H
#define ORR_IO_JSON_H

#include "io/value.h"

/* `name` is the file's, for messages ("name:line: column N: …"). The tree lives in `arena`. Fails with ORR_EINVAL or
 * ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status io_json_parse(const char *name, const char *text, size_t size, struct arena *arena,
                                             struct io_value **root, struct orr_error *err);

#endif
