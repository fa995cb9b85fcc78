/* SPDX-License-Identifier: Apache-2.0 */
/* What `orrery coll show` prints for a person; SimAI's own flow lists (--dump) are in tests/references/nccl.ref. */
#include <stdlib.h>
#include <unistd.h>

#include "tests/check.h"

/* What is printed, in a buffer that the next call reuses. */
static const char *show(const struct orr_coll_options *options)
{
    static char kept[1 << 16];
    struct orr_error err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    CHECK(stream != NULL, "memory");
    enum orr_status status = orr_coll_show(options, stream, &err);
    CHECK(fclose(stream) == 0, "memory");
    (void)snprintf(kept, sizeof kept, "%s", status == ORR_OK ? text : err.text);
    free(text);
    return kept;
}

static void the_table_says_what_moves_and_the_drawing_how(void **state)
{
    (void)state;
    struct orr_coll_options options;
    orr_coll_options_init(&options);
    options.gpus = 16;
    options.tp = 16;
    CHECK_TEXT(show(&options), "all-reduce of 1 MiB over 16 ranks on 2 servers\n"
                               "\n"
                               "algorithm       ring\n"
                               "protocol        Simple\n"
                               "channels        8\n"
                               "steps           30\n"
                               "flows           3840\n"
                               "bytes moved     30 MiB\n"
                               "  NVLink        26.25 MiB in 3360 flows\n"
                               "  network       3.75 MiB in 480 flows\n"
                               "rank sends      1.88 MiB each\n"
                               "  to network    240 KiB each\n"
                               "rank receives   1.88 MiB each\n"
                               "\n"
                               "  ring 0   [0 1 2 3 4 5 6 7] > [15 14 13 12 11 10 9 8] > back\n"
                               "  ring 1   [1 2 3 4 5 6 7 0] > [8 15 14 13 12 11 10 9] > back\n"
                               "  ring 2   [2 3 4 5 6 7 0 1] > [9 8 15 14 13 12 11 10] > back\n"
                               "  ring 3   [3 4 5 6 7 0 1 2] > [10 9 8 15 14 13 12 11] > back\n"
                               "  ring 4   [4 5 6 7 0 1 2 3] > [11 10 9 8 15 14 13 12] > back\n"
                               "  ring 5   [5 6 7 0 1 2 3 4] > [12 11 10 9 8 15 14 13] > back\n"
                               "  ring 6   [6 7 0 1 2 3 4 5] > [13 12 11 10 9 8 15 14] > back\n"
                               "  ring 7   [7 0 1 2 3 4 5 6] > [14 13 12 11 10 9 8 15] > back\n");
}

static void trees_and_switches_are_drawn_by_server(void **state)
{
    (void)state;
    struct orr_coll_options options;
    orr_coll_options_init(&options);
    options.gpus = 12;
    options.gpus_per_server = 2;
    options.tp = 12;
    options.algo = "tree";
    CHECK_CONTAINS(show(&options), "  tree 0\n"
                                   "            6 > 7\n"
                                   "              2 > 3\n"
                                   "                0 > 1\n"
                                   "                4 > 5\n"
                                   "              10 > 11\n"
                                   "                8 > 9\n"
                                   "  tree 1\n"
                                   "            8 > 9\n");
    options.algo = "auto";
    options.nvls = true;
    CHECK_CONTAINS(show(&options), "algorithm       nvls-tree\n");
    CHECK_CONTAINS(show(&options), "  server 5   switch 17 <> 10 11\n");
}

static void holes_of_simai_are_filled_by_default(void **state)
{
    (void)state;
    struct orr_coll_options options;
    orr_coll_options_init(&options);
    options.gpus = 16;
    options.tp = 1;
    options.ep = 4;
    options.group = "ep";
    options.type = "all-to-all";
    options.bytes = 1000003;
    CHECK_CONTAINS(show(&options), "all-to-all of 976.6 KiB over 4 ranks on 1 server\n");
    options.compat = true;
    CHECK_CONTAINS(show(&options), "rank 0 has no ep group of two or more among 16 GPUs with TP 1 and EP 4");
    options.dump = true;
    CHECK_CONTAINS(show(&options), "\nNOGROUP\n");
}

static unsigned count_of(const char *text, const char *part)
{
    unsigned count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        count++;
    }
    return count;
}

/* The picture of an all-reduce, read back. */
static const char *draw(uint32_t gpus, const char *algorithm)
{
    static char text[1 << 20];
    struct orr_coll_options options;
    char path[] = "/tmp/orrery-coll-XXXXXX";
    int made = mkstemp(path);
    CHECK(made >= 0 && close(made) == 0, "a file of its own");
    orr_coll_options_init(&options);
    options.gpus = gpus;
    options.tp = gpus;
    options.algo = algorithm;
    options.svg = path;
    (void)show(&options);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL, "%s was drawn", algorithm);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    (void)fclose(file);
    (void)unlink(path);
    CHECK_CONTAINS(text, "<svg");
    CHECK_CONTAINS(text, "</svg>");
    CHECK(strstr(text, "nan") == NULL, "a place that is no number");
    return text;
}

static void every_channel_has_a_panel_in_the_picture(void **state)
{
    (void)state;
    CHECK_U64(count_of(draw(16, "ring"), "\">ring "), 8, "rings");
    CHECK_U64(count_of(draw(16, "tree"), "\">tree "), 16, "trees");
}

static void of_many_servers_a_few_are_drawn_and_the_others_counted(void **state)
{
    (void)state;
    const char *rings = draw(256, "ring");
    CHECK_U64(count_of(rings, "<circle"), 8 * 5 * 8, "ranks of five servers in eight rings");
    CHECK_CONTAINS(rings, "+27 servers");
    const char *trees = draw(256, "tree");
    CHECK(count_of(trees, "<circle") <= 16 * 40, "%u ranks are drawn", count_of(trees, "<circle"));
    CHECK_CONTAINS(trees, " ranks below these");
}

static void a_wrong_word_names_the_nearest(void **state)
{
    (void)state;
    static const struct {
        size_t field;
        const char *word, *says;
    } bad[] = {
        {offsetof(struct orr_coll_options, algo), "rinf", "unknown algorithm \"rinf\"; did you mean \"ring\"?"},
        {offsetof(struct orr_coll_options, group), "dp-pe", "unknown group \"dp-pe\"; did you mean \"dp-ep\"?"},
        {offsetof(struct orr_coll_options, gpu_type), "H101", "unknown GPU type \"H101\"; did you mean \"H100\"?"},
        {offsetof(struct orr_coll_options, type), "all-redce", "unknown collective \"all-redce\""},
        {offsetof(struct orr_coll_options, type), "send-recv", "parameter 'type' send-recv needs parameter 'pairs'"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct orr_coll_options options;
        orr_coll_options_init(&options);
        memcpy((char *)&options + bad[i].field, &bad[i].word, sizeof bad[i].word);
        CHECK_CONTAINS(show(&options), bad[i].says);
    }
}

static void a_degree_of_tensor_parallelism_left_open_follows_from_the_group(void **state)
{
    (void)state;
    struct orr_coll_options options;
    orr_coll_options_init(&options);
    options.gpus = 16;
    CHECK_CONTAINS(show(&options), "all-reduce of 1 MiB over 16 ranks");
    options.group = "dp";
    CHECK_CONTAINS(show(&options), "all-reduce of 1 MiB over 16 ranks");
    options.tp = 4;
    CHECK_CONTAINS(show(&options), "all-reduce of 1 MiB over 4 ranks");
}

TEST_MAIN(the_table_says_what_moves_and_the_drawing_how, trees_and_switches_are_drawn_by_server,
          holes_of_simai_are_filled_by_default, every_channel_has_a_panel_in_the_picture,
          of_many_servers_a_few_are_drawn_and_the_others_counted, a_wrong_word_names_the_nearest,
          a_degree_of_tensor_parallelism_left_open_follows_from_the_group)
