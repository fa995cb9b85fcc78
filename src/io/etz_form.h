/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Chakra ET file with its ids and its partners' ranks written as distances, and back to the same bytes: the form in
 * which the traces of a job are equal that do the same. An id is told from the node before, a dependency from the node
 * that has it, the rank of a partner (comm_src, comm_dst) from the rank itself; what groups are called (pg_name) goes
 * to a list of names. All else is copied.
 *
 * Knows where these stand in a record (trace/chakra.proto) and nothing of what they mean; a file it does not
 * understand is left as it is.
 */
#ifndef ORR_IO_ETZ_FORM_H
#define ORR_IO_ETZ_FORM_H

#include "base/mem.h"

/* Bytes that grow. Start from {.mem = ...}; free with etz_bytes_free. */
struct etz_bytes {
    struct mem *mem;
    uint8_t *at;
    size_t size, capacity;
    bool refused; /* memory, at some time: what is there is not whole */
};

void etz_bytes_put(struct etz_bytes *bytes, const void *more, size_t size);
void etz_bytes_number(struct etz_bytes *bytes, uint64_t value); /* a varint */
void etz_bytes_free(struct etz_bytes *bytes);                   /* leaves it empty and usable */

/* What a file becomes; all but `base` and `rank` may be the same for several. */
struct etz_form {
    struct etz_bytes body;
    struct etz_bytes names; /* of groups; empty: none */
    uint64_t base;          /* id of the first node */
    uint32_t rank;
    bool by_rank; /* partners are in it */
};

void etz_form_init(struct etz_form *form, struct mem *mem);
void etz_form_free(struct etz_form *form);
bool etz_form_refused(const struct etz_form *form); /* memory: what is there is not whole */

/* Makes the form of the file of form->rank. False where the file is no row of well-formed records, or memory is
 * refused. What comes back may still differ where the file was written another way than protobuf does: the caller
 * compares. */
bool etz_form_make(const uint8_t *file, size_t size, struct etz_form *form);
/* Appends the file that a form was made of. False where the form is damaged or memory is refused. */
bool etz_form_undo(const struct etz_form *form, struct etz_bytes *file);

#endif
