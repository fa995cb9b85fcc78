/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of a Chakra attribute from JSON to the wire, and the pieces of protobuf's wire format that records are made
 * of. Only for convert/et_json_record.h, whose encoder collects the bytes and the problem.
 */
#ifndef ORR_CONVERT_ET_JSON_VALUE_H
#define ORR_CONVERT_ET_JSON_VALUE_H

#include "convert/et_json_record.h"

enum et_json_wire { ET_JSON_WIRE_VARINT = 0, ET_JSON_WIRE_64 = 1, ET_JSON_WIRE_BYTES = 2, ET_JSON_WIRE_32 = 5 };

/* Sets the encoder's problem, "KEY is not EXPECTED", and returns false. */
bool et_json_refuse(struct et_json_encoder *encoder, const char *key, const char *expected);

bool et_json_put_varint(struct et_json_encoder *encoder, struct et_json_bytes *out, uint64_t value);
bool et_json_put_tag(struct et_json_encoder *encoder, struct et_json_bytes *out, uint32_t field,
                     enum et_json_wire wire);
/* Tag, length, bytes. */
bool et_json_put_block(struct et_json_encoder *encoder, struct et_json_bytes *out, uint32_t field, const void *bytes,
                       size_t size);
bool et_json_put_hex(struct et_json_encoder *encoder, struct et_json_bytes *out, const struct json_item *item);

/* A whole number as its 64 bits in two's complement; protobuf writes 64-bit ones as texts. */
bool et_json_read_bits(const struct json_item *item, uint64_t *bits, bool *negative);

/* An attribute's value with its tag; `field` is its kind's number (trace/attr.h). */
bool et_json_put_value(struct et_json_encoder *encoder, struct et_json_bytes *out, uint32_t field,
                       const struct json_item *value);

#endif
