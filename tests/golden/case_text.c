/* SPDX-License-Identifier: Apache-2.0 */
/* Slices instead of copies: the same node line is read again for each of up to a thousand ranks. */
#include "tests/golden/case_text.h"

#include <stdlib.h>
#include <string.h>

bool slice_part(struct case_slice *rest, char separator, struct case_slice *part)
{
    while (rest->length > 0 && *rest->at == ' ') {
        rest->at++;
        rest->length--;
    }
    if (rest->length == 0)
        return false;
    const char *stop = memchr(rest->at, separator, rest->length);
    size_t length = stop == NULL ? rest->length : (size_t)(stop - rest->at);
    size_t taken = stop == NULL ? length : length + 1;
    *part = (struct case_slice){rest->at, length};
    rest->at += taken;
    rest->length -= taken;
    return true;
}

bool slice_word(struct case_slice *rest, struct case_slice *word)
{
    return slice_part(rest, ' ', word);
}

bool slice_split(struct case_slice word, char separator, struct case_slice *before, struct case_slice *after)
{
    const char *at = memchr(word.at, separator, word.length);
    if (at == NULL)
        return false;
    size_t length = (size_t)(at - word.at);
    *before = (struct case_slice){word.at, length};
    *after = (struct case_slice){at + 1, word.length - length - 1};
    return true;
}

bool slice_is(struct case_slice slice, const char *text)
{
    return slice.length == strlen(text) && memcmp(slice.at, text, slice.length) == 0;
}

/* Reads digits at the front of `rest`; false when there are none or they do not fit. */
static bool take_number(struct case_slice *rest, uint64_t *value)
{
    uint64_t sum = 0;
    size_t i = 0;
    for (; i < rest->length && rest->at[i] >= '0' && rest->at[i] <= '9'; i++) {
        uint64_t digit = (uint64_t)(rest->at[i] - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    if (i == 0)
        return false;
    rest->at += i;
    rest->length -= i;
    *value = sum;
    return true;
}

bool slice_number(struct case_slice slice, uint64_t *value)
{
    return take_number(&slice, value) && slice.length == 0;
}

static bool take_char(struct case_slice *rest, char wanted)
{
    if (rest->length == 0 || *rest->at != wanted)
        return false;
    rest->at++;
    rest->length--;
    return true;
}

static bool add_range(struct rank_list *list, uint64_t from, uint64_t to, uint64_t step)
{
    if (to < from || step == 0 || to > UINT32_MAX / 2)
        return false;
    uint64_t count = list->count + (to - from) / step + 1;
    uint32_t *grown = realloc(list->ranks, count * sizeof *grown);
    if (grown == NULL)
        abort();
    list->ranks = grown;
    for (uint64_t rank = from; rank <= to; rank += step)
        list->ranks[list->count++] = (uint32_t)rank;
    return true;
}

bool rank_list_read(struct case_slice text, struct rank_list *list)
{
    struct case_slice word;
    *list = (struct rank_list){0};
    while (slice_word(&text, &word)) {
        uint64_t from = 0;
        uint64_t to = 0;
        uint64_t step = 1;
        bool good = take_number(&word, &from);
        to = from;
        if (good && take_char(&word, '-'))
            good = take_number(&word, &to);
        if (good && take_char(&word, ':'))
            good = take_number(&word, &step);
        if (!good || word.length > 0 || !add_range(list, from, to, step)) {
            free(list->ranks);
            *list = (struct rank_list){0};
            return false;
        }
    }
    return true;
}

static bool apply(char operator, int64_t operand, int64_t *value)
{
    switch (operator) {
    case '+':
        *value += operand;
        return true;
    case '-':
        *value -= operand;
        return true;
    case '*':
        *value *= operand;
        return true;
    case '/':
        if (operand == 0)
            return false;
        *value /= operand;
        return true;
    case '%':
        if (operand == 0)
            return false;
        *value %= operand;
        return true;
    default:
        return false;
    }
}

static bool expression(struct case_slice text, uint32_t rank, int64_t *value)
{
    take_char(&text, '(');
    if (!take_char(&text, 'r'))
        return false;
    *value = rank;
    while (text.length > 0) {
        uint64_t operand = 0;
        char operator= * text.at;
        text.at++;
        text.length--;
        if (operator== ')')
            continue;
        if (!take_number(&text, &operand) || operand > UINT32_MAX || !apply(operator,(int64_t) operand, value))
            return false;
    }
    return true;
}

/* `{5,6*3}`: the value at `position`. */
static bool listed(struct case_slice text, uint32_t position, int64_t *value)
{
    struct case_slice item;
    text.at++;
    text.length -= 2;
    uint64_t seen = 0;
    while (slice_part(&text, ',', &item)) {
        uint64_t number = 0;
        uint64_t times = 1;
        if (!take_number(&item, &number) || number > INT64_MAX)
            return false;
        if (take_char(&item, '*') && !take_number(&item, &times))
            return false;
        seen += times;
        if (position < seen) {
            *value = (int64_t)number;
            return true;
        }
    }
    return false;
}

bool rank_value(struct case_slice text, uint32_t rank, uint32_t position, int64_t *value)
{
    uint64_t number = 0;
    if (text.length == 0)
        return false;
    if (text.at[0] == '{')
        return text.length > 2 && text.at[text.length - 1] == '}' && listed(text, position, value);
    if (text.at[0] == 'r' || text.at[0] == '(')
        return expression(text, rank, value);
    if (!slice_number(text, &number) || number > INT64_MAX)
        return false;
    *value = (int64_t)number;
    return true;
}
