/*
 * `--set FILE.KEY=VALUE`: a key of a configuration file with another value, for one run and without another file. Which
 * file a bare key belongs to is known only when all options are: the network file is read one way or the other by the
 * backend's name.
 */
#include "cli/run.h"

#include <string.h>

enum orr_status run_set_add(struct run_options *options, const char *text)
{
    struct orr_error *err = &options->input.error;
    const char *equals = strchr(text, '=');
    size_t length = equals == NULL ? 0 : (size_t)(equals - text);
    if (length == 0 || length >= RUN_SET_NAME || equals[1] == '\0') {
        return error_set(err, ORR_EINVAL, "--set: \"%.100s\" is not KEY=VALUE, as in network.bandwidth=100", text);
    }
    if (options->set_count == RUN_SETS_MOST) {
        return error_set(err, ORR_ERANGE, "--set is given more than %d times", RUN_SETS_MOST);
    }
    memcpy(options->set_names[options->set_count], text, length);
    options->set_names[options->set_count][length] = '\0';
    options->sets[options->set_count] =
        (struct orr_override){.value = equals + 1, .origin = "--set", .line = (uint32_t)options->set_count + 1};
    options->set_count++;
    return ORR_OK;
}

/* As with any option the last one counts. Returns how many of the first `count` are left. */
static size_t drop_same(struct orr_override *sets, size_t count, const struct orr_override *set)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(sets[i].file, set->file) != 0 || strcmp(sets[i].key, set->key) != 0) {
            sets[kept++] = sets[i];
        }
    }
    return kept;
}

enum orr_status run_sets_resolve(struct run_options *options, struct orr_error *err)
{
    bool wired = options->run.backend >= ORR_BACKEND_PACKET;
    size_t kept = 0;
    for (size_t i = 0; i < options->set_count; i++) {
        struct orr_override *set = &options->sets[i];
        const struct orr_sweep_key said = {options->set_names[i], set->origin, set->line};
        enum orr_status status = orr_config_key(&said, wired, NULL, &set->file, &set->key, err);
        if (status != ORR_OK) {
            return status;
        }
        kept = drop_same(options->sets, kept, set);
        options->sets[kept++] = *set;
    }
    options->set_count = kept;
    options->run.overrides = options->sets;
    options->run.override_count = options->set_count;
    return ORR_OK;
}
