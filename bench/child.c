/* SPDX-License-Identifier: Apache-2.0 */
/* A result comes through a pipe, whose room (64 KiB) no result comes near: the child never waits for its reader. */
#include "bench/child.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

bool bench_child(bool (*work)(const void *context, void *result), const void *context, void *result, size_t size,
                 struct bench_usage *usage)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        if (size > 0)
            memset(result, 0, size);
        bool good = work(context, result);
        _exit(good && (size == 0 || write(ends[1], result, size) == (ssize_t)size) ? 0 : 1);
    }
    close(ends[1]);
    bool told = child > 0 && (size == 0 || read(ends[0], result, size) == (ssize_t)size);
    close(ends[0]);
    struct rusage of_child;
    if (child < 0 || wait4(child, &usage->status, 0, &of_child) != child)
        return false;
    usage->user_s = seconds(of_child.ru_utime);
    usage->system_s = seconds(of_child.ru_stime);
    usage->peak_bytes = (double)of_child.ru_maxrss * 1024;
    usage->complete = told && usage->status == 0;
    return true;
}
