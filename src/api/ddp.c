/* SPDX-License-Identifier: Apache-2.0 */
/* Data-parallel steps: orr_gen_ddp. */
#include "io/etz.h"
#include "model/ddp/step.h"
#include "orrery.h"

#include <inttypes.h>
#include <string.h>

const char *const *orr_ddp_models(void)
{
    return ddp_models();
}

const char *orr_ddp_model_text(const char *model)
{
    return ddp_model_text(model);
}

static enum orr_status api_ddp_check(const struct orr_ddp_options *options, struct orr_error *err)
{
    const char *prefix = options->prefix == NULL ? "" : options->prefix;
    if (options->npus == 0 || options->steps == 0) {
        return error_set(err, ORR_EINVAL, "%s of 0; at least 1 is needed", options->npus == 0 ? "ranks" : "steps");
    }
    if (prefix[0] == '\0' || prefix[strlen(prefix) - 1] == '/') {
        return error_set(err, ORR_EINVAL, "\"%.200s\" names no file; a prefix such as DIR/step is needed", prefix);
    }
    if ((options->model == NULL) == (options->params == 0)) {
        return error_set(err, ORR_EINVAL, "%s a model or a number of parameters is needed",
                         options->model == NULL ? "either" : "only one of");
    }
    if (options->element_bytes == 0 || options->bucket_bytes == 0) {
        return error_set(err, ORR_EINVAL, "elements and buckets have at least 1 byte");
    }
    return ORR_OK;
}

static enum orr_status make_buckets(const struct orr_ddp_options *options, struct mem *mem, struct ddp_list *buckets,
                                    struct orr_error *err)
{
    if (options->model == NULL) {
        uint64_t bytes = 0;
        if (__builtin_mul_overflow(options->params, options->element_bytes, &bytes)) {
            return error_set(err, ORR_ERANGE, "%" PRIu64 " parameters are more bytes than can be counted",
                             options->params);
        }
        return ddp_buckets_even(bytes, options->bucket_bytes, mem, buckets, err);
    }
    struct ddp_list gradients = {0};
    enum orr_status status = ddp_gradients(options->model, mem, &gradients, err);
    if (status == ORR_OK) {
        status = ddp_buckets(&gradients, options->element_bytes, options->first_bucket_bytes, options->bucket_bytes,
                             mem, buckets, err);
        ddp_list_free(&gradients, mem);
    }
    return status;
}

enum orr_status orr_gen_ddp(const struct orr_ddp_options *options, struct orr_ddp_summary *summary,
                            struct orr_error *err)
{
    struct mem mem = {0};
    struct ddp_list buckets = {0};
    enum orr_status status = api_ddp_check(options, err);
    if (status == ORR_OK) {
        status = make_buckets(options, &mem, &buckets, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    const struct ddp_step step = {.buckets = &buckets,
                                  .forward_us = options->forward_us,
                                  .backward_us = options->backward_us,
                                  .optimizer_us = options->optimizer_us,
                                  .steps = options->steps};
    struct etz_output out;
    status = etz_output_begin(options->prefix, &out, err);
    if (status == ORR_OK) {
        status = ddp_step_write(&step, out.prefix, options->npus, &mem, err);
        status = etz_output_end(&out, status, &mem, err);
    }
    if (status == ORR_OK) {
        *summary = (struct orr_ddp_summary){.buckets = buckets.count, .first_bytes = buckets.items[0]};
        for (uint32_t i = 0; i < buckets.count; i++) {
            summary->bytes += buckets.items[i];
        }
    }
    ddp_list_free(&buckets, &mem);
    return status;
}
