/* SPDX-License-Identifier: Apache-2.0 */
/* A line is split at spaces; a word that begins with "--" is a name, and takes the next one unless it is a flag. */
#include "tests/model/aicb_maker.h"

#include <stdlib.h>

void aicb_set_line(struct aicb_options *options, enum aicb_generator generator, const char *line, char *words,
                   size_t size)
{
    CHECK(strlen(line) < size, "the line is too long");
    (void)snprintf(words, size, "%s", line);
    char *rest = NULL;
    for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        struct orr_error err = {0};
        const struct aicb_option *row = aicb_option_find(generator, word + 2, strlen(word + 2), true);
        CHECK(row != NULL, "%s is no option", word);
        const char *value = row->kind == AICB_FLAG ? NULL : strtok_r(NULL, " ", &rest);
        CHECK_OK(aicb_options_set(options, generator, row->name, value, &err), &err);
    }
}

void aicb_make(enum aicb_generator generator, bool compat, const struct aicb_fixes *fix, const char *line,
               struct aicb_made *made)
{
    struct aicb_options options;
    struct mem mem = {0};
    struct notes notes;
    char words[2048];
    *made = (struct aicb_made){0};
    notes_init(&notes, &mem, false);
    aicb_options_init(&options, generator, compat);
    options.fix = fix != NULL ? *fix : options.fix;
    aicb_set_line(&options, generator, line, words, sizeof words);
    FILE *stream = open_memstream(&made->text, &made->size);
    CHECK(stream != NULL, "no memory");
    if (generator == AICB_TRAINING) {
        made->status = aicb_preset_resolve(&options, &made->err);
        if (made->status == ORR_OK) {
            made->status = aicb_training_write(&options, &mem, &notes, stream, &made->err);
        }
    } else if (generator == AICB_INFERENCE) {
        made->status = aicb_inference_write(&options, &mem, stream, &made->err);
    } else {
        made->status = aicb_vidur_write(&options, &mem, stream, &made->err);
    }
    (void)fclose(stream);
    made->notes = notes.count;
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "bytes left in the account");
}

void aicb_made_free(struct aicb_made *made)
{
    free(made->text);
    made->text = NULL;
}
