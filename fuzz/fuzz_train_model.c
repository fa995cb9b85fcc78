/* SPDX-License-Identifier: Apache-2.0 */
/* A model's config.json. Besides not crashing: a refusal is one printable line, and what is a model has parameters, no
 * more of them for a token than there are. */
#include "fuzz/reading.h"
#include "train/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct orr_train_model model = {0};
    struct orr_train_parameters count;
    fuzz_reading_begin(&reading);
    enum orr_status status = model_config_parse("input", (const char *)data, size, &reading.mem, &model, &reading.err);
    if (status == ORR_OK) {
        status = orr_train_model_settle(&model, &reading.err);
    }
    fuzz_check_status(&reading, status);
    if (status == ORR_OK) {
        orr_train_model_count(&model, &count);
        if (count.total == 0 || count.active > count.total) {
            abort();
        }
    }
    fuzz_reading_end(&reading);
    return 0;
}
