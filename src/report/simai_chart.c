/* SPDX-License-Identifier: Apache-2.0 */
/* One bar of shares and a legend, drawn as SVG inside the page: it opens on a machine without a network, and the labels
 * are SimAI's own in its two languages. */
#include <math.h>
#include <string.h>

#include "io/outfile.h"
#include "io/xml_text.h"
#include "report/number.h"
#include "report/simai.h"

enum { PARTS = 8, CP_PART = 7, LANGUAGES = 2, BAR_WIDTH = 720, LINE_HEIGHT = 26 };

struct chart_part {
    const char *labels[LANGUAGES];
    const char *colour;
};

static const struct chart_part parts[PARTS] = {
    {{"Exposed DP communication", "DP通信（露出）"}, "#d1495b"},
    {{"Exposed DP_EP communication", "DP/EP通信（露出）"}, "#3a79b7"},
    {{"Exposed TP communication", "TP通信（露出）"}, "#e0a526"},
    {{"Exposed EP communication", "EP通信（露出）"}, "#3f9a8f"},
    {{"Compute", "合計計算時間"}, "#7d5ba6"},
    {{"Pipeline bubble", "PPバブル時間"}, "#e07b39"},
    {{"Exposed PP communication", "PP通信（露出）"}, "#8b98a9"},
    {{"Exposed CP communication", "CP通信（露出）"}, "#5f7f3f"}, /* SimAI has none: where there is some */
};

/* How many of the parts are drawn. */
static unsigned report_simai_chart_shown(const double values[PARTS])
{
    return values[CP_PART] > 0 ? PARTS : CP_PART;
}

static const char *const headings[LANGUAGES] = {"Time of one iteration", "合計時間"};
static const char *const model_words[LANGUAGES] = {"model", "モデル"};

static void put_bar(const double values[PARTS], double total, FILE *stream)
{
    double at = 0;
    for (unsigned i = 0; i < report_simai_chart_shown(values); i++) {
        double share = total > 0 && isfinite(total) && isfinite(values[i]) && values[i] > 0 ? values[i] / total : 0;
        double width = share * BAR_WIDTH;
        (void)fprintf(stream, "<rect x=\"%s\" y=\"0\" width=\"%s\" height=\"44\" fill=\"%s\"/>\n",
                      report_fixed(at, 2).text, report_fixed(width, 2).text, parts[i].colour);
        at += width;
    }
}

static void report_simai_chart_put_legend(const double values[PARTS], double total, unsigned language, FILE *stream)
{
    for (unsigned i = 0; i < report_simai_chart_shown(values); i++) {
        unsigned y = 64 + i * LINE_HEIGHT;
        (void)fprintf(
            stream,
            "<rect x=\"0\" y=\"%u\" width=\"14\" height=\"14\" fill=\"%s\"/><text x=\"24\" y=\"%u\">%s</text>"
            "<text x=\"480\" y=\"%u\" class=\"n\">%s us</text><text x=\"600\" y=\"%u\" class=\"n\">%s</text>\n",
            y, parts[i].colour, y + 12, parts[i].labels[language], y + 12, report_fixed(values[i], 0).text, y + 12,
            report_share(values[i], total).text);
    }
}

static void put_page(const struct report_simai *report, unsigned language, FILE *stream)
{
    const double values[PARTS] = {
        report->exposed[REPORT_SIMAI_DP],
        report->exposed[REPORT_SIMAI_DP_EP],
        report->exposed[REPORT_SIMAI_TP],
        report->exposed[REPORT_SIMAI_EP],
        report->compute,
        report->bubble,
        report->pipeline,
        report->exposed[REPORT_SIMAI_CP],
    };
    unsigned height = 64 + report_simai_chart_shown(values) * LINE_HEIGHT;
    (void)fprintf(
        stream,
        "<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s</title>\n<style>\n"
        "body{font:15px Helvetica,Arial,sans-serif;margin:3em auto;width:%dpx;color:#222}\n"
        "text{font:14px Helvetica,Arial,sans-serif;fill:#222}.n{text-anchor:end}\n</style>\n</head>\n<body>\n",
        language == 0 ? "en" : "ja", headings[language], BAR_WIDTH);
    (void)fprintf(stream, "<h2>%s: %s us</h2>\n<p>%s: ", headings[language], report_fixed(report->total, 0).text,
                  model_words[language]);
    io_xml_put(stream, report->label);
    (void)fprintf(stream, "</p>\n<svg width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\">\n", BAR_WIDTH, height,
                  BAR_WIDTH, height);
    put_bar(values, report->total, stream);
    report_simai_chart_put_legend(values, report->total, language, stream);
    (void)fputs("</svg>\n</body>\n</html>\n", stream);
}

enum orr_status report_simai_chart(const struct report_simai *report, bool japanese, const char *path,
                                   struct orr_error *err)
{
    struct io_outfile *file = NULL;
    enum orr_status status = io_make_folder_above(path, err);
    status = status == ORR_OK ? io_outfile_open(path, io_outfile_form_of(path), &file, err) : status;
    if (status != ORR_OK) {
        return status;
    }
    put_page(report, japanese ? 1 : 0, io_outfile_stream(file));
    return io_outfile_commit(file, err);
}
