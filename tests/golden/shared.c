/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/golden/shared.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void golden_shared_folder(const char *source, char *path, size_t size)
{
    const char *named = getenv("ORRERY_SHARED");
    bool given = named != NULL && named[0] != '\0';
    (void)snprintf(path, size, "%s%s", given ? named : source, given ? "" : "/../shared");
}

bool golden_shared_find(const char *source, const char *name, char *path, size_t size)
{
    char folder[4096];
    golden_shared_folder(source, folder, sizeof folder);
    (void)snprintf(path, size, "%s/golden/%s", folder, name);
    if (access(path, R_OK) != 0) {
        printf("skipped: no %s\n", path);
        return false;
    }
    return true;
}

int golden_spawn(char *const argv[], const char *path, const char *folder, const char *output)
{
    int status = 0;
    fflush(NULL); /* or the child would write our buffered lines again */
    pid_t child = fork();
    if (child == 0) {
        if (chdir(folder) != 0 ||
            (output != NULL && (freopen(output, "wb", stdout) == NULL || freopen("/dev/null", "wb", stderr) == NULL)))
            _exit(126);
        execvp(path, argv);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return 126;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

size_t golden_each_case(const char *path, const char *program, size_t *wrong,
                        bool (*try_case)(const char *program, const char *folder, const char *name))
{
    size_t tried = 0;
    struct dirent **list = NULL;
    int count = scandir(path, &list, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (list[i]->d_name[0] != '.') {
            char one[4096];
            (void)snprintf(one, sizeof one, "%s/%s", path, list[i]->d_name);
            tried++;
            *wrong += try_case(program, one, list[i]->d_name) ? 0 : 1;
        }
        free(list[i]);
    }
    free(list);
    return tried;
}
