/* SPDX-License-Identifier: Apache-2.0 */
/* SimAI workload texts as the simulation takes them, strictly and as SimAI itself reads. Besides not crashing: a
 * refusal is one printable line, what is accepted can be unrolled for its first and last stage, and nothing stays in
 * the account. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/reading.h"
#include "run/simai_program.h"
#include "sim/simai/ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { GPUS = 16 };

static void unroll(struct fuzz_reading *reading, const struct simai_program *program, uint32_t stage)
{
    struct simai_ops ops;
    if (simai_ops_make(program, stage, &reading->mem, &ops, &reading->err) == ORR_OK) {
        if (ops.count == 0 || ops.at[ops.count - 1].kind != SIMAI_OP_END) {
            abort();
        }
        simai_ops_free(&ops, &reading->mem);
    }
}

static void read_text(const char *path, bool compat)
{
    struct fuzz_reading reading;
    struct run_simai_program made;
    fuzz_reading_begin(&reading);
    struct aicb_part_times times; /* of every part, so that names that are known are filled */
    memset(&times, 1, sizeof times);
    const struct run_simai_reading how = {
        .path = path, .gpus = GPUS, .compat = compat, .interleaved = !compat, .times = compat ? NULL : &times};
    enum orr_status status = run_simai_program_read(&how, &reading.arena, &reading.notes, &made, &reading.err);
    fuzz_check_status(&reading, status);
    if (status == ORR_OK) {
        if (made.program.stages == 0 || GPUS % made.program.stages != 0 || made.program.row_count == 0) {
            abort();
        }
        unroll(&reading, &made.program, 0);
        unroll(&reading, &made.program, made.program.stages - 1);
    }
    fuzz_reading_end(&reading);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32];
    int descriptor = memfd_create("workload", MFD_CLOEXEC);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size) {
        abort();
    }
    read_text(path, false);
    read_text(path, true);
    (void)close(descriptor);
    return 0;
}
