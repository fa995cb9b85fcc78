/* SPDX-License-Identifier: Apache-2.0 */
/* All that the program says besides results goes through here, so that a message is one line whatever a file name or
 * a file holds. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"

/* Bytes of 128 and above pass: file names are UTF-8 as a rule, and a terminal shows a stray byte as one mark. */
static void print_line(const char *prefix, const char *message)
{
    char text[2 * sizeof((struct orr_error *)NULL)->text];
    (void)param_spell(message, text, sizeof text);
    for (char *c = text; *c != '\0'; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte < 0x20 || byte == 0x7f) {
            *c = '?';
        }
    }
    (void)fprintf(stderr, "%s%s\n", prefix, text);
}

void cli_error(const char *fmt, ...)
{
    char line[sizeof((struct orr_error *)NULL)->text + 256];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    print_line("orrery: ", line);
}

int cli_fail(const struct orr_error *err)
{
    cli_error("%s", err->text);
    return orr_status_exit_code(err->status);
}

int cli_end(enum orr_status status, const struct orr_error *err)
{
    if (status == ORR_OK) {
        return 0;
    }
    return ferror(stdout) != 0 ? cli_stdout_failed(err->text) : cli_fail(err);
}

void cli_warn(struct cli_warnings *warnings, const char *text)
{
    warnings->count++;
    if (warnings->quiet || warnings->count > CLI_WARNINGS_SHOWN) {
        return;
    }
    char line[sizeof((struct orr_error *)NULL)->text];
    (void)snprintf(line, sizeof line, "%s", text);
    print_line("orrery: warning: ", line);
}

static void warn(void *context, const char *line)
{
    cli_warn(context, line);
}

struct orr_notices cli_notices(struct cli_warnings *warnings, bool strict)
{
    return (struct orr_notices){.warn = warn, .context = warnings, .strict = strict};
}

void cli_warnings_end(const struct cli_warnings *warnings)
{
    if (!warnings->quiet && warnings->count > CLI_WARNINGS_SHOWN) {
        (void)fprintf(stderr, "orrery: warning: %" PRIu64 " more warnings are not shown\n",
                      warnings->count - CLI_WARNINGS_SHOWN);
    }
}

void cli_print_next(char **words)
{
    int count = 0;
    while (words[count] != NULL) {
        count++;
    }
    char *line = cli_quote_command(count, words);
    (void)printf("Next: %s\n", line != NULL ? line : words[0]);
    free(line);
}

bool cli_is_archive(const char *prefix)
{
    size_t length = strlen(prefix);
    return length > 4 && strcmp(prefix + length - 4, ".etz") == 0;
}

void cli_print_traces(const char *prefix, uint32_t ranks)
{
    if (cli_is_archive(prefix)) {
        (void)printf("Wrote %" PRIu32 " trace%s into %s", ranks, ranks == 1 ? "" : "s", prefix);
    } else if (ranks == 1) {
        (void)printf("Wrote %s.0.et", prefix);
    } else {
        (void)printf("Wrote %" PRIu32 " traces, %s.0.et to %s.%" PRIu32 ".et", ranks, prefix, prefix, ranks - 1);
    }
}

void cli_print_next_run(const char *prefix, uint32_t ranks)
{
    bool alone = ranks == 1; /* which needs no machine */
    cli_print_next(
        (char *[]){"orrery run", "--workload", (char *)(uintptr_t)prefix, alone ? NULL : "--machine", "ring", NULL});
}

char *cli_quote_command(int argc, char **argv)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = text_stream_open(&text, &size);
    if (stream == NULL) {
        return NULL;
    }
    (void)fputs(argv[0], stream);
    for (int i = 1; i < argc; i++) {
        (void)fputc(' ', stream);
        param_write_word(argv[i], stream);
    }
    if (fclose(stream) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
