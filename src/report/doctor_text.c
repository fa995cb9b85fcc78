/* SPDX-License-Identifier: Apache-2.0 */
/* The text is read once, top to bottom, by somebody whose set-up does not work: what is missing says what it would be
 * good for, and a clock says whether it is one to simulate with. */
#include "report/doctor_text.h"
#include "param/param.h"

#include <inttypes.h>

#include "io/json_write.h"
#include "report/number.h"

enum { WORKING_MHZ = 500 }; /* GPUs that only wait are below it */

#define DOCTOR_X(name, word, section, key, file) word,
static const char *const words[] = {DOCTOR_CLOCKS(DOCTOR_X)};
#undef DOCTOR_X

uint32_t doctor_clock_to_use(const struct doctor_gpu *gpu)
{
    const struct doctor_clock *clock = &gpu->clocks[DOCTOR_SCLK];
    if (clock->now != DOCTOR_UNKNOWN && clock->now > WORKING_MHZ) {
        return clock->now;
    }
    return clock->max;
}

/* ---- text ---- */

static void put_machine(const struct doctor_report *report, FILE *stream)
{
    (void)fprintf(stream, "Orrery %s", report->version);
    for (uint32_t i = 0; i < report->library_count; i++) {
        (void)fprintf(stream, "%s%s %s", i == 0 ? " with " : ", ", report->libraries[i].name,
                      report->libraries[i].version);
    }
    (void)fprintf(stream, "\n\nMachine\n  system        %s, %s\n", report->system, report->architecture);
    (void)fprintf(stream, "  processors    %" PRIu32, report->processors);
    if (report->usable != report->processors) {
        (void)fprintf(stream, ", of which %" PRIu32 " may be used", report->usable);
    }
    (void)fprintf(stream, "%s%s\n", report->processor[0] == '\0' ? "" : ": ", report->processor);
    (void)fprintf(stream, "  memory        %s, %s available", report_bytes((double)report->memory_bytes).text,
                  report_bytes((double)report->available_bytes).text);
    if (report->limit_bytes != 0) {
        (void)fprintf(stream, "; this program may use %s", report_bytes((double)report->limit_bytes).text);
    }
    (void)fputc('\n', stream);
    const struct {
        const char *name, *version;
    } installed[] = {{"ROCm", report->rocm}, {"amdgpu", report->amdgpu}, {"NVIDIA", report->nvidia}};
    for (size_t i = 0; i < sizeof installed / sizeof installed[0]; i++) {
        if (installed[i].version[0] != '\0') {
            (void)fprintf(stream, "  %-12s  %s\n", installed[i].name, installed[i].version);
        }
    }
}

static void report_doctor_text_put_parts(const struct doctor_report *report, FILE *stream)
{
    (void)fputs("\nOther programs (none is needed to simulate)\n", stream);
    for (uint32_t i = 0; i < report->part_count; i++) {
        const struct doctor_part *part = &report->parts[i];
        param_print(stream, "  %-12s  %-20s  %s\n", part->name, part->path == NULL ? "not found" : part->path,
                    part->use);
    }
}

static void put_clock(const struct doctor_clock *clock, const char *word, FILE *stream)
{
    if (clock->now == DOCTOR_UNKNOWN && clock->max == DOCTOR_UNKNOWN && clock->min == DOCTOR_UNKNOWN) {
        return;
    }
    (void)fprintf(stream, "    %-8s", word);
    if (clock->now == DOCTOR_UNKNOWN) {
        (void)fputs("  now not known", stream);
    } else {
        (void)fprintf(stream, "  now %" PRIu32 " MHz", clock->now);
    }
    if (clock->min != DOCTOR_UNKNOWN && clock->max != DOCTOR_UNKNOWN) {
        (void)fprintf(stream, ", %" PRIu32 " to %" PRIu32 " MHz", clock->min, clock->max);
    } else if (clock->max != DOCTOR_UNKNOWN) {
        (void)fprintf(stream, ", at most %" PRIu32 " MHz", clock->max);
    }
    (void)fputc('\n', stream);
}

static void put_advice(const struct doctor_gpu *gpu, FILE *stream)
{
    uint32_t mhz = doctor_clock_to_use(gpu);
    if (mhz == DOCTOR_UNKNOWN) {
        param_print(stream, "    no clock to simulate with; what the vendor's tool prints while a job runs has one "
                            "(parameter 'smi' FILE)\n");
        return;
    }
    bool working = mhz == gpu->clocks[DOCTOR_SCLK].now;
    param_print(stream,
                "    to simulate compute_cycles: parameter 'comp-source' cycles parameter 'default-gpu-freq' %" PRIu32
                "%s\n",
                mhz, working ? "" : " (the highest: the GPU was not at work)");
}

static void put_gpus(const struct doctor_report *report, FILE *stream)
{
    (void)fputs("\nGPUs\n", stream);
    for (uint32_t i = 0; i < report->tool_count; i++) {
        const struct doctor_tool *tool = &report->tools[i];
        const struct {
            const char *name, *version;
        } said[] = {{"", tool->version}, {"library ", tool->library}, {"ROCm ", tool->rocm}, {"driver ", tool->driver}};
        (void)fprintf(stream, "  %s: %s", tool->file, tool->name);
        for (size_t k = 0; k < sizeof said / sizeof said[0]; k++) {
            if (said[k].version[0] != '\0') {
                (void)fprintf(stream, "%s %s%s", k == 0 ? "" : ",", said[k].name, said[k].version);
            }
        }
        (void)fputc('\n', stream);
    }
    for (uint32_t i = 0; i < report->gpu_count; i++) {
        const struct doctor_gpu *gpu = &report->gpus[i];
        (void)fprintf(stream, "  GPU %" PRIu32 " (%s)%s%s", gpu->index, gpu->source, gpu->name[0] == '\0' ? "" : ": ",
                      gpu->name);
        if (gpu->memory_bytes != 0) {
            (void)fprintf(stream, ", %s", report_bytes((double)gpu->memory_bytes).text);
        }
        (void)fputc('\n', stream);
        for (unsigned k = 0; k < DOCTOR_CLOCK_KINDS; k++) {
            put_clock(&gpu->clocks[k], words[k], stream);
        }
        put_advice(gpu, stream);
    }
    if (report->gpu_count == 0) {
        param_print(stream, "  none seen. Orrery needs none; clocks of another machine's: parameter 'smi' FILE, with "
                            "what amd-smi metric\n  or rocm-smi printed there\n");
    }
}

static void put_checks(const struct doctor_report *report, FILE *stream)
{
    uint32_t acts = 0;
    uint32_t wrong = 0;
    uint64_t messages = 0;
    if (report->check_count == 0) {
        return;
    }
    (void)fputs("\nCollectives, acted out with whole numbers\n", stream);
    for (uint32_t i = 0; i < report->check_count; i++) {
        const struct doctor_check *check = &report->checks[i];
        (void)fprintf(stream, "  %-16s  %-14s  %-25s  %s%s\n", check->algorithm, check->collective, check->sizes,
                      check->wrong == NULL ? "right" : "WRONG: ", check->wrong == NULL ? "" : check->wrong);
        acts += check->acts;
        messages += check->messages;
        wrong += check->wrong != NULL;
    }
    (void)fprintf(stream, "  %" PRIu32 " collectives, %" PRIu64 " messages: ", acts, messages);
    if (wrong == 0) {
        (void)fputs("every value is what the collective promises\n", stream);
    } else {
        (void)fprintf(stream, "%" PRIu32 " of %" PRIu32 " rows are wrong; please report this\n", wrong,
                      report->check_count);
    }
}

void doctor_text_put(const struct doctor_report *report, FILE *stream)
{
    put_machine(report, stream);
    report_doctor_text_put_parts(report, stream);
    put_gpus(report, stream);
    put_checks(report, stream);
}

/* ---- JSON ---- */

static void write_text_or_null(struct json_writer *writer, const char *key, const char *text)
{
    json_write_member_string(writer, key, text == NULL || text[0] == '\0' ? NULL : text);
}

static void write_mhz(struct json_writer *writer, const char *key, uint32_t mhz)
{
    json_write_key(writer, key);
    if (mhz == DOCTOR_UNKNOWN) {
        json_write_null(writer);
    } else {
        json_write_u64(writer, mhz);
    }
}

static void write_machine(struct json_writer *writer, const struct doctor_report *report)
{
    json_write_member_string(writer, "version", report->version);
    json_write_member_object(writer, "libraries", false);
    for (uint32_t i = 0; i < report->library_count; i++) {
        json_write_member_string(writer, report->libraries[i].name, report->libraries[i].version);
    }
    json_write_object_end(writer);
    json_write_member_object(writer, "machine", false);
    json_write_member_string(writer, "system", report->system);
    json_write_member_string(writer, "architecture", report->architecture);
    write_text_or_null(writer, "processor", report->processor);
    json_write_member_u64(writer, "processors", report->processors);
    json_write_member_u64(writer, "usable_processors", report->usable);
    json_write_member_u64(writer, "memory_bytes", report->memory_bytes);
    json_write_member_u64(writer, "available_bytes", report->available_bytes);
    json_write_key(writer, "limit_bytes");
    if (report->limit_bytes == 0) {
        json_write_null(writer);
    } else {
        json_write_u64(writer, report->limit_bytes);
    }
    write_text_or_null(writer, "rocm", report->rocm);
    write_text_or_null(writer, "amdgpu", report->amdgpu);
    write_text_or_null(writer, "nvidia", report->nvidia);
    json_write_object_end(writer);
    json_write_member_object(writer, "programs", false);
    for (uint32_t i = 0; i < report->part_count; i++) {
        write_text_or_null(writer, report->parts[i].name, report->parts[i].path);
    }
    json_write_object_end(writer);
}

static void write_gpu(struct json_writer *writer, const struct doctor_gpu *gpu)
{
    json_write_object(writer, false);
    json_write_member_u64(writer, "index", gpu->index);
    json_write_member_string(writer, "source", gpu->source);
    write_text_or_null(writer, "name", gpu->name);
    json_write_key(writer, "memory_bytes");
    if (gpu->memory_bytes == 0) {
        json_write_null(writer);
    } else {
        json_write_u64(writer, gpu->memory_bytes);
    }
    json_write_member_object(writer, "clocks_mhz", false);
    for (unsigned k = 0; k < DOCTOR_CLOCK_KINDS; k++) {
        json_write_member_object(writer, words[k], true);
        write_mhz(writer, "now", gpu->clocks[k].now);
        write_mhz(writer, "min", gpu->clocks[k].min);
        write_mhz(writer, "max", gpu->clocks[k].max);
        json_write_object_end(writer);
    }
    json_write_object_end(writer);
    write_mhz(writer, "gpu_freq_mhz", doctor_clock_to_use(gpu));
    json_write_object_end(writer);
}

static void write_tool(struct json_writer *writer, const struct doctor_tool *tool)
{
    json_write_object(writer, false);
    json_write_member_string(writer, "file", tool->file);
    json_write_member_string(writer, "tool", tool->name);
    write_text_or_null(writer, "version", tool->version);
    write_text_or_null(writer, "library", tool->library);
    write_text_or_null(writer, "rocm", tool->rocm);
    write_text_or_null(writer, "driver", tool->driver);
    json_write_object_end(writer);
}

static void write_check(struct json_writer *writer, const struct doctor_check *check)
{
    json_write_object(writer, false);
    json_write_member_string(writer, "algorithm", check->algorithm);
    json_write_member_string(writer, "collective", check->collective);
    json_write_member_string(writer, "sizes", check->sizes);
    json_write_member_u64(writer, "acts", check->acts);
    json_write_member_u64(writer, "messages", check->messages);
    json_write_member_string(writer, "wrong", check->wrong);
    json_write_object_end(writer);
}

void doctor_json_put(const struct doctor_report *report, FILE *stream)
{
    struct json_writer writer;
    json_write_document(&writer, stream);
    write_machine(&writer, report);
    json_write_member_array(&writer, "smi", false);
    for (uint32_t i = 0; i < report->tool_count; i++) {
        write_tool(&writer, &report->tools[i]);
    }
    json_write_array_end(&writer);
    json_write_member_array(&writer, "gpus", false);
    for (uint32_t i = 0; i < report->gpu_count; i++) {
        write_gpu(&writer, &report->gpus[i]);
    }
    json_write_array_end(&writer);
    json_write_member_array(&writer, "collectives", false);
    for (uint32_t i = 0; i < report->check_count; i++) {
        write_check(&writer, &report->checks[i]);
    }
    json_write_array_end(&writer);
    json_write_document_end(&writer);
}
