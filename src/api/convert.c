/* SPDX-License-Identifier: Apache-2.0 */
/* The one place that knows all converters: picks one by the format, after refusing options that the format would have
 * to ignore. */
#include <inttypes.h>

#include "base/error.h"
#include "base/notices.h"
#include "compat/chakra/convert.h"
#include "compat/chakra/text.h"
#include "convert/rank_path.h"
#include "convert/sniff.h"
#include "convert/workload.h"
#include "io/etz.h"

static const struct {
    const char *word;
    const struct converter *converter;
} formats[] = {[ORR_FORMAT_AUTO] = {.word = "auto"},
#define ORR_X(name, word, text) [ORR_FORMAT_##name] = {#word, &word##_converter},
               ORR_FORMATS(ORR_X)
#undef ORR_X
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

/* As Chakra does it; NULL: it has no such converter. */
static convert_function *const chakra[FORMATS] = {
    [ORR_FORMAT_PYTORCH] = pytorch_convert_compat, [ORR_FORMAT_TEXT] = text_convert_compat};

const char *orr_format_name(enum orr_format format)
{
    size_t index = (size_t)format;
    return index < FORMATS ? formats[index].word : "unknown";
}

void orr_convert_path(const struct orr_convert_options *options, const struct orr_convert_summary *summary,
                      uint32_t rank, char *path, size_t size)
{
    char made[RANK_PATH_ROOM];
    struct orr_error err;
    if (summary->format == ORR_FORMAT_PYTORCH) {
        (void)snprintf(path, size, "%s", options->output);
    } else if (options->compat_chakra || rank_path_make(options->output, rank, summary->files, made, &err) != ORR_OK) {
        (void)snprintf(path, size, "%s.%" PRIu32 ".et", options->output, rank);
    } else {
        (void)snprintf(path, size, "%s", made);
    }
}

static enum orr_status check_options(const struct orr_convert_options *options, enum orr_format format,
                                     struct orr_error *err)
{
    const struct converter *converter = formats[format].converter;
    const char *wrong = options->ranks != 0 && !converter->knows_ranks                ? "a number of ranks"
                        : options->passes > 1 && !converter->knows_passes             ? "a number of passes"
                        : options->map != NULL && !converter->knows_map               ? "a map of columns"
                        : options->has_unknown_size && !converter->knows_unknown_size ? "a size for unknown sizes"
                        : options->compat_chakra && chakra[format] == NULL            ? "compatibility with Chakra"
                        : options->replay != NULL && format != ORR_FORMAT_PYTORCH     ? "a replay"
                                                                                      : NULL;
    if (wrong != NULL) {
        return error_set(err, ORR_EINVAL, "%s: %s means nothing to the format %s", options->input, wrong,
                         formats[format].word);
    }
    if (options->replay != NULL && !options->compat_chakra) {
        return error_set(err, ORR_EINVAL,
                         "the replay is that of Chakra's converter and needs its mode; orrery run simulates a trace");
    }
    if (options->compat_chakra && options->has_unknown_size) {
        return error_set(err, ORR_EINVAL, "Chakra's converter has no size for unknown sizes: it counts tensors only");
    }
    if (options->passes == 0) {
        return error_set(err, ORR_EINVAL, "0 passes; at least 1 is needed");
    }
    return ORR_OK;
}

static enum orr_status convert(const struct orr_convert_options *options, enum orr_format format, struct mem *mem,
                               struct notes *notes, struct convert_summary *summary, struct orr_error *err)
{
    struct convert_request request = {
        .input = options->input,
        .output = options->output,
        .map = options->map,
        .unknown_size = options->unknown_size,
        .ranks = options->ranks,
        .passes = options->passes,
        .has_unknown_size = options->has_unknown_size,
        .replay = options->replay,
        .mem = mem,
        .notes = notes,
    };
    struct etz_output out;
    enum orr_status status = etz_output_begin(options->output, &out, err);
    if (status == ORR_OK) {
        request.output = out.folder != NULL && format == ORR_FORMAT_PYTORCH ? out.first : out.prefix;
        status = options->compat_chakra ? chakra[format](&request, summary, err)
                                        : workload_convert(formats[format].converter, &request, summary, err);
        status = etz_output_end(&out, status, mem, err);
    }
    return status;
}

enum orr_status orr_trace_convert(const struct orr_convert_options *options, const struct orr_notices *notices,
                                  struct orr_convert_summary *summary, struct orr_error *err)
{
    struct mem mem = {.limit = options->memory_limit};
    struct notes notes;
    struct convert_summary made = {0};
    enum orr_format format = options->format;
    enum orr_status status = format == ORR_FORMAT_AUTO ? convert_sniff(options->input, &mem, &format, err) : ORR_OK;
    if (status == ORR_OK && (size_t)format >= FORMATS) {
        status = error_set(err, ORR_EINVAL, "unknown format number %d", (int)format);
    }
    if (status == ORR_OK) {
        status = check_options(options, format, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    notices_begin(&notes, &mem, notices);
    status = convert(options, format, &mem, &notes, &made, err);
    notices_end(&notes, notices);
    if (status == ORR_OK && options->replay != NULL) {
        status = error_of_stream(options->replay, "the replay", err);
    }
    if (status == ORR_OK) {
        *summary = (struct orr_convert_summary){format,           made.files, made.nodes, made.compute,
                                                made.collectives, made.sends, made.recvs, made.comm_bytes};
    }
    return status;
}
