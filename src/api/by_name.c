/* SPDX-License-Identifier: Apache-2.0 */
/* Training steps and plans for programs that do not know the structs: options by name, answers as texts. The names are
 * the rows of param/, which the program's options come from too. */
#include <stdlib.h>

#include "orrery.h"
#include "param/param.h"

static const struct param_table by_name_train[] = {{param_train, 0, 0}, {0}};
static const struct param_table by_name_plan[] = {
    {param_train, 0, offsetof(struct orr_plan_options, job)}, {param_plan, 0, 0}, {0}};

struct orr_train_options *orr_train_options_new(void)
{
    struct orr_train_options *made = malloc(sizeof *made);
    if (made != NULL) {
        orr_train_options_init(made);
    }
    return made;
}

void orr_train_options_delete(struct orr_train_options *options)
{
    free(options);
}

enum orr_status orr_train_set(struct orr_train_options *options, const char *name, const char *value,
                              struct orr_error *err)
{
    return param_set(by_name_train, "a training step", name, value, options, err);
}

enum orr_status orr_train_tell(const struct orr_train_options *options, enum orr_form form, FILE *stream,
                               struct orr_error *err)
{
    struct orr_train_result result;
    enum orr_status status = orr_train_step(options, &result, err);
    if (status != ORR_OK) {
        return status;
    }
    return form == ORR_FORM_JSON ? orr_train_json(&result, stream, err) : orr_train_print(&result, stream, err);
}

struct orr_plan_options *orr_plan_options_new(void)
{
    struct orr_plan_options *made = malloc(sizeof *made);
    if (made != NULL) {
        orr_plan_options_init(made);
    }
    return made;
}

void orr_plan_options_delete(struct orr_plan_options *options)
{
    free(options);
}

enum orr_status orr_plan_set(struct orr_plan_options *options, const char *name, const char *value,
                             struct orr_error *err)
{
    return param_set(by_name_plan, "a plan", name, value, options, err);
}

void orr_plan_watch(struct orr_plan_options *options,
                    bool (*progress)(void *context, uint64_t predicted, uint64_t plans), void *context)
{
    options->progress = progress;
    options->progress_context = context;
}

enum orr_status orr_plan_tell(const struct orr_plan_options *options, enum orr_form form, FILE *stream,
                              struct orr_error *err)
{
    struct orr_plan_result *result = NULL;
    enum orr_status status = orr_plan_search(options, &result, err);
    if (status == ORR_OK) {
        status = form == ORR_FORM_JSON ? orr_plan_json(result, stream, err) : orr_plan_print(result, stream, err);
    }
    free(result);
    return status;
}
