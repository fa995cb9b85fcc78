/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML text, parsed by libyaml, as a tree of io/value.h. One document of plain scalars, lists and maps: anchors,
 * aliases and tags are refused, since a configuration that needs them is not one ASTRA-sim's users write, and an alias
 * is how a small file becomes an endless one. A scalar is a number, a truth value or null when it reads as one, quoted
 * or not, and keeps its text. A key may occur twice: the reader of the tree knows which of them matters.
 */
#ifndef ORR_IO_YAML_H
#define ORR_IO_YAML_H

#include "io/value.h"

/* `name` is the file's, for messages ("name:line: column N: …"). The tree lives in `arena`. Fails with ORR_EINVAL or
 * ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status io_yaml_parse(const char *name, const char *text, size_t size, struct arena *arena,
                                             struct io_value **root, struct orr_error *err);

#endif
