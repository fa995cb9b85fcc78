/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a run as the library's users fill them: by name, and settled before anything is read. */
#include <stdlib.h>
#include <string.h>

#include "config/override.h"
#include "param/param.h"
#include "run/files.h"
#include "run/machine.h"

static const struct param_table tables[] = {{param_run, 0, 0}, {0}};

void orr_lab_options_init(struct orr_lab_options *options)
{
    *options = (struct orr_lab_options){0};
    orr_run_options_init(&options->run);
    options->run.policy = ORR_POLICY_AUTO_SAFE;
}

struct orr_run_options *orr_run_options_new(void)
{
    struct orr_run_options *made = malloc(sizeof *made);
    if (made != NULL) {
        orr_run_options_init(made);
    }
    return made;
}

void orr_run_options_delete(struct orr_run_options *options)
{
    orr_run_options_free(options);
    free(options);
}

void orr_run_keep(struct orr_run_options *options, unsigned what)
{
    options->keep_intervals = (what & ORR_KEEP_INTERVALS) != 0;
    options->keep_issue_order = (what & ORR_KEEP_ISSUE_ORDER) != 0;
    options->keep_flows = (what & ORR_KEEP_FLOWS) != 0;
    options->keep_queues = (what & ORR_KEEP_QUEUES) != 0;
}

void orr_run_watch(struct orr_run_options *options, bool (*progress)(void *context, const struct orr_progress *now),
                   void *context)
{
    options->progress = progress;
    options->progress_context = context;
}

enum orr_status orr_run_set(struct orr_run_options *options, const char *name, const char *value, struct orr_error *err)
{
    return param_set(tables, "a run", name, value, options, err);
}

/* As with any parameter the last one counts. Returns how many of the first `count` are left. */
static size_t drop_same(struct orr_override *list, size_t count, const struct orr_override *set)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].file, set->file) != 0 || strcmp(list[i].key, set->key) != 0) {
            list[kept++] = list[i];
        }
    }
    return kept;
}

enum orr_status run_overrides_resolve(struct orr_override *list, size_t *count, bool wired, struct orr_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        struct orr_override set = list[i];
        if (set.file == NULL) {
            enum orr_status status = config_key_find(set.key, wired, NULL, set.origin != NULL ? set.origin : "override",
                                                     set.line > 0 ? set.line : 1, &set.file, &set.key, err);
            if (status != ORR_OK) {
                return status;
            }
            kept = drop_same(list, kept, &set);
        }
        list[kept++] = set;
    }
    *count = kept;
    return ORR_OK;
}

enum orr_status orr_run_settle(struct orr_run_options *options, struct orr_error *err)
{
    run_machine_of_one(options);
    enum orr_status status = param_run_settle(options, err);
    struct orr_override *sets = param_run_sets(options);
    bool open = options->machine != NULL && options->backend_open; /* the machine says which files there are */
    return status != ORR_OK || sets == NULL || open
               ? status
               : run_overrides_resolve(sets, &options->override_count, options->backend >= ORR_BACKEND_PACKET, err);
}
