/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `orrery topo make`. Our options are the rows of ORR_TOPO_SETTINGS; the options of SimAI's generator, which have one
 * dash and several letters, are rewritten to them by a table before our own reader sees the words.
 */
#include "cli/topo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum setting {
#define CLI_X(id, name, arg, text) SETTING_##id,
    ORR_TOPO_SETTINGS(CLI_X)
#undef CLI_X
        SETTINGS
};

/* What most machines take; the others are told in the long help. */
#define COMMON_SETTINGS                                                                                                \
    (UINT64_C(1) << SETTING_HOSTS | UINT64_C(1) << SETTING_NODES | UINT64_C(1) << SETTING_DIMS |                       \
     UINT64_C(1) << SETTING_LEVELS | UINT64_C(1) << SETTING_ARITY | UINT64_C(1) << SETTING_LEAVES |                    \
     UINT64_C(1) << SETTING_PER_LEAF | UINT64_C(1) << SETTING_SPINES | UINT64_C(1) << SETTING_OVERSUBSCRIPTION |       \
     UINT64_C(1) << SETTING_GPUS_PER_NODE | UINT64_C(1) << SETTING_BANDWIDTH | UINT64_C(1) << SETTING_LATENCY |        \
     UINT64_C(1) << SETTING_NVLINK_BANDWIDTH)

struct make_command {
    struct cli_warnings warnings;
    const char *what;
    const char *output;
    struct orr_topo_write_options write;
    struct orr_topo_setting settings[SETTINGS];
    size_t setting_count;
    bool strict, compat;
};

static enum orr_status cli_topo_make_take_name(void *into, const char *word, struct orr_error *err)
{
    struct make_command *make = into;
    if (make->what != NULL) {
        return error_set(err, ORR_EINVAL, "\"%s\": only one machine can be made, and %s was named already", word,
                         make->what);
    }
    make->what = word;
    return ORR_OK;
}

static enum orr_status read_topology(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    (void)row;
    return cli_topo_make_take_name(into, strcmp(text, "none") == 0 ? "custom" : text, err);
}

/* The library reads the value; of two for one setting the last counts. */
static enum orr_status read_setting(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct make_command *make = into;
    size_t at = 0;
    (void)err;
    while (at < make->setting_count && strcmp(make->settings[at].name, row->name) != 0) {
        at++;
    }
    make->settings[at] = (struct orr_topo_setting){row->name, text != NULL ? text : ""};
    make->setting_count += at == make->setting_count ? 1 : 0;
    return ORR_OK;
}

#define AT(field) .place = offsetof(struct make_command, field)

static const char *const forms[] = {"astra", "simai", NULL};
static const char *const originals[] = {"none", "simai", NULL};

static const struct param rows[] = {
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE", AT(output),
     .help = "The physical topology",
     .unwritten = "for SimAI's templates, the name its generator gives the file, in this folder"},
    {"format", .kind = PARAM_WORD, .group = PARAM_OUTPUT, .value = "NAME", AT(write.form), .words = forms,
     .first = ORR_TOPO_ASTRA, .help = "astra or simai", .unwritten = "simai for SimAI's templates, else astra"},
    {"logical", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE", AT(write.logical),
     .help = "Also write the logical topology (JSON), for orrery run"},
    {"both-directions", .kind = PARAM_FLAG, .group = PARAM_OUTPUT, .flags = PARAM_RARE, AT(write.both_directions),
     .help = "Write each link a second time, the other way round"},
    {"topology", .kind = PARAM_READ, .group = PARAM_OTHER, .flags = PARAM_RARE, .value = "NAME", .read = read_topology,
     .help = "The same as NAME as first word; none: custom"},
    {"compat", .kind = PARAM_CHOICE, .group = PARAM_OTHER, .flags = PARAM_RARE, .value = "NAME", AT(compat),
     .words = originals, .help = "simai: also print what SimAI's generator prints", .unwritten = "none"},
    CLI_ROW_STRICT(struct make_command, strict),
    {0},
};

#define CLI_X(id, setting, arg, text)                                                                                  \
    {.name = (setting),                                                                                                \
     .synonyms = SETTING_##id == SETTING_GROUPS ? "groups" : NULL,                                                     \
     .kind = PARAM_READ,                                                                                               \
     .group = PARAM_MACHINE,                                                                                           \
     .flags = (COMMON_SETTINGS >> SETTING_##id & 1) != 0 ? 0 : PARAM_RARE,                                             \
     .value = (arg),                                                                                                   \
     .read = read_setting,                                                                                             \
     .help = (text)},
static const struct param setting_rows[] = {ORR_TOPO_SETTINGS(CLI_X){0}};
#undef CLI_X

static const char *const headings[PARAM_GROUPS] = {[PARAM_MACHINE] = "The machine:"};

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

/* The row a word names, or FOREIGN; `*value` is what follows an equals sign. */
static size_t cli_topo_make_find_foreign(const char *word, char **value)
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
static int cli_topo_make_translate(int argc, char **argv, char **into, char spelled[][LONGEST])
{
    int count = 0;
    for (int at = 0; at < argc; at++) {
        char *value = NULL;
        size_t row = at == 0 ? FOREIGN : cli_topo_make_find_foreign(argv[at], &value);
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

static enum orr_status make_and_write(struct make_command *make, struct orr_error *err)
{
    struct orr_topo *topo = NULL;
    struct orr_notices notices = cli_notices(&make->warnings, make->strict);
    make->what = make->what != NULL ? make->what : "custom"; /* as the original has it */
    enum orr_status status = orr_topo_make(make->what, make->settings, make->setting_count, &notices, &topo, err);
    status = status == ORR_OK ? write_made(make, topo, err) : status;
    cli_warnings_end(&make->warnings);
    orr_topo_close(topo);
    return status;
}

static int run_make(const struct cli_command *self, int argc, char **argv)
{
    struct make_command make = {.what = NULL};
    struct orr_error err = {0};
    char spelled[FOREIGN][LONGEST];
    char **words = calloc((size_t)argc * 2 + 1, sizeof *words);
    int code = 0;
    if (words == NULL) {
        (void)error_set(&err, ORR_ENOMEM, "out of memory reading the options");
        return cli_fail(&err);
    }
    if (cli_begin(self, cli_topo_make_translate(argc, argv, words, spelled), words, &make, &code)) {
        code = make_and_write(&make, &err) == ORR_OK ? 0 : cli_fail(&err);
    }
    free(words);
    return code;
}

static const struct cli_usage usage = {
    .tables = (const struct param_table[]){{rows, 0, 0}, {setting_rows, 0, 0}, {0}},
    .headings = headings,
    .forms = "NAME -o FILE\n-topo NAME",
    .about =
        "Write the topology file of a machine. Instead of a name you can give a line that describes the machine from "
        "the servers up; see docs/topologies.md. orrery topo list names the machines, orrery topo list NAME says what "
        "one takes.",
    .notes = "The options of SimAI's generator are taken as they are: -topo -g -gt -gps -nsps -bw -nvbw -l -nl -er "
             "-asn -npa -psn -apbw -app --ro --dt --dp.",
    .examples = "  orrery topo make torus --dims 4x4x8 --bandwidth 100Gbps -o torus.topo\n"
                "  orrery topo make fat-tree --arity 16 --levels 3 -o fat.topo\n"
                "  orrery topo make dgx-h100 --nodes 16 -o h100.topo --logical h100.json\n"
                "  orrery topo make 'dgx-h100:16 > rail:400Gbps > spine:8' -o rails.topo\n"
                "  orrery topo make -topo Spectrum-X -g 128 -gt A100 -bw 100Gbps -nvbw 2400Gbps\n"
                "  orrery topo make AlibabaHPN --dual-plane --hosts 64 -o hpn64.topo\n",
    .argument = cli_topo_make_take_name,
};

const struct cli_command cli_topo_make = {
    .name = "make",
    .summary = "write the topology file of a machine",
    .usage = &usage,
    .run = run_make,
};
