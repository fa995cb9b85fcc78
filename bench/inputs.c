/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything is written afresh for each case and removed after it: the largest set (the traces of the reading case) is
 * hundreds of megabytes, and a stale input would make a figure a lie.
 */
#include "bench/inputs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/et_writer.h"

enum { ALL_REDUCE = 0, ALL_GATHER = 2 }; /* Chakra's numbers */
enum { PATH_BYTES = 4096, CHAIN_LENGTH = 36 };

#define NO_PARENT UINT64_MAX

uint32_t bench_machine_ranks(const struct bench_machine *machine)
{
    uint32_t ranks = 1;
    for (int d = 0; d < 4 && machine->ring[d] != 0; d++)
        ranks *= machine->ring[d];
    return ranks;
}

static FILE *create(const char *folder, const char *name)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return fopen(path, "w");
}

static bool finish(FILE *file)
{
    bool good = !ferror(file);
    return fclose(file) == 0 && good;
}

/* "key: [ a, a, a ]" with one entry a dimension. */
static void repeat(FILE *file, const char *key, const char *value, uint32_t dims)
{
    fprintf(file, "%s: [ ", key);
    for (uint32_t d = 0; d < dims; d++)
        fprintf(file, "%s%s", d > 0 ? ", " : "", value);
    fprintf(file, " ]");
}

static bool write_network(const char *folder, const struct bench_machine *machine, uint32_t dims)
{
    FILE *file = create(folder, "network.yml");
    if (file == NULL)
        return false;
    repeat(file, "topology", "Ring", dims);
    fprintf(file, "\nnpus_count: [ ");
    for (uint32_t d = 0; d < dims; d++)
        fprintf(file, "%s%" PRIu32, d > 0 ? ", " : "", machine->ring[d]);
    fprintf(file, " ]\n");
    repeat(file, "bandwidth", machine->bandwidth, dims);
    fprintf(file, "\n");
    repeat(file, "latency", "500.0", dims);
    fprintf(file, "\n");
    return finish(file);
}

static bool write_system(const char *folder, uint32_t dims)
{
    static const char *const kinds[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"};
    FILE *file = create(folder, "system.json");
    if (file == NULL)
        return false;
    fprintf(file, "{\n  \"scheduling-policy\": \"LIFO\",\n  \"collective-optimization\": \"localBWAware\",\n"
                  "  \"local-mem-bw\": 1600,\n  \"endpoint-delay\": 10,\n  \"active-chunks-per-dimension\": 1,\n"
                  "  \"preferred-dataset-splits\": 4");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        char key[64];
        snprintf(key, sizeof key, ",\n  \"%s-implementation\"", kinds[k]);
        repeat(file, key, "\"ring\"", dims);
    }
    fprintf(file, "\n}\n");
    return finish(file);
}

static bool write_memory(const char *folder)
{
    FILE *file = create(folder, "memory.json");
    if (file == NULL)
        return false;
    fprintf(file, "{ \"memory-type\": \"NO_MEMORY_EXPANSION\" }\n");
    return finish(file);
}

static void write_chain(struct et_writer *writer)
{
    static const uint64_t sizes[] = {64000, 96000, 150000};
    uint64_t last = NO_PARENT;
    for (uint64_t k = 0; k < CHAIN_LENGTH; k++) {
        last = et_compute(writer, "layer", last, 1, 10);
        last = et_collective(writer, k % 2 == 0 ? "gather" : "reduce", last, k % 2 == 0 ? ALL_GATHER : ALL_REDUCE,
                             sizes[k / 2 % 3]);
    }
}

/* Forward: compute then all-gather, layer after layer. Backward: input gradients, then their all-reduce and the
 * weight gradients side by side; the first layer needs no all-reduce. */
static void write_mlp(struct et_writer *writer)
{
    static const struct {
        uint64_t forward_us, weight_us, bytes;
    } layers[] = {{32291, 12864, 37632},  {7488, 3648, 65536}, {7488, 3456, 65536},
                  {14144, 10368, 147456}, {7488, 3648, 65536}, {9984, 3456, 65536}};
    enum { LAYERS = sizeof layers / sizeof layers[0] };
    uint64_t last = NO_PARENT;
    for (int k = 0; k < LAYERS; k++) {
        last = et_compute(writer, "forward", last, 1, layers[k].forward_us);
        last = et_collective(writer, "activations", last, ALL_GATHER, layers[k].bytes);
    }
    unsigned parents = 1;
    for (int k = LAYERS - 1; k >= 0; k--, parents = 2) {
        uint64_t input = et_compute(writer, "input gradients", last, parents, layers[k].forward_us);
        if (k > 0)
            et_collective(writer, "gradients", input, ALL_REDUCE, layers[k].bytes);
        last = et_compute(writer, "weight gradients", input, 1, layers[k].weight_us);
    }
}

static void write_operators(struct et_writer *writer, uint32_t rank, uint64_t bytes)
{
    static const char *const names[] = {"aten::mm", "aten::add_", "aten::native_layer_norm", "void gemm_kernel<128>",
                                        "aten::_scaled_dot_product_flash_attention"};
    uint64_t last = NO_PARENT;
    for (uint64_t k = 0; writer->bytes < bytes; k++) {
        const char *name = names[k % (sizeof names / sizeof names[0])];
        uint64_t spread = (k * 2654435761u + rank * UINT64_C(40503)) % 1000; /* so that no two ranks' files are alike */
        last = k % 64 == 63 ? et_collective(writer, "nccl:all_reduce", last, ALL_REDUCE, (spread + 1) * 4096)
                            : et_operator(writer, name, last, spread + 1, spread << 20, (spread + 1) << 12);
    }
}

static bool write_trace(const char *folder, uint32_t rank, enum bench_workload workload, uint64_t want, uint64_t *bytes)
{
    char path[PATH_BYTES];
    struct et_writer writer;
    snprintf(path, sizeof path, "%s/trace.%" PRIu32 ".et", folder, rank);
    if (!et_open(&writer, path))
        return false;
    switch (workload) {
    case BENCH_ALL_REDUCE:
        et_collective(&writer, "all-reduce", NO_PARENT, ALL_REDUCE, UINT64_C(1) << 30);
        break;
    case BENCH_CHAIN:
        write_chain(&writer);
        break;
    case BENCH_MLP:
        write_mlp(&writer);
        break;
    case BENCH_OPERATORS:
        write_operators(&writer, rank, want);
        break;
    }
    *bytes += writer.bytes;
    return et_close(&writer);
}

bool bench_write_inputs(const char *folder, const struct bench_machine *machine, uint32_t traces,
                        enum bench_workload workload, uint64_t megabytes, uint64_t *bytes)
{
    uint32_t ranks = traces != 0 ? traces : bench_machine_ranks(machine);
    uint32_t dims = 0;
    while (dims < 4 && machine->ring[dims] != 0)
        dims++;
    *bytes = 0;
    if (!write_network(folder, machine, dims) || !write_system(folder, dims) || !write_memory(folder))
        return false;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (!write_trace(folder, rank, workload, megabytes * 1000000 / ranks, bytes))
            return false;
    }
    return true;
}

void bench_remove_inputs(const char *folder, const struct bench_machine *machine)
{
    static const char *const names[] = {"network.yml", "system.json", "memory.json"};
    char path[PATH_BYTES];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    for (uint32_t rank = 0; rank < bench_machine_ranks(machine); rank++) {
        snprintf(path, sizeof path, "%s/trace.%" PRIu32 ".et", folder, rank);
        unlink(path);
    }
    rmdir(folder);
}
