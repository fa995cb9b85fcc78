/*
 * Each case in a child process, as in bench.c, so that memory is the case's own. The figures of ns-3 are user seconds
 * of an optimised build on a 2-core machine (spec packet, speed of the peers); the ratio is what to look at. The first
 * three cases have a known simulated time, which is checked.
 */
#include "bench/packet_bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "orrery.h"

enum shape { ONE_SWITCH, LEAF_SPINE, TORUS };

struct packet_case {
    const char *name, *title;
    enum shape shape;
    uint32_t hosts;
    uint32_t dims[3]; /* logical; 0 ends */
    bool quick;
    const char *type;
    uint64_t bytes;
    const char *algorithm; /* of the collective, per dimension */
    double ns3_s;          /* 0 = not measured */
    uint64_t cycles;       /* expected; 0 = no reference */
};

static const struct packet_case cases[] = {
    {"pkt-ar8",
     "16 MB all-reduce, 8 hosts, one switch",
     ONE_SWITCH,
     8,
     {8},
     true,
     "all-reduce",
     16 << 20,
     "ring",
     1.3,
     784628},
    {"pkt-ar64",
     "16 MB all-reduce, 64 hosts, one switch",
     ONE_SWITCH,
     64,
     {64},
     true,
     "all-reduce",
     16 << 20,
     "ring",
     19.1,
     0},
    {"pkt-ar256",
     "16 MB all-reduce, 256 hosts, one switch",
     ONE_SWITCH,
     256,
     {256},
     false,
     "all-reduce",
     16 << 20,
     "ring",
     146.6,
     0},
    {"pkt-a2a64",
     "16 MB direct all-to-all, 64 hosts, leaf-spine 4x4",
     LEAF_SPINE,
     64,
     {64},
     true,
     "all-to-all",
     16 << 20,
     "direct",
     33.2,
     0},
    {"pkt-torus",
     "89.7 MiB all-reduce, torus 4x4x8",
     TORUS,
     128,
     {4, 4, 8},
     false,
     "all-reduce",
     94083368,
     "ring",
     0,
     0},
};
enum { CASES = sizeof cases / sizeof cases[0] };

struct measured {
    bool good;
    uint64_t cycles, transmissions, events;
    char error[512];
};

const char *bench_packet_name(int index)
{
    return index < CASES ? cases[index].name : NULL;
}

const char *bench_packet_title(int index)
{
    return index < CASES ? cases[index].title : NULL;
}

bool bench_packet_is_quick(int index)
{
    return cases[index].quick;
}

static FILE *open_in(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return fopen(path, "w");
}

static void put_link(FILE *file, uint32_t a, uint32_t b)
{
    fprintf(file, "%" PRIu32 " %" PRIu32 " 400Gbps 0.0005ms 0\n", a, b);
}

/* A torus of hosts with a switch each, joined in three rings: each link once. */
static void put_torus(FILE *file, const uint32_t *dims)
{
    uint32_t hosts = dims[0] * dims[1] * dims[2];
    uint32_t links = hosts;
    for (unsigned d = 0; d < 3; d++)
        links += dims[d] > 2 ? hosts : hosts / 2;
    fprintf(file, "%" PRIu32 " %" PRIu32 " %" PRIu32 "\n", 2 * hosts, hosts, links);
    for (uint32_t i = 0; i < hosts; i++)
        fprintf(file, "%" PRIu32 " ", hosts + i);
    fprintf(file, "\n");
    for (uint32_t i = 0; i < hosts; i++) {
        put_link(file, i, hosts + i);
        uint32_t stride = 1;
        for (unsigned d = 0; d < 3; d++) {
            uint32_t at = i / stride % dims[d];
            uint32_t next = i - at * stride + (at + 1) % dims[d] * stride;
            if (dims[d] > 2 || at == 0)
                put_link(file, hosts + i, hosts + next);
            stride *= dims[d];
        }
    }
}

static void put_leaf_spine(FILE *file, uint32_t hosts)
{
    uint32_t leaves = 4, spines = 4;
    fprintf(file, "%" PRIu32 " %" PRIu32 " %" PRIu32 "\n", hosts + leaves + spines, leaves + spines,
            hosts + leaves * spines);
    for (uint32_t i = 0; i < leaves + spines; i++)
        fprintf(file, "%" PRIu32 " ", hosts + i);
    fprintf(file, "\n");
    for (uint32_t i = 0; i < hosts; i++)
        put_link(file, i, hosts + i / (hosts / leaves));
    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        for (uint32_t spine = 0; spine < spines; spine++)
            put_link(file, hosts + leaf, hosts + leaves + spine);
    }
}

static void put_topology(FILE *file, const struct packet_case *item)
{
    if (item->shape == TORUS) {
        put_torus(file, item->dims);
    } else if (item->shape == LEAF_SPINE) {
        put_leaf_spine(file, item->hosts);
    } else {
        fprintf(file, "%" PRIu32 " 1 %" PRIu32 "\n%" PRIu32 "\n", item->hosts + 1, item->hosts, item->hosts);
        for (uint32_t i = 0; i < item->hosts; i++)
            put_link(file, i, item->hosts);
    }
}

static void put_system(FILE *file, const struct packet_case *item)
{
    static const char *const types[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"};
    fprintf(file,
            "{\"scheduling-policy\": \"LIFO\", \"endpoint-delay\": 10, \"active-chunks-per-dimension\": %d,\n"
            " \"preferred-dataset-splits\": 4, \"local-mem-bw\": 1600, \"boost-mode\": 0,\n",
            item->shape == TORUS ? 4 : 1);
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        fprintf(file, " \"%s-implementation\": [", types[t]);
        for (unsigned d = 0; d < 3 && item->dims[d] != 0; d++)
            fprintf(file, "%s\"%s\"", d == 0 ? "" : ", ", item->algorithm);
        fprintf(file, "],\n");
    }
    fprintf(file, " \"collective-optimization\": \"localBWAware\"}\n");
}

static void put_config(FILE *file, const char *folder)
{
    fprintf(file,
            "ENABLE_QCN 1\nPACKET_PAYLOAD_SIZE 1000\nTOPOLOGY_FILE %s/topology.txt\nCC_MODE 12\nL2_CHUNK_SIZE 4000\n"
            "L2_ACK_INTERVAL 1\nHAS_WIN 1\nGLOBAL_T 0\nVAR_WIN 1\nRATE_BOUND 1\nBUFFER_SIZE 32\n"
            "KMAX_MAP 1 400000000000 3200\nKMIN_MAP 1 400000000000 800\nPMAX_MAP 1 400000000000 0.2\n",
            folder);
}

static bool write_inputs(const struct packet_case *item, const char *folder)
{
    FILE *topology = open_in(folder, "topology.txt"), *system = open_in(folder, "system.json");
    FILE *config = open_in(folder, "config.txt"), *logical = open_in(folder, "logical.json");
    bool good = topology != NULL && system != NULL && config != NULL && logical != NULL;
    if (good) {
        put_topology(topology, item);
        put_system(system, item);
        put_config(config, folder);
        fprintf(logical, "{\"logical-dims\": [");
        for (unsigned d = 0; d < 3 && item->dims[d] != 0; d++)
            fprintf(logical, "%s\"%" PRIu32 "\"", d == 0 ? "" : ", ", item->dims[d]);
        fprintf(logical, "]}\n");
    }
    FILE *const files[] = {topology, system, config, logical};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        good = files[i] != NULL && fclose(files[i]) == 0 && good;
    char prefix[4096];
    snprintf(prefix, sizeof prefix, "%s/trace", folder);
    struct orr_gen_options gen = {.pattern = ORR_PATTERN_COLLECTIVE,
                                  .type = item->type,
                                  .bytes = item->bytes,
                                  .npus = item->hosts,
                                  .prefix = prefix};
    struct orr_error err = {0};
    return good && orr_gen(&gen, &err) == ORR_OK;
}

static void remove_inputs(const struct packet_case *item, const char *folder)
{
    static const char *const names[] = {"topology.txt", "system.json", "config.txt", "logical.json"};
    char path[4096];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
    for (uint32_t rank = 0; rank < item->hosts; rank++) {
        snprintf(path, sizeof path, "%s/trace.%" PRIu32 ".et", folder, rank);
        (void)unlink(path);
    }
    if (rmdir(folder) != 0)
        perror(folder);
}

static void simulate(const char *folder, struct measured *out)
{
    char paths[4][4096];
    static const char *const names[] = {"trace", "system.json", "config.txt", "logical.json"};
    for (int i = 0; i < 4; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
    struct orr_run_options options = ORR_RUN_OPTIONS_DEFAULT;
    options.workload = paths[0];
    options.system = paths[1];
    options.network = paths[2];
    options.logical = paths[3];
    options.backend = ORR_BACKEND_PACKET;
    struct orr_run *run = NULL;
    struct orr_error err = {0};
    enum orr_status status = orr_run_open(&options, &run, &err);
    if (status == ORR_OK)
        status = orr_run_execute(run, &err);
    out->good = status == ORR_OK;
    snprintf(out->error, sizeof out->error, "%.500s", err.text);
    if (out->good) {
        out->cycles = orr_run_time_ns(run);
        out->transmissions = orr_run_transmission_count(run);
        out->events = orr_run_event_count(run);
    }
    orr_run_close(run);
}

static bool measure(const char *folder, struct measured *out, double *user_s, double *peak_mb)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct measured result = {0};
        close(ends[0]);
        simulate(folder, &result);
        _exit(write(ends[1], &result, sizeof result) == (ssize_t)sizeof result ? 0 : 1);
    }
    close(ends[1]);
    bool told = child > 0 && read(ends[0], out, sizeof *out) == (ssize_t)sizeof *out;
    close(ends[0]);
    struct rusage usage;
    int status = 0;
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return false;
    *user_s = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
    *peak_mb = (double)usage.ru_maxrss * 1024 / 1e6;
    return told && status == 0;
}

static void print_row(const struct packet_case *item, const struct measured *run, double user_s, double peak_mb)
{
    double rate = (double)run->transmissions / fmax(user_s, 1e-6) / 1e6;
    printf("%-15s %9" PRIu64
           " ns, %.2f M transmissions, %.2f M events in %.2f s: %.1f M transmissions/s (target 8 (15): "
           "%s), %.1f M events/s; peak %.0f MB",
           item->name, run->cycles, (double)run->transmissions / 1e6, (double)run->events / 1e6, user_s, rate,
           rate >= 15  ? "AIM"
           : rate >= 8 ? "MET"
                       : "MISSED",
           (double)run->events / fmax(user_s, 1e-6) / 1e6, peak_mb);
    if (item->ns3_s > 0)
        printf("; ns-3 %.1f s: %.0fx", item->ns3_s, item->ns3_s / fmax(user_s, 1e-6));
    printf("\n");
}

bool bench_packet_run(int index, unsigned repeat)
{
    const struct packet_case *item = &cases[index];
    const char *base = getenv("TMPDIR");
    char folder[2048];
    snprintf(folder, sizeof folder, "%s/orrery-bench-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return false;
    }
    struct measured best = {0};
    double best_s = INFINITY, peak = 0;
    bool good = write_inputs(item, folder);
    for (unsigned i = 0; good && i < repeat; i++) {
        struct measured run = {0};
        double user_s = 0;
        good = measure(folder, &run, &user_s, &peak) && run.good;
        if (!good || user_s < best_s) {
            best = run;
            best_s = user_s;
        }
    }
    remove_inputs(item, folder);
    if (!good) {
        printf("%-15s FAILED: %s\n", item->name, best.error);
        return false;
    }
    print_row(item, &best, best_s, peak);
    if (item->cycles != 0 && item->cycles != best.cycles) {
        printf("%-15s WRONG: expected %" PRIu64 " ns\n", item->name, item->cycles);
        return false;
    }
    return true;
}
