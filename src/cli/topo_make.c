/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `orrery topo make`. Our options are the rows of ORR_TOPO_SETTINGS; the options of SimAI's generator, which have one
 * dash and several letters, are rewritten to them by a table before our own reader sees the words.
 */
#include "cli/topo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_TOPOLOGY = 256, KEY_FORMAT, KEY_LOGICAL, KEY_BOTH, KEY_STRICT, KEY_COMPAT, KEY_SETTING = 512 };

static const char *const setting_names[] = {
#define CLI_X(id, name, arg, text) name,
    ORR_TOPO_SETTINGS(CLI_X)
#undef CLI_X
};

enum { SETTINGS = sizeof setting_names / sizeof setting_names[0] };

enum setting_key {
#define CLI_X(id, name, arg, text) KEY_##id##_SETTING,
    ORR_TOPO_SETTINGS(CLI_X)
#undef CLI_X
};

static const struct argp_option table[] = {
    {"output", 'o', "FILE", 0,
     "The physical topology. Default: for SimAI's templates, the name its generator gives the file, in this folder", 0},
    {"format", KEY_FORMAT, "NAME", 0, "astra or simai. Default: simai for SimAI's templates, else astra", 0},
    {"logical", KEY_LOGICAL, "FILE", 0, "Also write the logical topology (JSON), for orrery run", 0},
    {"both-directions", KEY_BOTH, NULL, 0, "Write each link a second time, the other way round", 0},
    {"topology", KEY_TOPOLOGY, "NAME", 0, "The same as NAME as first word; none: custom", 0},
    {"compat", KEY_COMPAT, "simai", 0, "Also print what SimAI's generator prints", 0},
    {"strict", KEY_STRICT, NULL, 0, CLI_STRICT_HELP, 0},
#define CLI_X(id, name, arg, text) {name, KEY_SETTING + KEY_##id##_SETTING, arg, 0, text, 1},
    ORR_TOPO_SETTINGS(CLI_X)
#undef CLI_X
        CLI_HELP_OPTION,
    {0},
};

/* SimAI's spellings, short and long, and what they are here. */
static const struct {
    const char *brief, *full, *ours;
    bool flag;
} foreign[] = {
    {"topo", "topology", "topology", false},
    {"", "ro", "rail-optimized", true},
    {"", "dt", "dual-tor", true},
    {"", "dp", "dual-plane", true},
    {"g", "gpu", "hosts", false},
    {"er", "error_rate", "loss", false},
    {"gps", "gpu_per_server", "gpus-per-node", false},
    {"gt", "gpu_type", "gpu-type", false},
    {"nsps", "nv_switch_per_server", "nvswitches", false},
    {"nvbw", "nvlink_bw", "nvlink-bandwidth", false},
    {"nl", "nv_latency", "nvlink-latency", false},
    {"l", "latency", "latency", false},
    {"bw", "bandwidth", "bandwidth", false},
    {"asn", "asw_switch_num", "leaves", false},
    {"npa", "nics_per_aswitch", "per-leaf", false},
    {"psn", "psw_switch_num", "spines", false},
    {"apbw", "ap_bandwidth", "spine-bandwidth", false},
    {"app", "asw_per_psw", "leaves-per-spine", false},
};

enum { FOREIGN = sizeof foreign / sizeof foreign[0], LONGEST = 24 };

struct make_command {
    struct cli_input input;
    struct cli_warnings warnings;
    const char *what;
    bool by_option;
    const char *output;
    struct orr_topo_write_options write;
    struct orr_topo_setting settings[SETTINGS];
    size_t setting_count;
    bool strict, compat;
};

static error_t take_word(struct make_command *make, const char *text, const char *const *words, unsigned *index,
                         const char *option)
{
    return cli_options_status(param_parse_word(option, text, words, index, &make->input.error));
}

static error_t take_name(struct make_command *make, const char *name, bool by_option)
{
    if (make->what != NULL) {
        return cli_options_status(error_set(&make->input.error, ORR_EINVAL,
                                            "\"%s\": one machine is made at a time, and %s was named already", name,
                                            make->what));
    }
    make->by_option = by_option;
    make->what = by_option && strcmp(name, "none") == 0 ? "custom" : name;
    return 0;
}

static error_t take_setting(struct make_command *make, unsigned id, const char *value)
{
    size_t at = 0;
    while (at < make->setting_count && make->settings[at].name != setting_names[id]) {
        at++;
    }
    make->settings[at] = (struct orr_topo_setting){setting_names[id], value != NULL ? value : ""};
    make->setting_count += at == make->setting_count ? 1 : 0;
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const forms[] = {"astra", "simai", NULL};
    static const char *const originals[] = {"simai", NULL};
    struct make_command *make = state->input;
    unsigned index = 0;
    error_t failed = 0;
    switch (key) {
    case 'o':
        make->output = arg;
        return 0;
    case KEY_LOGICAL:
        make->write.logical = arg;
        return 0;
    case KEY_BOTH:
        make->write.both_directions = true;
        return 0;
    case KEY_STRICT:
        make->strict = true;
        return 0;
    case KEY_FORMAT:
        failed = take_word(make, arg, forms, &index, "--format");
        make->write.form = index == 0 ? ORR_TOPO_ASTRA : ORR_TOPO_SIMAI;
        return failed;
    case KEY_COMPAT:
        make->compat = true;
        return take_word(make, arg, originals, &index, "--compat");
    case KEY_TOPOLOGY:
    case ARGP_KEY_ARG:
        return take_name(make, arg, key == KEY_TOPOLOGY);
    default:
        return key >= KEY_SETTING && key < KEY_SETTING + SETTINGS
                   ? take_setting(make, (unsigned)(key - KEY_SETTING), arg)
                   : cli_options_default(key, arg, state);
    }
}

/* The row a word names, or FOREIGN; `*value` is what follows an equals sign. */
static size_t find_foreign(const char *word, char **value)
{
    size_t dashes = strspn(word, "-");
    const char *name = word + dashes;
    size_t length = strcspn(name, "=");
    size_t at = dashes == 1 || dashes == 2 ? 0 : FOREIGN;
    for (; at < FOREIGN; at++) {
        const char *theirs = dashes == 1 ? foreign[at].brief : foreign[at].full;
        if (length > 0 && strlen(theirs) == length && memcmp(theirs, name, length) == 0) {
            break;
        }
    }
    *value = at < FOREIGN && name[length] == '=' ? (char *)(uintptr_t)(name + length + 1) : NULL;
    return at;
}

/* `into` has room for two words for each of argv; `spelled` for our name of each row. */
static int translate(int argc, char **argv, char **into, char spelled[][LONGEST])
{
    int count = 0;
    for (int at = 0; at < argc; at++) {
        char *value = NULL;
        size_t row = at == 0 ? FOREIGN : find_foreign(argv[at], &value);
        if (row == FOREIGN) {
            into[count++] = argv[at];
            continue;
        }
        (void)snprintf(spelled[row], LONGEST, "--%s", foreign[row].ours);
        into[count++] = spelled[row];
        if (value != NULL) {
            into[count++] = value;
        } else if (!foreign[row].flag && at + 1 < argc) {
            into[count++] = argv[++at];
        }
    }
    into[count] = NULL;
    return count;
}

static enum orr_status read_options(const struct cli_command *self, int argc, char **argv, struct make_command *make,
                                    char **into, struct orr_error *err)
{
    char spelled[FOREIGN][LONGEST];
    int count = translate(argc, argv, into, spelled);
    enum orr_status status = cli_options_parse(self, count, into, &make->input, err);
    if (status == ORR_OK && !make->input.help && make->what == NULL) {
        make->what = "custom"; /* as the original has it */
    }
    return status;
}

static enum orr_status check_files(const struct make_command *make, const char *output, struct orr_error *err)
{
    if (output[0] == '\0') {
        return error_set(err, ORR_EINVAL, "missing -o FILE (where to write the topology)");
    }
    if (make->write.logical != NULL && strcmp(make->write.logical, output) == 0) {
        return error_set(err, ORR_EINVAL, "--logical and -o name the same file %s", output);
    }
    enum orr_status status = cli_check_writable("-o", output, err);
    return status == ORR_OK && make->write.logical != NULL ? cli_check_writable("--logical", make->write.logical, err)
                                                           : status;
}

static void print_made(const struct make_command *make, const struct orr_topo *topo, const char *output)
{
    struct orr_topo_counts counts;
    orr_topo_count(topo, &counts);
    if (make->compat) {
        (void)printf("asw_switch_num: %" PRIu32 "\npsw_switch_num: %" PRIu32 "\n", counts.leaves, counts.spines);
        (void)printf("Creating Topology of totally %" PRIu32 " segment(s), totally 1 pod(s).\n%s\n", counts.segments,
                     orr_topo_name(topo));
        return;
    }
    (void)printf("Wrote %s: %" PRIu32 " GPU%s", output, counts.hosts, counts.hosts == 1 ? "" : "s");
    if (counts.nvswitches > 0) {
        (void)printf(", %" PRIu32 " NVSwitch%s", counts.nvswitches, counts.nvswitches == 1 ? "" : "es");
    }
    if (counts.switches > 0) {
        (void)printf(", %" PRIu32 " switch%s", counts.switches, counts.switches == 1 ? "" : "es");
    }
    (void)printf(", %" PRIu32 " link%s.\n", counts.links, counts.links == 1 ? "" : "s");
    if (make->write.logical != NULL) {
        (void)printf("Wrote %s.\n", make->write.logical);
    }
}

static enum orr_status write_made(const struct make_command *make, const struct orr_topo *topo, struct orr_error *err)
{
    const char *output = make->output != NULL ? make->output : orr_topo_name(topo);
    enum orr_status status = ORR_OK;
    if (make->compat && orr_topo_name(topo)[0] == '\0') {
        status =
            error_set(err, ORR_EINVAL, "--compat simai is for SimAI's templates; \"%s\" is none of them", make->what);
    }
    if (status == ORR_OK) {
        status = check_files(make, output, err);
    }
    if (status == ORR_OK) {
        status = orr_topo_write(topo, output, &make->write, err);
    }
    if (status == ORR_OK) {
        print_made(make, topo, output);
    }
    return status;
}

static int run_make(const struct cli_command *self, int argc, char **argv)
{
    struct make_command make = {0};
    struct orr_error err = {0};
    struct orr_topo *topo = NULL;
    char **words = calloc((size_t)argc * 2 + 1, sizeof *words);
    enum orr_status status = words == NULL ? error_set(&err, ORR_ENOMEM, "out of memory reading the options")
                                           : read_options(self, argc, argv, &make, words, &err);
    if (status == ORR_OK && make.input.help) {
        cli_print_help(self, argv[0], stdout);
        free(words);
        return 0;
    }
    if (status == ORR_OK) {
        struct orr_notices notices = cli_notices(&make.warnings, make.strict);
        status = orr_topo_make(make.what, make.settings, make.setting_count, &notices, &topo, &err);
    }
    if (status == ORR_OK) {
        status = write_made(&make, topo, &err);
    }
    cli_warnings_end(&make.warnings);
    orr_topo_close(topo);
    free(words);
    return status == ORR_OK ? 0 : cli_fail(&err);
}

static const struct argp make_argp = {
    .options = table,
    .parser = parse,
    .args_doc = "NAME -o FILE\n-topo NAME",
    .doc = "Write the topology file of a machine.\v"
           "The options of SimAI's generator are taken as they are: -topo -g -gt -gps -nsps -bw -nvbw -l -nl -er -asn "
           "-npa -psn -apbw -app --ro --dt --dp.\n\n"
           "Instead of a name a line can say the machine from the servers up; docs/topologies.md has its grammar. "
           "orrery topo list names the machines, orrery topo list NAME says what one takes.\n\n"
           "Examples:\n  orrery topo make torus --dims 4x4x8 --bandwidth 100Gbps -o torus.topo\n"
           "  orrery topo make fat-tree --arity 16 --levels 3 -o fat.topo\n"
           "  orrery topo make dgx-h100 --nodes 16 -o h100.topo --logical h100.json\n"
           "  orrery topo make 'dgx-h100:16 > rail:400Gbps > spine:8' -o rails.topo\n"
           "  orrery topo make -topo Spectrum-X -g 128 -gt A100 -bw 100Gbps -nvbw 2400Gbps\n"
           "  orrery topo make AlibabaHPN --dual-plane --hosts 64 -o hpn64.topo\n",
};

const struct cli_command cli_topo_make = {
    .name = "make",
    .summary = "write the topology file of a machine",
    .argp = &make_argp,
    .run = run_make,
};
