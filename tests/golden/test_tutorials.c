/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers people have in their hands from ASTRA-sim's tutorials, and the worked examples of spec §18. The inputs
 * are ours and are made here: a table says what a training step computes and exchanges, and the case text of
 * case_file.h says on what machine.
 */
#include <stdlib.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/golden/golden_run.h"

#define SYSTEM                                                                                                         \
    "system scheduling-policy=LIFO endpoint-delay=10 active-chunks-per-dimension=1 preferred-dataset-splits=4 "        \
    "collective-optimization=localBWAware local-mem-bw=50 boost-mode=0 algorithm="

/* Six fully connected layers, model-parallel: forward, each layer's output is gathered; backward, each layer's input
 * gradient is reduced (the first layer's has no reader) beside the computation of its weight gradient. */
static const struct layer {
    unsigned forward_us, input_gradient_us, weight_gradient_us;
    unsigned bytes;
} layers[] = {
    {32291, 32291, 12864, 37632},  {7488, 7488, 3648, 65536}, {7488, 7488, 3456, 65536},
    {14144, 14144, 10368, 147456}, {7488, 7488, 3648, 65536}, {9984, 9984, 3456, 65536},
};

static void print_layers(FILE *out)
{
    unsigned id = 0; /* of the next node */
    for (size_t i = 0; i < COUNT_OF(layers); i++) {
        if (i == 0)
            fprintf(out, "comp %u us=%u\n", id, layers[i].forward_us);
        else
            fprintf(out, "comp %u data=%u us=%u\n", id, id - 1, layers[i].forward_us);
        fprintf(out, "coll %u data=%u type=AG size=%u\n", id + 1, id, layers[i].bytes);
        id += 2;
    }
    fprintf(out, "comp %u data=%u us=%u\n", id, id - 1, layers[COUNT_OF(layers) - 1].input_gradient_us);
    for (size_t i = COUNT_OF(layers) - 1; i > 0; i--) {
        fprintf(out, "coll %u data=%u type=AR size=%u\n", id + 1, id, layers[i].bytes);
        fprintf(out, "comp %u data=%u us=%u\n", id + 2, id, layers[i].weight_gradient_us);
        fprintf(out, "comp %u data=%u,%u us=%u\n", id + 3, id + 2, id + 1, layers[i - 1].input_gradient_us);
        id += 3;
    }
    fprintf(out, "comp %u data=%u us=%u\n", id + 1, id, layers[0].weight_gradient_us);
}

enum { UNAWARE = 1, AWARE = 2 };

/* A machine, what it runs, where, and every rank's finish and exposed cycles. */
struct example {
    const char *name;
    const char *network;
    const char *algorithm;
    const char *ranks;
    const char *nodes; /* NULL: the layers above */
    int backends;
    uint64_t finish;
    uint64_t exposed;
};

static void check_example(const struct example *example)
{
    char *text = NULL;
    size_t size = 0;
    char folder[512];
    struct case_file file;
    struct orr_error err = {0};
    FILE *out = open_memstream(&text, &size);
    CHECK(out != NULL, "memory");
    fprintf(out, "case %s\nnetwork %s\n" SYSTEM "%s\ntrace %s\n", example->name, example->network, example->algorithm,
            example->ranks);
    if (example->nodes == NULL)
        print_layers(out);
    else
        fputs(example->nodes, out);
    fclose(out);
    CHECK_OK(case_file_parse(example->name, text, &file, &err), &err);
    free(text);
    golden_folder_make(folder, sizeof folder);
    CHECK_OK(case_write(&file, &file.cases[0], folder, &err), &err);
    CHECK(chdir(folder) == 0, "%s", folder);
    for (int backend = 0; backend < 2; backend++) {
        struct golden_answer got;
        if ((example->backends & (1 << backend)) == 0)
            continue;
        golden_run(&file, &file.cases[0], (enum orr_backend)backend, &got);
        CHECK(got.status == ORR_OK, "%s: %s", example->name, got.err.text);
        CHECK_U64(got.rank_count, file.cases[0].ranks, "%s", example->name);
        for (uint32_t rank = 0; rank < got.rank_count; rank++) {
            CHECK_U64(got.ranks[rank].finish_ns, example->finish, "%s: rank %u", example->name, rank);
            CHECK_U64(got.ranks[rank].exposed_ns, example->exposed, "%s: rank %u", example->name, rank);
        }
        golden_answer_free(&got);
    }
    CHECK(chdir("/") == 0, "back");
    golden_folder_remove(folder);
    case_file_close(&file);
}

#define ALL_REDUCE_1MIB "coll 1 type=AR size=1048576\n"

static void one_all_reduce_on_a_ring_of_8_takes_117780(void **state)
{
    (void)state;
    static const struct example example = {"all-reduce-ring", "Ring 8 50 500", "ring", "0-7",
                                           ALL_REDUCE_1MIB,   UNAWARE | AWARE, 117780, 117780};
    check_example(&example);
}

static void the_same_fully_connected_takes_16860(void **state)
{
    (void)state;
    static const struct example example = {"all-reduce-direct", "FullyConnected 8 50 500", "direct", "0-7",
                                           ALL_REDUCE_1MIB,     UNAWARE | AWARE,           16860,    16860};
    check_example(&example);
}

static void three_nodes_take_405520_of_which_50_microseconds_are_hidden(void **state)
{
    (void)state;
    static const struct example example = {"three-nodes",
                                           "Ring 8 50 500",
                                           "ring",
                                           "0-7",
                                           ALL_REDUCE_1MIB "coll 2 data=1 type=AG size=2097152\ncomp 3 data=1 us=50\n",
                                           UNAWARE | AWARE,
                                           405520,
                                           355520};
    check_example(&example);
}

static void the_second_of_the_three_nodes_alone_takes_287740(void **state)
{
    (void)state;
    static const struct example example = {
        "all-gather-ring", "Ring 8 50 500", "ring", "0-7", "coll 1 type=AG size=2097152\n",
        UNAWARE | AWARE,   287740,          287740};
    check_example(&example);
}

static void one_chunk_takes_what_the_sum_of_its_steps_is(void **state)
{
    (void)state;
    /* Endpoint 10, message 1110, memory 1965 (spec §18); four such chunks in a row are the figures above. */
    enum { RING = 10 + 14 * (1110 + 10) + 7 * 1965, DIRECT = 10 + 1110 + 10 + 1965 + 1110 + 10 };
    CHECK_U64(4 * RING, 117780, "four chunks on the ring");
    CHECK_U64(4 * DIRECT, 16860, "four chunks fully connected");
    static const struct example ring = {"one-chunk",
                                        "Ring 8 50 500",
                                        "ring preferred-dataset-splits=1",
                                        "0-7",
                                        "coll 1 type=AR size=262144\n",
                                        UNAWARE | AWARE,
                                        RING,
                                        RING};
    static const struct example direct = {"one-direct-chunk",
                                          "FullyConnected 8 50 500",
                                          "direct preferred-dataset-splits=1",
                                          "0-7",
                                          "coll 1 type=AR size=262144\n",
                                          UNAWARE | AWARE,
                                          DIRECT,
                                          DIRECT};
    check_example(&ring);
    check_example(&direct);
}

static void the_layers_on_a_ring_of_8_expose_144188(void **state)
{
    (void)state;
    static const struct example example = {"layers-ring", "Ring 8 50 500", "ring",    "0-7",
                                           NULL,          UNAWARE | AWARE, 195350188, 144188};
    check_example(&example);
}

static void the_layers_on_four_machines_of_8_take_195323264(void **state)
{
    (void)state;
    static const struct example example = {"layers-switches",
                                           "Switch 8 450 500 | Switch 4 50 500",
                                           "halvingDoubling,halvingDoubling",
                                           "0-31",
                                           NULL,
                                           UNAWARE,
                                           195323264,
                                           117264};
    check_example(&example);
}

static void the_layers_on_a_torus_of_32_take_195394300(void **state)
{
    (void)state;
    static const struct example example = {"layers-torus",
                                           "Ring 2 50 500 | Ring 4 50 500 | Ring 4 50 50",
                                           "ring,ring,ring",
                                           "0-31",
                                           NULL,
                                           UNAWARE,
                                           195394300,
                                           188300};
    check_example(&example);
}

TEST_MAIN(one_all_reduce_on_a_ring_of_8_takes_117780, the_same_fully_connected_takes_16860,
          three_nodes_take_405520_of_which_50_microseconds_are_hidden, the_second_of_the_three_nodes_alone_takes_287740,
          one_chunk_takes_what_the_sum_of_its_steps_is, the_layers_on_a_ring_of_8_expose_144188,
          the_layers_on_four_machines_of_8_take_195323264, the_layers_on_a_torus_of_32_take_195394300)
