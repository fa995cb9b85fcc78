/* SPDX-License-Identifier: Apache-2.0 */
/* The help of a command that is described by rows: usage, what it does, its options in groups, examples. */
#include <string.h>

#include "base/text_stream.h"
#include "cli/cli.h"

#include <stdlib.h>

enum { WIDTH = 79, TEXT_COLUMN = 29, FEW_OPTIONS = 8 };

static const char *const headings[PARAM_GROUPS] = {
    [PARAM_WHAT] = "What to run:",
    [PARAM_MACHINE] = "Machine:",
    [PARAM_GROWTH] = "More ranks than traces:",
    [PARAM_NETWORK] = "The network:",
    [PARAM_COMPUTE] = "Compute:",
    [PARAM_SIMULATION] = "How to simulate:",
    [PARAM_ENVIRONMENT] = "Instead of the environment (variable in brackets):",
    [PARAM_OUTPUT] = "What to write:",
    [PARAM_OTHER] = "Other:",
};

/* Words of `text`, each line at most WIDTH wide and indented by `indent` but for the first, which begins at `column`.
 * Line breaks stay. */
static void print_wrapped(const char *text, int indent, int column, FILE *stream)
{
    bool first = true;
    while (*text != '\0') {
        size_t length = strcspn(text, " \n");
        bool fits = first || column + 1 + (int)length <= WIDTH;
        if (!first && fits) {
            (void)fputc(' ', stream);
            column++;
        } else if (!first) {
            (void)fprintf(stream, "\n%*s", indent, "");
            column = indent;
        }
        (void)fwrite(text, 1, length, stream);
        column += (int)length;
        first = false;
        text += length;
        text += *text == ' ' ? 1 : 0;
        if (*text == '\n') {
            (void)fprintf(stream, "\n%*s", text[1] == '\n' || text[1] == '\0' ? 0 : indent, "");
            column = indent;
            first = true;
            text++;
        }
    }
    (void)fputc('\n', stream);
}

void cli_row_text(const struct param *row, bool all, char *text, size_t room)
{
    char plain[2048];
    const char *initial = row->unwritten != NULL ? row->unwritten : row->kind == PARAM_FLAG ? NULL : row->initial;
    const char *sentence = strstr(row->help, ". ");
    int length = all || sentence == NULL ? (int)strlen(row->help) : (int)(sentence - row->help);
    size_t used = (size_t)snprintf(plain, sizeof plain, "%.*s", length, row->help);
    for (size_t i = 0; !all && sentence != NULL && row->kind == PARAM_WORD && row->words[i] != NULL; i++) {
        used += (size_t)snprintf(plain + used, sizeof plain - used, "%s%s", i == 0 ? ": " : ", ", row->words[i]);
    }
    if (initial != NULL) {
        (void)snprintf(plain + used, sizeof plain - used, ". Default: %s", initial);
    }
    (void)param_spell(plain, text, room);
}

static void cli_usage_print_row(const struct param *row, bool all, FILE *stream)
{
    char name[120];
    char text[2048];
    bool optional = (row->flags & PARAM_OPTIONAL) != 0;
    int column = snprintf(name, sizeof name, "  %c%c%c --%s%s%s%s%s", row->letter != '\0' ? '-' : ' ',
                          row->letter != '\0' ? row->letter : ' ', row->letter != '\0' ? ',' : ' ', row->name,
                          row->value != NULL && optional ? "[" : "", row->value != NULL ? "=" : "",
                          row->value != NULL ? row->value : "", row->value != NULL && optional ? "]" : "");
    cli_row_text(row, all, text, sizeof text);
    (void)fputs(name, stream);
    if (column >= TEXT_COLUMN - 1) {
        (void)fprintf(stream, "\n%*s", TEXT_COLUMN, "");
    } else {
        (void)fprintf(stream, "%*s", TEXT_COLUMN - column, "");
    }
    print_wrapped(text, TEXT_COLUMN, TEXT_COLUMN, stream);
}

bool cli_is_told(const struct param_table *table, const struct param *row, enum param_group group, bool all)
{
    bool rare = (row->flags & PARAM_RARE) != 0;
    return row->group == group && param_belongs(table, row) && (row->flags & PARAM_HIDDEN) == 0 && (all || !rare);
}

const char *cli_heading(const struct cli_usage *usage, enum param_group group)
{
    const char *own = usage->headings != NULL ? usage->headings[group] : NULL;
    return own != NULL ? own : headings[group];
}

/* Prints the rows of a group, below its heading where groups have some; returns how many there were. */
static size_t print_group(const struct cli_usage *usage, enum param_group group, bool all, bool headed, FILE *stream)
{
    size_t count = 0;
    for (const struct param_table *table = usage->tables; table->rows != NULL; table++) {
        for (const struct param *row = table->rows; row->name != NULL; row++) {
            if (cli_is_told(table, row, group, all)) {
                if (count++ == 0 && headed) {
                    (void)fprintf(stream, "\n%s\n", cli_heading(usage, group));
                }
                cli_usage_print_row(row, all, stream);
            }
        }
    }
    return count;
}

static size_t count_rows(const struct cli_usage *usage, enum param_group group, bool all)
{
    size_t count = 0;
    for (const struct param_table *table = usage->tables; table->rows != NULL; table++) {
        for (const struct param *row = table->rows; row->name != NULL; row++) {
            count += cli_is_told(table, row, group, all) ? 1 : 0;
        }
    }
    return count;
}

/* Whether the long help says more than the short one. */
static bool has_more(const struct cli_usage *usage)
{
    for (const struct param_table *table = usage->tables; table->rows != NULL; table++) {
        for (const struct param *row = table->rows; row->name != NULL; row++) {
            bool more = (row->flags & PARAM_RARE) != 0 || strstr(row->help, ". ") != NULL;
            if (more && cli_is_told(table, row, row->group, true)) {
                return true;
            }
        }
    }
    return false;
}

static void print_forms(const struct cli_usage *usage, const char *path, FILE *stream)
{
    const char *form = usage->forms != NULL ? usage->forms : "";
    const char *lead = "Usage:";
    do {
        size_t length = strcspn(form, "\n");
        (void)fprintf(stream, "%s %s [OPTION...]%s%.*s\n", lead, path, length > 0 ? " " : "", (int)length, form);
        form += length + (form[length] == '\n');
        lead = "  or: ";
    } while (*form != '\0');
}

static size_t count_all(const struct cli_usage *usage)
{
    size_t there = 0;
    for (int group = 0; group < PARAM_GROUPS; group++) {
        there += count_rows(usage, (enum param_group)group, true);
    }
    return there;
}

bool cli_has_headings(const struct cli_usage *usage, bool all)
{
    size_t groups = 0;
    for (int group = 0; group < PARAM_GROUPS; group++) {
        groups += count_rows(usage, (enum param_group)group, all) > 0 ? 1 : 0;
    }
    return count_all(usage) > FEW_OPTIONS && groups > 1;
}

/* Few options need neither headings nor a second, longer help. */
static void cli_usage_print_help(const struct cli_command *command, const char *path, bool all, FILE *stream)
{
    const struct cli_usage *usage = command->usage;
    size_t shown = 0;
    size_t there = count_all(usage);
    bool few = there <= FEW_OPTIONS;
    all = all || few;
    bool headed = cli_has_headings(usage, all);
    print_forms(usage, path, stream);
    print_wrapped(usage->about, 0, 0, stream);
    (void)fputs(headed ? "" : "\n", stream);
    for (int group = 0; group < PARAM_GROUPS; group++) {
        shown += print_group(usage, (enum param_group)group, all, headed, stream);
    }
    (void)fprintf(stream, "%s  -h, --help                 Show this help and exit\n", headed ? "\n" : "");
    if (!few && has_more(usage)) {
        (void)fprintf(stream, "      --help-all             Show all %zu options, each at length\n", there);
    }
    if (usage->notes != NULL && (all || shown == there)) {
        (void)fputc('\n', stream);
        print_wrapped(usage->notes, 0, 0, stream);
    }
    if (usage->examples != NULL) {
        (void)fprintf(stream, "\nExamples:\n%s", usage->examples);
    }
    if (usage->ending != NULL) {
        (void)fputc('\n', stream);
        print_wrapped(usage->ending, 0, 0, stream);
    }
}

void cli_print_options(const struct cli_command *command, const char *path, enum cli_help help, FILE *stream)
{
    if (help == CLI_HELP_SCHEMA) {
        cli_print_schema(command, path, stream);
    } else if (help == CLI_HELP_MAN || help == CLI_HELP_MARKDOWN) {
        cli_print_reference(command, path, help, stream);
    } else {
        cli_usage_print_help(command, path, help == CLI_HELP_ALL, stream);
    }
}

int cli_print_brief(const struct cli_command *command, const char *path)
{
    print_forms(command->usage, path, stderr);
    (void)fprintf(stderr, "\nExamples:\n%s\n%s --help shows the options with their units.\n",
                  command->usage->examples != NULL ? command->usage->examples : "", path);
    return orr_status_exit_code(ORR_EINVAL);
}
