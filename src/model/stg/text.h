/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that grow: names and shapes put together for a record, records for a file. Appending to one whose memory was
 * refused does nothing; whoever needs the result looks at `refused` once, at the end.
 */
#ifndef ORR_MODEL_STG_TEXT_H
#define ORR_MODEL_STG_TEXT_H

#include "base/mem.h"

struct stg_text {
    struct mem *mem;
    char *bytes;
    size_t size, capacity;
    bool refused;
};

void stg_text_init(struct stg_text *text, struct mem *mem);
void stg_text_free(struct stg_text *text); /* leaves it empty and usable */

void stg_text_bytes(struct stg_text *text, const void *bytes, size_t size);
void stg_text_add(struct stg_text *text, const char *terminated);
void stg_text_number(struct stg_text *text, uint64_t number);
void stg_text_varint(struct stg_text *text, uint64_t number); /* as protobuf writes it */

#endif
