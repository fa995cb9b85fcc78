/* Each run is a child process with a folder of its own, as a user would start it; the target is a second. */
#include "bench/lab_bench.h"

#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "orrery.h"

static const struct lab_case {
    const char *name, *title;
    uint32_t ranks;
} cases[] = {
    {"lab-8", "a recorded step of 2 ranks on a torus of 8", 8},
    {"lab-128", "a recorded step of 2 ranks on a torus of 128", 128},
    {"lab-1024", "a recorded step of 2 ranks on a torus of 1024", 1024},
};
enum { CASES = sizeof cases / sizeof cases[0] };

const char *bench_lab_name(int index)
{
    return index < CASES ? cases[index].name : NULL;
}

const char *bench_lab_title(int index)
{
    return index < CASES ? cases[index].title : NULL;
}

static int run_once(const struct lab_case *item, const char *recording, const char *folder, struct orr_lab_result *out)
{
    struct orr_lab_options options = ORR_LAB_OPTIONS_DEFAULT;
    struct orr_error err = {0};
    options.workload = recording;
    options.topology = "auto:3d";
    options.output_folder = folder;
    options.world_size = item->ranks;
    if (orr_lab_run(&options, NULL, NULL, out, &err) != ORR_OK) {
        fprintf(stderr, "%s: %s\n", item->name, err.text);
        return 1;
    }
    return 0;
}

static bool measure(const struct lab_case *item, const char *recording, const char *folder, struct orr_lab_result *out,
                    double *cpu_s, double *peak_mb)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct orr_lab_result result = {0};
        int failed = run_once(item, recording, folder, &result);
        _exit(failed != 0 || write(ends[1], &result, sizeof result) != (ssize_t)sizeof result);
    }
    close(ends[1]);
    bool told = child > 0 && read(ends[0], out, sizeof *out) == (ssize_t)sizeof *out;
    close(ends[0]);
    struct rusage usage;
    int status = 0;
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return false;
    double user = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
    double kernel = (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
    *cpu_s = fmin(*cpu_s, user + kernel);
    *peak_mb = (double)usage.ru_maxrss * 1024 / 1e6;
    return told && status == 0;
}

static int drop(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

bool bench_lab_run(int index, const char *recording, unsigned repeat)
{
    const struct lab_case *item = &cases[index];
    const char *base = getenv("TMPDIR");
    char folder[2048];
    snprintf(folder, sizeof folder, "%s/orrery-bench-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return false;
    }
    struct orr_lab_result result = {0};
    double cpu_s = INFINITY;
    double peak_mb = 0;
    bool good = true;
    for (unsigned i = 0; i < repeat && good; i++)
        good = measure(item, recording, folder, &result, &cpu_s, &peak_mb);
    if (good)
        printf("%-15s %9" PRIu64 " ns, %" PRIu32 " -> %" PRIu32 " ranks, recording to kept result in %.2f s of CPU, "
               "peak %.0f MB (target 1 s: %s)\n",
               item->name, result.time_ns, result.source_world, result.world, cpu_s, peak_mb,
               cpu_s <= 1 ? "met" : "missed");
    return nftw(folder, drop, 16, FTW_DEPTH | FTW_PHYS) == 0 && good;
}
