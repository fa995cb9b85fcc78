/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts as Python's json module writes them by default: in ASCII, everything else escaped. For the outputs that must
 * equal those of Chakra's Python tools; our own JSON is io/json_write.h.
 */
#ifndef ORR_COMPAT_CHAKRA_ASCII_JSON_H
#define ORR_COMPAT_CHAKRA_ASCII_JSON_H

#include <stddef.h>
#include <stdio.h>

/* With its quotes. `text` must be UTF-8. */
void ascii_json_string(FILE *stream, const char *text, size_t length);

#endif
