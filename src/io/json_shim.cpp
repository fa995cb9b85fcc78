// SPDX-License-Identifier: Apache-2.0
/*
 * simdjson's implementation object is used directly: the parser classes above it always run both stages. Its stage one
 * is chosen for the machine when the program starts, so one build is fast everywhere.
 */
#include "io/json_shim.h"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>

#include <simdjson.h>

struct json_indexer {
    std::unique_ptr<simdjson::internal::dom_parser_implementation> stage;
};

/* simdjson rounds the capacity up to its step and keeps a depth of at least one. */
enum { STEP_BYTES = 64, SLACK_INDEXES = 16, FIRST_USE_BYTES = 4096 };

size_t json_indexer_bytes(size_t capacity)
{
    return (capacity + STEP_BYTES + SLACK_INDEXES) * sizeof(uint32_t);
}

json_indexer *json_indexer_make(size_t capacity)
{
    auto *indexer = new (std::nothrow) json_indexer;
    /* simdjson finds its implementation at the first use and ends the program where it has no memory for that. */
    void *some = std::malloc(FIRST_USE_BYTES);
    std::free(some);
    if (indexer == nullptr || some == nullptr) {
        delete indexer;
        return nullptr;
    }
    auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(capacity, 1, indexer->stage);
    if (error != simdjson::SUCCESS) {
        delete indexer;
        return nullptr;
    }
    return indexer;
}

void json_indexer_free(json_indexer *indexer)
{
    delete indexer;
}

json_shim_result json_indexer_run(json_indexer *indexer, const char *text, size_t size, const uint32_t **at,
                                  uint32_t *count)
{
    if (size == 0) {
        return JSON_SHIM_EMPTY;
    }
    auto error = indexer->stage->stage1(reinterpret_cast<const uint8_t *>(text), size, simdjson::stage1_mode::regular);
    switch (error) {
    case simdjson::SUCCESS:
        *at = indexer->stage->structural_indexes.get();
        *count = indexer->stage->n_structural_indexes;
        return JSON_SHIM_OK;
    case simdjson::EMPTY:
        return JSON_SHIM_EMPTY;
    case simdjson::UNCLOSED_STRING:
        return JSON_SHIM_UNCLOSED;
    default:
        return JSON_SHIM_REFUSED;
    }
}

/* Whether a number that no double holds is too large rather than too small: by the place of its first digit that is not
 * zero. */
static bool is_large(const char *text, size_t length)
{
    int64_t place = 0; /* power of ten just above that digit */
    bool seen = false;
    bool behind_point = false;
    size_t i = text[0] == '-' ? 1 : 0;
    for (; i < length && text[i] != 'e' && text[i] != 'E'; i++) {
        if (text[i] == '.') {
            behind_point = true;
            continue;
        }
        seen = seen || text[i] != '0';
        place += behind_point ? (seen ? 0 : -1) : (seen ? 1 : 0);
    }
    int64_t exponent = 0;
    if (i < length) {
        i++;
        bool negative = text[i] == '-';
        for (i += negative || text[i] == '+' ? 1 : 0; i < length && exponent < INT32_MAX; i++) {
            exponent = exponent * 10 + (text[i] - '0');
        }
        exponent = negative ? -exponent : exponent;
    }
    return place + exponent > 0;
}

double json_shim_real(const char *text, size_t length)
{
    double value = 0;
    auto [end, error] = std::from_chars(text, text + length, value);
    if (error == std::errc::result_out_of_range) { /* the value is then left alone */
        value = is_large(text, length) ? std::numeric_limits<double>::infinity() : 0.0;
        return text[0] == '-' ? -value : value;
    }
    return value;
}

unsigned json_shim_digits(double value, char *text, size_t room)
{
    auto [end, error] = std::to_chars(text, text + room, value, std::chars_format::scientific);
    return error == std::errc() ? static_cast<unsigned>(end - text) : 0;
}
