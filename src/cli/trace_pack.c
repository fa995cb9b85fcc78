/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace pack` and `unpack`: all traces of a job in one file, and back; and archives among a command's words. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trace.h"

struct pack_options {
    const char *input, *output;
    uint64_t memory_limit;
};

#define AT(field) .place = offsetof(struct pack_options, field)

static const struct param pack_rows[] = {
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "NAME.etz", AT(output),
     .help = "Required: the archive to write. Missing folders are made"},
    CLI_ROW_LIMIT(struct pack_options, memory_limit),
    {0},
};

static const struct param unpack_rows[] = {
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "PREFIX", AT(output),
     .help = "Required: files are PREFIX.R.et. Missing folders are made"},
    CLI_ROW_LIMIT(struct pack_options, memory_limit),
    {0},
};

static const struct param_table pack_tables[] = {{pack_rows, 0, 0}, {0}};
static const struct param_table unpack_tables[] = {{unpack_rows, 0, 0}, {0}};

static enum orr_status pack_take(void *into, const char *word, struct orr_error *err)
{
    struct pack_options *options = into;
    (void)err;
    if (options->input != NULL) {
        return ORR_EINVAL;
    }
    options->input = word;
    return ORR_OK;
}

static enum orr_status pack_check(struct pack_options *options, const char *input, const char *output,
                                  struct orr_error *err)
{
    if (options->input == NULL) {
        return error_set(err, ORR_EINVAL, "missing %s", input);
    }
    if (options->output == NULL || options->output[0] == '\0') {
        return error_set(err, ORR_EINVAL, "missing -o %s (where to write)", output);
    }
    if (cli_same_file(options->input, options->output)) {
        return error_set(err, ORR_EINVAL, "-o would replace the input %s", options->input);
    }
    enum orr_status status = cli_check_name("-o", options->output, err);
    return status == ORR_OK ? cli_limit_default(&options->memory_limit, err) : status;
}

static int run_pack(const struct cli_command *self, int argc, char **argv)
{
    struct pack_options options = {0};
    struct orr_pack_result made;
    struct orr_error err = {0};
    int code = 0;
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    enum orr_status status = pack_check(&options, "PREFIX (of PREFIX.R.et, or a folder of traces)", "NAME.etz", &err);
    status =
        status == ORR_OK ? orr_trace_pack(options.input, options.output, options.memory_limit, &made, &err) : status;
    if (status == ORR_OK) {
        (void)printf("Packed %" PRIu32 " trace%s of %" PRIu64 " bytes into %s of %" PRIu64 " bytes: %" PRIu32
                     " different, %" PRIu32 " of them told by another.\n",
                     made.ranks, made.ranks == 1 ? "" : "s", made.bytes, options.output, made.packed, made.different,
                     made.told);
        cli_print_next_run(options.output, made.ranks);
    }
    return cli_end(status, &err);
}

static int run_unpack(const struct cli_command *self, int argc, char **argv)
{
    struct pack_options options = {0};
    struct orr_error err = {0};
    uint32_t ranks = 0;
    int code = 0;
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    enum orr_status status = pack_check(&options, "NAME.etz (the archive)", "PREFIX", &err);
    status =
        status == ORR_OK ? orr_trace_unpack(options.input, options.output, options.memory_limit, &ranks, &err) : status;
    if (status == ORR_OK) {
        (void)printf("Wrote %" PRIu32 " trace%s, %s.0.et to %s.%" PRIu32 ".et.\n", ranks, ranks == 1 ? "" : "s",
                     options.output, options.output, ranks - 1);
    }
    return cli_end(status, &err);
}

static const struct cli_usage pack_usage = {
    .tables = pack_tables,
    .forms = "PREFIX -o NAME.etz",
    .about = "Pack all traces of a job into one compressed file, with equal traces stored once, together with their "
             "groups file. NAME.etz "
             "is then a prefix like any other: --workload NAME.etz; the trace of rank R is NAME.etz.R.et. Commands "
             "that write PREFIX.R.et make an archive where PREFIX ends in .etz.",
    .examples = "  orrery trace pack traces/ar -o ar.etz\n"
                "  orrery run --workload ar.etz --machine ring\n"
                "  orrery trace stat ar.etz.3.et\n",
    .argument = pack_take,
};

static const struct cli_usage unpack_usage = {
    .tables = unpack_tables,
    .forms = "NAME.etz -o PREFIX",
    .about = "Write the traces of an archive to files, byte for byte as they were packed.",
    .examples = "  orrery trace unpack ar.etz -o traces/ar\n",
    .argument = pack_take,
};

const struct cli_command cli_trace_pack = {
    .name = "pack", .summary = "all traces of a job in one file", .usage = &pack_usage, .run = run_pack};
const struct cli_command cli_trace_unpack = {
    .name = "unpack", .summary = "the traces of such a file again", .usage = &unpack_usage, .run = run_unpack};

/* ---- among words ---- */

void cli_words_free(struct cli_words *words)
{
    for (size_t i = 0; words->unfolded && i < words->count; i++) {
        free(words->list[i]);
    }
    if (words->unfolded) {
        free((void *)words->list);
    }
    *words = (struct cli_words){0};
}

/* The traces of an archive, or the word itself where it is none. */
static bool unfold_word(const char *word, uint32_t ranks, struct cli_words *into)
{
    for (uint32_t rank = 0; rank < (ranks > 0 ? ranks : 1); rank++) {
        char *made = NULL;
        int length = ranks > 0 ? asprintf(&made, "%s.%" PRIu32 ".et", word, rank) : asprintf(&made, "%s", word);
        if (length < 0) {
            return false;
        }
        into->list[into->count++] = made;
    }
    return true;
}

enum orr_status cli_words_unfold(struct cli_words *words, struct orr_error *err)
{
    size_t count = 0;
    bool any = false;
    for (size_t i = 0; i < words->count; i++) {
        uint32_t ranks = orr_trace_archived(words->list[i]);
        any = any || ranks > 0;
        count += ranks > 0 ? ranks : 1;
    }
    if (!any) {
        return ORR_OK;
    }
    struct cli_words made = {.list = calloc(count + 1, sizeof(char *)), .unfolded = true};
    bool whole = made.list != NULL;
    for (size_t i = 0; whole && i < words->count; i++) {
        whole = unfold_word(words->list[i], orr_trace_archived(words->list[i]), &made);
    }
    if (!whole) {
        cli_words_free(&made);
        return error_set(err, ORR_ENOMEM, "out of memory");
    }
    *words = made;
    return ORR_OK;
}
