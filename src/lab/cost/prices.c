/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of keys for the file and one for an entry: the reader, its messages and the nearest names come from their
 * rows. Prices are read from the text and not through a double, because 0.027 has no double.
 */
#include "lab/cost/prices.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/plain.h"
#include "base/units.h"
#include "io/kind.h"
#include "io/value.h"
#include "io/yaml.h"

enum { ITEMS_MOST = 1000, DECIMALS = 6 };

#define COST_X(name, word, about) word,
static const char *const each_words[] = {COST_EACHES(COST_X) NULL};
#undef COST_X

bool cost_money_parse(const char *text, uint64_t *millionths)
{
    uint64_t value = 0;
    unsigned decimals = 0;
    bool point = false;
    bool digits = false;
    for (; *text != '\0'; text++) {
        if (*text == '.' && !point) {
            point = true;
            continue;
        }
        if (*text < '0' || *text > '9' || (point && decimals == DECIMALS) || value > UINT64_MAX / 100) {
            return false;
        }
        value = value * 10 + (uint64_t)(*text - '0');
        decimals += point;
        digits = true;
    }
    for (; decimals < DECIMALS; decimals++) {
        if (value > UINT64_MAX / 100) {
            return false;
        }
        value *= 10;
    }
    *millionths = value;
    return digits;
}

/* ---- values ---- */

enum key_type { KEY_TEXT, KEY_EACH, KEY_MONEY, KEY_COUNT, KEY_REAL, KEY_RATE, KEY_ITEMS };

struct key {
    const char *name;
    enum key_type type;
    size_t offset;
    double least, most; /* of reals and counts */
};

#define ITEM(field)   offsetof(struct cost_item, field)
#define PRICES(field) offsetof(struct cost_prices, field)

static const struct key item_keys[] = {
    {"name", KEY_TEXT, ITEM(name), 0, 0},     {"each", KEY_EACH, ITEM(each), 0, 0},
    {"price", KEY_MONEY, ITEM(price), 0, 0},  {"for", KEY_COUNT, ITEM(pack), 1, 1e9},
    {"watts", KEY_REAL, ITEM(watts), 0, 1e9}, {"ports", KEY_COUNT, ITEM(ports), 1, 1e6},
    {"rate", KEY_RATE, ITEM(rate_bps), 0, 0},
};

static const struct key file_keys[] = {
    {"currency", KEY_TEXT, PRICES(currency), 0, 0},
    {"gpus-per-server", KEY_COUNT, PRICES(gpus_per_server), 1, 1e6},
    {"nics-per-server", KEY_COUNT, PRICES(nics_per_server), 0, 1e6},
    {"lifetime", KEY_REAL, PRICES(lifetime_years), 0.001, 1000},
    {"utilisation", KEY_REAL, PRICES(utilisation), 0.001, 1},
    {"electricity", KEY_REAL, PRICES(electricity), 0, 1e9},
    {"pue", KEY_REAL, PRICES(pue), 1, 100},
    {"items", KEY_ITEMS, 0, 0, 0},
};

enum { ITEM_KEYS = sizeof item_keys / sizeof item_keys[0], FILE_KEYS = sizeof file_keys / sizeof file_keys[0] };

struct reading {
    const char *file;
    struct arena *arena;
    struct notes *notes;
    struct orr_error *err;
};

static enum orr_status cost_prices_refuse(struct reading *r, const struct io_value *value, enum orr_status status,
                                          const char *expected)
{
    char found[96];
    return error_set(r->err, status, "%s:%" PRIu32 ": \"%s\" is %s; expected %s", r->file, value->line,
                     value->key == NULL ? "entry" : value->key, io_value_describe(value, found, sizeof found),
                     expected);
}

static enum orr_status cost_prices_read_text(struct reading *r, const struct io_value *value, const char **text)
{
    if (value->text == NULL || value->text[0] == '\0') {
        return cost_prices_refuse(r, value, ORR_EINVAL, "a text");
    }
    size_t room = strlen(value->text) + 1;
    char *copy = arena_alloc(r->arena, room);
    if (copy == NULL) {
        return mem_error(r->arena->mem, "the prices", r->err);
    }
    *text = io_text_printable(value->text, copy, room);
    return ORR_OK;
}

static enum orr_status read_each(struct reading *r, const struct io_value *value, enum cost_each *each)
{
    const char *word = value->text == NULL ? "" : value->text;
    char found[96];
    for (unsigned i = 0; i < COST_EACH_COUNT; i++) {
        if (strcmp(word, each_words[i]) == 0) {
            *each = (enum cost_each)i;
            return ORR_OK;
        }
    }
    struct error_proposal near = error_propose(word, each_words);
    return error_set(r->err, ORR_EINVAL,
                     "%s:%" PRIu32 ": \"each\" is %s; expected gpu, server, nic, nvswitch, switch, leaf, spine, port, "
                     "link or machine%s",
                     r->file, value->line, io_value_describe(value, found, sizeof found), near.text);
}

static enum orr_status cost_prices_read_rate(struct reading *r, const struct io_value *value, uint64_t *rate)
{
    struct orr_error reason = {0};
    char found[96];
    enum orr_status status =
        value->text == NULL ? ORR_EINVAL : units_parse(value->text, UNITS_RATE, "Gbps", rate, &reason);
    if (status == ORR_OK && *rate > 0) {
        return ORR_OK;
    }
    return error_set(r->err, ORR_EINVAL,
                     "%s:%" PRIu32 ": \"rate\" is %s; expected a rate such as 400Gbps; a bare number is in Gbps",
                     r->file, value->line, io_value_describe(value, found, sizeof found));
}

static double cost_prices_number_of(const struct io_value *value)
{
    return value->kind == IO_INTEGER ? (double)value->integer : value->kind == IO_REAL ? value->real : -1;
}

static enum orr_status cost_prices_read_value(struct reading *r, const struct key *key, const struct io_value *value,
                                              char *into)
{
    double number = cost_prices_number_of(value);
    char expected[96];
    switch (key->type) {
    case KEY_TEXT:
        return cost_prices_read_text(r, value, (const char **)(void *)(into + key->offset));
    case KEY_EACH:
        return read_each(r, value, (enum cost_each *)(void *)(into + key->offset));
    case KEY_RATE:
        return cost_prices_read_rate(r, value, (uint64_t *)(void *)(into + key->offset));
    case KEY_MONEY:
        return value->text != NULL && cost_money_parse(value->text, (uint64_t *)(void *)(into + key->offset))
                   ? ORR_OK
                   : cost_prices_refuse(
                         r, value, ORR_EINVAL,
                         "an amount of the currency below 10^11 with at most 6 decimals, without a sign");
    case KEY_COUNT:
    case KEY_REAL:
    default:
        break;
    }
    bool whole = key->type == KEY_COUNT;
    if (number < key->least || number > key->most || (whole && value->kind != IO_INTEGER)) {
        (void)plain_snprintf(expected, sizeof expected, "a %snumber from %g to %g", whole ? "whole " : "", key->least,
                             key->most);
        return cost_prices_refuse(r, value, ORR_ERANGE, expected);
    }
    if (whole) {
        *(uint64_t *)(void *)(into + key->offset) = (uint64_t)value->integer;
    } else {
        *(double *)(void *)(into + key->offset) = number;
    }
    return ORR_OK;
}

/* ---- maps ---- */

static enum orr_status unknown(struct reading *r, const struct io_value *value, const struct key *keys, unsigned count)
{
    const char *names[FILE_KEYS + ITEM_KEYS + 1] = {NULL};
    char shown[96];
    for (unsigned i = 0; i < count; i++) {
        names[i] = keys[i].name;
    }
    struct error_proposal near = error_propose(value->key, names);
    return notes_add(r->notes, r->err, "%s:%" PRIu32 ": unknown key \"%s\" is ignored%s", r->file, value->key_line,
                     io_text_printable(value->key, shown, sizeof shown), near.text);
}

/* Every value of the map that a row is about; `*seen` has a bit for each row found. Lists of items are left alone. */
static enum orr_status read_map(struct reading *r, const struct io_value *map, const struct key *keys, unsigned count,
                                char *into, uint32_t *seen)
{
    *seen = 0;
    for (const struct io_value *value = map->first; value != NULL; value = value->next) {
        unsigned at = 0;
        enum orr_status status = ORR_OK;
        while (at < count && strcmp(keys[at].name, value->key) != 0) {
            at++;
        }
        if (at == count) {
            status = unknown(r, value, keys, count);
        } else if ((*seen >> at & 1) != 0) {
            status = error_set(r->err, ORR_EINVAL, "%s:%" PRIu32 ": a second \"%s\"", r->file, value->key_line,
                               keys[at].name);
        } else {
            *seen |= UINT32_C(1) << at;
            status = keys[at].type == KEY_ITEMS ? ORR_OK : cost_prices_read_value(r, &keys[at], value, into);
        }
        if (status != ORR_OK) {
            return status;
        }
    }
    return ORR_OK;
}

static enum orr_status read_item(struct reading *r, const struct io_value *value, struct cost_item *item)
{
    uint32_t seen = 0;
    *item = (struct cost_item){.pack = 1};
    if (value->kind != IO_MAP) {
        return cost_prices_refuse(r, value, ORR_EINVAL, "a map with name, each and price");
    }
    enum orr_status status = read_map(r, value, item_keys, ITEM_KEYS, (char *)item, &seen);
    for (unsigned i = 0; i < 3 && status == ORR_OK; i++) {
        if ((seen >> i & 1) == 0) {
            status = error_set(r->err, ORR_EINVAL,
                               "%s:%" PRIu32 ": an item without \"%s\"; name, each and price are "
                               "needed",
                               r->file, value->line, item_keys[i].name);
        }
    }
    if (status == ORR_OK && item->ports != 0 && item->each != COST_SWITCH && item->each != COST_LEAF &&
        item->each != COST_SPINE) {
        status = error_set(r->err, ORR_EINVAL, "%s:%" PRIu32 ": \"ports\" is for each: switch, leaf or spine", r->file,
                           value->line);
    }
    if (status == ORR_OK && item->rate_bps != 0 && item->each != COST_LINK) {
        status = error_set(r->err, ORR_EINVAL, "%s:%" PRIu32 ": \"rate\" is for each: link", r->file, value->line);
    }
    return status;
}

static enum orr_status read_items(struct reading *r, const struct io_value *root, struct cost_prices *prices)
{
    const struct io_value *list = root->first;
    while (list != NULL && strcmp(list->key, "items") != 0) {
        list = list->next;
    }
    if (list == NULL || list->kind != IO_LIST || list->count == 0 || list->count > ITEMS_MOST) {
        return error_set(r->err, ORR_EINVAL, "%s:%" PRIu32 ": \"items\" must be a list of 1 to %d things with a price",
                         r->file, list == NULL ? root->line : list->line, ITEMS_MOST);
    }
    prices->items = arena_alloc(r->arena, list->count * sizeof *prices->items);
    if (prices->items == NULL) {
        return mem_error(r->arena->mem, "the prices", r->err);
    }
    for (const struct io_value *value = list->first; value != NULL; value = value->next) {
        enum orr_status status = read_item(r, value, &prices->items[prices->item_count]);
        if (status != ORR_OK) {
            return status;
        }
        prices->item_count++;
    }
    return ORR_OK;
}

enum orr_status cost_prices_parse(const char *name, const char *text, size_t size, struct arena *arena,
                                  struct notes *notes, struct cost_prices *prices, struct orr_error *err)
{
    struct reading r = {.file = name, .arena = arena, .notes = notes, .err = err};
    struct cost_prices made = {.currency = "", .gpus_per_server = 8, .nics_per_server = 8, .utilisation = 1, .pue = 1};
    struct io_value *root = NULL;
    uint32_t seen = 0;
    enum orr_status status = file_kind_check(name, text, size, FILE_KIND_PRICES, NULL, err);
    if (status == ORR_OK) {
        status = io_yaml_parse(name, text, size, arena, &root, err);
    }
    if (status == ORR_OK && root->kind != IO_MAP) {
        status = error_set(err, ORR_EINVAL,
                           "%s:%" PRIu32 ": not a map; orrery cost parameter 'template' prints a list of prices", name,
                           root->line);
    }
    if (status == ORR_OK) {
        status = read_map(&r, root, file_keys, FILE_KEYS, (char *)&made, &seen);
    }
    if (status == ORR_OK) {
        status = read_items(&r, root, &made);
    }
    if (status == ORR_OK) {
        *prices = made;
    }
    return status;
}

const char cost_prices_example[] =
    "# Prices for orrery cost. All of them are examples: put in what you were offered.\n"
    "currency: USD\n"
    "gpus-per-server: 8\n"
    "nics-per-server: 8\n"
    "\n"
    "# What a step costs: the price over the lifetime, and power.\n"
    "lifetime: 4          # years\n"
    "utilisation: 0.8     # share of the lifetime in which the machine works\n"
    "electricity: 0.12    # for a kilowatt hour\n"
    "pue: 1.3             # watts the building draws for each watt of the machine\n"
    "\n"
    "# each: gpu, server, nic, nvswitch, switch, leaf, spine, port, link or machine.\n"
    "# for: how many the price is for (1). watts: of one. ports (switches): the item is\n"
    "# for those with at most so many in use. rate (links): for those of this rate.\n"
    "items:\n"
    "  - {name: GPU,                each: gpu,    price: 25000, watts: 700}\n"
    "  - {name: server,             each: server, price: 60000, watts: 3000}\n"
    "  - {name: NIC,                each: nic,    price: 1500,  watts: 25}\n"
    "  - {name: switch to 32 ports, each: switch, price: 20000, watts: 800,  ports: 32}\n"
    "  - {name: switch to 64 ports, each: switch, price: 35000, watts: 1500, ports: 64}\n"
    "  - {name: larger switch,      each: switch, price: 90000, watts: 4000}\n"
    "  - {name: cable,              each: link,   price: 400}\n"
    "  - {name: installation,       each: machine, price: 20000}\n";
