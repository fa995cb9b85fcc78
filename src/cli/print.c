/* All that the program says besides results goes through here, so that a message is one line whatever a file name or
 * a file holds. */
#include "cli/cli.h"

#include <inttypes.h>

/* Bytes of 128 and above pass: file names are UTF-8 as a rule, and a terminal shows a stray byte as one mark. */
static void print_line(const char *prefix, char *text)
{
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

void cli_warnings_end(const struct cli_warnings *warnings)
{
    if (!warnings->quiet && warnings->count > CLI_WARNINGS_SHOWN) {
        (void)fprintf(stderr, "orrery: warning: %" PRIu64 " more warnings are not shown\n",
                      warnings->count - CLI_WARNINGS_SHOWN);
    }
}
