/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration file as its reader gets it: a text with a name, and values that go before those in the text. A value
 * of such a list is what `--set` and the points of a sweep say: the file stays as it is, and a thousand variants of it
 * need no thousand files.
 *
 * "bandwidth" replaces the whole value of a key, or gives it where the file does not; "bandwidth[1]" replaces one entry
 * of a list that the file has. In a file of dimensions a single value stands for all of them.
 *
 * Everything is borrowed. Knows the keys of the formats, and opens no file.
 */
#ifndef ORR_CONFIG_OVERRIDE_H
#define ORR_CONFIG_OVERRIDE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct config_override {
    const char *key;
    const char *value;  /* as YAML spells it: 50, 400Gbps, [50, 25], ring; packet configurations: words */
    const char *origin; /* where it was said, for messages: "sweep.yml", "parameter 'set'" */
    uint32_t line;      /* there, from 1 */
};

struct config_text {
    const char *name; /* of the file, for messages */
    const char *text;
    size_t size;
    const struct config_override *overrides;
    uint32_t override_count;
};

/*
 * Which file a key belongs to: "system.endpoint-delay", or "endpoint-delay" where only one format has it. `*file` is
 * the name of the option that names the file (a constant), `*key` points into `text`. `wired`: the network file is a
 * packet configuration. `options` (NULL-terminated; may be NULL) are other names the user may have meant, for the
 * proposal. ORR_EINVAL with `origin` and `line` before the reason.
 */
ORR_MUST_CHECK enum orr_status config_key_find(const char *text, bool wired, const char *const *options,
                                               const char *origin, uint32_t line, const char **file, const char **key,
                                               struct orr_error *err);

#endif
