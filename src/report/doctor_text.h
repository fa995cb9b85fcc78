/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `orrery doctor` found, as people and programs read it: the program and its libraries, the machine it runs on,
 * the parts it could use, GPUs with their clocks, and the numeric test of the collectives. Plain rows come in, text or
 * JSON goes out to the caller's stream; lab/doctor.h fills the rows.
 */
#ifndef ORR_REPORT_DOCTOR_TEXT_H
#define ORR_REPORT_DOCTOR_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct doctor_library {
    const char *name, *version;
};

/* A program that some command or some user could use. */
struct doctor_part {
    const char *name, *use;
    const char *path; /* NULL: not there */
};

/* name, word for people, section of amd-smi's text, key of rocm-smi's, file of sysfs ("": not there) */
#define DOCTOR_CLOCKS(X)                                                                                               \
    X(SCLK, "sclk", "GFX", "sclk", "pp_dpm_sclk")                                                                      \
    X(MCLK, "mclk", "MEM", "mclk", "pp_dpm_mclk")                                                                      \
    X(FCLK, "fclk", "FCLK", "fclk", "pp_dpm_fclk")                                                                     \
    X(SOCCLK, "socclk", "SOCCLK", "socclk", "pp_dpm_socclk")                                                           \
    X(DCLK, "dclk", "DCLK", "dclk", "pp_dpm_dclk")

enum doctor_clock_kind {
#define DOCTOR_X(name, word, section, key, file) DOCTOR_##name,
    DOCTOR_CLOCKS(DOCTOR_X)
#undef DOCTOR_X
        DOCTOR_CLOCK_KINDS
};

enum { DOCTOR_UNKNOWN = UINT32_MAX };

/* MHz; DOCTOR_UNKNOWN where nothing is said. */
struct doctor_clock {
    uint32_t now, min, max;
};

struct doctor_gpu {
    const char *source; /* "card0", or the file that was read */
    const char *name;   /* "" where nothing is said */
    uint32_t index;
    uint64_t memory_bytes; /* 0: not known */
    struct doctor_clock clocks[DOCTOR_CLOCK_KINDS];
};

/* What a saved output says of the tools that wrote it; "" where it does not. */
struct doctor_tool {
    const char *file, *name, *version, *library, *rocm, *driver;
};

/* One row of the numeric test: an algorithm's collective, in all sizes that were tried. */
struct doctor_check {
    const char *algorithm, *collective, *sizes;
    uint32_t acts;
    uint64_t messages;
    const char *wrong; /* NULL: all came out right */
};

struct doctor_report {
    const char *version;
    const struct doctor_library *libraries;
    uint32_t library_count;
    const char *system, *architecture; /* "Linux 6.1.0", "x86_64" */
    const char *processor;             /* "" where not known */
    uint32_t processors, usable;       /* online; that this program may run on */
    uint64_t memory_bytes, available_bytes;
    uint64_t limit_bytes;               /* of the control group the program runs in; 0: none */
    const char *rocm, *amdgpu, *nvidia; /* installed versions; "" where not known */
    const struct doctor_part *parts;
    uint32_t part_count;
    const struct doctor_tool *tools;
    uint32_t tool_count;
    const struct doctor_gpu *gpus;
    uint32_t gpu_count;
    const struct doctor_check *checks;
    uint32_t check_count;
};

/* The clock to simulate with: what runs now where the GPU is at work (above 500 MHz, spec rocm §1.5), else the highest
 * it can; DOCTOR_UNKNOWN where neither is known. */
uint32_t doctor_clock_to_use(const struct doctor_gpu *gpu);

void doctor_text_put(const struct doctor_report *report, FILE *stream);
void doctor_json_put(const struct doctor_report *report, FILE *stream);

#endif
