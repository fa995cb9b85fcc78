/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One record of an ET file encoded from its JSON: the wire format of the metadata and node messages (spec chakra §1.1),
 * in both spellings (convert/et_json.h). A record grows in a buffer of the encoder's; fields go out in ascending order,
 * unknown ones last, zero scalars are left out.
 */
#ifndef ORR_CONVERT_ET_JSON_RECORD_H
#define ORR_CONVERT_ET_JSON_RECORD_H

#include "base/mem.h"
#include "io/json_stream.h"

struct et_json_bytes {
    uint8_t *data;
    uint32_t size, capacity;
};

struct et_json_encoder {
    struct mem *mem;
    bool protobuf_names;          /* protobuf's spelling, else our export's */
    struct et_json_bytes record;  /* what was encoded last */
    struct et_json_bytes part[2]; /* messages inside it, and inside those */
    char problem[160];            /* what is wrong, for the caller to put a place before; "" = memory was refused */
    /* Of the last node, for the summary. */
    uint64_t type, comm_bytes;
};

void et_json_encoder_init(struct et_json_encoder *encoder, struct mem *mem, bool protobuf_names);
void et_json_encoder_free(struct et_json_encoder *encoder);

/* Into encoder->record; false says `problem`. */
ORR_MUST_CHECK bool et_json_encode_metadata(struct et_json_encoder *encoder, const struct json_item *item);
ORR_MUST_CHECK bool et_json_encode_node(struct et_json_encoder *encoder, const struct json_item *item);

#endif
