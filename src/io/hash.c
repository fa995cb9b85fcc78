/* SPDX-License-Identifier: Apache-2.0 */
/* Every piece is followed by its length, so that "ab" and "c" differ from "a" and "bc". Numbers are hashed as eight
 * bytes, the lowest first, whatever the machine does. */
#include "io/hash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "io/file.h"

struct io_hash {
    XXH3_state_t *state;
};

enum orr_status io_hash_open(struct io_hash **hash, struct orr_error *err)
{
    struct io_hash *opened = calloc(1, sizeof *opened);
    if (opened != NULL) {
        opened->state = XXH3_createState();
    }
    if (opened == NULL || opened->state == NULL || XXH3_128bits_reset(opened->state) != XXH_OK) {
        io_hash_close(opened);
        return error_set(err, ORR_ENOMEM, "out of memory for a hash");
    }
    *hash = opened;
    return ORR_OK;
}

void io_hash_close(struct io_hash *hash)
{
    if (hash != NULL) {
        (void)XXH3_freeState(hash->state);
        free(hash);
    }
}

static void io_hash_add(void *context, const uint8_t *bytes, size_t size)
{
    struct io_hash *hash = context;
    (void)XXH3_128bits_update(hash->state, bytes, size);
}

void io_hash_number(struct io_hash *hash, uint64_t number)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(number >> (8 * i));
    }
    io_hash_add(hash, bytes, sizeof bytes);
}

void io_hash_text(struct io_hash *hash, const char *text)
{
    size_t length = text == NULL ? 0 : strlen(text);
    if (text != NULL) {
        io_hash_add(hash, (const uint8_t *)text, length);
    }
    io_hash_number(hash, text == NULL ? UINT64_MAX : length);
}

enum orr_status io_hash_file(struct io_hash *hash, const char *path, uint64_t *bytes, struct orr_error *err)
{
    struct mem mem = {0};
    struct file_window window;
    file_window_init(&window, &mem);
    window.seen = io_hash_add;
    window.seen_context = hash;
    enum orr_status status = file_window_open(&window, path, err);
    while (status == ORR_OK && !window.at_end) {
        status = file_window_move(&window, window.size, err);
    }
    if (status == ORR_OK) {
        uint64_t size = window.offset + window.size;
        io_hash_number(hash, size);
        *bytes += size;
    }
    file_window_free(&window);
    return status;
}

void io_hash_result(const struct io_hash *hash, char text[IO_HASH_TEXT])
{
    XXH128_hash_t value = XXH3_128bits_digest(hash->state);
    (void)snprintf(text, IO_HASH_TEXT, "%016" PRIx64 "%016" PRIx64, (uint64_t)value.high64, (uint64_t)value.low64);
}
