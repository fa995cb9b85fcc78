/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are given as a Chakra ET file and are something else that people have: told by their first bytes, once
 * they could not be read. (Any bytes may begin a protobuf file, so they are not looked at before.)
 */
#ifndef ORR_TRACE_FOREIGN_H
#define ORR_TRACE_FOREIGN_H

#include <stddef.h>
#include <stdint.h>

/* What the file is and what is wanted instead, or NULL where nothing is known. `bytes` are the file's first. */
const char *trace_foreign(const uint8_t *bytes, size_t size);

#endif
