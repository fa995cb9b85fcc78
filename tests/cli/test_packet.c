/* SPDX-License-Identifier: Apache-2.0 */
/* The packet network through the program: its reports and files, and what it says when packets are lost. */
#include <unistd.h>

#include "tests/cli/program.h"

#define MACHINE "run --backend packet --no-progress -w w/ar -s system.json -n config.txt "

/* Eight hosts on one switch, with a share of losses on every link. */
static void prepare(const char *loss, const char *more)
{
    char text[2048] = "9 1 8\n8\n";
    struct orr_error err = {0};
    program_enter();
    program_write_machine(8, 4);
    for (int i = 0; i < 8; i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%d 8 100Gbps 1us %s\n", i, loss);
    }
    program_write_text("topology.txt", text);
    (void)snprintf(text, sizeof text,
                   "TOPOLOGY_FILE topology.txt CC_MODE 12 L2_ACK_INTERVAL 1 L2_CHUNK_SIZE 4000 GLOBAL_T 0\n"
                   "KMIN_MAP 1 100000000000 400 KMAX_MAP 1 100000000000 1600 PMAX_MAP 1 100000000000 0.2\n%s",
                   more);
    program_write_text("config.txt", text);
    CHECK_OK(
        orr_gen(
            &(struct orr_gen_options){
                .pattern = ORR_PATTERN_COLLECTIVE, .type = "all-reduce", .bytes = 1 << 20, .npus = 8, .prefix = "w/ar"},
            &err),
        &err);
}

static void links_and_messages_are_in_every_report(void **state)
{
    (void)state;
    prepare("0", "");
    const struct program_result *result = program_run(MACHINE "--json r.json --csv tables");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "packet network");
    CHECK_CONTAINS(result->out, "Link (nodes)  Gbit/s");
    CHECK_CONTAINS(result->out, "  8 > 0          100");
    CHECK_CONTAINS(result->out, "448 arrived; time p50");
    size_t size = 0;
    CHECK_CONTAINS(program_read("r.json", &size), "\"messages_arrived\": 448");
    CHECK_CONTAINS(program_read("r.json", &size), "{\"from\": 8, \"to\": 7, \"rate_bps\": 100000000000");
    CHECK_CONTAINS(program_read("tables/links.csv", &size), "from,to,rate_bps,bytes,busy_ns,utilisation,ecn_marks");
}

static void what_simulates_on_the_side_has_the_packet_network_too(void **state)
{
    (void)state;
    prepare("0", "");
    static const char files[] = "w/ar.0.et w/ar.1.et w/ar.2.et w/ar.3.et w/ar.4.et w/ar.5.et w/ar.6.et w/ar.7.et";
    size_t size = 0;
    CHECK_EXIT(program_run("trace timeline w/ar -s system.json -n config.txt --backend packet -o t.json"), 0);
    CHECK_CONTAINS(program_read("t.json", &size), "traceEvents");
    char line[400];
    (void)snprintf(line, sizeof line,
                   "trace simplify --level comm --measure -s system.json -n config.txt --backend packet %s -o small/ar",
                   files);
    const struct program_result *result = program_run(line);
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "difference        0.000%");
}

static void files_of_the_configuration_are_written_for_astra_alone(void **state)
{
    (void)state;
    prepare("0", "FCT_OUTPUT_FILE named.fct PFC_OUTPUT_FILE named.pfc QLEN_MON_FILE named.qlen\n");
    size_t size = 0;
    CHECK_EXIT(program_run(MACHINE), 0);
    CHECK(!program_exists("named.fct"), "not without --compat astra");
    CHECK_EXIT(program_run(MACHINE "--compat astra --pfc mine.pfc"), 0);
    CHECK_CONTAINS(program_read("named.fct", &size), "0b000001 0b000101 10000 100 32768 10 ");
    CHECK(program_exists("mine.pfc") && !program_exists("named.pfc"), "an option goes before the file");
    CHECK(program_exists("named.qlen"), "queues");
}

static void an_output_of_the_configuration_never_replaces_an_input(void **state)
{
    (void)state;
    static const char *const inputs[] = {"topology.txt", "config.txt", "w/ar.3.et"};
    for (size_t i = 0; i < COUNT_OF(inputs); i++) {
        char more[128];
        (void)snprintf(more, sizeof more, "FCT_OUTPUT_FILE %s\n", inputs[i]);
        prepare("0", more);
        const struct program_result *result = program_run(MACHINE "--compat astra -q");
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, "--fct would replace");
    }
}

static void what_is_lost_stalls_astra_and_delays_us(void **state)
{
    (void)state;
    prepare("0.02", "");
    const struct program_result *result = program_run(MACHINE "--compat astra");
    CHECK_EXIT(result, 4);
    CHECK_CONTAINS(result->err, "the queue pair from rank ");
    CHECK_CONTAINS(result->err, " was lost: ");
    CHECK_CONTAINS(result->err, "Fix: run without --compat astra");
    result = program_run(MACHINE);
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, " lost, ");
    CHECK_EXIT(program_run(MACHINE "--compat astra --rto 100us"), 0);
}

static void a_link_that_is_not_there_cannot_go_down(void **state)
{
    (void)state;
    prepare("0", "");
    const struct program_result *result = program_run(MACHINE "--link-down 0-1@5us");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "topology.txt: no link joins nodes 0 and 1");
    CHECK_EXIT(program_run(MACHINE "--link-down 0-8@5us..1ms --cc swift --spray --parallel-links"), 0);
}

static void a_buffer_smaller_than_what_is_set_aside_is_refused_and_kept_for_astra(void **state)
{
    (void)state;
    prepare("0", "BUFFER_SIZE 0\n");
    const struct program_result *result = program_run(MACHINE);
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "config.txt: BUFFER_SIZE is 0 (MiB); switch 8 sets aside 332768 B for its 8 ports");
    CHECK_CONTAINS(result->err, "so it needs 1 or more");
    result = program_run(MACHINE "--compat astra");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->err, "wraps round to nearly 4 GiB");
}

static void settings_that_contradict_the_control_are_told(void **state)
{
    (void)state;
    prepare("0", "HAS_WIN 0\n");
    const struct program_result *result = program_run(MACHINE "--cc hpcc");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->err, "config.txt: HAS_WIN 0 with HPCC (CC_MODE 3) divides by 0 in the original");
    prepare("0", "ALPHA_RESUME_INTERVAL 0.0001\n");
    CHECK_EXIT(program_run(MACHINE), 0);
    result = program_run(MACHINE "--cc dcqcn");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err,
                   "ALPHA_RESUME_INTERVAL is 0.0001 (microseconds); DCQCN (CC_MODE 1) needs at least 0.001");
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text != 0; text++) {
        lines += *text == '\n' ? 1 : 0;
    }
    return lines;
}

#define JUDGED "--no-progress -w w/ar -s system.json -n config.txt --fct judged.fct --json r.json "

static void flow_and_auto_say_whether_they_moved_packets_and_tell_each_message_once(void **state)
{
    (void)state;
    static const struct {
        const char *more, *machine, *carried;
    } cases[] = {{"", " network\n", "\"carried_by\": \"shares\""},
                 {"L2_ACK_INTERVAL 4000\n", " network, by packets\n", "\"carried_by\": \"packets\""}};
    for (size_t i = 0; i < 2 * COUNT_OF(cases); i++) {
        prepare("0", cases[i / 2].more);
        size_t size = 0;
        const struct program_result *result =
            program_run(i % 2 == 0 ? "run --backend flow " JUDGED : "run --backend auto " JUDGED);
        CHECK_EXIT(result, 0);
        CHECK_CONTAINS(result->out, cases[i / 2].machine);
        CHECK_CONTAINS(program_read("r.json", &size), cases[i / 2].carried);
        CHECK_U64(count_lines(program_read("judged.fct", &size)), 448, "messages told, case %zu", i);
    }
}

static void a_job_by_packets_is_what_the_packet_network_says(void **state)
{
    (void)state;
    prepare("0", "L2_ACK_INTERVAL 4000\n");
    CHECK_EXIT(program_run(MACHINE "--fct packet.fct"), 0);
    CHECK_EXIT(program_run("run --backend auto " JUDGED), 0);
    size_t size = 0;
    char packet[65536];
    (void)snprintf(packet, sizeof packet, "%s", program_read("packet.fct", &size));
    CHECK_TEXT(program_read("judged.fct", &size), packet);
}

static void a_stall_names_the_link_that_is_down(void **state)
{
    (void)state;
    prepare("0", "");
    const struct program_result *result = program_run(MACHINE "--link-down 3-8@0us");
    CHECK_EXIT(result, 4);
    CHECK_CONTAINS(result->err, "link 3-8"); /* lines are broken anywhere behind it */
    CHECK_CONTAINS(result->err, "let the link come back");
    result = program_run(MACHINE "--link-down 3-8@5us");
    CHECK_EXIT(result, 4);
    CHECK_CONTAINS(result->err, "3-8");
    CHECK_CONTAINS(result->err, "5000");
}

/* All with all and no window: hosts pause their switch by themselves just when it pauses them. */
static void a_host_that_cannot_end_its_own_pause_is_told_as_such(void **state)
{
    (void)state;
    struct orr_error err = {0};
    prepare("0", "HAS_WIN 0 BUFFER_SIZE 1 NIC_TOTAL_PAUSE_TIME 3\n");
    CHECK_OK(orr_gen(&(struct orr_gen_options){.pattern = ORR_PATTERN_COLLECTIVE,
                                               .type = "all-to-all",
                                               .bytes = 16 << 20,
                                               .npus = 8,
                                               .prefix = "w/ar"},
                     &err),
             &err);
    const struct program_result *result = program_run(MACHINE "--set system.all-to-all-implementation=[direct]");
    CHECK_EXIT(result, 4);
    CHECK(strstr(result->err, "lost") == NULL, "nothing was lost: %s", result->err);
    CHECK(strstr(result->err, "--compat") == NULL, "it was not given: %s", result->err);
    CHECK_CONTAINS(result->err, "(NIC_TOTAL_PAUSE_TIME)");
}

static void going_back_to_chunks_needs_packets_in_order(void **state)
{
    (void)state;
    prepare("0.01", "L2_BACK_TO_ZERO 1\n");
    CHECK_EXIT(program_run(MACHINE), 0);
    const struct program_result *result = program_run(MACHINE "--routing adaptive");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "L2_BACK_TO_ZERO 1 needs packets in order, and --routing adaptive lets them overtake");
}

TEST_MAIN(links_and_messages_are_in_every_report, what_simulates_on_the_side_has_the_packet_network_too,
          files_of_the_configuration_are_written_for_astra_alone,
          an_output_of_the_configuration_never_replaces_an_input, what_is_lost_stalls_astra_and_delays_us,
          a_link_that_is_not_there_cannot_go_down,
          a_buffer_smaller_than_what_is_set_aside_is_refused_and_kept_for_astra,
          settings_that_contradict_the_control_are_told,
          flow_and_auto_say_whether_they_moved_packets_and_tell_each_message_once,
          a_job_by_packets_is_what_the_packet_network_says, a_stall_names_the_link_that_is_down,
          a_host_that_cannot_end_its_own_pause_is_told_as_such, going_back_to_chunks_needs_packets_in_order)
