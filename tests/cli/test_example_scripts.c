/* SPDX-License-Identifier: Apache-2.0 */
/* Every script of examples/ does today what the file beside it says: what it prints is compared line by line. Each runs
 * in a folder of its own with the built program first in PATH, as someone would run it from a clone. */
#include "tests/cli/program.h"

#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The line without its end, or "(nothing)" behind the last. */
static const char *next_line(FILE *file, char **line, size_t *capacity)
{
    ssize_t length = getline(line, capacity, file);
    if (length < 0) {
        return "(nothing)";
    }
    (*line)[strcspn(*line, "\n")] = '\0';
    return *line;
}

/* 0 where the files are equal, else the number of the first line that differs, which is told. */
static unsigned first_difference(const char *name, const char *want_path, const char *got_path)
{
    FILE *want = fopen(want_path, "r");
    FILE *got = fopen(got_path, "r");
    char *want_line = NULL;
    char *got_line = NULL;
    size_t want_capacity = 0;
    size_t got_capacity = 0;
    unsigned number = 0;
    CHECK(want != NULL, "%s: %s is not there", name, want_path);
    CHECK(got != NULL, "%s: %s is not there", name, got_path);
    bool same = true;
    while (same && (!feof(want) || !feof(got))) {
        const char *wanted = next_line(want, &want_line, &want_capacity);
        const char *printed = next_line(got, &got_line, &got_capacity);
        number++;
        same = strcmp(wanted, printed) == 0;
        if (!same) {
            print_error("%s: line %u is\n  %s\nand should be\n  %s\n", name, number, printed, wanted);
        }
    }
    free(want_line);
    free(got_line);
    (void)fclose(want);
    (void)fclose(got);
    return same ? 0 : number;
}

/* In a folder of the script's name, below the test's own. */
static bool does_as_expected(const char *script)
{
    char name[NAME_MAX + 1];
    char path[PATH_MAX];
    char line[2 * PATH_MAX + 100];
    (void)snprintf(name, sizeof name, "%s", strrchr(script, '/') + 1);
    *strrchr(name, '.') = '\0';
    (void)snprintf(line, sizeof line, "mkdir '%s' && cd '%s' && exec sh '%s' >../'%s.out' 2>../'%s.err' </dev/null",
                   name, name, script, name, name);
    int status = system(line);
    (void)snprintf(path, sizeof path, "%s.err", name);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        print_error("%s ends with %d: %s\n", name, status, program_read(path, NULL));
        return false;
    }
    (void)snprintf(line, sizeof line, "%.*s.expected", (int)(strlen(script) - strlen(".sh")), script);
    (void)snprintf(path, sizeof path, "%s.out", name);
    return first_difference(name, line, path) == 0;
}

static void every_script_prints_what_stands_beside_it(void **state)
{
    (void)state;
    const char *examples = getenv("ORRERY_EXAMPLES");
    const char *program = getenv("ORRERY");
    CHECK(examples != NULL && program != NULL, "ORRERY_EXAMPLES and ORRERY are set");
    char folder[PATH_MAX];
    char path[PATH_MAX + 4096];
    char pattern[PATH_MAX + 8];
    (void)snprintf(folder, sizeof folder, "%s", program);
    (void)snprintf(path, sizeof path, "%s:%s", dirname(folder), getenv("PATH"));
    assert_int_equal(setenv("PATH", path, 1), 0);
    assert_int_equal(setenv("LC_ALL", "C", 1), 0);
    (void)snprintf(pattern, sizeof pattern, "%s/*.sh", examples);
    program_enter();
    glob_t scripts;
    assert_int_equal(glob(pattern, 0, NULL, &scripts), 0);
    unsigned failures = 0;
    for (size_t i = 0; i < scripts.gl_pathc; i++) {
        failures += !does_as_expected(scripts.gl_pathv[i]);
    }
    CHECK(failures == 0, "%u of %zu scripts", failures, scripts.gl_pathc);
    globfree(&scripts);
}

TEST_MAIN(every_script_prints_what_stands_beside_it)
