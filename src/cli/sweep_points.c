/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A point is read by the command's own reader: the shared options, and behind them "--key=value" for each key that is
 * an option. So a sweep takes every option that the command has, also those it gets later, and says of a wrong value
 * what the command would say.
 */
#include "cli/sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lab.h"
#include "cli/run.h"

static enum orr_status cli_sweep_points_no_memory(struct orr_error *err)
{
    return error_set(err, ORR_ENOMEM, "out of memory reading the points");
}

static const struct cli_command *command_of(const struct sweep_points *points)
{
    return points->lab ? &cli_lab_run : &cli_run;
}

/* ---- what the points share ---- */

/* The file's options, then those behind "--", whose first word may be the command's name. */
static enum orr_status read_base(struct sweep_points *points, int word_count, char **words, struct orr_error *err)
{
    static const struct cli_foreign_option none[] = {{NULL, NULL, CLI_FOREIGN_VALUE, NULL}};
    static char name[] = "sweep";
    const char *const *file = NULL;
    size_t file_count = orr_sweep_plan_words(points->plan, &file);
    bool lab = word_count > 1 && strcmp(words[0], "lab") == 0 && strcmp(words[1], "run") == 0;
    int skip = lab ? 2 : word_count > 0 && strcmp(words[0], "run") == 0 ? 1 : 0;
    points->lab = lab || orr_sweep_plan_is_lab(points->plan);
    if (skip == 1 && points->lab) {
        return error_set(err, ORR_EINVAL, "the sweep file says \"command: lab run\", and the command line run");
    }
    char **argv = calloc(file_count + (size_t)word_count + 2, sizeof *argv);
    if (argv == NULL) {
        return cli_sweep_points_no_memory(err);
    }
    int argc = 0;
    argv[argc++] = name;
    for (size_t i = 0; i < file_count; i++) {
        argv[argc++] = (char *)file[i]; /* argv's type; nobody writes there */
    }
    for (int i = skip; i < word_count; i++) {
        argv[argc++] = words[i];
    }
    enum orr_status status = cli_foreign_translate(points->lab ? none : run_astra_options, command_of(points), false,
                                                   argc, argv, &points->base, err);
    free((void *)argv);
    return status;
}

char *sweep_points_base(const struct sweep_points *points)
{
    static char run[] = "run";
    static char lab[] = "lab run";
    char **argv = calloc((size_t)points->base.argc + 1, sizeof *argv);
    if (argv == NULL) {
        return NULL;
    }
    memcpy((void *)argv, (const void *)points->base.argv, (size_t)points->base.argc * sizeof *argv);
    argv[0] = points->lab ? lab : run;
    char *text = cli_quote_command(points->base.argc, argv);
    free((void *)argv);
    return text;
}

/* ---- keys ---- */

/* Whether the points have a machine by name: a lab run always, a run with --machine, fixed or varying. */
static bool names_machine(const struct sweep_points *points)
{
    bool named = points->lab;
    for (int i = 1; i < points->base.argc; i++) {
        const char *word = points->base.argv[i];
        size_t length = strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "=") : 0;
        const struct param *row =
            length > 0 ? param_find(command_of(points)->usage->tables, word + 2, length).row : NULL;
        named = named || strncmp(word, "-m", 2) == 0 || (row != NULL && strcmp(row->name, "machine") == 0);
    }
    for (size_t key = 0; key < orr_sweep_plan_key_count(points->plan); key++) {
        struct orr_sweep_key said;
        orr_sweep_plan_key(points->plan, key, &said);
        named = named || strcmp(said.name, "machine") == 0 || strcmp(said.name, "topology") == 0;
    }
    return named;
}

/* The network file's kind may itself vary, or follow from a topology's name: a key of either kind is known here, and
 * the run says whether its file has it. */
static enum orr_status find_key(struct sweep_points *points, size_t index, struct orr_error *err)
{
    const struct param_table *tables = command_of(points)->usage->tables;
    struct orr_sweep_key said;
    struct orr_error unsaid = {0};
    orr_sweep_plan_key(points->plan, index, &said);
    points->options[index] = param_find(tables, said.name, strlen(said.name)).row;
    /* Without a machine by name, its rates and latencies are keys of the network's file. */
    bool key =
        points->options[index] != NULL && points->options[index]->group == PARAM_MACHINE && !names_machine(points);
    if (points->options[index] != NULL && !key) {
        return ORR_OK;
    }
    points->options[index] = NULL;
    points->override_count++;
    if (orr_config_key(&said, true, NULL, &points->files[index], &points->keys[index], &unsaid) == ORR_OK) {
        return ORR_OK;
    }
    const char *names[PARAM_NAMES_MOST + 1];
    (void)param_names(tables, names);
    return orr_config_key(&said, false, names, &points->files[index], &points->keys[index], err);
}

/* ---- words ---- */

/* "[25, 65]" is "25,65" to an option. */
static char *plain_value(const char *value)
{
    size_t length = strlen(value);
    bool list = length >= 2 && value[0] == '[' && value[length - 1] == ']';
    char *made = malloc(length + 1);
    size_t used = 0;
    for (size_t i = list ? 1 : 0; made != NULL && i < (list ? length - 1 : length); i++) {
        bool blank = list && value[i] == ' ' && i > 0 && (value[i - 1] == ',' || value[i - 1] == '[');
        if (!blank) {
            made[used++] = value[i];
        }
    }
    if (made != NULL) {
        made[used] = '\0';
    }
    return made;
}

/* "--key=value", or "--key" and nothing for a switch that is true or false. `*word` NULL: nothing. */
static enum orr_status make_word(struct sweep_points *points, const struct param *option, const char *value,
                                 char **word, struct orr_error *err)
{
    bool on = true;
    *word = NULL;
    if (option->value == NULL) {
        char where[48];
        (void)snprintf(where, sizeof where, "--%.40s", option->name);
        enum orr_status status = param_parse_bool(where, value, &on, err);
        if (status != ORR_OK || !on) {
            return status;
        }
    }
    char *plain = plain_value(value);
    int made = plain == NULL           ? -1
               : option->value == NULL ? asprintf(word, "--%s", option->name)
                                       : asprintf(word, "--%s=%s", option->name, plain);
    free(plain);
    if (made < 0) {
        return cli_sweep_points_no_memory(err);
    }
    points->words[points->word_count++] = *word;
    return ORR_OK;
}

static enum orr_status point_words(struct sweep_points *points, uint64_t point, char **argv, int *argc,
                                   struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    size_t keys = orr_sweep_plan_key_count(points->plan);
    *argc = 0;
    for (int i = 0; i < points->base.argc; i++) {
        argv[(*argc)++] = points->base.argv[i];
    }
    for (size_t key = 0; status == ORR_OK && key < keys; key++) {
        char *word = NULL;
        if (points->options[key] != NULL) {
            status =
                make_word(points, points->options[key], orr_sweep_plan_value(points->plan, point, key), &word, err);
        }
        if (word != NULL) {
            argv[(*argc)++] = word;
        }
    }
    argv[*argc] = NULL;
    return status;
}

/* Memory that lives as long as the jobs; NULL when there is none. */
static void *keep_block(struct sweep_points *points, size_t bytes)
{
    void *block = malloc(bytes);
    if (block != NULL) {
        points->blocks[points->block_count++] = block;
    }
    return block;
}

static bool varies(const struct sweep_points *points, const struct orr_override *set)
{
    for (size_t key = 0; key < orr_sweep_plan_key_count(points->plan); key++) {
        if (points->options[key] == NULL && strcmp(points->files[key], set->file) == 0 &&
            strcmp(points->keys[key], set->key) == 0) {
            return true;
        }
    }
    return false;
}

/* The --set of all points (lab run has none), and the keys that vary, which go before them. */
static enum orr_status point_overrides(struct sweep_points *points, uint64_t point, const struct orr_run_options *run,
                                       struct orr_error *err)
{
    size_t sets = run == NULL ? 0 : run->override_count;
    struct orr_override *list = keep_block(points, (points->override_count + sets + 1) * sizeof *list);
    size_t count = 0;
    if (list == NULL) {
        return cli_sweep_points_no_memory(err);
    }
    for (size_t i = 0; i < sets; i++) {
        if (!varies(points, &run->overrides[i])) {
            list[count++] = run->overrides[i];
        }
    }
    for (size_t key = 0; key < orr_sweep_plan_key_count(points->plan); key++) {
        struct orr_sweep_key said;
        orr_sweep_plan_key(points->plan, key, &said);
        if (points->options[key] == NULL) {
            list[count++] = (struct orr_override){.file = points->files[key],
                                                  .key = points->keys[key],
                                                  .value = orr_sweep_plan_value(points->plan, point, key),
                                                  .origin = said.origin,
                                                  .line = said.line};
        }
    }
    points->jobs[point].overrides = list;
    points->jobs[point].override_count = count;
    return ORR_OK;
}

/* ---- reading a point ---- */

static enum orr_status cli_sweep_points_refuse(const char *option, struct orr_error *err)
{
    return error_set(err, ORR_EINVAL, "--%s is for a single run; a sweep has a store, --csv and --json", option);
}

/* Of what the reader filled only the run's options are kept; they are freed with the points. */
static enum orr_status keep_run(struct sweep_points *points, uint64_t point, const struct run_options *options,
                                struct orr_error *err)
{
    struct orr_run_options *run = &points->runs[point];
    points->jobs[point].run = run;
    points->quiet = points->quiet || options->out.quiet;
    points->no_progress = points->no_progress || options->out.no_progress;
    enum orr_status status = point_overrides(points, point, run, err);
    run->overrides = NULL; /* the job has them, with those that vary */
    run->override_count = 0;
    return status;
}

static enum orr_status read_run(struct sweep_points *points, uint64_t point, int argc, char **argv,
                                struct cli_warnings *warnings, struct orr_error *err)
{
    struct run_options options = {0};
    enum cli_help help = CLI_HELP_NONE;
    orr_run_options_init(&options.run);
    struct cli_vector vector = {0};
    enum orr_status status = run_options_read(&cli_run, false, argc, argv, &options, &vector, &help, err);
    cli_vector_free(&vector); /* all words are ours by now: none was made there */
    const char *single = help != CLI_HELP_NONE ? "help" : run_options_single(&options);
    if (status == ORR_OK && single != NULL) {
        status = cli_sweep_points_refuse(single, err);
    }
    if (status == ORR_OK && options.run.strict && points->base.warning_count > 0) {
        status = error_set(err, ORR_EINVAL, "%s (an error because of --strict)", points->base.warnings[0]);
    }
    if (status == ORR_OK && options.calibration != NULL) {
        const struct orr_notices notices = cli_notices(warnings, options.run.strict);
        status = orr_calib_tuning(options.calibration, &notices, &options.run.tuning, err);
        points->jobs[point].calibration = options.calibration;
    }
    points->runs[point] = options.run;
    return status == ORR_OK ? keep_run(points, point, &options, err) : status;
}

static enum orr_status read_lab(struct sweep_points *points, uint64_t point, int argc, char **argv,
                                struct orr_error *err)
{
    struct lab_command command = {0};
    enum cli_help help = CLI_HELP_NONE;
    orr_lab_options_init(&command.lab);
    enum orr_status status = cli_read(&cli_lab_run, argc, argv, &command, &help, err);
    const struct orr_lab_options *lab = &command.lab;
    const char *single = help != CLI_HELP_NONE ? "help" : lab_command_single(&command);
    points->labs[point] = command.lab;
    if (status == ORR_OK && single != NULL) {
        return cli_sweep_points_refuse(single, err);
    }
    if (status == ORR_OK && (lab->run.workload == NULL || lab->run.workload[0] == '\0')) {
        return error_set(err, ORR_EINVAL, "missing --workload: a folder or prefix of traces");
    }
    if (status == ORR_OK && (lab->auto_calibrate || lab->calibration != NULL)) {
        return error_set(err, ORR_EINVAL,
                         "--%s: points of lab run take no calibration; those of run do (--calibration)",
                         lab->auto_calibrate ? "auto-calibrate" : "calibration");
    }
    if (status == ORR_OK) {
        status = cli_limit_default(&points->labs[point].run.memory_limit, err);
    }
    if (status == ORR_OK) {
        points->jobs[point].strict = lab->run.strict;
        points->quiet = points->quiet || command.quiet;
        points->no_progress = points->no_progress || command.no_progress;
        points->jobs[point].lab = &points->labs[point];
        status = point_overrides(points, point, NULL, err);
    }
    return status;
}

/* Whether the text speaks of an option: its name, whole. */
static bool names_option(const char *text, const char *name, size_t length)
{
    static const char parts[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    for (const char *at = strstr(text, "--"); at != NULL; at = strstr(at + 2, "--")) {
        if (strncmp(at + 2, name, length) == 0 && (at[2 + length] == '\0' || strchr(parts, at[2 + length]) == NULL)) {
            return true;
        }
    }
    return false;
}

/* "sweep.yml:4: ", where the option was said that a message names; empty where that is nowhere but behind "--". */
static void find_place(const struct sweep_points *points, const char *text, char *place, size_t room)
{
    const char *const *words = NULL;
    const char *file = NULL;
    uint32_t line = 0;
    size_t count = orr_sweep_plan_words(points->plan, &words);
    place[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (names_option(text, words[i] + 2, strcspn(words[i] + 2, "="))) {
            orr_sweep_plan_word_place(points->plan, i, &file, &line);
        }
    }
    for (size_t key = 0; key < orr_sweep_plan_key_count(points->plan); key++) {
        const struct param *option = points->options[key];
        struct orr_sweep_key said;
        orr_sweep_plan_key(points->plan, key, &said);
        if (option != NULL && names_option(text, option->name, strlen(option->name))) {
            file = said.origin;
            line = said.line;
        }
    }
    if (file != NULL) {
        (void)snprintf(place, room, "%.200s:%" PRIu32 ": ", file, line);
    }
}

static enum orr_status cli_sweep_points_read_points(struct sweep_points *points, struct cli_warnings *warnings,
                                                    struct orr_error *err)
{
    size_t keys = orr_sweep_plan_key_count(points->plan);
    char **argv = calloc((size_t)points->base.argc + keys + 1, sizeof *argv);
    enum orr_status status = ORR_OK;
    if (argv == NULL) {
        return cli_sweep_points_no_memory(err);
    }
    for (uint64_t point = 0; status == ORR_OK && point < points->count; point++) {
        int argc = 0;
        struct orr_error why = {0};
        status = point_words(points, point, argv, &argc, &why);
        if (status == ORR_OK) {
            status = points->lab ? read_lab(points, point, argc, argv, &why)
                                 : read_run(points, point, argc, argv, warnings, &why);
        }
        if (status != ORR_OK) {
            char place[240];
            char text[sizeof why.text];
            (void)param_spell(why.text, text, sizeof text);
            find_place(points, text, place, sizeof place);
            status = error_set(err, status, "%spoint %" PRIu64 ": %s", place, point + 1, text);
        }
    }
    free((void *)argv);
    return status;
}

static enum orr_status make_room(struct sweep_points *points, struct orr_error *err)
{
    size_t count = points->count;
    points->word_room = count * orr_sweep_plan_key_count(points->plan);
    points->jobs = calloc(count, sizeof *points->jobs);
    points->words = calloc(points->word_room + 1, sizeof *points->words);
    points->blocks = calloc(count, sizeof *points->blocks);
    points->runs = points->lab ? NULL : calloc(count, sizeof *points->runs);
    points->labs = points->lab ? calloc(count, sizeof *points->labs) : NULL;
    bool own = points->lab ? points->labs != NULL : points->runs != NULL;
    return own && points->jobs != NULL && points->words != NULL && points->blocks != NULL
               ? ORR_OK
               : cli_sweep_points_no_memory(err);
}

enum orr_status sweep_points_make(const struct orr_sweep_plan *plan, int word_count, char **words,
                                  struct sweep_points *points, struct cli_warnings *warnings, struct orr_error *err)
{
    *points = (struct sweep_points){.plan = plan, .count = orr_sweep_plan_point_count(plan)};
    enum orr_status status = read_base(points, word_count, words, err);
    for (int i = 0; status == ORR_OK && i < points->base.warning_count; i++) {
        cli_warn(warnings, points->base.warnings[i]);
    }
    for (size_t i = 0; status == ORR_OK && i < orr_sweep_plan_key_count(plan); i++) {
        status = find_key(points, i, err);
    }
    if (status == ORR_OK) {
        status = make_room(points, err);
    }
    return status == ORR_OK ? cli_sweep_points_read_points(points, warnings, err) : status;
}

void sweep_points_free(struct sweep_points *points)
{
    for (size_t i = 0; i < points->word_count; i++) {
        free(points->words[i]);
    }
    for (size_t i = 0; i < points->block_count; i++) {
        free(points->blocks[i]);
    }
    for (uint64_t i = 0; i < points->count; i++) {
        if (points->runs != NULL) {
            orr_run_options_free(&points->runs[i]);
        }
        if (points->labs != NULL) {
            orr_run_options_free(&points->labs[i].run);
        }
    }
    free((void *)points->words);
    free((void *)points->blocks);
    free(points->jobs);
    free(points->runs);
    free(points->labs);
    cli_vector_free(&points->base);
}
