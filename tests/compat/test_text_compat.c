/* SPDX-License-Identifier: Apache-2.0 */
/* Chakra's Text converter, restated: what it writes for small workloads of every strategy it knows, the second rank's
 * file or a later one, so that ids that run on over ranks and passes that follow each other show. */
#include "compat/chakra/text.h"
#include "tests/convert/graph_line.h"
#include "tests/folder.h"

#define TWO_LAYERS                                                                                                     \
    "a -1 1 ALLREDUCE 100 2 ALLREDUCE 200 3 ALLREDUCE 300 4\n"                                                         \
    "b -1 5 ALLREDUCE 500 6 ALLREDUCE 600 7 ALLREDUCE 700 8\n"
#define THREE_LAYERS                                                                                                   \
    "l0 -1 10 ALLGATHER 1000 20 REDUCESCATTER 2000 30 ALLREDUCE 3000 4\n"                                              \
    "l1 -1 11 ALLTOALL 1001 21 ALLREDUCE 2001 31 ALLTOALL 3001 5\n"                                                    \
    "l2 -1 12 NONE 0 22 NONE 0 32 NONE 0 6\n"
#define SIX_LAYERS                                                                                                     \
    "emb -1 10 ALLTOALL 1000 20 ALLTOALL 2000 30 NONE 0 4\n"                                                           \
    "b0 -1 11 NONE 0 21 NONE 0 31 ALLREDUCE 3001 5\n"                                                                  \
    "b1 -1 12 NONE 0 22 NONE 0 32 ALLREDUCE 3002 6\n"                                                                  \
    "t0 -1 13 NONE 0 23 NONE 0 33 ALLREDUCE 3003 7\n"                                                                  \
    "t1 -1 14 NONE 0 24 NONE 0 34 ALLREDUCE 3004 8\n"                                                                  \
    "t2 -1 15 ALLTOALL 77 25 NONE 0 35 NONE 0 9\n"

static enum orr_status convert(const char *text, uint32_t ranks, uint32_t passes, struct orr_error *err)
{
    struct mem mem = {0};
    struct notes notes;
    char input[64];
    char output[64];
    struct convert_summary summary = {0};
    snprintf(input, sizeof input, "%s/in.txt", folder);
    snprintf(output, sizeof output, "%s/out", folder);
    CHECK_OK(file_write(input, text, strlen(text), err), err);
    notes_init(&notes, &mem, true);
    struct convert_request request = {
        .input = input, .output = output, .ranks = ranks, .passes = passes, .mem = &mem, .notes = &notes};
    enum orr_status status = text_convert_compat(&request, &summary, err);
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "nothing is left");
    return status;
}

static void file_of(uint32_t rank, char path[64])
{
    snprintf(path, 64, "%s/out.%u.et", folder, rank);
}

/* name, workload, ranks, passes, the rank whose file is shown, the file. */
static const struct {
    const char *name, *text;
    uint32_t ranks, passes, rank;
    const char *want;
} graphs[] = {
    {"tiny2_MICRO", "MICRO\n2\n" TWO_LAYERS, 4, 2, 1,
     "4: *a_ALLREDUCE:0:300 *b_ALLREDUCE:0:700 *a_ALLREDUCE:0:300 *b_ALLREDUCE:0:700"},
    {"tiny2_DATA", "DATA\n2\n" TWO_LAYERS, 4, 2, 1,
     "14: a_FWD/1 b_FWD/5<14 b_BWD_WG/7<15 *b_ALLREDUCE:0:700<16 b_BWD_IG/6<16 a_BWD_WG/3<18 "
     "*a_ALLREDUCE:0:300<19 a_FWD/1<20 b_FWD/5<21,17 b_BWD_WG/7<22 *b_ALLREDUCE:0:700<23 b_BWD_IG/6<23 "
     "a_BWD_WG/3<25 *a_ALLREDUCE:0:300<26"},
    {"tiny2_MODEL", "MODEL\n2\n" TWO_LAYERS, 4, 2, 1,
     "18: a_FWD/1 *a_ALLREDUCE:0:100<18 b_FWD/5<19 *b_ALLREDUCE:0:500<20 b_BWD_IG/6<21 "
     "*b_ALLREDUCE:0:600<22 b_BWD_WG/7<22 a_BWD_IG/2<24,23 a_BWD_WG/3<25 a_FWD/1<26 "
     "*a_ALLREDUCE:0:100<27 b_FWD/5<28,24 *b_ALLREDUCE:0:500<29 b_BWD_IG/6<30 *b_ALLREDUCE:0:600<31 "
     "b_BWD_WG/7<31 a_BWD_IG/2<33,32 a_BWD_WG/3<34"},
    {"tiny2_HYBRID_DATA_MODEL", "HYBRID_DATA_MODEL\n2\n" TWO_LAYERS, 4, 2, 1,
     "22: a_FWD/1 *a_ALLREDUCE:0:100<22 b_FWD/5<23 *b_ALLREDUCE:0:500<24 b_BWD_IG/6<25 "
     "*b_IG_COMM__ALLREDUCE:0:600<26 b_BWD_WG/7<26 *b_ALLREDUCE:0:700<28 a_BWD_IG/2<28,27 a_BWD_WG/3<30 "
     "*a_ALLREDUCE:0:300<31 a_FWD/1<32 *a_ALLREDUCE:0:100<33 b_FWD/5<29,34 *b_ALLREDUCE:0:500<35 "
     "b_BWD_IG/6<36 *b_IG_COMM__ALLREDUCE:0:600<37 b_BWD_WG/7<37 *b_ALLREDUCE:0:700<39 a_BWD_IG/2<39,38 "
     "a_BWD_WG/3<41 *a_ALLREDUCE:0:300<42"},
    {"tiny2_HYBRID_MODEL_DATA", "HYBRID_MODEL_DATA\n2\n" TWO_LAYERS, 4, 2, 1,
     "22: a_FWD/1 *a_ALLREDUCE:0:100<22 b_FWD/5<23 *b_ALLREDUCE:0:500<24 b_BWD_IG/6<25 "
     "*b_ALLREDUCE:0:600<26 b_BWD_WG/7<26 *b_ALLREDUCE:0:700<28 a_BWD_IG/2<28,27 a_BWD_WG/3<30 "
     "*a_ALLREDUCE:0:300<31 a_FWD/1<32 *a_ALLREDUCE:0:100<33 b_FWD/5<29,34 *b_ALLREDUCE:0:500<35 "
     "b_BWD_IG/6<36 *b_ALLREDUCE:0:600<37 b_BWD_WG/7<37 *b_ALLREDUCE:0:700<39 a_BWD_IG/2<39,38 "
     "a_BWD_WG/3<41 *a_ALLREDUCE:0:300<42"},
    {"tiny6_HYBRID_DLRM_2", "HYBRID_DLRM 2\n6\n" SIX_LAYERS, 4, 2, 3,
     "144: emb_FWD/10 *emb_ALLTOALL:6:1000<144 b0_FWD/11<144 b1_FWD/12<146,145 t0_FWD/13<147 "
     "t1_FWD/14<148 t2_FWD/15<149 *t2_ALLTOALL:6:77<150 t2_BWD_WG/35<150 t2_BWD_IG/25<152 "
     "t1_BWD_WG/34<153 *t1_ALLREDUCE:0:3004<154 t1_BWD_IG/24<154 t0_BWD_WG/33<156 "
     "*t0_ALLREDUCE:0:3003<157 t0_BWD_IG/23<157 *emb_ALLTOALL:6:2000<159 b1_BWD_WG/32<159 "
     "*b1_ALLREDUCE:0:3002<161 b1_BWD_IG/22<161 b0_BWD_WG/31<163 *b0_ALLREDUCE:0:3001<164 "
     "b0_BWD_IG/21<164 emb_BWD_WG/30<166,160 emb_FWD/10<167 *emb_ALLTOALL:6:1000<168 b0_FWD/11<165,168 "
     "b1_FWD/12<162,170,169 t0_FWD/13<158,171 t1_FWD/14<155,172 t2_FWD/15<152,173 *t2_ALLTOALL:6:77<174 "
     "t2_BWD_WG/35<174 t2_BWD_IG/25<176 t1_BWD_WG/34<177 *t1_ALLREDUCE:0:3004<178 t1_BWD_IG/24<178 "
     "t0_BWD_WG/33<180 *t0_ALLREDUCE:0:3003<181 t0_BWD_IG/23<181 *emb_ALLTOALL:6:2000<183 "
     "b1_BWD_WG/32<183 *b1_ALLREDUCE:0:3002<185 b1_BWD_IG/22<185 b0_BWD_WG/31<187 "
     "*b0_ALLREDUCE:0:3001<188 b0_BWD_IG/21<188 emb_BWD_WG/30<190,184"},
    {"tiny6_HYBRID_DLRM_5_err", "HYBRID_DLRM 5\n6\n" SIX_LAYERS, 4, 2, 3,
     "138: emb_FWD/10 *emb_ALLTOALL:6:1000<138 b0_FWD/11<138 b1_FWD/12<140 t0_FWD/13<141 t1_FWD/14<142 "
     "t2_FWD/15<143,139 *t2_ALLTOALL:6:77<144 t2_BWD_WG/35<144 t2_BWD_IG/25<146 t1_BWD_WG/34<147 "
     "*t1_ALLREDUCE:0:3004<148 t1_BWD_IG/24<148 t0_BWD_WG/33<150 *t0_ALLREDUCE:0:3003<151 "
     "t0_BWD_IG/23<151 b1_BWD_WG/32<153 *b1_ALLREDUCE:0:3002<154 b1_BWD_IG/22<154 b0_BWD_WG/31<156 "
     "*b0_ALLREDUCE:0:3001<157 b0_BWD_IG/21<157 emb_BWD_WG/30<159 emb_FWD/10<160 "
     "*emb_ALLTOALL:6:1000<161 b0_FWD/11<158,161 b1_FWD/12<155,163 t0_FWD/13<152,164 t1_FWD/14<149,165 "
     "t2_FWD/15<146,166,162 *t2_ALLTOALL:6:77<167 t2_BWD_WG/35<167 t2_BWD_IG/25<169 t1_BWD_WG/34<170 "
     "*t1_ALLREDUCE:0:3004<171 t1_BWD_IG/24<171 t0_BWD_WG/33<173 *t0_ALLREDUCE:0:3003<174 "
     "t0_BWD_IG/23<174 b1_BWD_WG/32<176 *b1_ALLREDUCE:0:3002<177 b1_BWD_IG/22<177 b0_BWD_WG/31<179 "
     "*b0_ALLREDUCE:0:3001<180 b0_BWD_IG/21<180 emb_BWD_WG/30<182"},
    {"tiny6_HYBRID_DLRM_ENHANCED_2", "HYBRID_DLRM_ENHANCED 2\n6\n" SIX_LAYERS, 4, 2, 3,
     "144: emb_FWD/10 *emb_ALLTOALL:6:1000<144 b0_FWD/11<144 b1_FWD/12<146,145 t0_FWD/13<147 "
     "t1_FWD/14<148 t2_FWD/15<149 *t2_ALLTOALL:6:77<150 t2_BWD_WG/35<150 t2_BWD_IG/25<152 "
     "t1_BWD_WG/34<153 *t1_ALLREDUCE:0:3004<154 t1_BWD_IG/24<154 t0_BWD_WG/33<156 "
     "*t0_ALLREDUCE:0:3003<157 t0_BWD_IG/23<157 *emb_ALLTOALL:6:2000<159 b1_BWD_WG/32<159 "
     "*b1_ALLREDUCE:0:3002<161 b1_BWD_IG/22<161 b0_BWD_WG/31<163 *b0_ALLREDUCE:0:3001<164 "
     "b0_BWD_IG/21<164 emb_BWD_WG/30<166,160 emb_FWD/10<167 *emb_ALLTOALL:6:1000<168 b0_FWD/11<165,168 "
     "b1_FWD/12<162,170,169 t0_FWD/13<158,171 t1_FWD/14<155,172 t2_FWD/15<152,173 *t2_ALLTOALL:6:77<174 "
     "t2_BWD_WG/35<174 t2_BWD_IG/25<176 t1_BWD_WG/34<177 *t1_ALLREDUCE:0:3004<178 t1_BWD_IG/24<178 "
     "t0_BWD_WG/33<180 *t0_ALLREDUCE:0:3003<181 t0_BWD_IG/23<181 *emb_ALLTOALL:6:2000<183 "
     "b1_BWD_WG/32<183 *b1_ALLREDUCE:0:3002<185 b1_BWD_IG/22<185 b0_BWD_WG/31<187 "
     "*b0_ALLREDUCE:0:3001<188 b0_BWD_IG/21<188 emb_BWD_WG/30<190,184"},
    {"mismatch_count_MODEL5", "MODEL\n5\n" THREE_LAYERS, 1, 1, 0,
     "0: l0_FWD/10 *l0_ALLGATHER:2:1000<0 l1_FWD/11<1 *l1_ALLTOALL:6:1001<2 l2_FWD/12<3 *l2_NONE:0:0<4 "
     "l2_BWD_IG/22<5 *l2_NONE:0:0<6 l2_BWD_WG/32<6 l1_BWD_IG/21<8,7 *l1_ALLREDUCE:0:2001<9 "
     "l1_BWD_WG/31<9 l0_BWD_IG/20<11,10 *l0_REDUCESCATTER:7:2000<12 l0_BWD_WG/30<12"},
    {"mismatch_count_DATA", "DATA\n9\n" THREE_LAYERS, 1, 1, 0,
     "0: l0_FWD/10 l1_FWD/11<0 l2_FWD/12<1 l2_BWD_WG/32<2 *l2_NONE:0:0<3 l2_BWD_IG/22<3 l1_BWD_WG/31<5 "
     "*l1_ALLTOALL:6:3001<6 l1_BWD_IG/21<6 l0_BWD_WG/30<8 *l0_ALLREDUCE:0:3000<9"},
    {"unknown_comm",
     "DATA\n"
     "2\n"
     "a -1 1 BCAST 100 2 ALLREDUCE 200 3 BROADCAST 300 4\n"
     "b -1 5 ALLREDUCE 500 6 ALLREDUCE 600 7 ALLREDUCE_ 700 8\n",
     1, 1, 0,
     "0: a_FWD/1 b_FWD/5<0 b_BWD_WG/7<1 *b_ALLREDUCE_:0:700<2 b_BWD_IG/6<2 a_BWD_WG/3<4 "
     "*a_BROADCAST:0:300<5"},
    {"big",
     "DATA\n"
     "2\n"
     "a -1 4294967296 NONE 0 9007199254740993 NONE 0 3 ALLREDUCE 1099511627776 4\n"
     "b -1 5 NONE 0 6 NONE 0 7 ALLREDUCE 9223372036854775807 8\n",
     1, 1, 0,
     "0: a_FWD/4294967296 b_FWD/5<0 b_BWD_WG/7<1 *b_ALLREDUCE:0:9223372036854775807<2 b_BWD_IG/6<2 "
     "a_BWD_WG/3<4 *a_ALLREDUCE:0:1099511627776<5"},
    {"utf8_name",
     "DATA\n"
     "1\n"
     "λayer -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 4 5\n",
     1, 1, 0, "0: λayer_FWD/1 λayer_BWD_WG/3<0 *λayer_ALLREDUCE:0:4<1"},
    {"crlf",
     "DATA\r\n"
     "1\r\n"
     "a -1 4 NONE 0 2 NONE 0 3 ALLREDUCE 10 4\r\n",
     1, 1, 0, "0: a_FWD/4 a_BWD_WG/3<0 *a_ALLREDUCE:0:10<1"},
};

static void every_strategy_gives_chakras_graph(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(graphs); i++) {
        struct orr_error err = {0};
        char path[64];
        CHECK_OK(convert(graphs[i].text, graphs[i].ranks, graphs[i].passes, &err), &err);
        file_of(graphs[i].rank, path);
        char *got = graph_line(path);
        CHECK(strcmp(got, graphs[i].want) == 0, "%s: %s", graphs[i].name, got);
        free(got);
    }
}

static void the_metadata_hold_the_text_with_plain_line_ends(void **state)
{
    (void)state;
    struct orr_error err = {0};
    struct mem mem = {0};
    char path[64];
    struct trace_document *document = NULL;
    CHECK_OK(convert("DATA\r\n1\ra -1 4 NONE 0 2 NONE 0 3 ALLREDUCE 10 4", 1, 1, &err), &err);
    file_of(0, path);
    CHECK_OK(trace_document_read(path, &mem, &document, &err), &err);
    CHECK_TEXT(document->metadata->version, "");
    CHECK_U64(document->metadata->n_attr, 2, "schema and input_file");
    CHECK_TEXT(document->metadata->attr[0]->string_val, "1.0.2-chakra.1.0.0");
    CHECK_TEXT(document->metadata->attr[1]->string_val, "DATA\n1\na -1 4 NONE 0 2 NONE 0 3 ALLREDUCE 10 4");
    trace_document_free(document);
}

static const struct {
    const char *text, *want;
} bad[] = {
    {"DATA\n3\n" THREE_LAYERS "\n", "in.txt:6: a blank line"},
    {"DATA\n1\nx -1 1.5 NONE 0 2 NONE 0 3 ALLREDUCE 4 5\n", "in.txt:3: the forward time must be a whole number"},
    {"DATA\n1\nx -1 -4 NONE 0 2 NONE 0 3 ALLREDUCE 4 5\n", "in.txt:3: a negative time: -4"},
    {"DATA\n1\nx -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 4\n", "in.txt:3: a layer has 12 words"},
    {"DATA\n1\nx -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 9223372036854775808 5\n", "does not fit 64 bits"},
    {"MODEL\n2\n" THREE_LAYERS, "in.txt:3: layer l0 waits for the input gradient's communication"},
    {"HYBRID_DLRM\n6\n" SIX_LAYERS, "in.txt:1: HYBRID_DLRM needs the number of the last bottom layer"},
    {"HYBRID_DLRM 0\n6\n" SIX_LAYERS, "in.txt:3: layer emb waits for the first layer's all-to-all"},
    {"HYBRID_DLRM 1\n2\n" TWO_LAYERS, "waits for the first layer's all-to-all"},
    {"HYBRID_CUSTOMIZED\n3\n" THREE_LAYERS, "in.txt:1: Chakra's converter does not know the strategy"},
    {"DATTA\n3\n" THREE_LAYERS, "in.txt:1: unknown strategy \"DATTA\"; did you mean \"DATA\"?"},
    {"DATA\nx\n" THREE_LAYERS, "in.txt:2: the number of layers must be a whole number, not \"x\""},
    {"DATA\n", "in.txt:2: the file ends before the number of layers"},
    {"", "in.txt:1: the first line must name the strategy"},
    {"DATA\n1\na\x01 -1 4 NONE 0 2 NONE 0 3 ALLREDUCE 10 4", "in.txt: byte 8: a control character"},
    {"DATA\n1\na\xff -1 4 NONE 0 2 NONE 0 3 ALLREDUCE 10 4", "in.txt: the text is not UTF-8"},
};

static void what_chakra_dies_of_is_one_line_and_no_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct orr_error err = {0};
        char path[64];
        file_of(0, path);
        remove(path);
        CHECK(convert(bad[i].text, 1, 1, &err) != ORR_OK, "%s", bad[i].want);
        CHECK_CONTAINS(err.text, bad[i].want);
        CHECK(!file_exists(path), "%s leaves a file", bad[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_MAP(every_strategy_gives_chakras_graph,
                                                 the_metadata_hold_the_text_with_plain_line_ends,
                                                 what_chakra_dies_of_is_one_line_and_no_file)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
