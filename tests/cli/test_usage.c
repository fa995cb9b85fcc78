/* SPDX-License-Identifier: Apache-2.0 */
/* What the program says to someone who types: each wrong word has its answer, each command its help, and manual page,
 * reference and schema are made of the same rows. */
#include "tests/cli/commands.h"
#include "tests/cli/program.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

static const struct {
    const char *line, *says;
} mistakes[] = {
    {"trcae", "did you mean \"orrery trace\"?"},
    {"gen colective", "did you mean \"orrery gen collective\"?"},
    {"frobnicate", "orrery --help lists the commands"},
    {"--frobnicate", "expected a command"},
    {"run --workloda=x", "unknown option --workloda; did you mean --workload?"},
    {"run --memory-limt 1", "did you mean --memory-limit?"},
    {"run --injection-scal=2", "did you mean --injection-scale?"},
    {"run --work x", "did you mean --workload?"},
    {"run -Z", "unknown option -Z"},
    {"run --zebra", "unknown option --zebra"},
    {"run --workload", "--workload needs a value (PREFIX)"},
    {"run --workload-configuration", "--workload-configuration needs a value"},
    {"run --strict=1", "--strict takes no value"},
    {"run -w a -s b", "missing --network FILE"},
    {"run -w a -s b -n c surplus", "unexpected argument \"surplus\""},
    {"run -w a -s b -n c --format jsom", "did you mean \"json\"?"},
    {"run -w a -s b -n c --backend packt", "did you mean \"packet\"?"},
    {"run -w a -s b -n c --queues-per-dim 0", "not between 1 and"},
    {"run -w a -s b -n c --num-queues-per-dim=many", "\"many\" is not a whole number"},
    {"run -w a -s b -n c --seed -1", "\"-1\" is not a whole number"},
    {"run -w a -s b -n c --jitter nan", "\"nan\" is not a number"},
    {"run -w a -s b -n c --jitter -0.5", "negative"},
    {"run -w a -s b -n c --rendezvous-protocol=maybe", "neither true nor false"},
    {"run -w a -s b -n c --memory-limit 8X", "unknown unit \"X\""},
    {"run -w a -s b -n c --memory-limit 0", "--memory-limit: 0 leaves no memory"},
    {"run -w a -s b -n c --memory=", "--memory: \"\" is not the name of a file"},
    {"run -w a -s b -n c --comm-group-configuration=", "--groups: \"\" is not the name of a file"},
    {"run -w a -s b -n c --json=", "--json: \"\" is not the name of a file"},
    {"run -w a -s b -n c --csv=", "--csv: \"\" is not the name of a folder"},
    {"run -w a -s b -n c --routing spray", "--routing needs --backend packet"},
    {"run -w a -s b -n c --logical d", "--logical needs --backend packet"},
    {"run -w a -s b -n c --backend packet --rto 0", "--rto: 0 must be more than 0"},
    {"run -w a -s b -n c --backend packet --cc fast", "--cc"},
    {"run -w a -s b -n c --backend packet --link-down 0-1", "--link-down: \"0-1\" is not A-B@TIME or A-B@TIME..TIME"},
    {"gen stg -o traces/", "missing -o DIR/NAME, or --output_dir DIR"},
    {"run -w a -s b -n c --backend packet --link-down 0-1@5us..4us", "is up again before it is down"},
    {"run -w a -s b -n c --csv /dev/null/x", "/dev/null/x: cannot be written (--csv)"},
    {"run -w a -s b -n c --csv -", "--csv: \"-\" (standard output) is for --json only"},
    {"run -w a -s b -n c --timeline -", "--timeline: \"-\""},
    {"run -w a -s b -n c --status-file -", "--status-file: \"-\""},
    {"run -w a -s b -n c --format astra --json -", "--json - and --format astra both want standard output"},
    {"run -w a -s b -n c --json x --timeline ./x", "--json and --timeline are the same file: "},
    {"run -w a -s b -n c --json x --csv x", "--json and --csv are the same file: "},
    {"run -w a -s b -n c --csv y/z --status-file y/../n.csv", "there is no folder y/.."},
    {"run -w a -s b -n c --json c", "--json would replace the file of --network: "},
    {"run -w a -s b -n c --status-file .//b", "--status-file would replace the file of --system: "},
    {"run -w a -s b -n c --memory m --timeline m", "--timeline would replace the file of --memory: "},
    {"run -w a -s b -n c --groups g --json g", "--json would replace the file of --groups: "},
    {"run -w a -s b -n c --json ./a.17.et", "--json would replace a trace of --workload a: "},
    {"run -w a -s b -n c --json nowhere/x.json", "there is no folder nowhere"},
    {"run -w a -s b -n c --timeline .", "it is a folder"},
    {"run -w a -s b -n c --compute-scale=2 --strict", "an error because of --strict"},
    {"gen collective", "missing -o PREFIX"},
    {"gen collective -o x --npus 0", "--ranks: 0 is not between 1"},
    {"gen collective -o x --bytes 1.5B", "--bytes: "},
    {"gen collective -o x --type all-redcue", "did you mean \"all-reduce\"?"},
    {"gen three-node -o x --compute 1500ns", "not a whole number of microseconds"},
    {"trace show --limit 1", "no file given"},
    {"trace imoprt", "did you mean \"orrery trace import\"?"},
    {"chakra_trace_lnk", "did you mean \"orrery chakra_trace_link\"?"},
    {"trace import -o x", "no recording given"},
    {"trace import x", "missing -o PREFIX"},
    {"trace import a b -o x", "a: cannot be opened"},
    {"trace import a -o x --out-dir y", "excludes -o PREFIX"},
    {"trace import a -o x --et-prefix auto", "--out-dir DIR instead of -o PREFIX"},
    {"trace import a --out-dir y --et-prefix a/b", "\"a/b\" is no name of a file"},
    {"trace import x -o y --rank 0-", "--rank: \"0-\" is not a list of numbers and ranges"},
    {"trace import x -o y --cpu dorp", "did you mean \"drop\"?"},
    {"trace import x -o y --memory-limit 0", "--memory-limit: 0 leaves no memory"},
    {"trace import x -o y -j 257", "--threads: 257 is not between 1 and 256"},
    {"trace import --ranks 0, x -o y", "--rank: \"0,\" is not a list of numbers and ranges"},
    {"trace import x -o y --jobs 0", "--threads: 0 is not between 1 and"},
    {"trace link --host a --device b", "missing -o OUT"},
    {"trace link -o x", "missing --host FILE"},
    {"trace link --compat chakra --host a -o x", "missing --device FILE"},
    {"trace link --host a --device b -o -", "\"-\" (standard output) is not for this"},
    {"trace link --host a --device b -o nowhere/x", "there is no folder nowhere"},
    {"trace link a b -o x", "unexpected argument \"a\""},
    {"trace recipe --vendor amd", "missing --framework pytorch, tensorflow or horovod"},
    {"trace recipe --framework pytorch -o nowhere/x.py", "there is no folder nowhere"},
    {"trace fix -o x", "no file given; orrery trace fix needs one or more .et files"},
    {"trace fix a.0.et", "missing -o OUT"},
    {"trace fix a.0.et -o x --in-place", "-o and --in-place both say where to write"},
    {"trace fix a.0.et -o ", "-o needs a value (OUT)"},
    {"trace fix a.0.et --output=", "-o: \"\" is not the name of a file"},
    {"gen collective all-reduce --ranks 4 --bytes 1MiB -o -", "is not for this; give PREFIX, or ./-"},
    {"topo make ring:4 --output=-", "--output: \"-\" (standard output) is not for this; give FILE"},
    {"train gpt2 --gpu h100 -o -", "-o: \"-\" (standard output) is for --table"},
    {"trace fix a.0.et -o -", "\"-\" (standard output) is not for this"},
    {"trace fix a.et b.et -o x", "with several inputs each must be named NAME.R.et"},
    {"trace fix --cpu dropp a.0.et -o x", "--cpu: \"dropp\" is not one of keep, drop, merge; did you mean \"drop\"?"},
    {"trace simplify a.0.et -o x", "missing --level comm, step or merge"},
    {"trace simplify --level merge -s s a.0.et -o x", "a machine is for --measure"},
    {"trace simplify --level merge --logical l a.0.et -o x", "a machine is for --measure"},
    {"trace simplify --level merge --backend aware a.0.et -o x", "a machine is for --measure"},
    {"trace scale a.0.et -o x", "nothing to scale"},
    {"trace scale --compute 1/0 a.0.et -o x", "--compute: \"1/0\" divides by 0"},
    {"trace scale --comm 2 --match /(/ a.0.et -o x", "--match: \"/(/\" is not a regular expression"},
    {"trace rewrite a.0.et -o x", "nothing to rewrite"},
    {"trace rewrite --type all-redcue a.0.et -o x", "did you mean \"all-reduce\"?"},
    {"trace cut a.0.et -o x", "missing --step K[-L]"},
    {"trace cut --step 5- a.0.et -o x", "--step: \"\" is not a whole number"},
    {"trace cut --step 5-2 a.0.et -o x", "--step: 5-2 ends before it begins"},
    {"trace merge -o x", "no file given"},
    {"trace merge a.0.et", "missing -o OUT"},
    {"trace merge a.0.et -o .", "it is a folder"},
    {"trace diff a.0.et", "two .et files are compared, and 1 was given"},
    {"trace diff a b --tolerance 5%%", "--tolerance: \"5%\" is not a number"},
    {"trace diff a b --by nam", "did you mean \"name\"?"},
    {"trace diff a.0.et b.0.et --json nowhere/x", "there is no folder nowhere"},
    {"trace export a.0.et", "missing --to json, dot, graphml or goal"},
    {"trace export jsno a.0.et", "did you mean \"json\"?"},
    {"trace export json", "no input given behind json"},
    {"trace export --to json a.0.et b.0.et", "2 inputs given; one is exported at a time"},
    {"trace export --to goal a.0.et", "goal is written of all ranks; give PREFIX"},
    {"trace export --to json --groups g a.0.et", "--groups is for --to goal only"},
    {"trace compose a --tp 2 --dp 2 --bucket-size 0 -o x", "--bucket-size: 0 must be at least 1 B"},
    {"trace compose a b --tp 2 --dp 2 -o x", "a second prefix \"b\""},
    {"trace convert --compat chakraa a -o x", "did you mean \"chakra\"?"},
    {"trace fix --strict --output a.0.et --cpu", "--cpu needs a value (keep|drop|merge)"},
    {"trace fix a.0.et -o --strict", "-o needs a value (OUT), and \"--strict\" is an option"},
    {"trace view a.0.et b.0.et -o x.svg", "one trace is drawn at a time, and a.0.et was named already"},
    {"trace view a.0.et", "missing -o OUT"},
    {"trace view -o x.svg", "no trace given"},
    {"trace timeline a.0.et", "missing -o OUT"},
    {"trace timeline a -s s -o x", "a simulation needs both --system and --network"},
    {"trace timeline a.0.et --logical l -o x", "are for a simulation"},
    {"trace timeline a.0.et --backend aware -o x", "are for a simulation"},
    {"trace stat --json", "--json needs a value (OUT)"},
    {"trace stat --json nowhere/x x", "there is no folder nowhere"},
    {"trace show --limit 0 x", "not between 1"},
    {"cost --step-time 1s", "no machine given: a topology file"},
    {"cost torsu", "did you mean \"torus\"?"},
    {"cost torus --step-time 1s,2s", "--step-time has 2 times for 1 machines"},
    {"cost torus --step-time 0s", "--step-time: a step takes longer than 0"},
    {"cost torus --gpus 8", "are for a machine without a topology"},
    {"cost --gpus 8 --run 1", "--run and --gpus both say which machine it is"},
    {"cost torus --run 1,2", "--run names 2 runs for 1 machines"},
    {"cost torus --strict", "the prices are examples"},
    {"cost torus --prices nowhere.yml", "nowhere.yml: cannot be opened: No such file"},
    {"cost torus --json nowhere/x", "there is no folder nowhere"},
    {"doctor surplus", "unexpected argument \"surplus\""},
    {"doctor --smi nowhere.txt", "nowhere.txt: cannot be opened: No such file"},
    {"doctor --smi a --sysfs b", "--sysfs and --smi both say where to look for GPUs"},
    {"doctor --sysfs nowhere", "nowhere: No such file or directory"},
    {"doctor --json=nowhere/x", "there is no folder nowhere"},
    {"config surplus", "unexpected argument"},
    {"help frobnicate", "unknown command"},
};

static void a_mistake_is_answered_in_one_line_with_exit_code_2(void **state)
{
    (void)state;
    program_enter();
    for (size_t i = 0; i < COUNT_OF(mistakes); i++) {
        const struct program_result *result = program_run(mistakes[i].line);
        CHECK(result->exit_code == 2, "%s: exit code %d: %s", mistakes[i].line, result->exit_code, result->err);
        CHECK_ONE_LINE(result);
        CHECK_CONTAINS(result->err, mistakes[i].says);
        CHECK(result->out[0] == '\0', "%s: printed \"%s\"", mistakes[i].line, result->out);
    }
}

static void nothing_to_do_prints_a_usage_with_an_example(void **state)
{
    (void)state;
    program_enter();
    static const char *const lines[] = {"",
                                        "run",
                                        "gen",
                                        "trace",
                                        "trace recipe",
                                        "trace import",
                                        "trace link",
                                        "trace show",
                                        "trace stat",
                                        "trace check",
                                        "trace convert",
                                        "trace fix",
                                        "trace simplify",
                                        "trace scale",
                                        "trace cut",
                                        "trace diff",
                                        "trace merge",
                                        "trace rewrite",
                                        "trace export",
                                        "trace view",
                                        "trace timeline",
                                        "trace ready",
                                        "trace compose"};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        const struct program_result *result = program_run(lines[i]);
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, "Usage: orrery");
        CHECK_CONTAINS(result->err, lines[i]);
        CHECK_CONTAINS(result->err, "\n  orrery ");
    }
}

static void chakras_names_alone_print_a_usage_with_an_example(void **state)
{
    (void)state;
    program_enter();
    static const char *const names[] = {"chakra_trace_link", "chakra_converter", "chakra_jsonizer", "chakra_visualizer",
                                        "chakra_timeline_visualizer"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct program_result *result = program_run(names[i]);
        CHECK_EXIT(result, 2);
        char usage[80];
        (void)snprintf(usage, sizeof usage, "Usage: %s ", names[i]);
        CHECK_CONTAINS(result->err, usage);
        (void)snprintf(usage, sizeof usage, "\n  %s ", names[i]);
        CHECK_CONTAINS(result->err, usage);
    }
}

static const char *const commands[] = {COMMANDS_WITH_EXAMPLES, "config", "version", "help"};

/* Chakra's, whose options are not ours to name; they are in the manual page all the same. */
static const char *const chakra_commands[] = {"chakra_trace_link",     "chakra_converter", "chakra_converter PyTorch",
                                              "chakra_converter Text", "chakra_jsonizer",  "chakra_timeline_visualizer",
                                              "chakra_visualizer",     "chakra_generator"};

static void the_list_of_verbs_is_the_one_tested_here(void **state)
{
    (void)state;
    program_enter();
    const char *list = program_run("trace --help")->out;
    size_t count = 0;
    for (const char *line = strstr(list, "\n  "); line != NULL && line[3] != ' '; line = strchr(line + 1, '\n')) {
        char command[40];
        (void)snprintf(command, sizeof command, "trace %.*s", (int)strcspn(line + 3, " "), line + 3);
        if (strncmp(line, "\n  ", 3) != 0) {
            break;
        }
        bool tested = false;
        for (size_t i = 0; i < COUNT_OF(commands); i++) {
            tested = tested || strcmp(commands[i], command) == 0;
        }
        CHECK(tested, "orrery %s is in no table of this test", command);
        count++;
    }
    CHECK(count == 21, "%zu verbs", count);
}

static void every_command_has_help_under_both_spellings(void **state)
{
    (void)state;
    program_enter();
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        char line[80];
        (void)snprintf(line, sizeof line, "help %s", commands[i]);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 0);
        char usage[80];
        (void)snprintf(usage, sizeof usage, "Usage: orrery %s", commands[i]);
        CHECK_CONTAINS(result->out, usage);
        char *first = strdup(result->out);
        (void)snprintf(line, sizeof line, "%s --help", commands[i]);
        result = program_run(line);
        CHECK_EXIT(result, 0);
        CHECK(strcmp(commands[i], "help") == 0 || strcmp(result->out, first) == 0, "%s: two helps", commands[i]);
        free(first);
    }
}

static void the_version_is_printed_under_all_spellings(void **state)
{
    (void)state;
    program_enter();
    static const char *const lines[] = {"version", "--version", "-V"};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        const struct program_result *result = program_run(lines[i]);
        CHECK_EXIT(result, 0);
        CHECK_CONTAINS(result->out, orr_version());
    }
}

static void the_configuration_reference_is_printed_as_text_and_as_schema(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result = program_run("config");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "preferred-dataset-splits");
    result = program_run("config --schema");
    CHECK_EXIT(result, 0);
    CHECK(result->out[0] == '{', "a schema is a JSON object");
    CHECK_CONTAINS(result->out, "preferred-dataset-splits");
}

static void only_astra_sims_names_go_on_where_an_option_is_unknown(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result = program_run("run -w none -s none -n none --zebra=1");
    CHECK_EXIT(result, 2);
    CHECK_TEXT(result->err, "orrery: unknown option --zebra; orrery run --help lists the options\n");
    result = program_run("run -w none -s none -n none --num-queue-per-dim=2");
    CHECK_CONTAINS(result->err, "unknown option --num-queue-per-dim; did you mean --num-queues-per-dim?");
    result = program_run("run -w none -s none -n none --endpoint-delay 20");
    CHECK_CONTAINS(result->err, "it is a key of a configuration file: --set endpoint-delay=VALUE");
    result = program_run("run -w none -s none -n none --bandwidth 400Gbps");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--bandwidth is for --machine; the files have keys of their own, for --set");
    /* The files are missing, so the run ends there; the warnings come before. */
    assert_int_equal(symlink(getenv("ORRERY"), "AstraSimNetwork"), 0);
    result = program_run_as("./AstraSimNetwork", "--zebra=1 --giraffe 2 -w none -s none -n none", NULL, NULL);
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "orrery: warning: unknown option --zebra is ignored\n");
    CHECK_CONTAINS(result->err, "orrery: warning: unknown option --giraffe is ignored\n");
}

static void the_value_of_an_option_is_no_other_option(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result = program_run("run -w a -s b -n c --json --csv x");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--json needs a value (FILE), and \"--csv\" is an option");
    result = program_run("run -w a -s -q -n c");
    CHECK_CONTAINS(result->err,
                   "-s needs a value (FILE), and \"-q\" is an option; where it is meant write --system=-q");
    result = program_run("lab list --json --csv"); /* which is no option of this command, and no name of a file */
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--json needs a value (OUT), and \"--csv\" is an option");
}

static void a_command_is_proposed_by_what_it_does(void **state)
{
    (void)state;
    static const struct {
        const char *words, *says;
    } cases[] = {{"simulate", "did you mean \"orrery run\"?"},
                 {"topo measure", "did you mean \"orrery topo stat\"?"},
                 {"topo mak", "did you mean \"orrery topo make\"?"},
                 {"the", "orrery --help lists the commands"},
                 {"lab run --json x", "unknown option --json; orrery lab run --help lists the options"}};
    program_enter();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct program_result *result = program_run(cases[i].words);
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, cases[i].says);
    }
}

/* Whatever is named behind `mark` in `text` must be named behind `other_mark` in `other`; gives how many there were. */
static size_t each_option(const char *text, const char *mark, const char *other, const char *other_mark)
{
    size_t count = 0;
    for (const char *at = strstr(text, mark); at != NULL; at = strstr(at + 1, mark)) {
        const char *name = at + strlen(mark);
        size_t length = 0;
        while (isalnum((unsigned char)name[length]) ||
               ((name[length] == '-' || name[length] == '_') && isalnum((unsigned char)name[length + 1]))) {
            length++;
        }
        if (length < 2 || strncmp(name, "help", 4) == 0) { /* which every command has */
            continue;
        }
        char wanted[96];
        (void)snprintf(wanted, sizeof wanted, "%s%.*s", other_mark, (int)length, name);
        const char *found = strstr(other, wanted);
        while (found != NULL && (isalnum((unsigned char)found[strlen(wanted)]) || found[strlen(wanted)] == '-')) {
            found = strstr(found + 1, wanted);
        }
        CHECK(found != NULL, "\"%s\" is not there", wanted);
        count++;
    }
    return count;
}

static void the_manual_page_names_options_that_exist(void **state)
{
    (void)state;
    program_enter();
    const char *path = getenv("ORRERY_MAN");
    CHECK(path != NULL, "ORRERY_MAN is not set");
    char *help = strdup(program_run("help --markdown")->out);
    const char *page = program_read(path, NULL);
    CHECK(each_option(page, "Fl Fl ", help, "--") > 30, "the manual page has options");
    free(help);
}

static void the_reference_in_every_form_has_every_command(void **state)
{
    (void)state;
    program_enter();
    char *pages[] = {strdup(program_run("help --man")->out), strdup(program_run("help --markdown")->out)};
    static const char *const marks[] = {".Ss", "##"};
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        char line[80];
        (void)snprintf(line, sizeof line, "%s --help-all", commands[i]);
        bool is_list = program_run(line)->exit_code != 0; /* of subcommands */
        for (size_t page = 0; page < 2; page++) {
            (void)snprintf(line, sizeof line, "%s orrery %s\n", marks[page], commands[i]);
            CHECK(is_list == (strstr(pages[page], line) == NULL), "%s", line);
        }
    }
    for (size_t page = 0; page < 2; page++) {
        for (size_t i = 0; i < COUNT_OF(chakra_commands); i++) {
            CHECK_CONTAINS(pages[page], chakra_commands[i]);
        }
        free(pages[page]);
    }
}

static void the_schema_of_a_run_has_its_options_with_types_and_bounds(void **state)
{
    (void)state;
    program_enter();
    char *help = strdup(program_run("run --help-all")->out);
    const char *schema = program_run("help --schema")->out;
    CHECK(each_option(help, "  --", schema, "    \"") > 40, "the options are there");
    free(help);
    static const char *const parts[] = {
        "\"title\": \"orrery run\"",
        "\"enum\": [\"unaware\", \"aware\", \"packet\", \"flow\", \"auto\"]",
        "\"type\": \"number\", \"minimum\": 1e-09, \"maximum\": 1e+09}",
        "\"type\": [\"string\", \"number\"], \"x-unit\": \"us\"",
        "\"type\": \"boolean\"",
    };
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        CHECK_CONTAINS(schema, parts[i]);
    }
    CHECK_CONTAINS(program_run("help --schema lab run")->out, "\"title\": \"orrery lab run\"");
    CHECK_CONTAINS(program_run("help --schema --man")->err, "give one of them");
}

/* One meaning everywhere: a file is written besides the text, "-" takes its place. */
static void json_and_csv_go_beside_the_text_and_a_dash_in_its_place(void **state)
{
    (void)state;
    program_enter();
    CHECK_EXIT(program_run("gen collective --ranks 4 -o forms"), 0);
    CHECK_EXIT(program_run("topo make ring --hosts 4 -o forms.topo"), 0);
    static const struct {
        const char *command, *text;
        bool csv;
    } answers[] = {
        {"machine list", "Machines with rates of their own", true},
        {"machine show dgx-h100:2", "dgx-h100:2: 8 GPUs", false},
        {"op predict --op gemm --device h100 --shape 512x512x512", "gemm bf16 512x512x512", false},
        {"op list --device h100", "device        operator", true},
        {"coll time --machine dgx-h100 --bytes 1MiB", "all-reduce on 1 x 8 h100", false},
        {"cost ring:4", "Prices: examples", false},
        {"doctor --no-collectives", "Orrery ", false},
        {"topo stat forms.topo", "forms.topo", false},
        {"trace stat forms.0.et", "forms.0.et", false},
        {"trace diff forms.0.et forms.0.et", "", false},
        {"run -q -w forms --machine ring", "Step time", false},
    };
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        for (int csv = 0; csv < (answers[i].csv ? 2 : 1); csv++) {
            char line[160];
            (void)snprintf(line, sizeof line, "%s %s forms.out", answers[i].command, csv ? "--csv" : "--json");
            const struct program_result *result = program_run(line);
            CHECK_EXIT(result, 0);
            CHECK_CONTAINS(result->out, answers[i].text);
            char *file = strdup(program_read("forms.out", NULL));
            CHECK(file != NULL, "%s", line);
            CHECK(csv || file[0] == '{' || file[0] == '[', "%s: %.40s", line, file);
            (void)snprintf(line, sizeof line, "%s %s -", answers[i].command, csv ? "--csv" : "--json");
            result = program_run(line);
            CHECK_EXIT(result, 0);
            CHECK(result->out[0] == file[0], "%s: %.40s", line, result->out);
            free(file);
        }
    }
    static const char *const wrong[][2] = {
        {"machine list --json - --csv -", "--json and --csv both want standard output"},
        {"topo stat forms.topo --json forms.topo", "--json would replace the input forms.topo"},
        {"run -w forms --machine ring --csv out.csv", "takes a folder for them, and out.csv is the name of a file"},
        {"run -w forms --machine ring --csv forms.topo", "takes a folder for them, and forms.topo is a file"},
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        const struct program_result *result = program_run(wrong[i][0]);
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, wrong[i][1]);
    }
}

TEST_MAIN(json_and_csv_go_beside_the_text_and_a_dash_in_its_place, a_mistake_is_answered_in_one_line_with_exit_code_2,
          nothing_to_do_prints_a_usage_with_an_example, chakras_names_alone_print_a_usage_with_an_example,
          the_list_of_verbs_is_the_one_tested_here, every_command_has_help_under_both_spellings,
          the_version_is_printed_under_all_spellings, the_configuration_reference_is_printed_as_text_and_as_schema,
          only_astra_sims_names_go_on_where_an_option_is_unknown, the_value_of_an_option_is_no_other_option,
          a_command_is_proposed_by_what_it_does, the_manual_page_names_options_that_exist,
          the_reference_in_every_form_has_every_command, the_schema_of_a_run_has_its_options_with_types_and_bounds)
