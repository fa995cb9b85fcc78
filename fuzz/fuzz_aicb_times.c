/* SPDX-License-Identifier: Apache-2.0 */
/* Compute files of AIOB, read as AICB reads them and strictly, for training and inference. Besides not crashing: a
 * refusal is one printable line, what is read strictly is read the same as AICB reads it, and nothing stays in the
 * account. */
#include "fuzz/converting.h"
#include "model/aicb/compute_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum orr_status read_times(const char *path, bool compat, struct aicb_times *times, struct fuzz_reading *reading)
{
    struct aicb_compute_reading request = {.path = path, .compat = compat};
    return aicb_times_read(&request, &reading->arena, times, &reading->err);
}

static void check_same(const struct aicb_times *a, const struct aicb_times *b)
{
    if (a->attention != b->attention || a->mlp != b->mlp || a->grad_forward != b->grad_forward ||
        a->grad_backward != b->grad_backward || a->other_count != b->other_count) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    char path[64];
    int file = fuzz_file(data, size, path);
    struct aicb_times times[2];
    struct aicb_inference_times served;
    fuzz_reading_begin(&reading);
    enum orr_status strict = read_times(path, false, &times[0], &reading);
    fuzz_check_status(&reading, strict);
    enum orr_status compat = read_times(path, true, &times[1], &reading);
    fuzz_check_status(&reading, compat);
    if (strict == ORR_OK) {
        if (compat != ORR_OK) {
            abort();
        }
        check_same(&times[0], &times[1]);
    }
    struct aicb_compute_reading request = {.path = path};
    fuzz_check_status(&reading, aicb_inference_times_read(&request, &reading.arena, &served, &reading.err));
    fuzz_reading_end(&reading);
    (void)close(file);
    return 0;
}
