/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator's reader against protobuf-c, on documents nobody wrote: sound, faulty and damaged ones. What the two
 * must agree on is said once, in agree.h; here is only where the bytes come from. */
#include <stdlib.h>

#include "tests/check.h"
#include "tests/trace/agree.h"
#include "tests/trace/bytes.h"
#include "tests/trace/random_document.h"

struct encoded {
    struct mem mem;
    uint8_t *bytes;
    size_t size;
};

static void encode_random(struct encoded *encoded, uint64_t *seed, bool faults)
{
    struct arena arena;
    struct orr_error err = {0};
    *encoded = (struct encoded){0};
    arena_init(&arena, &encoded->mem);
    struct random_document made = random_document_make(&arena, seed, faults);
    CHECK_OK(trace_document_encode(made.metadata, made.nodes, made.node_count, &encoded->mem, &encoded->bytes,
                                   &encoded->size, &err),
             &err);
    arena_free(&arena);
}

static void encoded_free(struct encoded *encoded)
{
    mem_free(&encoded->mem, encoded->bytes, encoded->size);
    CHECK_U64(encoded->mem.used, 0, "all memory is given back");
}

static void a_sound_document_is_accepted_and_read_alike_by_both(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 400; round++) {
        struct encoded encoded;
        struct mem mem = {0};
        struct orr_error err = {0};
        struct trace_graph *graph = NULL;
        encode_random(&encoded, &seed, false);
        CHECK_OK(trace_graph_parse(encoded.bytes, encoded.size, "f", &mem, &graph, &err), &err);
        trace_graph_free(graph);
        const char *complaint = agree(encoded.bytes, encoded.size);
        CHECK(complaint == NULL, "round %d: %s", round, complaint);
        encoded_free(&encoded);
    }
}

static void both_say_the_same_of_a_file_cut_short_or_compressed(void **state)
{
    (void)state;
    struct bytes file;
    bytes_begin(&file);
    bytes_node(&file, 1, TRACE_COMP, NULL, 0);
    struct bytes padded = {.size = 0};
    bytes_number(&padded, 1, 2);
    bytes_text(&padded, 2,
               "a name that makes the record longer than what one byte of length can say: a name that makes "
               "the record longer than what one byte of length can say");
    bytes_record(&file, &padded);
    struct bytes cases[2] = {file, {.at = {0x1f, 0x8b, 0x08}, .size = 3}};
    uint32_t refused = 0;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (size_t size = 2; size < cases[i].size; size++) {
            struct mem mem = {0};
            struct orr_error fast = {0}, whole = {0};
            struct trace_graph *graph = NULL;
            struct trace_document *document = NULL;
            enum orr_status status = trace_document_parse(cases[i].at, size, "f.et", &mem, &document, &whole);
            CHECK_STATUS(trace_graph_parse(cases[i].at, size, "f.et", &mem, &graph, &fast), status);
            CHECK_TEXT(whole.text, fast.text);
            refused += status != ORR_OK;
            trace_graph_free(graph);
            trace_document_free(document);
        }
    }
    CHECK(refused > 150, "only %u cuts are refused", refused);
}

static void a_document_read_and_written_again_has_the_same_bytes(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int round = 0; round < 400; round++) {
        struct encoded encoded;
        struct mem mem = {0};
        struct orr_error err = {0};
        struct trace_document *document = NULL;
        uint8_t *again;
        size_t size;
        encode_random(&encoded, &seed, true);
        CHECK_OK(trace_document_parse(encoded.bytes, encoded.size, "f", &mem, &document, &err), &err);
        CHECK_OK(
            trace_document_encode(document->metadata, document->nodes, document->node_count, &mem, &again, &size, &err),
            &err);
        CHECK_U64(size, encoded.size, "round %d", round);
        CHECK(memcmp(again, encoded.bytes, size) == 0, "round %d: the bytes differ", round);
        mem_free(&mem, again, size);
        trace_document_free(document);
        CHECK_U64(mem.used, 0, "all memory is given back");
        encoded_free(&encoded);
    }
}

static void a_faulty_document_is_refused_exactly_when_check_says_so(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int round = 0; round < 1500; round++) {
        struct encoded encoded;
        encode_random(&encoded, &seed, true);
        const char *complaint = agree(encoded.bytes, encoded.size);
        CHECK(complaint == NULL, "round %d: %s", round, complaint);
        encoded_free(&encoded);
    }
}

/* Up to three bytes changed, lost, put in between, or the end cut off. */
static size_t damage(uint8_t *bytes, size_t size, uint64_t *seed)
{
    for (uint64_t times = 1 + random_next(seed) % 3; times > 0 && size > 0; times--) {
        size_t at = (size_t)(random_next(seed) % size);
        switch (random_next(seed) % 8) {
        case 0:
            size = at;
            break;
        case 1:
            memmove(bytes + at, bytes + at + 1, size - at - 1);
            size--;
            break;
        case 2:
            memmove(bytes + at + 1, bytes + at, size - at);
            bytes[at] = (uint8_t)random_next(seed);
            size++;
            break;
        case 3:
            bytes[at] = (uint8_t)random_next(seed);
            break;
        default:
            bytes[at] ^= (uint8_t)(1u << random_next(seed) % 8);
            break;
        }
    }
    return size;
}

static void a_damaged_document_is_accepted_or_refused_by_both(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int round = 0; round < 300; round++) {
        struct encoded encoded;
        encode_random(&encoded, &seed, false);
        for (int variant = 0; variant < 40; variant++) {
            uint8_t *copy = malloc(encoded.size + 8);
            assert_non_null(copy);
            memcpy(copy, encoded.bytes, encoded.size);
            size_t size = damage(copy, encoded.size, &seed);
            const char *complaint = agree(copy, size);
            CHECK(complaint == NULL, "round %d, variant %d: %s", round, variant, complaint);
            free(copy);
        }
        encoded_free(&encoded);
    }
}

static void a_file_cut_anywhere_is_refused_or_ends_between_records(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int round = 0; round < 20; round++) {
        struct encoded encoded;
        encode_random(&encoded, &seed, false);
        for (size_t size = 0; size < encoded.size; size += 1 + encoded.size / 300) {
            uint8_t *copy = malloc(size == 0 ? 1 : size); /* so that a sanitizer sees a read behind the end */
            assert_non_null(copy);
            memcpy(copy, encoded.bytes, size);
            const char *complaint = agree(copy, size);
            CHECK(complaint == NULL, "round %d, %zu bytes: %s", round, size, complaint);
            free(copy);
        }
        encoded_free(&encoded);
    }
}

TEST_MAIN(a_sound_document_is_accepted_and_read_alike_by_both, both_say_the_same_of_a_file_cut_short_or_compressed,
          a_document_read_and_written_again_has_the_same_bytes, a_faulty_document_is_refused_exactly_when_check_says_so,
          a_damaged_document_is_accepted_or_refused_by_both, a_file_cut_anywhere_is_refused_or_ends_between_records)
