/* SPDX-License-Identifier: Apache-2.0 */
/* The writers only fill a stream; that it is a file made whole, a pipe or a terminal, and whether all of it got out, is
 * decided here once for all of them. */
#include "report/report.h"

#include <errno.h>
#include <string.h>

#include "io/outfile.h"
#include "report/astra.h"
#include "report/comm_intervals.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/memory.h"
#include "report/stall.h"
#include "report/text.h"
#include "report/timeline.h"

static enum orr_status write_to(const struct sim_result *result, enum orr_output output, FILE *stream,
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
    case ORR_OUTPUT_COMM_INTERVALS:
        return report_comm_intervals_write(result, stream, err);
    case ORR_OUTPUT_CSV:
    case ORR_OUTPUT_LOCAL_MEM:
    case ORR_OUTPUT_FCT: /* of the network, which the run's owner has */
    case ORR_OUTPUT_PFC:
    case ORR_OUTPUT_QLEN:
        break;
    }
    return error_set(err, ORR_EINVAL, "there is no output number %d that goes to a stream", (int)output);
}

static bool ends_in_gz(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

static enum orr_status write_file(const struct sim_result *result, enum orr_output output, const char *path,
                                  struct orr_error *err)
{
    struct io_outfile *file = NULL;
    bool compressed = output == ORR_OUTPUT_TIMELINE && ends_in_gz(path);
    enum orr_status status = io_outfile_open(path, compressed ? IO_OUTFILE_GZIP : IO_OUTFILE_PLAIN, &file, err);
    if (status != ORR_OK) {
        return status;
    }
    status = write_to(result, output, io_outfile_stream(file), err);
    if (status != ORR_OK) {
        io_outfile_abort(file);
        return status;
    }
    return io_outfile_commit(file, err);
}

enum orr_status report_write(const struct sim_result *result, enum orr_output output, const char *path, FILE *stream,
                             struct orr_error *err)
{
    if (path != NULL && output == ORR_OUTPUT_LOCAL_MEM) {
        return report_memory_files(result, path, err);
    }
    if (path != NULL) {
        return output == ORR_OUTPUT_CSV ? report_csv_write(result, path, err) : write_file(result, output, path, err);
    }
    if (output == ORR_OUTPUT_CSV || output == ORR_OUTPUT_TIMELINE) {
        return error_set(err, ORR_EINVAL, "%s",
                         output == ORR_OUTPUT_CSV ? "CSV output needs a folder" : "a timeline needs a file");
    }
    enum orr_status status = write_to(result, output, stream, err);
    return status != ORR_OK ? status : error_of_stream(stream, "the report", err);
}
