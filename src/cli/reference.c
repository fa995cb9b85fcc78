/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command in the forms that are read elsewhere than on its own terminal: a section of the manual page (mdoc), a
 * section of the reference page (Markdown), a JSON schema of its options. All three are made of the rows and texts that
 * the help is made of, so that none of them has to be kept in step by hand.
 */
#include "cli/cli.h"

#include <string.h>

/* How a text is put: prose with its characters escaped, a heading, an option, words as they are. */
struct reference_form {
    void (*prose)(const char *text, FILE *stream);
    void (*title)(const char *path, FILE *stream);
    void (*literal)(const char *text, FILE *stream); /* lines as they are, set apart */
    void (*heading)(const char *text, FILE *stream);
    void (*begin)(FILE *stream); /* of a list of options */
    void (*option)(const struct param *row, FILE *stream);
    void (*end)(FILE *stream);
    void (*gap)(FILE *stream); /* below a paragraph */
};

static const char *value_mark(const struct param *row, bool begins)
{
    bool optional = (row->flags & PARAM_OPTIONAL) != 0;
    return row->value == NULL || !optional ? "" : begins ? "[" : "]";
}

/* ---- mdoc ---- */

/* One character of a line that begins with neither a macro nor an escape. */
static void reference_mdoc_put(char c, FILE *stream)
{
    if (c == '\\') {
        (void)fputs("\\e", stream);
    } else if (c == '-') {
        (void)fputs("\\-", stream);
    } else {
        (void)fputc(c, stream);
    }
}

/* Every sentence on a line of its own, as mdoc wants it; a line break of the text stays one. */
static void reference_mdoc_prose(const char *text, FILE *stream)
{
    bool starts = true;
    for (const char *c = text; *c != '\0'; c++) {
        if (starts && (*c == '.' || *c == '\'')) {
            (void)fputs("\\&", stream);
        }
        if (*c == '\n') {
            (void)fputs(starts ? "" : "\n", stream);
            (void)fputs(c[1] == '\n' ? ".Pp\n" : c[1] != '\0' ? ".br\n" : "", stream);
            c += c[1] == '\n';
            starts = true;
        } else if (*c == ' ' && c > text && c[-1] == '.') {
            (void)fputc('\n', stream);
            starts = true;
        } else {
            reference_mdoc_put(*c, stream);
            starts = false;
        }
    }
    (void)fputs(starts ? "" : "\n", stream);
}

static void reference_mdoc_title(const char *path, FILE *stream)
{
    (void)fprintf(stream, ".Ss %s\n", path);
}

static void reference_mdoc_literal(const char *text, FILE *stream)
{
    (void)fputs(".Bd -literal -offset indent\n", stream);
    for (const char *c = text; *c != '\0'; c++) {
        (void)fputs((c == text || c[-1] == '\n') && (*c == '.' || *c == '\'') ? "\\&" : "", stream);
        reference_mdoc_put(*c, stream);
    }
    (void)fputs(".Ed\n", stream);
}

static void reference_mdoc_heading(const char *text, FILE *stream)
{
    (void)fprintf(stream, ".Pp\n.Em \"%s\"\n", text);
}

static void reference_mdoc_begin(FILE *stream)
{
    (void)fputs(".Bl -tag -width indent\n", stream);
}

static void reference_mdoc_option(const struct param *row, FILE *stream)
{
    (void)fputs(".It ", stream);
    if (row->letter != '\0') {
        (void)fprintf(stream, "Fl %c , ", row->letter);
    }
    (void)fprintf(stream, "Fl Fl %s", row->name);
    if (row->value != NULL) {
        (void)fprintf(stream, " Ns \\&%s= Ns Ar \\&%s%s", value_mark(row, true), row->value, value_mark(row, false));
    }
    (void)fputc('\n', stream);
}

static void reference_mdoc_end(FILE *stream)
{
    (void)fputs(".El\n", stream);
}

/* ---- Markdown ---- */

static void reference_page_prose(const char *text, FILE *stream)
{
    for (const char *c = text; *c != '\0'; c++) {
        (void)fputs(strchr("*<>|[]", *c) != NULL ? "\\" : "", stream);
        (void)fputs(*c == '\n' && c[1] != '\n' && c[1] != '\0' ? "  " : "", stream);
        (void)fputc(*c, stream);
    }
    (void)fputc('\n', stream);
}

static void reference_page_title(const char *path, FILE *stream)
{
    (void)fprintf(stream, "## %s\n\n", path);
}

static void reference_page_literal(const char *text, FILE *stream)
{
    (void)fputs("```\n", stream);
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        size_t indent = strspn(line, " ") < 2 ? 0 : 2;
        (void)fprintf(stream, "%.*s\n", (int)(length - indent), line + indent);
        line += length + (line[length] == '\n');
    }
    (void)fputs("```\n\n", stream);
}

static void reference_page_heading(const char *text, FILE *stream)
{
    (void)fprintf(stream, "**%s**\n\n", text);
}

static void reference_page_gap(FILE *stream)
{
    (void)fputc('\n', stream);
}

static void reference_page_option(const struct param *row, FILE *stream)
{
    (void)fputs("- ", stream);
    if (row->letter != '\0') {
        (void)fprintf(stream, "`-%c`, ", row->letter);
    }
    (void)fprintf(stream, "`--%s%s%s%s%s`: ", row->name, value_mark(row, true), row->value != NULL ? "=" : "",
                  row->value != NULL ? row->value : "", value_mark(row, false));
}

static void reference_none(FILE *stream)
{
    (void)stream;
}

static const struct reference_form forms[] = {
    [CLI_HELP_MAN] = {reference_mdoc_prose, reference_mdoc_title, reference_mdoc_literal, reference_mdoc_heading,
                      reference_mdoc_begin, reference_mdoc_option, reference_mdoc_end, reference_none},
    [CLI_HELP_MARKDOWN] = {reference_page_prose, reference_page_title, reference_page_literal, reference_page_heading,
                           reference_none, reference_page_option, reference_page_gap, reference_page_gap},
};

static void reference_usage(const struct reference_form *form, const struct cli_usage *usage, const char *path,
                            FILE *stream)
{
    char text[2048];
    size_t used = 0;
    const char *line = usage->forms != NULL ? usage->forms : "";
    do {
        size_t length = strcspn(line, "\n");
        used += (size_t)snprintf(text + used, sizeof text - used, "%s [OPTION...]%s%.*s\n", path, length > 0 ? " " : "",
                                 (int)length, line);
        line += length + (line[length] == '\n');
    } while (*line != '\0' && used < sizeof text);
    form->literal(text, stream);
}

static void reference_options(const struct reference_form *form, const struct cli_usage *usage, FILE *stream)
{
    bool headed = cli_has_headings(usage, true);
    for (int group = 0; group < PARAM_GROUPS; group++) {
        size_t count = 0;
        for (const struct param_table *table = usage->tables; table->rows != NULL; table++) {
            for (const struct param *row = table->rows; row->name != NULL; row++) {
                char text[2048];
                if (!cli_is_told(table, row, (enum param_group)group, true)) {
                    continue;
                }
                if (count++ == 0) {
                    if (headed) {
                        form->heading(cli_heading(usage, (enum param_group)group), stream);
                    }
                    form->begin(stream);
                }
                cli_row_text(row, true, text, sizeof text - 1);
                (void)strcat(text, strchr(".:", text[strlen(text) - 1]) == NULL ? "." : "");
                form->option(row, stream);
                form->prose(text, stream);
            }
        }
        if (count > 0) {
            form->end(stream);
        }
    }
}

void cli_print_reference(const struct cli_command *command, const char *path, enum cli_help help, FILE *stream)
{
    const struct reference_form *form = &forms[help];
    const struct cli_usage *usage = command->usage;
    form->title(path, stream);
    reference_usage(form, usage, path, stream);
    form->prose(usage->about, stream);
    form->gap(stream);
    reference_options(form, usage, stream);
    if (usage->notes != NULL) {
        form->prose(usage->notes, stream);
        form->gap(stream);
    }
    if (usage->examples != NULL) {
        form->literal(usage->examples, stream);
    }
    if (usage->ending != NULL) {
        form->prose(usage->ending, stream);
        form->gap(stream);
    }
}

/* ---- JSON schema ---- */

static void schema_text(const char *key, const char *text, FILE *stream)
{
    (void)fprintf(stream, "\"%s\": \"", key);
    for (const char *c = text; *c != '\0'; c++) {
        (void)fputs(*c == '"' || *c == '\\' ? "\\" : "", stream);
        (void)fputs(*c == '\n' ? "\\n" : "", stream);
        (void)fwrite(c, *c != '\n', 1, stream);
    }
    (void)fputc('"', stream);
}

/* What a value is where several may be given and each is of this type. */
static void schema_type(const struct param *row, FILE *stream)
{
    switch (row->kind) {
    case PARAM_FLAG:
        (void)fputs("\"type\": \"boolean\"", stream);
        break;
    case PARAM_WORD:
    case PARAM_CHOICE:
        (void)fputs("\"enum\": [", stream);
        for (size_t i = 0; row->words[i] != NULL; i++) {
            (void)fprintf(stream, "%s\"%s\"", i > 0 ? ", " : "", row->words[i]);
        }
        (void)fputc(']', stream);
        break;
    case PARAM_COUNT32:
    case PARAM_COUNT:
        (void)fprintf(stream, "\"type\": \"integer\", \"minimum\": %llu", (unsigned long long)row->least);
        if (row->most != 0) {
            (void)fprintf(stream, ", \"maximum\": %llu", (unsigned long long)row->most);
        }
        break;
    case PARAM_REAL:
        (void)fputs(row->unit != NULL ? "\"type\": [\"string\", \"number\"]" : "\"type\": \"number\"", stream);
        if (row->real_least < row->real_most) {
            (void)fprintf(stream, ", \"minimum\": %g, \"maximum\": %g", row->real_least, row->real_most);
        }
        break;
    case PARAM_TIME:
    case PARAM_MICROSECONDS:
    case PARAM_SIZE:
        (void)fprintf(stream, "\"type\": [\"string\", \"number\"], \"x-unit\": \"%s\"",
                      row->kind == PARAM_SIZE ? "B"
                      : row->unit != NULL     ? row->unit
                                              : "us");
        break;
    case PARAM_PATH:
        (void)fputs("\"type\": \"string\"", stream);
        break;
    case PARAM_TEXT:
    case PARAM_READ:
        (void)fputs((row->flags & PARAM_OPTIONAL) != 0 ? "\"type\": [\"string\", \"boolean\"]"
                    : row->value == NULL               ? "\"type\": \"boolean\""
                                                       : "\"type\": [\"string\", \"number\"]",
                    stream);
        break;
    }
}

static void schema_initial(const struct param *row, FILE *stream)
{
    bool bare = row->kind == PARAM_COUNT || row->kind == PARAM_COUNT32 || row->kind == PARAM_REAL;
    if (row->initial != NULL && bare) {
        (void)fprintf(stream, ", \"default\": %s", row->initial);
    } else if (row->initial != NULL && row->kind != PARAM_FLAG) {
        (void)fputs(", ", stream);
        schema_text("default", row->initial, stream);
    }
}

static void schema_row(const struct param *row, FILE *stream)
{
    char text[2048];
    cli_row_text(row, true, text, sizeof text);
    (void)fprintf(stream, "    \"%s\": {", row->name);
    schema_text("description", text, stream);
    (void)fputs(", ", stream);
    if ((row->flags & PARAM_MANY) != 0) {
        (void)fputs("\"type\": \"array\", \"items\": {", stream);
    }
    schema_type(row, stream);
    (void)fputs((row->flags & PARAM_MANY) != 0 ? "}" : "", stream);
    schema_initial(row, stream);
    (void)fputc('}', stream);
}

void cli_print_schema(const struct cli_command *command, const char *path, FILE *stream)
{
    const char *between = "";
    (void)fputs("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  ", stream);
    schema_text("title", path, stream);
    (void)fputs(",\n  ", stream);
    schema_text("description", command->usage->about, stream);
    (void)fputs(",\n  \"type\": \"object\",\n  \"additionalProperties\": false,\n  \"properties\": {\n", stream);
    for (const struct param_table *table = command->usage->tables; table->rows != NULL; table++) {
        for (const struct param *row = table->rows; row->name != NULL; row++) {
            if (cli_is_told(table, row, row->group, true)) {
                (void)fputs(between, stream);
                schema_row(row, stream);
                between = ",\n";
            }
        }
    }
    (void)fputs("\n  }\n}\n", stream);
}
