/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions that stand in for Chakra's small programs; convert/chakra/ does the work. */
#include "base/notices.h"
#include "compat/chakra/generator.h"
#include "compat/chakra/jsonizer.h"
#include "compat/chakra/timeline.h"
#include "compat/chakra/visualizer.h"
#include "orrery.h"

enum orr_status orr_chakra_jsonize(const char *input, const char *output, const struct orr_notices *notices,
                                   struct orr_error *err)
{
    struct mem mem = {0};
    struct notes notes;
    notices_begin(&notes, &mem, notices);
    enum orr_status status = jsonizer_write(input, output, &mem, &notes, err);
    notices_end(&notes, notices);
    return status;
}

enum orr_status orr_chakra_visualize(const char *input, const char *output, bool source,
                                     const struct orr_notices *notices, struct orr_error *err)
{
    struct mem mem = {0};
    struct notes notes;
    notices_begin(&notes, &mem, notices);
    enum orr_status status = visualizer_write(input, output, source, &mem, &notes, err);
    notices_end(&notes, notices);
    return status;
}

enum orr_status orr_chakra_generate(const struct orr_chakra_generator *options, struct orr_error *err)
{
    struct mem mem = {0};
    struct generator generator = {
        .folder = options->folder != NULL ? options->folder : ".",
        .ranks = options->npus,
        .runtime_us = options->runtime_us,
        .tensor_bytes = options->tensor_bytes,
        .comm_bytes = (int64_t)options->comm_bytes,
    };
    if (options->npus == 0) {
        return error_set(err, ORR_EINVAL, "traces for 0 NPUs; at least 1 is needed");
    }
    if (options->comm_bytes > INT64_MAX) {
        return error_set(err, ORR_ERANGE, "a collective's size must be below 2^63 bytes");
    }
    return generator_write(&generator, &mem, err);
}

enum orr_status orr_chakra_timeline(const struct orr_chakra_timeline *options, struct orr_error *err)
{
    struct mem mem = {0};
    struct timeline timeline = {options->input, options->output, options->npus, options->frequency_mhz};
    if (options->frequency_mhz == 0) {
        return error_set(err, ORR_EINVAL, "a clock of 0 MHz; at least 1 is needed");
    }
    return timeline_write(&timeline, &mem, err);
}
