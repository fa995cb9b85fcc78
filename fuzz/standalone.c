/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives a fuzz target without libFuzzer, so that every test run, with any compiler, goes through the seed corpus: each
 * seed as it is, then mutations of it. The mutations come from a fixed generator, so a failure repeats.
 *
 * usage: replay_NAME MUTATIONS CORPUS-DIR
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_LIMIT = 1 << 20, SEED_LIMIT = 4096, EDIT_LIMIT = 8 };

struct input {
    uint8_t *bytes;
    size_t size;
};

/* splitmix64: any state gives a good sequence. */
static uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static size_t random_below(uint64_t *state, size_t limit)
{
    return limit == 0 ? 0 : (size_t)(random_next(state) % limit);
}

/* One edit of the kinds that break parsers: flip, overwrite with an extreme, cut, repeat, splice from another seed. */
static void edit(struct input *input, const struct input *other, uint64_t *state)
{
    static const uint8_t extremes[] = {0x00, 0x01, 0x7f, 0x80, 0xff, '"', '{', '[', '-', '9', '\n', ':'};
    size_t at = random_below(state, input->size + 1);
    switch (random_below(state, 5)) {
    case 0:
        if (at < input->size)
            input->bytes[at] ^= (uint8_t)(1u << random_below(state, 8));
        break;
    case 1:
        if (at < input->size)
            input->bytes[at] = extremes[random_below(state, sizeof extremes)];
        break;
    case 2:
        input->size = at;
        break;
    case 3: {
        size_t length = random_below(state, input->size - at + 1);
        if (length > INPUT_LIMIT - input->size)
            length = INPUT_LIMIT - input->size;
        memmove(input->bytes + at + length, input->bytes + at, input->size - at);
        input->size += length;
        break;
    }
    default: {
        size_t length = random_below(state, other->size + 1);
        if (length > INPUT_LIMIT - at)
            length = INPUT_LIMIT - at;
        if (length > 0)
            memcpy(input->bytes + at, other->bytes, length);
        if (at + length > input->size)
            input->size = at + length;
        break;
    }
    }
}

/* Runs the target on an exact copy, so that a sanitizer sees a read past the end. */
static void feed(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL)
        abort();
    if (size > 0)
        memcpy(copy, bytes, size);
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static int read_seed(const char *folder, const char *name, struct input *seed)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "cannot read %s\n", path);
        return -1;
    }
    seed->bytes = malloc(INPUT_LIMIT);
    seed->size = seed->bytes == NULL ? 0 : fread(seed->bytes, 1, INPUT_LIMIT, file);
    fclose(file);
    if (seed->bytes == NULL)
        return -1;
    uint8_t *fitted = realloc(seed->bytes, seed->size + 1);
    if (fitted != NULL)
        seed->bytes = fitted;
    return 0;
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The seeds in the order of their names, so that every machine sees the same sequence. Returns how many, or -1. */
static int read_corpus(const char *folder, struct input *seeds)
{
    struct dirent **entries = NULL;
    int found = scandir(folder, &entries, not_hidden, alphasort);
    int count = 0;
    int bad = found < 0;
    for (int i = 0; i < found; i++) {
        if (!bad && count < SEED_LIMIT) {
            bad = read_seed(folder, entries[i]->d_name, &seeds[count]) != 0;
            count += !bad;
        }
        free(entries[i]);
    }
    free((void *)entries);
    return bad ? -1 : count;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s MUTATIONS CORPUS-DIR\n", argv[0]);
        return 2;
    }
    uint64_t mutations = strtoull(argv[1], NULL, 10);
    static struct input seeds[SEED_LIMIT];
    int count = read_corpus(argv[2], seeds);
    if (count <= 0) {
        fprintf(stderr, "no seeds in %s\n", argv[2]);
        return 1;
    }
    struct input scratch = {malloc(INPUT_LIMIT), 0};
    if (scratch.bytes == NULL)
        return 1;

    for (int i = 0; i < count; i++)
        feed(seeds[i].bytes, seeds[i].size);
    for (uint64_t m = 0; m < mutations; m++) {
        uint64_t state = m;
        const struct input *seed = &seeds[m % (uint64_t)count];
        memcpy(scratch.bytes, seed->bytes, seed->size);
        scratch.size = seed->size;
        for (size_t edits = 1 + random_below(&state, EDIT_LIMIT); edits > 0; edits--)
            edit(&scratch, &seeds[random_below(&state, (size_t)count)], &state);
        feed(scratch.bytes, scratch.size);
    }
    printf("%d seeds, %" PRIu64 " mutations\n", count, mutations);

    for (int i = 0; i < count; i++)
        free(seeds[i].bytes);
    free(scratch.bytes);
    return 0;
}
