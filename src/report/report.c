/* SPDX-License-Identifier: Apache-2.0 */
/* The writers only fill a stream; that it is a file made whole, a pipe or a terminal, and whether all of it got out, is
 * decided here once for all of them. */
#include "report/report.h"

#include <string.h>

#include "io/outfile.h"
#include "report/astra.h"
#include "report/columns.h"
#include "report/comm_intervals.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/kineto.h"
#include "report/machine.h"
#include "report/memory.h"
#include "report/perfetto.h"
#include "report/simai_run.h"
#include "report/stall.h"
#include "report/text.h"
#include "report/timeline.h"

static enum orr_status report_write_to(const struct sim_result *result, enum orr_output output, FILE *stream,
                                       struct orr_error *err)
{
    switch (output) {
    case ORR_OUTPUT_TEXT:
        report_text_write(result, stream);
        return ORR_OK;
    case ORR_OUTPUT_ASTRA:
        report_astra_write(result, stream);
        return ORR_OK;
    case ORR_OUTPUT_JSON:
        report_json_write(result, stream);
        return ORR_OK;
    case ORR_OUTPUT_STALL:
        report_stall_write(result, stream);
        return ORR_OK;
    case ORR_OUTPUT_TIMELINE:
        return report_timeline_write(result, stream, err);
    case ORR_OUTPUT_COLUMNS:
        return report_columns_write(result, REPORT_COLUMNS_EVENTS, stream, err);
    case ORR_OUTPUT_MACHINE:
        return report_machine_write(result, stream, err);
    case ORR_OUTPUT_COMM_INTERVALS:
        return report_comm_intervals_write(result, stream, err);
    case ORR_OUTPUT_SIMAI_CSV:
        report_simai_run_csv(result, stream);
        return ORR_OK;
    case ORR_OUTPUT_SIMAI_UTILIZATION:
        report_simai_run_utilization(result, stream);
        return ORR_OK;
    case ORR_OUTPUT_SIMAI_LOG:
        report_simai_run_log(result, stream);
        return ORR_OK;
    case ORR_OUTPUT_SIMAI_FILES:
    case ORR_OUTPUT_CSV:
    case ORR_OUTPUT_LOCAL_MEM:
    case ORR_OUTPUT_FCT: /* of the network, which the run's owner has */
    case ORR_OUTPUT_PFC:
    case ORR_OUTPUT_QLEN:
        break;
    }
    return error_set(err, ORR_EINVAL, "there is no output number %d that goes to a stream", (int)output);
}

/* Whether a name, less .gz or .zst, ends as Perfetto's own traces do. */
static bool is_perfetto_name(const char *path, enum io_outfile_form form)
{
    static const char *const endings[] = {".pftrace", ".perfetto-trace"};
    size_t length = strlen(path) - (form == IO_OUTFILE_GZIP   ? strlen(".gz")
                                    : form == IO_OUTFILE_ZSTD ? strlen(".zst")
                                                              : 0);
    bool is = false;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t size = strlen(endings[i]);
        is = is || (length >= size && memcmp(path + length - size, endings[i], size) == 0);
    }
    return is;
}

/* Whether a path is said to be a folder's. */
static bool is_folder_name(const char *path)
{
    size_t length = strlen(path);
    return length > 0 && path[length - 1] == '/';
}

static enum orr_status report_write_file(const struct sim_result *result, enum orr_output output, const char *path,
                                         struct orr_error *err)
{
    struct io_outfile *file = NULL;
    enum io_outfile_form form = output == ORR_OUTPUT_TIMELINE ? io_outfile_form_of(path) : IO_OUTFILE_PLAIN;
    enum orr_status status = io_outfile_open(path, form, &file, err);
    if (status != ORR_OK) {
        return status;
    }
    status = output == ORR_OUTPUT_TIMELINE && is_perfetto_name(path, form)
                 ? report_perfetto_write(result, io_outfile_stream(file), err)
                 : report_write_to(result, output, io_outfile_stream(file), err);
    return io_outfile_end(file, status, err);
}

/* What the output needs and this run has not; NULL: nothing. */
static const char *lacks(const struct sim_result *result, enum orr_output output)
{
    bool of_simai = output >= ORR_OUTPUT_SIMAI_CSV && output <= ORR_OUTPUT_SIMAI_FILES;
    if (of_simai && result->simai == NULL) {
        return "SimAI's tables are of a SimAI workload, and this run is of traces";
    }
    if (of_simai && result->ranks_finished < result->rank_count) {
        return "SimAI's tables are of a run that ended";
    }
    if (output == ORR_OUTPUT_ASTRA && result->simai != NULL) {
        return "ASTRA-sim's lines are of traces, and this run is of a SimAI workload";
    }
    return NULL;
}

enum orr_status report_write(const struct sim_result *result, enum orr_output output, const char *path, FILE *stream,
                             struct orr_error *err)
{
    const char *lacking = lacks(result, output);
    if (lacking != NULL) {
        return error_set(err, ORR_EINVAL, "%s", lacking);
    }
    if (path == NULL) {
        enum orr_status status = report_write_to(result, output, stream, err);
        return status != ORR_OK ? status : error_of_stream(stream, "the report", err);
    }
    if (output == ORR_OUTPUT_TIMELINE && is_folder_name(path)) {
        return report_kineto_write(result, path, err);
    }
    switch (output) {
    case ORR_OUTPUT_CSV:
        return report_csv_write(result, path, err);
    case ORR_OUTPUT_LOCAL_MEM:
        return report_memory_files(result, path, err);
    case ORR_OUTPUT_SIMAI_FILES:
        return report_simai_run_files(result, path, err);
    default:
        return report_write_file(result, output, path, err);
    }
}
