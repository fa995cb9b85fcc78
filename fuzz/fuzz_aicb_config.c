/* SPDX-License-Identifier: Apache-2.0 */
/* Model configurations of AICB's inference generators: whatever the JSON says, all three families end in a workload or
 * in one printable line, and nothing stays in the account. */
#include <stdio.h>

#include "fuzz/converting.h"
#include "model/aicb/inference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const families[] = {"DeepSeek", "Qwen3-Moe", "Qwen3-Next"};
    char path[64];
    int file = fuzz_file(data, size, path);
    FILE *nowhere = fopen("/dev/null", "w");
    if (nowhere == NULL) {
        abort();
    }
    for (unsigned i = 0; i < 3; i++) {
        struct fuzz_reading reading;
        struct aicb_options options;
        fuzz_reading_begin(&reading);
        reading.mem.limit = 4u << 20; /* a million layers are an input too */
        aicb_options_init(&options, AICB_VIDUR, false);
        options.model_name = families[i];
        options.config_file = path;
        options.micro_batch = INT32_MAX;
        options.seq_length = INT32_MAX;
        options.phase = size % 2 == 0 ? AICB_PHASE_DECODE : AICB_PHASE_PREFILL;
        fuzz_check_status(&reading, aicb_inference_write(&options, &reading.mem, nowhere, &reading.err));
        if (size < 64) { /* a line a layer, in a loop that memory does not end */
            fuzz_check_status(&reading, aicb_vidur_write(&options, &reading.mem, nowhere, &reading.err));
        }
        fuzz_reading_end(&reading);
    }
    (void)fclose(nowhere);
    (void)close(file);
    return 0;
}
