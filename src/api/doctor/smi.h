/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks of GPUs in what their tools printed, saved to a file on the machine that has them (spec rocm §1.4): `amd-smi
 * metric --clock`, as text or JSON, `amd-smi monitor`, `amd-smi version`; `rocm-smi`, `rocm-smi --showclocks`, as text
 * or JSON; `nvidia-smi -q`. Which it is shows in the text. One file may hold several texts, one behind the other, the
 * last of which may be JSON.
 *
 * A clock that is not said stays unknown: nothing is made up. Reads text in memory; opens no file.
 */
#ifndef ORR_API_DOCTOR_SMI_H
#define ORR_API_DOCTOR_SMI_H

#include "base/arena.h"
#include "report/doctor_text.h"

enum { DOCTOR_GPUS_MOST = 1024 };

struct doctor_smi {
    struct doctor_tool tool;
    struct doctor_gpu *gpus;
    uint32_t count;
};

/* `name` is the file's, for messages and as the GPUs' source. What is made lives in `arena`. ORR_EINVAL, with the line
 * where there is one, when nothing of these tools is in the text. */
ORR_MUST_CHECK enum orr_status doctor_smi_parse(const char *name, const char *text, size_t size, struct arena *arena,
                                                struct doctor_smi *smi, struct orr_error *err);

/* One clock of sysfs: lines "1: 2400Mhz *", the level in use with a star; "S:" is the one of a GPU that sleeps. False
 * when there is no such line. */
bool doctor_dpm_parse(const char *text, struct doctor_clock *clock);

/* A GPU of which nothing is known, put into the list, or the one that is there with this index. NULL when memory is
 * refused or there are too many. */
struct doctor_gpu *doctor_smi_gpu(struct doctor_smi *smi, uint32_t index, struct arena *arena);

/* For api/doctor/smi_json.c: a number of MHz in "(1500Mhz)", "1500 MHz", "1: (1500Mhz)"; DOCTOR_UNKNOWN for "N/A". */
uint32_t doctor_smi_mhz(const char *text);
/* The kind whose name in rocm-smi's output, or section in amd-smi's ("GFX_0", "GFX"), `text` of `length` bytes is;
 * DOCTOR_CLOCK_KINDS: none. Case aside. */
enum doctor_clock_kind doctor_smi_key(const char *text, size_t length);
enum doctor_clock_kind doctor_smi_section(const char *text, size_t length);
/* The clock that a column of amd-smi monitor's or rocm-smi's table is of ("GFX_CLK"), case aside; DOCTOR_CLOCK_KINDS
 * for one that is a clock and none of ours. False: no clock. */
bool doctor_smi_column(const char *text, size_t length, enum doctor_clock_kind *kind);
ORR_MUST_CHECK enum orr_status doctor_smi_json(const char *name, const char *text, size_t size, struct arena *arena,
                                               struct doctor_smi *smi, struct orr_error *err);

#endif
