/* SPDX-License-Identifier: Apache-2.0 */
/* Output goes through files rather than pipes: no reader is needed while the child runs, so none can deadlock with it,
 * and a child that is killed leaves what it had written. */
#include "tests/cli/program.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static void leave(void)
{
    char folder[4096];
    if (getcwd(folder, sizeof folder) != NULL && strstr(folder, "orrery-cli-") != NULL) {
        (void)nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
}

void program_enter(void)
{
    char folder[4096];
    if (getcwd(folder, sizeof folder) != NULL && strstr(folder, "orrery-cli-") != NULL) {
        return;
    }
    const char *parent = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%s/orrery-cli-XXXXXX", parent != NULL ? parent : "/tmp");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(atexit(leave), 0);
}

static const char *program_path(void)
{
    const char *path = getenv("ORRERY");
    CHECK(path != NULL && path[0] == '/', "ORRERY must be the program's full path");
    return path;
}

static pid_t spawn(const char *program, const char *line, const char *env, const char *out, const char *err)
{
    char words[4096];
    char *argv[PROGRAM_MAX_ARGS + 1];
    int argc = 0;
    (void)snprintf(words, sizeof words, "%s", line);
    argv[argc++] = (char *)(uintptr_t)program;
    for (char *save = NULL, *word = strtok_r(words, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) {
        CHECK(argc < PROGRAM_MAX_ARGS, "too many words: %s", line);
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    const char *equals = env != NULL ? strchr(env, '=') : NULL;
    char name[64] = "";
    if (equals != NULL) {
        (void)snprintf(name, sizeof name, "%.*s", (int)(equals - env), env);
        assert_int_equal(setenv(name, equals + 1, 1), 0);
    }
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    assert_int_equal(posix_spawn_file_actions_init(&files), 0);
    assert_int_equal(posix_spawnattr_init(&attributes), 0);
    assert_int_equal(sigemptyset(&defaults) + sigaddset(&defaults, SIGINT) + sigaddset(&defaults, SIGTERM), 0);
    assert_int_equal(posix_spawnattr_setsigdefault(&attributes, &defaults), 0);
    assert_int_equal(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF), 0);
    int flags = O_WRONLY | O_CREAT | O_TRUNC;
    assert_int_equal(posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0), 0);
    assert_int_equal(posix_spawn_file_actions_addopen(&files, 1, out != NULL ? out : ".stdout", flags, 0600), 0);
    assert_int_equal(posix_spawn_file_actions_addopen(&files, 2, err != NULL ? err : ".stderr", flags | O_NOCTTY, 0600),
                     0);
    pid_t pid = -1;
    CHECK(posix_spawn(&pid, program, &files, &attributes, argv, environ) == 0, "cannot start %s", program);
    (void)posix_spawn_file_actions_destroy(&files);
    (void)posix_spawnattr_destroy(&attributes);
    if (equals != NULL) {
        (void)unsetenv(name);
    }
    return pid;
}

static void slurp(const char *path, char *text, size_t room)
{
    FILE *stream = fopen(path, "r");
    size_t got = stream != NULL ? fread(text, 1, room - 1, stream) : 0;
    text[got] = '\0';
    if (stream != NULL) {
        (void)fclose(stream);
    }
}

/* The library names parameters; the program spells them as options, whatever it prints. Documents (JSON) keep what the
 * library says. */
static void check_spelled(const char *text)
{
    const char *named = text[0] != '{' && text[0] != '[' ? strstr(text, "parameter '") : NULL;
    CHECK(named == NULL, "not spelled as an option: %.200s", named);
}

const struct program_result *program_wait(pid_t pid)
{
    static struct program_result result;
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        assert_int_equal(errno, EINTR);
    }
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    slurp(".stdout", result.out, sizeof result.out);
    slurp(".stderr", result.err, sizeof result.err);
    check_spelled(result.out);
    check_spelled(result.err);
    return &result;
}

pid_t program_start(const char *line, const char *err)
{
    return spawn(program_path(), line, NULL, NULL, err);
}

pid_t program_start_to(const char *line, const char *out)
{
    return spawn(program_path(), line, NULL, out, NULL);
}

const struct program_result *program_run(const char *line)
{
    return program_wait(program_start(line, NULL));
}

const struct program_result *program_run_as(const char *program, const char *line, const char *env, const char *out)
{
    return program_wait(spawn(program != NULL ? program : program_path(), line, env, out, NULL));
}

void program_write(const char *path, const void *bytes, size_t size)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

void program_write_text(const char *path, const char *text)
{
    program_write(path, text, strlen(text));
}

const char *program_read(const char *path, size_t *size)
{
    static char text[1 << 20];
    FILE *stream = fopen(path, "r");
    size_t got = stream != NULL ? fread(text, 1, sizeof text - 1, stream) : 0;
    text[got] = '\0';
    if (stream != NULL) {
        (void)fclose(stream);
    }
    if (size != NULL) {
        *size = got;
    }
    return text;
}

bool program_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

void program_write_machine(unsigned npus, unsigned splits)
{
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "{\"scheduling-policy\": \"LIFO\", \"endpoint-delay\": 10, \"active-chunks-per-dimension\": 1,\n"
                   " \"preferred-dataset-splits\": %u, \"collective-optimization\": \"localBWAware\",\n"
                   " \"all-reduce-implementation\": [\"ring\"], \"all-gather-implementation\": [\"ring\"],\n"
                   " \"reduce-scatter-implementation\": [\"ring\"], \"all-to-all-implementation\": [\"ring\"],\n"
                   " \"local-mem-bw\": 50}\n",
                   splits);
    program_write_text("system.json", text);
    (void)snprintf(text, sizeof text,
                   "topology: [ Ring ]\nnpus_count: [ %u ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n", npus);
    program_write_text("network.yml", text);
}
