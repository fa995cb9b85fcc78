/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded before the program (LD_PRELOAD), this counts what it allocates and refuses one allocation, or that one and all
 * after it, so that every way out of memory can be walked once. tools/oom drives it.
 *
 *   ORRERY_OOM_LIST=FILE  refuse nothing; at the end write the numbers worth refusing to FILE, one a line: of each
 * place in the program (the calls that led there) the first two allocations and the last ORRERY_OOM_AT=N       refuse
 * allocation N, counted from 1 ORRERY_OOM_AT=N+      and all that follow
 *
 * Only the C library's own names are replaced; strdup, fopen, asprintf and the libraries come here through them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

/* The names that the program is to find here. */
#define REPLACES __attribute__((visibility("default")))

enum { PLACES = 1 << 16, DEPTH = 48 };

struct place {
    uint64_t key;
    uint64_t first, second, last;
};

static struct place places[PLACES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t counted;
static uint64_t refuse_at; /* 0: none */
static bool refuse_rest;
static const char *list;
static bool ready;
static __thread bool inside; /* what looking at the stack allocates is not the program's */

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("ORRERY_OOM_AT");
    char *end = NULL;
    refuse_at = at != NULL ? strtoull(at, &end, 10) : 0;
    refuse_rest = at != NULL && *end == '+';
    list = getenv("ORRERY_OOM_LIST");
    void *warm[4];
    (void)backtrace(warm, 4);
    /* simdjson takes three small blocks at its first use and ends the program without them, whoever calls it: that is
     * its own, and is over with here. */
    static const char *const finds[] = {
        "_ZN8simdjson25get_active_implementationEv",
        "_ZNK8simdjson8internal29available_implementation_list21detect_best_supportedEv"};
    for (size_t i = 0; i < sizeof finds / sizeof finds[0]; i++) {
        void *(*first_use)(void *list) = NULL;
        void *found = dlsym(RTLD_DEFAULT, finds[i]);
        memcpy(&first_use, &found, sizeof first_use);
        if (first_use != NULL) {
            (void)first_use(warm); /* the list is an object without anything in it */
        }
    }
    ready = true;
}

static void note_place(void)
{
    void *calls[DEPTH];
    int depth = backtrace(calls, DEPTH);
    uint64_t key = 14695981039346656037u;
    for (int i = 0; i < depth; i++) {
        key = (key ^ (uint64_t)(uintptr_t)calls[i]) * 1099511628211u;
    }
    key += key == 0;
    for (uint64_t at = key;; at++) {
        struct place *place = &places[at % PLACES];
        if (place->key == 0) {
            *place = (struct place){key, counted, 0, 0};
            return;
        }
        if (place->key == key) {
            place->second = place->second == 0 ? counted : place->second;
            place->last = counted;
            return;
        }
    }
}

static bool refused(void)
{
    if (!ready || inside) {
        return false;
    }
    inside = true;
    (void)pthread_mutex_lock(&lock);
    counted++;
    bool refuse = refuse_at != 0 && (counted == refuse_at || (refuse_rest && counted > refuse_at));
    if (list != NULL) {
        note_place();
    }
    (void)pthread_mutex_unlock(&lock);
    inside = false;
    if (refuse) {
        errno = ENOMEM;
    }
    return refuse;
}

REPLACES void *malloc(size_t bytes)
{
    return refused() ? NULL : __libc_malloc(bytes);
}

REPLACES void *calloc(size_t count, size_t bytes)
{
    return refused() ? NULL : __libc_calloc(count, bytes);
}

REPLACES void *realloc(void *block, size_t bytes)
{
    return refused() ? NULL : __libc_realloc(block, bytes);
}

REPLACES void *aligned_alloc(size_t alignment, size_t bytes)
{
    return refused() ? NULL : __libc_memalign(alignment, bytes);
}

REPLACES int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    void *made = refused() ? NULL : __libc_memalign(alignment, bytes);
    if (made == NULL) {
        return ENOMEM;
    }
    *block = made;
    return 0;
}

__attribute__((destructor)) static void end(void)
{
    inside = true;
    FILE *stream = list != NULL ? fopen(list, "w") : NULL;
    for (size_t i = 0; stream != NULL && i < PLACES; i++) {
        const uint64_t numbers[] = {places[i].first, places[i].second, places[i].last};
        for (size_t j = 0; j < 3; j++) {
            if (numbers[j] != 0 && (j == 0 || numbers[j] != numbers[j - 1])) {
                (void)fprintf(stream, "%llu\n", (unsigned long long)numbers[j]);
            }
        }
    }
    if (stream != NULL) {
        (void)fclose(stream);
    }
}
