/* SPDX-License-Identifier: Apache-2.0 */
/* What other languages use: options by name, answers as texts, sizes of structs. */
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

#include "orrery.h"

/* What a step or a plan prints to memory; the caller gives it back with orr_free. */
static char *told(const void *options, bool plan)
{
    struct orr_error err = {0};
    FILE *stream = NULL;
    char *text = NULL;
    size_t size = 0;
    CHECK_OK(orr_stream_text(&text, &size, &stream, &err), &err);
    if (plan) {
        CHECK_OK(orr_plan_tell(options, ORR_FORM_JSON, stream, &err), &err);
    } else {
        CHECK_OK(orr_train_tell(options, ORR_FORM_JSON, stream, &err), &err);
    }
    CHECK_OK(orr_stream_close(stream, &err), &err);
    return text;
}

static void a_step_by_name_is_the_step_by_fields(void **state)
{
    (void)state;
    struct orr_error err = {0};
    struct orr_train_options fields;
    orr_train_options_init(&fields);
    fields.model = "gpt2";
    fields.gpu = "h100";
    fields.plan.micro_batch = 8;
    fields.plan.recompute = ORR_TRAIN_RECOMPUTE_FULL;
    struct orr_train_options *named = orr_train_options_new();
    assert_non_null(named);
    CHECK_OK(orr_train_set(named, "model", "gpt2", &err), &err);
    CHECK_OK(orr_train_set(named, "gpu", "h100", &err), &err);
    CHECK_OK(orr_train_set(named, "micro-batch", "8", &err), &err);
    CHECK_OK(orr_train_set(named, "recompute", "full", &err), &err);
    char *by_fields = told(&fields, false), *by_name = told(named, false);
    CHECK_TEXT(by_name, by_fields);
    CHECK_CONTAINS(by_name, "\"step_time_ns\"");
    orr_free(by_fields);
    orr_free(by_name);
    orr_train_options_delete(named);
}

static void a_plan_takes_its_own_names_and_those_of_its_job(void **state)
{
    (void)state;
    struct orr_error err = {0};
    struct orr_plan_options *named = orr_plan_options_new();
    assert_non_null(named);
    CHECK_OK(orr_plan_set(named, "model", "gpt2", &err), &err);
    CHECK_OK(orr_plan_set(named, "machine", "dgx-h100", &err), &err);
    CHECK_OK(orr_plan_set(named, "fix", "tp=1,pp=1,micro-batch=4", &err), &err);
    CHECK_OK(orr_plan_set(named, "top", "1", &err), &err);
    char *text = told(named, true);
    CHECK_CONTAINS(text, "\"micro_batch\": 4");
    orr_free(text);
    CHECK_STATUS(orr_plan_set(named, "objectve", "step", &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "a plan has no parameter \"objectve\"; did you mean \"objective\"?");
    CHECK_STATUS(orr_plan_set(named, "top", "1000", &err), ORR_ERANGE);
    orr_plan_options_delete(named);
}

static void the_size_of_a_struct_is_told_by_its_name(void **state)
{
    (void)state;
    CHECK_U64(orr_struct_size("orr_error"), sizeof(struct orr_error), "orr_error");
    CHECK_U64(orr_struct_size("orr_node"), sizeof(struct orr_node), "orr_node");
    CHECK_U64(orr_struct_size("orr_nodes"), 0, "there is no such struct");
}

TEST_MAIN(a_step_by_name_is_the_step_by_fields, a_plan_takes_its_own_names_and_those_of_its_job,
          the_size_of_a_struct_is_told_by_its_name)
