/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `orrery completion SHELL`: what a shell needs to complete commands, options and their words, written from the same
 * rows as the options themselves, so that it never lags behind them.
 */
#include "cli/cli.h"

#include <string.h>

enum { PATH_BYTES = 80 };

/* What is done with every command that has options or subcommands; `path` is its name without "orrery ", "" for all. */
typedef void visit_command(const struct cli_command *command, const char *path, FILE *stream);

struct visiting {
    visit_command *visit;
    const char *path;
    FILE *stream;
};

static void visit_whole(const struct cli_command *whole, void *context)
{
    const struct visiting *visiting = context;
    visiting->visit(whole, visiting->path, visiting->stream);
}

static void walk(const struct cli_command *command, const char *path, visit_command *visit, FILE *stream)
{
    if (command->usage != NULL && command->usage->whole != NULL) {
        command->usage->whole(command, visit_whole, &(struct visiting){visit, path, stream});
    } else {
        visit(command, path, stream);
    }
    for (size_t i = 0; command->subcommands != NULL && command->subcommands[i] != NULL; i++) {
        char below[PATH_BYTES];
        (void)snprintf(below, sizeof below, "%s%s%s", path, path[0] != '\0' ? " " : "", command->subcommands[i]->name);
        walk(command->subcommands[i], below, visit, stream);
    }
}

typedef void visit_row(const struct param *row, const char *path, FILE *stream);

static void each_row(const struct cli_command *command, const char *path, visit_row *visit, FILE *stream)
{
    const struct param_table *tables = command->usage != NULL ? command->usage->tables : NULL;
    for (; tables != NULL && tables->rows != NULL; tables++) {
        for (const struct param *row = tables->rows; row->name != NULL; row++) {
            if (param_belongs(tables, row) && (row->flags & PARAM_HIDDEN) == 0) {
                visit(row, path, stream);
            }
        }
    }
}

static bool has_words(const struct param *row)
{
    return (row->kind == PARAM_WORD || row->kind == PARAM_CHOICE) && row->words != NULL;
}

static void put_words(const struct param *row, const char *between, FILE *stream)
{
    for (size_t i = 0; row->words[i] != NULL; i++) {
        (void)fprintf(stream, "%s%s", i == 0 ? "" : between, row->words[i]);
    }
}

/* Nothing in it at which a shell's quotes or brackets would end. */
static void put_clean(const char *text, FILE *stream)
{
    for (const char *c = text; *c != '\0' && c - text < 100; c++) {
        (void)fputc(strchr("'`[]:\\$\"\n", *c) != NULL ? ' ' : *c, stream);
    }
}

/* The first sentence of a row's help. */
static void put_help(const struct param *row, FILE *stream)
{
    char text[2048];
    cli_row_text(row, false, text, sizeof text);
    put_clean(text, stream);
}

/* ---- bash ---- */

static void bash_option(const struct param *row, const char *path, FILE *stream)
{
    (void)path;
    (void)fprintf(stream, " --%s", row->name);
}

static void bash_command(const struct cli_command *command, const char *path, FILE *stream)
{
    (void)fprintf(stream, "        '%s') words='", path);
    for (size_t i = 0; command->subcommands != NULL && command->subcommands[i] != NULL; i++) {
        (void)fprintf(stream, "%s%s", i == 0 ? "" : " ", command->subcommands[i]->name);
    }
    each_row(command, path, bash_option, stream);
    (void)fprintf(stream, " --help%s' ;;\n", command->usage != NULL ? " --help-all" : "");
}

static void bash_value(const struct param *row, const char *path, FILE *stream)
{
    if (has_words(row)) {
        (void)fprintf(stream, "        '%s --%s') words='", path, row->name);
        put_words(row, " ", stream);
        (void)fputs("' ;;\n", stream);
    }
}

static void bash_values(const struct cli_command *command, const char *path, FILE *stream)
{
    each_row(command, path, bash_value, stream);
}

static void print_bash(FILE *stream)
{
    (void)fputs("# bash completion of orrery; made by `orrery completion bash`\n"
                "_orrery() {\n"
                "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path= words= i\n"
                "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                "        case ${COMP_WORDS[i]} in -*) break ;; esac\n"
                "        path=\"${path:+$path }${COMP_WORDS[i]}\"\n"
                "    done\n"
                "    case \"$path $before\" in\n",
                stream);
    walk(&cli_orrery, "", bash_values, stream);
    (void)fputs("    esac\n"
                "    if [ -n \"$words\" ]; then\n"
                "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
                "        return\n"
                "    fi\n"
                "    case $path in\n",
                stream);
    walk(&cli_orrery, "", bash_command, stream);
    (void)fputs("    esac\n"
                "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
                "}\n"
                "complete -o default -F _orrery orrery\n",
                stream);
}

/* ---- zsh ---- */

static void zsh_option(const struct param *row, const char *path, FILE *stream)
{
    (void)path;
    bool optional = (row->flags & PARAM_OPTIONAL) != 0;
    (void)fprintf(stream, " \\\n            '%s--%s%s[", (row->flags & PARAM_MANY) != 0 ? "*" : "", row->name,
                  row->value == NULL ? ""
                  : optional         ? "=-"
                                     : "=");
    put_help(row, stream);
    (void)fputc(']', stream);
    if (row->value != NULL) {
        (void)fprintf(stream, "%svalue:", optional ? "::" : ":");
        if (has_words(row)) {
            (void)fputc('(', stream);
            put_words(row, " ", stream);
            (void)fputc(')', stream);
        } else {
            (void)fputs(row->kind == PARAM_PATH ? "_files" : " ", stream);
        }
    }
    (void)fputc('\'', stream);
}

static void zsh_command(const struct cli_command *command, const char *path, FILE *stream)
{
    (void)fprintf(stream, "        '%s')\n", path);
    if (command->subcommands != NULL) {
        (void)fputs("            names=(", stream);
        for (size_t i = 0; command->subcommands[i] != NULL; i++) {
            (void)fprintf(stream, "%s%s", i == 0 ? "" : " ", command->subcommands[i]->name);
        }
        (void)fputs(")\n            compadd -a names ;;\n", stream);
        return;
    }
    (void)fputs(
        "            _arguments '--help[Show the common options]' '--help-all[Show all options]' '*:file:_files'",
        stream);
    each_row(command, path, zsh_option, stream);
    (void)fputs(" ;;\n", stream);
}

static void print_zsh(FILE *stream)
{
    (void)fputs("#compdef orrery\n# zsh completion of orrery; made by `orrery completion zsh`\n"
                "_orrery() {\n"
                "    local at= word\n" /* path is zsh's own */
                "    local -a names\n"
                "    for word in \"${(@)words[2,CURRENT-1]}\"; do\n"
                "        [[ $word == -* ]] && break\n"
                "        at=\"${at:+$at }$word\"\n"
                "    done\n"
                "    case $at in\n",
                stream);
    walk(&cli_orrery, "", zsh_command, stream);
    (void)fputs("    esac\n}\n_orrery \"$@\"\n", stream);
}

/* ---- fish ---- */

static void fish_option(const struct param *row, const char *path, FILE *stream)
{
    (void)fprintf(stream, "complete -c orrery -n '__orrery_at \"%s\"' -l %s", path, row->name);
    if (row->letter != '\0') {
        (void)fprintf(stream, " -s %c", row->letter);
    }
    if (has_words(row)) {
        (void)fputs(" -x -a '", stream);
        put_words(row, " ", stream);
        (void)fputc('\'', stream);
    } else if (row->value != NULL && (row->flags & PARAM_OPTIONAL) == 0) {
        (void)fputs(row->kind == PARAM_PATH ? " -r -F" : " -x", stream);
    }
    (void)fputs(" -d '", stream);
    put_help(row, stream);
    (void)fputs("'\n", stream);
}

static void fish_command(const struct cli_command *command, const char *path, FILE *stream)
{
    for (size_t i = 0; command->subcommands != NULL && command->subcommands[i] != NULL; i++) {
        (void)fprintf(stream, "complete -c orrery -f -n '__orrery_at \"%s\"' -a %s -d '", path,
                      command->subcommands[i]->name);
        put_clean(command->subcommands[i]->summary, stream);
        (void)fputs("'\n", stream);
    }
    each_row(command, path, fish_option, stream);
}

static void print_fish(FILE *stream)
{
    (void)fputs("# fish completion of orrery; made by `orrery completion fish`\n"
                "function __orrery_at\n"
                "    set -l path\n"
                "    for word in (commandline -opc)[2..-1]\n"
                "        string match -q -- '-*' $word; and break\n"
                "        set -a path $word\n"
                "    end\n"
                "    test \"$path\" = \"$argv[1]\"\n"
                "end\n",
                stream);
    walk(&cli_orrery, "", fish_command, stream);
}

/* ---- the command ---- */

static enum orr_status take_shell(void *into, const char *word, struct orr_error *err)
{
    static const char *const shells[] = {"bash", "zsh", "fish", NULL};
    static void (*const printers[])(FILE * stream) = {print_bash, print_zsh, print_fish};
    unsigned index = 0;
    enum orr_status status = param_parse_word("the shell", word, shells, &index, err);
    if (status == ORR_OK) {
        *(void (**)(FILE *))into = printers[index];
    }
    return status;
}

static int run_completion(const struct cli_command *self, int argc, char **argv)
{
    void (*print)(FILE *) = NULL;
    struct orr_error err = {0};
    int code = 0;
    if (!cli_begin(self, argc, argv, &print, &code)) {
        return code;
    }
    if (print == NULL) {
        (void)error_set(&err, ORR_EINVAL, "no shell given: bash, zsh or fish");
        return cli_fail(&err);
    }
    print(stdout);
    return 0;
}

static const struct param_table no_options[] = {{0}};

static const struct cli_usage usage = {
    .tables = no_options,
    .forms = "bash|zsh|fish",
    .about =
        "Print what a shell needs to complete commands, options and their words. make install puts it where bash, zsh "
        "and fish look.",
    .examples = "  orrery completion bash > orrery.bash\n",
    .argument = take_shell,
};

const struct cli_command cli_completion = {.name = "completion",
                                           .summary = "shell completion of commands and options",
                                           .usage = &usage,
                                           .run = run_completion};
