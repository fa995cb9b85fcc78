/* SPDX-License-Identifier: Apache-2.0 */
/* A simulation from the shell's side: exit codes, what goes to which stream and file, and what an interruption, a stall
 * or a limit leaves behind. The numbers themselves are tests/golden's. */
#include "tests/cli/program.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MACHINE " --system system.json --network network.yml "

/* An all-reduce of 1 MiB on a ring of 8: 117780 ns, the tutorial's first number. */
static void prepare(void)
{
    program_enter();
    program_write_machine(8, 4);
    CHECK_EXIT(program_run("gen collective --type all-reduce --bytes 1MiB --npus 8 -o w/ar"), 0);
}

/* The same with a rank that has another size in mind. */
static void prepare_stall(void)
{
    prepare();
    CHECK_EXIT(program_run("gen collective --type all-reduce --bytes 2MiB --npus 8 -o w/other"), 0);
    size_t size = 0;
    const char *trace = program_read("w/other.3.et", &size);
    CHECK_EXIT(program_run("gen collective --type all-reduce --bytes 1MiB --npus 8 -o w/stall"), 0);
    program_write("w/stall.3.et", trace, size);
}

static void a_run_prints_its_result_on_standard_output_only(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result = program_run("run -w w/ar" MACHINE);
    CHECK_EXIT(result, 0);
    CHECK(result->out[0] != '\0' && result->err[0] == '\0', "stderr: %s", result->err);
    result = program_run("run -w w/ar" MACHINE "--format astra");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "sys[7] finished, 117780 cycles, exposed communication 117780 cycles.");
    result = program_run("run -w w/ar" MACHINE "--format json");
    CHECK_EXIT(result, 0);
    CHECK(result->out[0] == '{', "JSON is one object");
}

/* 50 us of compute beside the collectives; nine times that ends last on four of the eight ranks. */
static void a_replay_needs_no_machine(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("gen three-node --npus 2 -o w/two"), 0);
    const struct program_result *result = program_run("run -w w/two --replay");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Step time");
    CHECK_EXIT(program_run("run -w w/two"), 2);
}

static void ranks_can_have_devices_of_their_own(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("gen three-node --npus 8 -o w/three"), 0);
    const struct program_result *result = program_run("run -w w/three" MACHINE "--devices 4-7=x9 --format astra");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "sys[3] finished, 405520 cycles");
    CHECK_CONTAINS(result->out, "sys[4] finished, 567780 cycles");
    result = program_run("run -w w/three" MACHINE "--devices 4-7=x9");
    CHECK_CONTAINS(result->out, "\nDevices    4-7=x9\n");
    result = program_run("run -w w/three" MACHINE "--devices 4-7=x9 --format json");
    CHECK_CONTAINS(result->out, "\"devices\": \"4-7=x9\"");
    CHECK_CONTAINS(result->out, "{\"rank\": 4, \"device\": \"x9\", ");
    result = program_run("run -w w/three" MACHINE "--devices 4-8=x9");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "devices: there is no rank 8; the machine has ranks 0 to 7");
    result = program_run("run -w w/three" MACHINE "--devices 4-7=h100");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "the rates of \"h100\" are for the roofline");
    result = program_run("run -w w/three" MACHINE "--replay --devices 4-7=x9");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--devices changes nothing in a replay");
}

static void astra_sims_names_and_options_do_what_they_did(void **state)
{
    (void)state;
    prepare();
    static const char *const names[] = {"AstraSim_Analytical_Congestion_Unaware",
                                        "AstraSim_Analytical_Congestion_Aware"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (!program_exists(names[i])) {
            assert_int_equal(symlink(getenv("ORRERY"), names[i]), 0);
        }
        char path[128];
        (void)snprintf(path, sizeof path, "./%s", names[i]);
        program_write_text("memory.json", "{\"memory-type\": \"NO_MEMORY_EXPANSION\"}\n");
        const struct program_result *result =
            program_run_as(path,
                           "--workload-configuration=w/ar --system-configuration system.json "
                           "--network-configuration=network.yml --remote-memory-configuration=memory.json "
                           "--num-queues-per-dim=1 --compute-scale=1 --comm-scale 1 --injection-scale=1 "
                           "--rendezvous-protocol false --logging-folder=log --whatever=5 --flag",
                           NULL, NULL);
        CHECK_EXIT(result, 0);
        CHECK_CONTAINS(result->out, "sys[0] finished, 117780 cycles");
        CHECK_CONTAINS(result->err, "warning: --compute-scale has no effect");
        CHECK_CONTAINS(result->err, "warning: --comm-scale has no effect");
        CHECK_CONTAINS(result->err, "warning: --logging-folder has no effect");
        CHECK_CONTAINS(result->err, "warning: unknown option --whatever is ignored");
        CHECK_CONTAINS(result->err, "warning: unknown option --flag is ignored");
        CHECK(!program_exists("log"), "no log folder is made");
        result = program_run_as(path, "-w w/ar -s system.json -n network.yml", NULL, NULL);
        CHECK_CONTAINS(result->out, "117780 cycles");
        CHECK(result->err[0] == '\0', "our options are known there too: %s", result->err);
    }
}

static void outputs_asked_for_are_written_and_no_temporary_is_left(void **state)
{
    (void)state;
    prepare();
    assert_int_equal(mkdir("out", 0700), 0);
    const struct program_result *result = program_run(
        "run -w w/ar" MACHINE "--json out/r.json --csv out/csv --timeline out/t.json.gz --status-file out/status");
    CHECK_EXIT(result, 0);
    static const char *const files[] = {
        "out/r.json",    "out/csv/ranks.csv", "out/csv/collectives.csv", "out/csv/dimensions.csv",
        "out/t.json.gz", "out/status"};
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        size_t size = 0;
        (void)program_read(files[i], &size);
        CHECK(size > 0, "%s is missing or empty", files[i]);
    }
    const char *status = program_read("out/status", NULL);
    CHECK_CONTAINS(status, "\"state\": \"done\"");
    CHECK_CONTAINS(status, "\"simulated_ns\": 117780");
    CHECK_CONTAINS(status, "\"nodes_done\": 8, \"nodes\": 8, \"ranks_finished\": 8, \"ranks\": 8");
    CHECK(system("test -z \"$(find out -name '*tmp*')\"") == 0, "a temporary is left");
}

static void an_output_that_is_an_input_or_another_output_is_refused(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("gen collective --bytes 1MiB --npus 8 -o guard/ar"), 0);
    program_write_text("linked", "{}");
    assert_int_equal(link("linked", "guard/hard"), 0);
    assert_int_equal(mkdir("guard/csv", 0700), 0);
    assert_int_equal(symlink("../ar.0.et", "guard/csv/ranks.csv"), 0);
    assert_int_equal(symlink("../system.json", "guard/s.json"), 0);
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"--json guard/s.json", "--json would replace the file of --system: "},
        {"--json guard/hard --timeline linked", "--json and --timeline are the same file: "},
        {"--json guard/ar.3.et", "--json would replace a trace of --workload guard/ar: "},
        {"--csv guard/csv", "--csv (ranks.csv) would replace a trace of --workload guard/ar: "},
        {"--csv guard/new/ --json guard/../guard/new", "--json and --csv are the same file: "},
    };
    char *before = strdup(program_read("system.json", NULL));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char line[256];
        (void)snprintf(line, sizeof line, "run -w guard/ar" MACHINE "%s", cases[i].line);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 2);
        CHECK_ONE_LINE(result);
        CHECK_CONTAINS(result->err, cases[i].says);
        CHECK(result->out[0] == '\0', "%s: printed %s", line, result->out);
    }
    CHECK_TEXT(program_read("system.json", NULL), before);
    free(before);
    CHECK(!program_exists("guard/new"), "nothing was made");
    CHECK_EXIT(program_run("run -w guard/ar" MACHINE "--json /dev/null --timeline /dev/null --status-file guard/st"),
               0);
}

static void a_folder_that_may_not_be_written_to_is_told_of_before_the_run(void **state)
{
    (void)state;
    if (geteuid() == 0) {
        print_message("root may write everywhere\n");
        skip();
    }
    program_enter();
    assert_int_equal(mkdir("locked", 0500), 0);
    static const char *const options[] = {"--json locked/x", "--timeline locked/x", "--status-file locked/x",
                                          "--csv locked", "--csv locked/deeper/csv"};
    for (size_t i = 0; i < COUNT_OF(options); i++) {
        char line[128];
        (void)snprintf(line, sizeof line, "run -w none -s none -n none %s", options[i]);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, "locked: Permission denied");
    }
}

static void a_dash_for_the_json_document_is_standard_output(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result = program_run("run -w w/ar" MACHINE "--format json");
    char *want = strdup(result->out);
    static const char *const lines[] = {"run -w w/ar" MACHINE "--json -",
                                        "run -w w/ar" MACHINE "--json - --format json"};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        result = program_run(lines[i]);
        CHECK_EXIT(result, 0);
        CHECK_TEXT(result->out, want);
        CHECK(!program_exists("-"), "no file of that name");
    }
    free(want);
}

static void a_stall_gives_exit_code_4_and_a_diagnosis(void **state)
{
    (void)state;
    prepare_stall();
    const struct program_result *result = program_run("run -w w/stall" MACHINE "--status-file st --json r.json");
    CHECK_EXIT(result, 4);
    CHECK(result->out[0] != '\0', "what is known is printed");
    CHECK_CONTAINS(result->err, "orrery: ");
    CHECK_CONTAINS(result->err, "3");
    static const char end[] = " of 8 ranks unfinished\n";
    CHECK_CONTAINS(result->err, end);
    CHECK(strstr(result->err, end)[strlen(end)] == '\0', "the last line only counts: %s", result->err);
    CHECK_CONTAINS(program_read("st", NULL), "\"state\": \"stalled\"");
    CHECK(program_exists("r.json"), "a stalled run writes its outputs");
    assert_int_equal(unlink("r.json"), 0);
}

static void a_memory_limit_gives_exit_code_3_from_option_and_environment(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result = program_run("run -w w/ar" MACHINE "--memory-limit 1K --status-file st");
    CHECK_EXIT(result, 3);
    CHECK_ONE_LINE(result);
    CHECK_CONTAINS(result->err, "1024");
    CHECK_CONTAINS(program_read("st", NULL), "\"state\": \"failed\"");
    CHECK_EXIT(program_run_as(NULL, "run -w w/ar" MACHINE, "ASTRA_SIM_MEMORY_LIMIT=1K", NULL), 3);
    CHECK_EXIT(program_run_as(NULL, "run -w w/ar" MACHINE "--memory-limit 8GiB", "ASTRA_SIM_MEMORY_LIMIT=1K", NULL), 0);
    result = program_run_as(NULL, "run -w w/ar" MACHINE, "ASTRA_SIM_MEMORY_LIMIT=lots", NULL);
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "ASTRA_SIM_MEMORY_LIMIT");
}

static void a_result_that_cannot_be_written_is_a_failure(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result = program_run_as(NULL, "run -w w/ar" MACHINE, NULL, "/dev/full");
    CHECK_EXIT(result, 1);
    CHECK_CONTAINS(result->err, "orrery: standard output: ");
    static const char *const others[] = {"help run", "config", "config --schema", "trace show w/ar.0.et w/ar.1.et",
                                         "trace stat w/ar.0.et"};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        result = program_run_as(NULL, others[i], NULL, "/dev/full");
        CHECK_EXIT(result, 1);
        CHECK_ONE_LINE(result);
        CHECK_CONTAINS(result->err, "No space left on device; the result is not complete");
    }
    CHECK_EXIT(program_run("run -w w/ar" MACHINE "--json /dev/full"), 1);
    CHECK(system("{ \"$ORRERY\" run -w w/ar" MACHINE "2>.err; echo $? >.code; } | true") == 0, "the shell ran");
    /* The reader may go before or after the small report is written; both ends are orderly. */
    const char *code = program_read(".code", NULL);
    CHECK(strcmp(code, "1\n") == 0 || strcmp(code, "0\n") == 0, "a closed pipe gives exit code %s", code);
}

/* Long enough to be caught at: some hundred million messages. */
static pid_t start_long_run(const char *err)
{
    program_enter();
    program_write_machine(512, 256);
    CHECK_EXIT(program_run("gen collective --type all-reduce --bytes 1GiB --npus 512 -o w/long"), 0);
    (void)unlink("st");
    pid_t pid = program_start("run --no-symmetry --no-memo -w w/long" MACHINE "--status-file st", err);
    for (int i = 0; i < 6000; i++) { /* a minute: a busy machine takes its time to begin */
        const char *status = program_read("st", NULL);
        if (strstr(status, "\"events\":") != NULL && strstr(status, "\"events\": 0,") == NULL) {
            return pid;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    (void)kill(pid, SIGKILL);
    fail_msg("the run never began: %s", program_wait(pid)->err);
    return pid;
}

static void the_status_file_tells_how_a_run_is_doing(void **state)
{
    (void)state;
    pid_t pid = start_long_run(NULL);
    const char *status = program_read("st", NULL);
    CHECK_CONTAINS(status, "\"state\": \"running\"");
    CHECK_CONTAINS(status, "\"ranks_finished\": 0, \"ranks\": 512");
    CHECK_CONTAINS(status, "\"eta_s\": ");
    char wanted[64];
    (void)snprintf(wanted, sizeof wanted, "\"pid\": %ld}", (long)pid);
    CHECK_CONTAINS(status, wanted);
    assert_int_equal(kill(pid, SIGTERM), 0);
    CHECK_EXIT(program_wait(pid), 1);
}

static void an_interrupted_run_prints_what_is_known(void **state)
{
    (void)state;
    pid_t pid = start_long_run(NULL);
    assert_int_equal(kill(pid, SIGINT), 0);
    const struct program_result *result = program_wait(pid);
    CHECK_EXIT(result, 1);
    CHECK_CONTAINS(result->out, "INTERRUPTED at ");
    CHECK(strlen(result->out) > 300, "the report follows");
    CHECK_ONE_LINE(result);
    CHECK_CONTAINS(program_read("st", NULL), "\"state\": \"interrupted\"");
}

/* A run that is over and hangs in writing its report, because the pipe it writes to is full. */
struct full_pipe {
    int end;
    pid_t pid;
};

static char process_state(pid_t pid)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    const char *name_end = strrchr(program_read(path, NULL), ')');
    return name_end == NULL ? '?' : name_end[2];
}

static struct full_pipe start_with_a_full_pipe(void)
{
    prepare();
    (void)unlink("pipe");
    (void)unlink("late.json");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    struct full_pipe full = {.end = open("pipe", O_RDWR | O_NONBLOCK | O_CLOEXEC)};
    assert_true(full.end >= 0);
    static const char filling[4096];
    while (write(full.end, filling, sizeof filling) > 0) {
    }
    full.pid = program_start_to("run -w w/ar" MACHINE "--json late.json --status-file st", "pipe");
    for (int asleep = 0, i = 0; asleep < 10 && i < 6000; i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        asleep = process_state(full.pid) == 'S' ? asleep + 1 : 0;
    }
    return full;
}

static void a_signal_while_outputs_are_written_loses_nothing(void **state)
{
    (void)state;
    struct full_pipe full = start_with_a_full_pipe();
    assert_int_equal(kill(full.pid, SIGTERM), 0);
    (void)nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    CHECK(!program_exists("late.json"), "standard output comes first");
    char drained[4096];
    while (read(full.end, drained, sizeof drained) > 0) {
    }
    CHECK_EXIT(program_wait(full.pid), 0);
    CHECK(program_exists("late.json"), "the file is written after it");
    CHECK_CONTAINS(program_read("st", NULL), "\"state\": \"done\"");
    (void)close(full.end);
}

static void a_second_signal_ends_the_program_wherever_it_is(void **state)
{
    (void)state;
#ifdef UNDER_TSAN
    print_message("ThreadSanitizer holds signals back while stdio writes\n");
    skip();
#endif
    struct full_pipe full = start_with_a_full_pipe();
    assert_int_equal(kill(full.pid, SIGINT), 0);
    assert_int_equal(kill(full.pid, SIGTERM), 0);
    int code = program_wait(full.pid)->exit_code;
    CHECK(code == 128 + SIGINT || code == 128 + SIGTERM, "exit code %d", code);
    CHECK(!program_exists("late.json"), "it had not come to the file");
    (void)close(full.end);
}

static void progress_is_drawn_on_a_terminal_and_cleaned(void **state)
{
    (void)state;
    assert_int_equal(setenv("TERM", "xterm", 1), 0);
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    char name[128];
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0 ||
        ptsname_r(terminal, name, sizeof name) != 0 || access(name, R_OK | W_OK) != 0) {
        print_message("this machine has no pseudo-terminals\n");
        skip();
    }
    int held = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC); /* so that reading waits until the program writes */
    pid_t pid = start_long_run(name);
    static char seen[1 << 14];
    size_t got = 0;
    for (bool stopped = false; got + 1 < sizeof seen;) {
        ssize_t more = read(terminal, seen + got, sizeof seen - 1 - got);
        assert_true(more > 0);
        got += (size_t)more;
        seen[got] = '\0';
        if (!stopped && strstr(seen, "ETA") != NULL) {
            assert_int_equal(kill(pid, SIGINT), 0);
            stopped = true;
        }
        if (strstr(seen, "orrery: interrupted") != NULL) {
            break;
        }
    }
    CHECK_EXIT(program_wait(pid), 1);
    CHECK_CONTAINS(seen, " simulated, ");
    CHECK_CONTAINS(seen, " M events/s");
    CHECK_CONTAINS(seen, " %, ETA ");
    CHECK_CONTAINS(seen, "\r[");
    CHECK_CONTAINS(seen, "\r\033[Korrery: interrupted");
    (void)close(held);
    (void)close(terminal);
}

static void warnings_stop_after_twenty_and_are_counted(void **state)
{
    (void)state;
    prepare();
    static const char program[] = "./AstraSim_Analytical_Congestion_Unaware"; /* linked by an earlier test */
    const struct program_result *result = program_run_as(
        program,
        "-w w/ar" MACHINE
        "--z01=1 --z02=1 --z03=1 --z04=1 --z05=1 --z06=1 --z07=1 --z08=1 --z09=1 --z10=1 --z11=1 --z12=1 "
        "--z13=1 --z14=1 --z15=1 --z16=1 --z17=1 --z18=1 --z19=1 --z20=1 --z21=1 --z22=1",
        NULL, NULL);
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->err, "--z20 is ignored");
    CHECK(strstr(result->err, "--z21") == NULL, "the twenty-first is not shown");
    CHECK_CONTAINS(result->err, "orrery: warning: 2 more warnings are not shown\n");
    result = program_run_as(program, "-w w/ar" MACHINE "--quiet --z01=1", NULL, NULL);
    CHECK_EXIT(result, 0);
    CHECK(result->err[0] == '\0', "quiet is quiet: %s", result->err);
}

TEST_MAIN(a_run_prints_its_result_on_standard_output_only, a_replay_needs_no_machine,
          ranks_can_have_devices_of_their_own, astra_sims_names_and_options_do_what_they_did,
          outputs_asked_for_are_written_and_no_temporary_is_left,
          an_output_that_is_an_input_or_another_output_is_refused,
          a_folder_that_may_not_be_written_to_is_told_of_before_the_run,
          a_dash_for_the_json_document_is_standard_output, a_stall_gives_exit_code_4_and_a_diagnosis,
          a_memory_limit_gives_exit_code_3_from_option_and_environment, a_result_that_cannot_be_written_is_a_failure,
          the_status_file_tells_how_a_run_is_doing, an_interrupted_run_prints_what_is_known,
          a_signal_while_outputs_are_written_loses_nothing, a_second_signal_ends_the_program_wherever_it_is,
          progress_is_drawn_on_a_terminal_and_cleaned, warnings_stop_after_twenty_and_are_counted)
