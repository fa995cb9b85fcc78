/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file says, in 32 hexadecimal digits: XXH3 of its bytes, 128 bits. For telling inputs apart and recognising
 * them again, not for keeping secrets.
 */
#ifndef ORR_IO_HASH_H
#define ORR_IO_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { IO_HASH_TEXT = 33 };

/* A hash that grows by pieces; order matters, where one piece ends does too. */
struct io_hash;

ORR_MUST_CHECK enum orr_status io_hash_open(struct io_hash **hash, struct orr_error *err);
void io_hash_close(struct io_hash *hash);                  /* NULL is fine */
void io_hash_text(struct io_hash *hash, const char *text); /* NULL is another piece than "" */
void io_hash_number(struct io_hash *hash, uint64_t number);
/* The file's bytes, counted into `*bytes`. ORR_EIO, as io/file.h says. */
ORR_MUST_CHECK enum orr_status io_hash_file(struct io_hash *hash, const char *path, uint64_t *bytes,
                                            struct orr_error *err);
void io_hash_result(const struct io_hash *hash, char text[IO_HASH_TEXT]);

#endif
