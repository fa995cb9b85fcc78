/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain text files, written as a user would: the cases must cost what a run costs, reading included. A torus has a
 * switch at every host; the machine that memory is measured on has switches nobody sends through, joined each with
 * each.
 */
#include "bench/packet_inputs.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "orrery.h"

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

static void put_leaf_spine(FILE *file, const struct packet_inputs *item)
{
    uint32_t hosts = item->hosts, leaves = item->leaves, spare = item->spare;
    uint32_t switches = leaves + item->spines + spare;
    uint32_t links = hosts + leaves * item->spines + (spare == 0 ? 0 : spare * (spare - 1) / 2 + 1);
    fprintf(file, "%" PRIu32 " %" PRIu32 " %" PRIu32 "\n", hosts + switches, switches, links);
    for (uint32_t i = 0; i < switches; i++)
        fprintf(file, "%" PRIu32 " ", hosts + i);
    fprintf(file, "\n");
    for (uint32_t i = 0; i < hosts; i++)
        put_link(file, i, hosts + i / (hosts / leaves));
    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        for (uint32_t spine = 0; spine < item->spines; spine++)
            put_link(file, hosts + leaf, hosts + leaves + spine);
    }
    uint32_t first = hosts + leaves + item->spines;
    for (uint32_t i = 0; i < spare; i++) {
        put_link(file, i == 0 ? hosts : first, first + i);
        for (uint32_t k = 1; k < i; k++)
            put_link(file, first + k, first + i);
    }
}

static void put_topology(FILE *file, const struct packet_inputs *item)
{
    if (item->shape == TORUS) {
        put_torus(file, item->dims);
    } else if (item->shape == LEAF_SPINE) {
        put_leaf_spine(file, item);
    } else {
        fprintf(file, "%" PRIu32 " 1 %" PRIu32 "\n%" PRIu32 "\n", item->hosts + 1, item->hosts, item->hosts);
        for (uint32_t i = 0; i < item->hosts; i++)
            put_link(file, i, item->hosts);
    }
}

static void put_system(FILE *file, const struct packet_inputs *item)
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

static void put_config(FILE *file, const struct packet_inputs *item, const char *folder)
{
    fprintf(file,
            "ENABLE_QCN 1\nPACKET_PAYLOAD_SIZE 1000\nTOPOLOGY_FILE %s/topology.txt\nCC_MODE 12\nL2_CHUNK_SIZE 4000\n"
            "L2_ACK_INTERVAL 1\nHAS_WIN %d\nGLOBAL_T 0\nVAR_WIN 1\nRATE_BOUND 1\nBUFFER_SIZE %d\n"
            "KMAX_MAP 1 400000000000 3200\nKMIN_MAP 1 400000000000 800\nPMAX_MAP 1 400000000000 0.2\n",
            folder, item->unbounded ? 0 : 1, item->unbounded ? 2047 : 32);
}

bool bench_packet_inputs_write(const struct packet_inputs *item, const char *folder)
{
    FILE *topology = open_in(folder, "topology.txt"), *system = open_in(folder, "system.json");
    FILE *config = open_in(folder, "config.txt"), *logical = open_in(folder, "logical.json");
    bool good = topology != NULL && system != NULL && config != NULL && logical != NULL;
    if (good) {
        put_topology(topology, item);
        put_system(system, item);
        put_config(config, item, folder);
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

void bench_packet_inputs_remove(const struct packet_inputs *item, const char *folder)
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
