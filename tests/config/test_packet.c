/* SPDX-License-Identifier: Apache-2.0 */
/* The network configuration of the packet network: what each kind of key means, and what is refused or told. */
#include "config/wired.h"
#include "tests/config/reading.h"

static enum orr_status parse(struct reading *reading, const char *text, struct packet_config *config,
                             struct config_packet_files *files)
{
    return config_parse_packet("c.txt", text, strlen(text), &reading->arena, &reading->notes, config, files,
                               &reading->err);
}

static void keys_of_every_kind_are_read(void **state)
{
    (void)state;
    struct reading reading;
    struct packet_config config;
    struct config_packet_files files;
    reading_begin(&reading, true);
    CHECK_OK(parse(&reading,
                   "ENABLE_QCN 0\nPACKET_PAYLOAD_SIZE 4096 L2_ACK_INTERVAL\n1\nRATE_AI 20Mb/s\nU_TARGET 0.5\n"
                   "TOPOLOGY_FILE a/b.txt\nFCT_OUTPUT_FILE f\nBUFFER_SIZE 12\nRP_TIMER 12.5\nQLEN_MON_START 700\n"
                   "KMAX_MAP 2 100000000000 1600 400000000000 3200\nKMIN_MAP 1 400000000000 800\n"
                   "PMAX_MAP 1 400000000000 0.2\nLINK_DOWN 0 0 0\nUSE_DYNAMIC_PFC_THRESHOLD 1\n",
                   &config, &files),
             &reading.err);
    CHECK(!config.enable_qcn, "a flag");
    CHECK_U64(config.payload_bytes, 4096, "a count");
    CHECK_U64(config.rate_ai_bps, 20000000, "a rate");
    CHECK(config.u_target == 0.5, "a real number");
    CHECK(config.rp_timer_us == 12.5, "microseconds");
    CHECK_TEXT(files.topology, "a/b.txt");
    CHECK_TEXT(files.fct, "f");
    CHECK(files.pfc == NULL, "what is not named is NULL");
    CHECK_U64(config.buffer_bytes, 12u << 20, "mebibytes");
    CHECK_U64(config.sample_start_ns, 700, "the first look at the queues");
    CHECK_U64(config.mark_count, 2, "rates in the maps");
    CHECK(config.marks[1].kmin_bytes == 800000 && config.marks[1].kmax_bytes == 3200000, "kilobytes of 1000");
    CHECK(config.marks[1].pmax == 0.2 && config.marks[0].pmax == 0, "what a map leaves out is 0");
    reading_end(&reading);
}

static void what_is_not_set_has_the_reference_s_default(void **state)
{
    (void)state;
    struct reading reading;
    struct packet_config config;
    struct config_packet_files files;
    reading_begin(&reading, true);
    CHECK_OK(parse(&reading, "L2_ACK_INTERVAL 1", &config, &files), &reading.err);
    CHECK_U64(config.cc_mode, PACKET_CC_DCQCN, "CC_MODE");
    CHECK_U64(config.payload_bytes, 1000, "PACKET_PAYLOAD_SIZE");
    CHECK_U64(config.headroom_factor, 3, "HEADROOM_FACTOR");
    CHECK(config.global_t && config.has_window && !config.var_window, "windows");
    CHECK(!config.timeouts && config.pfc_enabled, "nothing that the reference lacks");
    reading_end(&reading);
}

static void what_cannot_be_is_refused_with_its_line(void **state)
{
    (void)state;
    static const struct bad_text bad[] = {
        {"", "c.txt: L2_ACK_INTERVAL is 0 or missing"},
        {"L2_ACK_INTERVAL 0\n", "c.txt: L2_ACK_INTERVAL is 0 or missing"},
        {"\nCC_MODE fast\n", "c.txt:2: CC_MODE is \"fast\", not a number"},
        {"PACKET_PAYLOAD_SIZE 0\n", "c.txt:1: PACKET_PAYLOAD_SIZE is 0; it must lie between 1 and"},
        {"PACKET_PAYLOAD_SIZE 1.5\n", "c.txt:1: PACKET_PAYLOAD_SIZE is 1.5, not a whole number"},
        {"BUFFER_SIZE 1.5\n", "c.txt:1: BUFFER_SIZE is 1.5, not a whole number"},
        {"HAS_WIN 0.5\n", "c.txt:1: HAS_WIN is 0.5, not a whole number"},
        {"BUFFER_SIZE 4096\n", "c.txt:1: BUFFER_SIZE is 4096; it must lie between"},
        {"ERROR_RATE_PER_LINK 2\n", "c.txt:1: ERROR_RATE_PER_LINK is 2; it must lie between 0 and 1"},
        {"RATE_AI fast\n", "c.txt:1: RATE_AI is \"fast\"; accepted is a number with one of the units"},
        {"ENABLE_QCN yes\n", "c.txt:1: ENABLE_QCN is \"yes\", not a number"},
        {"KMAX_MAP 3 100 2\n", "the file ends where KMAX_MAP is expected"},
        {"KMAX_MAP 99999 1 1\n", "c.txt:1: KMAX_MAP is 99999; it must lie between"},
        {"KMIN_MAP 1 100000000000 500\nKMAX_MAP 1 100000000000 400\nPMAX_MAP 1 100000000000 0.2\nL2_ACK_INTERVAL 1\n",
         "c.txt: links of 100000000000 b/s have KMIN 500000 above KMAX 400000"},
        {"PMAX_MAP 1 100000000000 7\nL2_ACK_INTERVAL 1\n", "c.txt: links of 100000000000 b/s have PMAX 7"},
        {"LINK_DOWN 0 0\n", "the file ends where LINK_DOWN (time, two nodes) is expected"},
        {"TOPOLOGY_FILE", "the file ends where TOPOLOGY_FILE is expected"},
        {"MIN_RATE 0b/s\nL2_ACK_INTERVAL 1\n", "c.txt: MIN_RATE is 0"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct reading reading;
        struct packet_config config;
        struct config_packet_files files;
        reading_begin(&reading, false);
        check_refusal(&reading, parse(&reading, bad[i].text, &config, &files), &bad[i]);
        reading_end(&reading);
    }
}

static void keys_without_effect_and_unknown_ones_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *note;
    } cases[] = {
        {"L2_ACK_INTERVAL 1\nCC_MOD 3\n", "c.txt:2: unknown key \"CC_MOD\" is ignored; did you mean CC_MODE?"},
        {"L2_ACK_INTERVAL 1\nINT_MULTI 16\n", "c.txt:2: INT_MULTI is ignored: telemetry is kept in its own units"},
        {"L2_ACK_INTERVAL 1\nLINK_DOWN 5 0 1\n",
         "c.txt:2: LINK_DOWN is ignored: the reference takes the link down two seconds into the run, which no run "
         "reaches; parameter 'link-down' takes one down at any time"},
        {"L2_ACK_INTERVAL 1\nUSE_DYNAMIC_PFC_THRESHOLD 0\n",
         "c.txt:2: USE_DYNAMIC_PFC_THRESHOLD is ignored: the threshold is always dynamic"},
        {"L2_ACK_INTERVAL 1\nENABLE_TRACE 1\n", "c.txt:2: ENABLE_TRACE is ignored: packet traces are not written"},
        {"L2_ACK_INTERVAL 1\nCC_MODE 2\n",
         "c.txt: CC_MODE 2 is no congestion control: a fixed window at line rate, as 12"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct reading reading;
        struct packet_config config;
        struct config_packet_files files;
        reading_begin(&reading, false);
        CHECK_OK(parse(&reading, cases[i].text, &config, &files), &reading.err);
        check_noted(&reading, cases[i].note);
        reading_end(&reading);
        reading_begin(&reading, true);
        CHECK_STATUS(parse(&reading, cases[i].text, &config, &files), ORR_EINVAL);
        reading_end(&reading);
    }
}

TEST_MAIN(keys_of_every_kind_are_read, what_is_not_set_has_the_reference_s_default,
          what_cannot_be_is_refused_with_its_line, keys_without_effect_and_unknown_ones_are_told)
