/* SPDX-License-Identifier: Apache-2.0 */
/* Every other size is measured: ten-thousandths of a second need no more points, and the lines are straight. The slope
 * is that of the last four doublings: before, what a run costs without any rank is all there is to see. */
#include "bench/scale_bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "bench/child.h"
#include "bench/folder.h"
#include "bench/inputs.h"
#include "orrery.h"

enum { FIRST = 4, LAST = 20, STEP = 2, SIZES = (LAST - FIRST) / STEP + 1, LINES = 3, SLOPE_SIZES = 3 };

static const struct {
    const char *name, *colour;
} lines[LINES] = {{"ring", "#1b6ca8"}, {"3-D torus", "#c8553d"}, {"train step", "#3a7d44"}};

struct point {
    double seconds, megabytes;
};

struct what {
    int line;
    unsigned bits; /* 2^bits ranks */
    const char *folder;
};

struct measured {
    bool good;
    double cpu_s;
    char error[512];
};

const char *bench_scale_name(int index)
{
    return index == 0 ? "scale" : NULL;
}

const char *bench_scale_title(int index)
{
    (void)index;
    return "time and memory against ranks, 2^4 to 2^20: ring, 3-D torus, train step; --svg FILE draws it";
}

static double scale_cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct bench_machine machine_of(const struct what *what)
{
    struct bench_machine machine = {.ring = {1u << what->bits}, .bandwidth = "50"};
    if (what->line == 1) { /* three sides as equal as they can be */
        machine.ring[0] = 1u << (what->bits + 2) / 3;
        machine.ring[1] = 1u << (what->bits + 1) / 3;
        machine.ring[2] = 1u << what->bits / 3;
    }
    return machine;
}

static enum orr_status collective(const struct what *what, struct orr_error *err)
{
    char paths[4][4096];
    static const char *const names[] = {"trace", "system.json", "network.yml", "memory.json"};
    struct orr_run_options options;
    struct orr_run *run = NULL;
    orr_run_options_init(&options);
    for (int i = 0; i < 4; i++)
        (void)snprintf(paths[i], sizeof paths[i], "%s/%s", what->folder, names[i]);
    options.workload = paths[0];
    options.system = paths[1];
    options.network = paths[2];
    options.memory = paths[3];
    options.backend = ORR_BACKEND_UNAWARE;
    options.grow = true;
    enum orr_status status = orr_run_open(&options, &run, err);
    if (status == ORR_OK)
        status = orr_run_execute(run, err);
    orr_run_close(run);
    return status;
}

/* Data parallelism grows, the model and what a rank does stay. */
static enum orr_status train(const struct what *what, struct orr_error *err)
{
    char machine[64];
    char batch[32];
    struct orr_train_options options;
    struct orr_train_result result = {0};
    orr_train_options_init(&options);
    (void)snprintf(machine, sizeof machine, "dgx-h100:%u", 1u << (what->bits - 3));
    (void)snprintf(batch, sizeof batch, "%u", 1u << (what->bits - 3));
    options.model = "llama3-8b";
    options.machine = machine;
    options.without_neighbours = true;
    enum orr_status status = orr_train_set(&options, "tp", "8", err);
    if (status == ORR_OK)
        status = orr_train_set(&options, "micro-batch", "1", err);
    if (status == ORR_OK)
        status = orr_train_set(&options, "global-batch", batch, err);
    return status == ORR_OK ? orr_train_step(&options, &result, err) : status;
}

static bool work(const void *context, void *result)
{
    const struct what *what = context;
    struct measured *out = result;
    struct orr_error err = {0};
    double before = scale_cpu_seconds();
    enum orr_status status = what->line == 2 ? train(what, &err) : collective(what, &err);
    out->cpu_s = scale_cpu_seconds() - before;
    out->good = status == ORR_OK;
    (void)snprintf(out->error, sizeof out->error, "%.500s", err.text);
    return true;
}

static bool measure_size(const struct what *what, unsigned repeat, struct point *point)
{
    *point = (struct point){.seconds = INFINITY};
    for (unsigned i = 0; i < repeat; i++) {
        struct measured out = {0};
        struct bench_usage usage = {0};
        if (!bench_child(work, what, &out, sizeof out, &usage) || !usage.complete || !out.good) {
            printf("%s of 2^%u ranks failed: %s\n", lines[what->line].name, what->bits, out.error);
            return false;
        }
        if (out.cpu_s < point->seconds)
            *point = (struct point){out.cpu_s, usage.peak_bytes / 1e6};
    }
    return true;
}

static bool measure_one(int line, unsigned bits, unsigned repeat, struct point *point)
{
    char folder[BENCH_FOLDER_ROOM];
    struct what what = {.line = line, .bits = bits, .folder = folder};
    const struct bench_machine machine = machine_of(&what);
    uint64_t bytes = 0;
    if (!bench_folder_make(folder))
        return false;
    bool good = bench_write_inputs(folder, &machine, 1, BENCH_ALL_REDUCE, 0, &bytes);
    good = good && measure_size(&what, repeat, point);
    bench_remove_inputs(folder, &(struct bench_machine){.ring = {1}}); /* there is one trace */
    return good;
}

/* How many times as much for twice as many ranks, as a power of two. */
static double slope(const struct point *points, bool of_memory)
{
    const struct point *a = &points[SIZES - SLOPE_SIZES];
    const struct point *b = &points[SIZES - 1];
    double ratio = of_memory ? b->megabytes / a->megabytes : b->seconds / a->seconds;
    double found = log2(ratio) / ((SLOPE_SIZES - 1) * STEP);
    return fabs(found) < 0.005 ? 0 : found;
}

static void print_table(struct point points[LINES][SIZES])
{
    printf("%-12s", "ranks");
    for (int line = 0; line < LINES; line++)
        printf(" %10s s %8s", lines[line].name, "MB");
    for (int i = 0; i < SIZES; i++) {
        printf("\n2^%-10d", FIRST + i * STEP);
        for (int line = 0; line < LINES; line++)
            printf(" %12.4f %8.1f", points[line][i].seconds, points[line][i].megabytes);
    }
    printf("\n%-12s", "slope");
    for (int line = 0; line < LINES; line++)
        printf(" %12.2f %8.2f", slope(points[line], false), slope(points[line], true));
    printf("\n");
}

/* ---- the picture ---- */

enum { WIDTH = 860, HEIGHT = 340, TOP = 40, BOTTOM = 290, PANEL = 330, LEFT = 70, BETWEEN = 420 };

static double x_of(int panel, double bits)
{
    return LEFT + panel * BETWEEN + (bits - FIRST) / (LAST - FIRST) * PANEL;
}

/* Decades from `low` to `high` over the height. */
static double y_of(double value, double low, double high)
{
    return BOTTOM - (log10(value) - low) / (high - low) * (BOTTOM - TOP);
}

static void draw_axes(FILE *out, int panel, const char *title, int low, int high)
{
    fprintf(out, "<text x=\"%.0f\" y=\"24\" font-weight=\"bold\">%s</text>\n", x_of(panel, FIRST), title);
    for (int decade = low; decade <= high; decade++) {
        double y = y_of(pow(10, decade), low, high);
        fprintf(out,
                "<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/><text x=\"%.0f\" y=\"%.1f\" "
                "text-anchor=\"end\">%g</text>\n",
                x_of(panel, FIRST), x_of(panel, LAST), y, y, x_of(panel, FIRST) - 6, y + 4, pow(10, decade));
    }
    for (int bits = FIRST; bits <= LAST; bits += 4)
        fprintf(
            out,
            "<text x=\"%.0f\" y=\"%d\" text-anchor=\"middle\">2<tspan dy=\"-5\" font-size=\"9\">%d</tspan></text>\n",
            x_of(panel, bits), BOTTOM + 18, bits);
    fprintf(out, "<text x=\"%.0f\" y=\"%d\" text-anchor=\"middle\">ranks</text>\n",
            (x_of(panel, FIRST) + x_of(panel, LAST)) / 2, BOTTOM + 36);
}

static void draw_line(FILE *out, int panel, int line, const struct point *points, int low, int high)
{
    double y = 0;
    fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", lines[line].colour);
    for (int i = 0; i < SIZES; i++) {
        y = y_of(panel == 0 ? points[i].seconds : points[i].megabytes, low, high);
        fprintf(out, "%.1f,%.1f ", x_of(panel, FIRST + i * STEP), y);
    }
    fprintf(out, "\"/>\n<text x=\"%.0f\" y=\"%d\" fill=\"%s\">%s, slope %.2f</text>\n", x_of(panel, FIRST) + 10,
            TOP + 14 + 16 * line, lines[line].colour, lines[line].name, slope(points, panel == 1));
}

static bool draw(const char *path, struct point points[LINES][SIZES])
{
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        perror(path);
        return false;
    }
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            WIDTH, HEIGHT);
    draw_axes(out, 0, "seconds of one processor", -4, 2);
    draw_axes(out, 1, "peak memory, MB", 0, 4);
    for (int line = 0; line < LINES; line++) {
        draw_line(out, 0, line, points[line], -4, 2);
        draw_line(out, 1, line, points[line], 0, 4);
    }
    fprintf(out, "</svg>\n");
    return fclose(out) == 0;
}

bool bench_scale_run(unsigned repeat, const char *svg)
{
    struct point points[LINES][SIZES];
    bool good = true;
    for (int line = 0; line < LINES; line++)
        for (int i = 0; good && i < SIZES; i++)
            good = measure_one(line, (unsigned)(FIRST + i * STEP), repeat, &points[line][i]);
    if (good)
        print_table(points);
    return good && (svg == NULL || draw(svg, points));
}
