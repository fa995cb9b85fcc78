/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes a tool means, by name: a shell pattern that the whole name must match ("nccl*AllReduce*"), or between
 * slashes a POSIX extended regular expression that some part of it must match ("/all_?reduce/"). Owns the compiled
 * form.
 */
#ifndef ORR_TRACE_PATTERN_H
#define ORR_TRACE_PATTERN_H

#include <regex.h>

#include "trace/record.h"

struct pattern {
    const char *glob; /* borrowed; NULL when it is a regular expression or matches everything */
    regex_t regex;
    bool is_regex;
};

/* `text` NULL matches every name. ORR_EINVAL when the regular expression is none; `option` starts the message. */
ORR_MUST_CHECK enum orr_status pattern_open(struct pattern *pattern, const char *option, const char *text,
                                            struct orr_error *err);
void pattern_close(struct pattern *pattern);

bool pattern_matches(const struct pattern *pattern, struct record_text name);

#endif
