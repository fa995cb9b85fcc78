/* SPDX-License-Identifier: Apache-2.0 */
/* What amd-smi, rocm-smi, nvidia-smi and sysfs print. Besides not crashing: a refusal is one printable line, what is
 * shown of a file is printable, clocks lie in their range, and no GPU is there twice. */
#include "api/doctor/smi.h"
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
    if (*text != '\0') {
        fuzz_check_line(text);
    }
}

static void check_gpus(const struct doctor_smi *smi)
{
    const struct doctor_tool *tool = &smi->tool;
    const char *const texts[] = {tool->name, tool->version, tool->library, tool->rocm, tool->driver};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        check_text(texts[i]);
    }
    for (uint32_t i = 0; i < smi->count; i++) {
        check_text(smi->gpus[i].name);
        for (unsigned k = 0; k < DOCTOR_CLOCK_KINDS; k++) {
            uint32_t now = smi->gpus[i].clocks[k].now;
            if (now != DOCTOR_UNKNOWN && now >= 1000000000) {
                abort();
            }
        }
        for (uint32_t j = 0; j < i; j++) {
            if (smi->gpus[j].index == smi->gpus[i].index) {
                abort();
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct doctor_smi smi;
    struct doctor_clock clock = {0, 0, 0};
    fuzz_reading_begin(&reading);
    enum orr_status status = doctor_smi_parse("input", (const char *)data, size, &reading.arena, &smi, &reading.err);
    fuzz_check_status(&reading, status);
    if (status == ORR_OK) {
        check_gpus(&smi);
    }
    const char *text = arena_strndup(&reading.arena, (const char *)data, size);
    if (text != NULL && doctor_dpm_parse(text, &clock) && clock.min > clock.max) {
        abort();
    }
    fuzz_reading_end(&reading);
    return 0;
}
