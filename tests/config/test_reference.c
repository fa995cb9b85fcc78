/* SPDX-License-Identifier: Apache-2.0 */
/* The reference page in docs/ is what the tables say; the schema is JSON and names every key. */
#include <stdlib.h>

#include "config/table.h"
#include "io/json.h"
#include "tests/config/reading.h"

static char *write_reference(bool schema, size_t *size)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, size);
    CHECK(stream != NULL, "a stream in memory");
    struct orr_error err = {0};
    CHECK_OK(config_write_reference(schema, stream, &err), &err);
    CHECK(fclose(stream) == 0, "closed");
    return text;
}

static void the_page_in_docs_is_what_the_tables_say(void **state)
{
    (void)state;
    const char *path = getenv("ORR_CONFIG_PAGE");
    if (path == NULL) {
        skip();
        return;
    }
    size_t size = 0;
    char *text = write_reference(false, &size);
    FILE *page = fopen(path, "rb");
    CHECK(page != NULL, "%s cannot be read", path);
    char *docs = malloc(size + 2);
    CHECK(docs != NULL, "memory");
    size_t read = fread(docs, 1, size + 1, page);
    (void)fclose(page);
    docs[read] = '\0';
    bool same = read == size && memcmp(docs, text, size) == 0;
    free(docs);
    free(text);
    CHECK(same, "%s is out of date; renew it with: orrery config > docs/config.md", path);
}

static void every_key_is_on_the_page_and_in_the_schema(void **state)
{
    (void)state;
    static const struct config_format *const formats[] = {&config_format_system, &config_format_network,
                                                          &config_format_memory};
    size_t size = 0;
    char *page = write_reference(false, &size);
    char *schema = write_reference(true, &size);
    for (size_t f = 0; f < COUNT_OF(formats); f++) {
        for (uint32_t i = 0; i < formats[f]->row_count; i++) {
            char key[128];
            (void)snprintf(key, sizeof key, "| `%s` |", formats[f]->rows[i].key);
            CHECK_CONTAINS(page, key);
            (void)snprintf(key, sizeof key, "\"%s\": {", formats[f]->rows[i].key);
            CHECK_CONTAINS(schema, key);
            CHECK(strlen(formats[f]->rows[i].help) > 5, "%s has a meaning", formats[f]->rows[i].key);
        }
        CHECK_CONTAINS(page, formats[f]->example);
    }
    free(page);
    free(schema);
}

static void the_schema_is_json(void **state)
{
    (void)state;
    size_t size = 0;
    char *schema = write_reference(true, &size);
    struct reading reading;
    reading_begin(&reading, true);
    struct io_value *root = NULL;
    CHECK_OK(io_json_parse("schema", schema, size, &reading.arena, &root, &reading.err), &reading.err);
    CHECK_U64(root->last->count, 5, "one definition a format");
    reading_end(&reading);
    free(schema);
}

static void a_stream_that_cannot_be_written_is_an_error(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL) {
        skip();
        return;
    }
    struct orr_error err = {0};
    CHECK_STATUS(config_write_reference(false, full, &err), ORR_EFAIL);
    (void)fclose(full);
}

TEST_MAIN(the_page_in_docs_is_what_the_tables_say, every_key_is_on_the_page_and_in_the_schema, the_schema_is_json,
          a_stream_that_cannot_be_written_is_an_error)
