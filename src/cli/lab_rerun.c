/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery lab rerun`: a kept run's command once more, in its folder, and whether the same came out. */
#include "cli/lab.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct rerun_options {
    const char *store;
    uint64_t run;
    bool force, dry;
};

#define AT(field) .place = offsetof(struct rerun_options, field)

static const struct param rows[] = {
    {"force", .kind = PARAM_FLAG, AT(force), .help = "Run it even where an input has changed or is gone"},
    {"dry-run", .kind = PARAM_FLAG, AT(dry), .help = "Check the inputs and show the command, but do not run it"},
    CLI_ROW_STORE(struct rerun_options, store),
    {0},
};

static enum orr_status cli_lab_rerun_take_run(void *into, const char *word, struct orr_error *err)
{
    struct rerun_options *options = into;
    return options->run != 0 ? ORR_EINVAL : param_parse_count("RUN", word, 1, INT64_MAX, &options->run, err);
}

static const struct cli_usage usage = {
    .tables = (const struct param_table[]){{rows, 0, 0}, {0}},
    .forms = "[RUN]",
    .about = "Run the command of a stored run again, in its original folder, and compare the two results. Refused if "
             "an input of the run has changed. Default: the newest run.",
    .notes = "Exit code: 0 when the simulated results are the same, 1 when they differ, else that of the command.",
    .examples = "  orrery lab rerun 1\n"
                "  orrery lab rerun 1 --dry-run\n",
    .argument = cli_lab_rerun_take_run,
};

/* Our own image, wherever the program lies and whatever it is called. Returns the exit code of a child that could not
 * be started. */
static int start(const struct orr_store_command *command)
{
    if (command->folder != NULL && chdir(command->folder) != 0) {
        cli_error("%s: %s", command->folder, strerror(errno));
        return orr_status_exit_code(ORR_EIO);
    }
    (void)execv("/proc/self/exe", command->words);
    cli_error("the program cannot be started again: %s", strerror(errno));
    return orr_status_exit_code(ORR_EFAIL);
}

static enum orr_status cli_lab_rerun_run_command(const struct orr_store_command *command, int *exit_code,
                                                 struct orr_error *err)
{
    (void)fflush(stdout); /* what the child prints comes behind it */
    pid_t child = fork();
    if (child == 0) {
        _exit(start(command));
    }
    int ended = 0;
    while (child > 0 && waitpid(child, &ended, 0) < 0 && errno == EINTR) {
    }
    if (child < 0) {
        return error_set(err, ORR_EFAIL, "no process can be started: %s", strerror(errno));
    }
    *exit_code = WIFEXITED(ended) ? WEXITSTATUS(ended) : orr_status_exit_code(ORR_EFAIL);
    return ORR_OK;
}

/* The words are shown with quotes where they need them; what is run are the words themselves. */
static void print_command(const struct orr_store_command *command)
{
    (void)printf("Run %" PRId64 " again%s%s:\n ", command->run, command->folder == NULL ? "" : " in ",
                 command->folder == NULL ? "" : command->folder);
    for (char **word = command->words; *word != NULL; word++) {
        bool plain = **word != '\0' && (*word)[strcspn(*word, " \t'\"\\$`|&;<>()*?~#\n\r")] == '\0';
        (void)printf(plain ? " %s" : " '%s'", *word);
    }
    (void)printf("\n");
}

static enum orr_status cli_lab_rerun_compare(const struct rerun_options *options,
                                             const struct orr_store_command *command, bool *same, struct orr_error *err)
{
    int64_t again = 0;
    enum orr_status status = orr_store_again(options->store, command, &again, err);
    if (status == ORR_OK && again == 0) {
        return error_set(err, ORR_EFAIL, "%s: the command did not enter a run here; there is nothing to compare",
                         options->store);
    }
    (void)printf("\n");
    return status != ORR_OK ? status
                            : orr_store_diff(options->store, command->run, again, ORR_STORE_TEXT, stdout, same, err);
}

static int cli_lab_rerun_run(const struct cli_command *self, int argc, char **argv)
{
    struct rerun_options options = {.store = CLI_STORE_DEFAULT};
    struct orr_error err = {0};
    struct cli_warnings warnings = {.quiet = false};
    struct orr_store_command command = {.run = 0};
    int exit_code = 0;
    bool same = true;
    if (!cli_begin(self, argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    const struct orr_notices notices = cli_notices(&warnings, false);
    enum orr_status status =
        orr_store_command(options.store, (int64_t)options.run, options.force, &notices, &command, &err);
    cli_warnings_end(&warnings);
    if (status == ORR_OK) {
        print_command(&command);
    }
    if (status == ORR_OK && !options.dry) {
        status = cli_lab_rerun_run_command(&command, &exit_code, &err);
        status = status != ORR_OK || exit_code != 0 ? status : cli_lab_rerun_compare(&options, &command, &same, &err);
    }
    orr_store_command_free(&command);
    return status != ORR_OK ? cli_end(status, &err) : exit_code != 0 ? exit_code : same ? 0 : 1;
}

const struct cli_command cli_lab_rerun = {
    .name = "rerun", .summary = "run a kept run again and compare", .usage = &usage, .run = cli_lab_rerun_run};
