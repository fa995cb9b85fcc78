/* SPDX-License-Identifier: Apache-2.0 */
/* Written from the rows and nothing else: what is not in a table cannot be documented, and what is in one cannot be
 * forgotten. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "config/config.h"
#include "config/table.h"
#include "io/json_write.h"
#include "param/param.h"

static const struct config_format *const formats[] = {
    &config_format_system, &config_format_network,      &config_format_memory,
    &config_format_groups, &config_format_custom_nodes,
};
enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

static const char *const schema_kinds[] = {
#define CONFIG_X(name, storage, schema, words) schema,
    CONFIG_TYPES(CONFIG_X)
#undef CONFIG_X
};

static void markdown_units(FILE *stream)
{
    static const struct {
        const char *suffix;
        enum units_kind kind;
    } units[] = {
#define ORR_X(suffix, kind, factor) {suffix, UNITS_##kind},
        ORR_UNITS(ORR_X)
#undef ORR_X
    };
    static const char *const words[] = {[UNITS_RATE] = "Rates", [UNITS_TIME] = "Times", [UNITS_SIZE] = "Sizes"};
    fputs(
        "\n## Units\n\n"
        "A bare number has the unit its key says. A text may name one: `\"400Gbps\"`, `\"1.5us\"`. Letter case counts; "
        "GB is 10^9\nbytes and GiB 2^30, also in a network file, where only the bare number is ASTRA-sim's GB of 2^30 "
        "bytes.\n\n| kind | units |\n|---|---|\n",
        stream);
    for (size_t kind = 0; kind < sizeof words / sizeof words[0]; kind++) {
        fprintf(stream, "| %s |", words[kind]);
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
            if ((size_t)units[i].kind == kind) {
                fprintf(stream, " `%s`", units[i].suffix);
            }
        }
        fputs(" |\n", stream);
    }
}

static void markdown_row(FILE *stream, const struct config_format *format, const struct config_row *row)
{
    char accepts[256];
    const char *fallback = row->fallback != NULL                 ? row->fallback
                           : (row->flags & CONFIG_REQUIRED) != 0 ? "required"
                                                                 : "none";
    fprintf(stream, "| `%s` | %s%s | %s%s | %s%s |\n", row->key, format->item_bytes != 0 ? "list: " : "",
            row->type == CONFIG_ALGORITHMS ? "list of algorithms" : config_row_accepts(row, accepts, sizeof accepts),
            fallback, (row->flags & CONFIG_NOTE_DEFAULT) != 0 ? " (noted)" : "",
            row->type == CONFIG_IGNORED ? "no effect: " : "", row->help);
}

static void markdown_algorithms(FILE *stream)
{
    fputs("\nAlgorithms:", stream);
    for (const char *const *name = coll_impl_names; *name != NULL; name++) {
        fprintf(stream, "%s `%s`", name == coll_impl_names ? "" : ",", *name);
    }
    fputs(
        ".\nW is the number of peers sent to at once; without it, all. A name that begins with `one` makes a single "
        "ring "
        "of all ranks and\nends the list. A name that begins with `nccl` lays the collective out over all ranks (or a "
        "group's) as NCCL does,\nand stands alone: docs/nccl.md.\n",
        stream);
}

static void markdown_format(FILE *stream, const struct config_format *format)
{
    fprintf(stream, "\n## %s\n\n", format->title);
    if (format->option != NULL) {
        param_print(stream, "`orrery run parameter '%s' FILE`, %s.\n\n", format->option,
                    strcmp(format->syntax, "json") == 0 ? "JSON" : "YAML");
    }
    fprintf(stream, "%s\n\n| key | accepted | default | meaning |\n|---|---|---|---|\n", format->summary);
    for (uint32_t i = 0; i < format->row_count; i++) {
        markdown_row(stream, format, &format->rows[i]);
    }
    if (format == &config_format_system) {
        markdown_algorithms(stream);
    }
    fprintf(stream, "\n```%s\n%s```\n", format->syntax, format->example);
}

static void markdown(FILE *stream)
{
    param_print(
        stream,
        "# Configuration files\n\n"
        "Orrery reads ASTRA-sim's files. This page is generated from the tables the readers use.\n\n"
        "An unknown key is ignored with a warning that names the nearest known one; a wrong type or value is an error "
        "with file and\nline. A default marked \"noted\" causes a warning when it is used. `parameter 'strict'` makes "
        "every "
        "warning an error.\n");
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        markdown_format(stream, formats[i]);
    }
    markdown_units(stream);
}

static void config_reference_schema_type(struct json_writer *json, const char *type)
{
    json_write_key(json, "type");
    json_write_string(json, type);
}

static void schema_bound(struct json_writer *json, const char *key, double bound)
{
    json_write_key(json, key);
    if (bound >= 0.0 && bound <= 1e15 && floor(bound) == bound) {
        json_write_u64(json, (uint64_t)bound);
    } else {
        json_write_fixed(json, bound, 9);
    }
}

static void schema_names(struct json_writer *json, const char *const *names)
{
    json_write_member_array(json, "enum", true);
    for (; *names != NULL; names++) {
        json_write_string(json, *names);
    }
    json_write_array_end(json);
}

/* The members of the schema object of one value. */
static void schema_scalar(struct json_writer *json, const struct config_row *row)
{
    const char *kind = schema_kinds[row->type];
    if (strcmp(kind, "string") == 0) {
        config_reference_schema_type(json, "string");
        if (row->type == CONFIG_CHOICE) {
            schema_names(json, row->choices);
        }
    } else if (strcmp(kind, "number") == 0 || strcmp(kind, "quantity") == 0) {
        if (strcmp(kind, "quantity") == 0) {
            json_write_member_array(json, "type", true);
            json_write_string(json, "number");
            json_write_string(json, "string");
            json_write_array_end(json);
        } else {
            config_reference_schema_type(json, "number");
        }
        schema_bound(json, "minimum", row->min);
        schema_bound(json, "maximum", row->max);
    } else if (strcmp(kind, "switch") == 0) {
        json_write_member_array(json, "enum", true);
        json_write_u64(json, 0);
        json_write_u64(json, 1);
        json_write_bool(json, false);
        json_write_bool(json, true);
        json_write_array_end(json);
    } else if (strcmp(kind, "ranks") == 0) {
        config_reference_schema_type(json, "integer");
        schema_bound(json, "minimum", 0);
    } else if (strcmp(kind, "any") != 0) { /* names, paths */
        config_reference_schema_type(json, "string");
        if (row->type == CONFIG_ALGORITHMS) {
            json_write_key(json, "pattern");
            json_write_string(json, "^(ring|oneRing|(direct|oneDirect)[0-9]*|halvingDoubling|oneHalvingDoubling|"
                                    "doubleBinaryTree|nccl(Ring|Tree|Nvls|Collnet)?)$");
        }
    }
}

static bool is_list(const struct config_format *format, const struct config_row *row)
{
    return format->item_bytes != 0 || row->type == CONFIG_ALGORITHMS || row->type == CONFIG_CUSTOM ||
           row->type == CONFIG_RANKS;
}

static void schema_list(struct json_writer *json, const struct config_format *format, const struct config_row *row)
{
    config_reference_schema_type(json, "array");
    json_write_member_object(json, "items", true);
    schema_scalar(json, row);
    json_write_object_end(json);
    schema_bound(json, "minItems", 1);
    if (row->type == CONFIG_RANKS) {
        json_write_key(json, "uniqueItems");
        json_write_bool(json, true);
        return;
    }
    schema_bound(json, "maxItems",
                 row->type == CONFIG_CUSTOM ? 1
                 : format->item_bytes != 0  ? format->max_items
                                            : TOPO_MAX_DIMS);
}

static void config_reference_schema_row(struct json_writer *json, const struct config_format *format,
                                        const struct config_row *row)
{
    json_write_object(json, false);
    json_write_key(json, "description");
    json_write_string(json, row->help);
    if (!is_list(format, row)) {
        schema_scalar(json, row);
    } else if (row->type == CONFIG_RANKS) {
        schema_list(json, format, row);
    } else { /* a single value stands for a list of one */
        json_write_member_array(json, "anyOf", false);
        json_write_object(json, true);
        schema_list(json, format, row);
        json_write_object_end(json);
        json_write_object(json, true);
        schema_scalar(json, row);
        json_write_object_end(json);
        json_write_array_end(json);
    }
    json_write_object_end(json);
}

static void schema_format(struct json_writer *json, const struct config_format *format)
{
    bool any_key = (format->rows[0].flags & CONFIG_ANY_KEY) != 0;
    json_write_member_object(json, format->id, false);
    config_reference_schema_type(json, "object");
    if (any_key) {
        json_write_key(json, "additionalProperties");
        config_reference_schema_row(json, format, &format->rows[0]);
        json_write_member_object(json, "propertyNames", true);
        json_write_key(json, "pattern");
        json_write_string(json, "^[0-9]+$");
        json_write_object_end(json);
    } else {
        json_write_member_object(json, "properties", false);
        for (uint32_t i = 0; i < format->row_count; i++) {
            json_write_key(json, format->rows[i].key);
            config_reference_schema_row(json, format, &format->rows[i]);
        }
        json_write_object_end(json);
        json_write_member_array(json, "required", true);
        for (uint32_t i = 0; i < format->row_count; i++) {
            if ((format->rows[i].flags & CONFIG_REQUIRED) != 0) {
                json_write_string(json, format->rows[i].key);
            }
        }
        json_write_array_end(json);
    }
    json_write_object_end(json);
}

static void schema(FILE *stream)
{
    struct json_writer json;
    json_write_document(&json, stream);
    json_write_key(&json, "$schema");
    json_write_string(&json, "https://json-schema.org/draft/2020-12/schema");
    json_write_key(&json, "title");
    json_write_string(&json, "Orrery's configuration files; each is one of the definitions");
    json_write_member_object(&json, "$defs", false);
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        schema_format(&json, formats[i]);
    }
    json_write_object_end(&json);
    json_write_document_end(&json);
}

enum orr_status config_write_reference(bool json_schema, FILE *stream, struct orr_error *err)
{
    if (json_schema) {
        schema(stream);
    } else {
        markdown(stream);
    }
    return error_of_stream(stream, "the configuration reference", err);
}
