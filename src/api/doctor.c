/* SPDX-License-Identifier: Apache-2.0 */
/* The public function of the doctor: looks at everything in turn, and hands the rows to report/. */
#include <stdlib.h>
#include <string.h>

#include "api/doctor/collectives.h"
#include "api/doctor/machine.h"
#include "api/doctor/smi.h"
#include "base/error.h"
#include "io/file.h"
#include "io/versions.h"
#include "orrery.h"

enum { LIBRARIES_MOST = 16 };

struct visit {
    const struct orr_doctor_options *options;
    struct mem mem;
    struct arena arena;
    struct doctor_report report;
    struct io_version versions[LIBRARIES_MOST];
    struct doctor_library libraries[LIBRARIES_MOST];
};

static void name_libraries(struct visit *visit)
{
    unsigned count = io_versions(visit->versions, LIBRARIES_MOST);
    for (unsigned i = 0; i < count; i++) {
        visit->libraries[i] = (struct doctor_library){visit->versions[i].name, visit->versions[i].version};
    }
    visit->report.version = orr_version();
    visit->report.libraries = visit->libraries;
    visit->report.library_count = count;
}

static enum orr_status read_smi(struct visit *visit, const char *path, struct doctor_smi *smi, struct orr_error *err)
{
    struct file_buffer buffer;
    file_buffer_init(&buffer, &visit->mem);
    enum orr_status status = file_buffer_read(&buffer, path, err);
    if (status == ORR_OK) {
        status = doctor_smi_parse(path, (const char *)buffer.bytes, buffer.size, &visit->arena, smi, err);
    }
    file_buffer_free(&buffer);
    return status;
}

/* GPUs of the saved outputs behind each other; those of this machine only where none was given. */
static enum orr_status look_at_gpus(struct visit *visit, struct orr_error *err)
{
    const struct orr_doctor_options *options = visit->options;
    size_t files = options->smi_count;
    struct doctor_smi *found = arena_zalloc(&visit->arena, (files + 1) * sizeof *found);
    struct doctor_tool *tools = arena_zalloc(&visit->arena, (files + 1) * sizeof *tools);
    enum orr_status status = ORR_OK;
    uint32_t count = 0;
    if (found == NULL || tools == NULL) {
        return mem_error(&visit->mem, "the clocks of GPUs", err);
    }
    for (size_t i = 0; i < files && status == ORR_OK; i++) {
        status = read_smi(visit, options->smi[i], &found[i], err);
        tools[i] = found[i].tool;
        count += found[i].count;
    }
    if (status == ORR_OK && files == 0) {
        status = doctor_sysfs_look(options->sysfs == NULL ? "/sys" : options->sysfs, &visit->arena, &found[0], err);
        count = found[0].count;
    }
    if (status != ORR_OK) {
        return status;
    }
    struct doctor_gpu *gpus = arena_alloc(&visit->arena, count * sizeof *gpus);
    if (gpus == NULL) {
        return mem_error(&visit->mem, "the clocks of GPUs", err);
    }
    uint32_t used = 0;
    for (size_t i = 0; i < files + 1; i++) {
        if (found[i].count > 0) {
            memcpy(gpus + used, found[i].gpus, found[i].count * sizeof *gpus);
            used += found[i].count;
        }
    }
    visit->report.gpus = gpus;
    visit->report.gpu_count = used;
    visit->report.tools = tools;
    visit->report.tool_count = (uint32_t)files;
    return ORR_OK;
}

static enum orr_status api_doctor_look(struct visit *visit, struct orr_error *err)
{
    struct doctor_report *report = &visit->report;
    name_libraries(visit);
    enum orr_status status = doctor_machine_look(&visit->arena, report, err);
    if (status == ORR_OK) {
        status = doctor_parts_look(getenv("PATH"), &visit->arena, &report->parts, &report->part_count, err);
    }
    if (status == ORR_OK) {
        status = look_at_gpus(visit, err);
    }
    if (status == ORR_OK && !visit->options->no_collectives) {
        status = doctor_collectives_run(0, &visit->arena, &report->checks, &report->check_count, err);
    }
    return status;
}

enum orr_status orr_doctor(const struct orr_doctor_options *options, bool json, FILE *stream,
                           struct orr_doctor_result *result, struct orr_error *err)
{
    struct visit visit = {.options = options};
    arena_init(&visit.arena, &visit.mem);
    enum orr_status status = api_doctor_look(&visit, err);
    if (status == ORR_OK) {
        (json ? doctor_json_put : doctor_text_put)(&visit.report, stream);
        status = error_of_stream(stream, "the report", err);
    }
    if (status == ORR_OK) {
        *result = (struct orr_doctor_result){.gpus = visit.report.gpu_count, .checks = visit.report.check_count};
        for (uint32_t i = 0; i < visit.report.check_count; i++) {
            result->wrong += visit.report.checks[i].wrong != NULL;
        }
    }
    arena_free(&visit.arena);
    return status;
}
