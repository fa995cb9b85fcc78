/* SPDX-License-Identifier: Apache-2.0 */
/* Both matchers of the C library want a terminated text, so a name is copied first; what is longer than the room here
 * is cut, and no name that a person tells nodes apart by is. */
#include "trace/pattern.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 4096 };

enum orr_status pattern_open(struct pattern *pattern, const char *option, const char *text, struct orr_error *err)
{
    struct pattern made = {.glob = text};
    size_t length = text == NULL ? 0 : strlen(text);
    if (length >= 2 && text[0] == '/' && text[length - 1] == '/') {
        char *inner = strndup(text + 1, length - 2);
        if (inner == NULL) {
            return error_set(err, ORR_ENOMEM, "%s: out of memory", option);
        }
        int fault = regcomp(&made.regex, inner, REG_EXTENDED | REG_NOSUB);
        free(inner);
        if (fault != 0) {
            char why[128];
            (void)regerror(fault, &made.regex, why, sizeof why);
            return error_set(err, ORR_EINVAL, "%s: \"%.200s\" is not a regular expression: %s", option, text, why);
        }
        made.is_regex = true;
        made.glob = NULL;
    }
    *pattern = made;
    return ORR_OK;
}

void pattern_close(struct pattern *pattern)
{
    if (pattern->is_regex) {
        regfree(&pattern->regex);
    }
    *pattern = (struct pattern){0};
}

bool pattern_matches(const struct pattern *pattern, struct record_text name)
{
    if (pattern->glob == NULL && !pattern->is_regex) {
        return true;
    }
    char copy[NAME_ROOM];
    size_t length = name.length < sizeof copy ? name.length : sizeof copy - 1;
    memcpy(copy, name.text, length);
    copy[length] = '\0';
    return pattern->is_regex ? regexec(&pattern->regex, copy, 0, NULL, 0) == 0 : fnmatch(pattern->glob, copy, 0) == 0;
}
