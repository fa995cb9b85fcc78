/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools' texts are told apart line by line rather than by file, because people append one output to another, and
 * because warnings stand between the lines. A line that means nothing here is passed over; a file without any that does
 * is refused.
 *
 * Sections of amd-smi end with the next section or ten lines later, whichever comes first, as with the Python parser
 * whose files these are; its 100 MHz for a clock that is missing is not repeated.
 */
#include "api/doctor/smi.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/scan.h"

enum { SECTION_LINES = 10, COLUMNS_MOST = 8, DIGITS_MOST = 9 };

#define DOCTOR_X(name, word, section, key, file) {section, key},
static const struct {
    const char *section, *key;
} names[] = {DOCTOR_CLOCKS(DOCTOR_X)};
#undef DOCTOR_X

enum nvidia_clocks { NVIDIA_OTHER, NVIDIA_NOW, NVIDIA_MOST };

struct reading {
    struct doctor_smi *smi;
    struct arena *arena;
    struct doctor_gpu *gpu;         /* of amd-smi's text, the one spoken of; NULL at first */
    enum doctor_clock_kind section; /* of it; DOCTOR_CLOCK_KINDS: none */
    unsigned section_lines;         /* left of it */
    struct doctor_gpu *nvidia;      /* the same of nvidia-smi's */
    enum nvidia_clocks nvidia_clocks;
    enum doctor_clock_kind columns[COLUMNS_MOST]; /* clocks of the table's header, in order */
    unsigned column_count;
    bool seen;    /* a line that means something */
    bool refused; /* memory */
};

/* A piece of a line. */
struct piece {
    const char *at;
    size_t length;
};

static struct piece trimmed(const char *at, size_t length)
{
    while (length > 0 && isspace((unsigned char)*at)) {
        at++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)at[length - 1])) {
        length--;
    }
    return (struct piece){at, length};
}

static bool same(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

static bool begins(struct piece line, const char *word)
{
    return line.length >= strlen(word) && strncasecmp(line.at, word, strlen(word)) == 0;
}

static struct piece after(struct piece line, size_t bytes)
{
    return trimmed(line.at + bytes, line.length - bytes);
}

/* Where `word` begins in the line, case aside; its length when it does not. */
static size_t doctor_smi_find(struct piece line, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= line.length; i++) {
        if (strncasecmp(line.at + i, word, length) == 0) {
            return i;
        }
    }
    return line.length;
}

/* A whole number of few digits; false when there is none at the front. */
static bool leading_number(struct piece text, uint32_t *number)
{
    uint64_t value = 0;
    size_t digits = scan_digits(text.at, text.length, &value);
    if (digits > DIGITS_MOST) {
        return false;
    }
    *number = (uint32_t)value;
    return digits > 0;
}

/* The last number before "MHz", with blanks, dots and a fraction allowed; the fraction is cut. */
static uint32_t mhz_before(struct piece line, size_t unit)
{
    size_t end = unit;
    while (end > 0 && isspace((unsigned char)line.at[end - 1])) {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && (isdigit((unsigned char)line.at[begin - 1]) || line.at[begin - 1] == '.')) {
        begin--;
    }
    uint32_t value = 0;
    return leading_number((struct piece){line.at + begin, end - begin}, &value) ? value : DOCTOR_UNKNOWN;
}

static uint32_t first_mhz(struct piece line)
{
    size_t unit = doctor_smi_find(line, "mhz");
    return unit < line.length ? mhz_before(line, unit) : DOCTOR_UNKNOWN;
}

uint32_t doctor_smi_mhz(const char *text)
{
    struct piece line = trimmed(text, strlen(text));
    uint32_t value = first_mhz(line);
    if (value == DOCTOR_UNKNOWN && doctor_smi_find(line, "mhz") == line.length) {
        /* A bare number is in MHz, "1500" as well as "(1500)"; a level "1: ..." has its unit. */
        struct piece bare = begins(line, "(") ? after(line, 1) : line;
        uint32_t number = 0;
        size_t digits = 0;
        while (digits < bare.length && isdigit((unsigned char)bare.at[digits])) {
            digits++;
        }
        bool alone = digits == bare.length || bare.at[digits] == ')' || bare.at[digits] == '.';
        value = alone && leading_number(bare, &number) ? number : DOCTOR_UNKNOWN;
    }
    return value;
}

enum doctor_clock_kind doctor_smi_key(const char *text, size_t length)
{
    for (unsigned k = 0; k < DOCTOR_CLOCK_KINDS; k++) {
        if (same(text, length, names[k].key)) {
            return (enum doctor_clock_kind)k;
        }
    }
    return DOCTOR_CLOCK_KINDS;
}

enum doctor_clock_kind doctor_smi_section(const char *text, size_t length)
{
    size_t stem = length;
    while (stem > 0 && isdigit((unsigned char)text[stem - 1])) {
        stem--;
    }
    stem = stem > 0 && stem < length && text[stem - 1] == '_' ? stem - 1 : length;
    for (unsigned k = 0; k < DOCTOR_CLOCK_KINDS; k++) {
        if (same(text, stem, names[k].section)) {
            return (enum doctor_clock_kind)k;
        }
    }
    return DOCTOR_CLOCK_KINDS;
}

struct doctor_gpu *doctor_smi_gpu(struct doctor_smi *smi, uint32_t index, struct arena *arena)
{
    for (uint32_t i = 0; i < smi->count; i++) {
        if (smi->gpus[i].index == index) {
            return &smi->gpus[i];
        }
    }
    if (smi->count == DOCTOR_GPUS_MOST) {
        return NULL;
    }
    /* All the room at once: whoever reads keeps the address of the GPU that is spoken of. */
    if (smi->gpus == NULL) {
        smi->gpus = arena_alloc(arena, DOCTOR_GPUS_MOST * sizeof *smi->gpus);
    }
    if (smi->gpus == NULL) {
        return NULL;
    }
    struct doctor_gpu *gpu = &smi->gpus[smi->count++];
    *gpu = (struct doctor_gpu){.source = smi->tool.file, .name = "", .index = index};
    for (unsigned k = 0; k < DOCTOR_CLOCK_KINDS; k++) {
        gpu->clocks[k] = (struct doctor_clock){DOCTOR_UNKNOWN, DOCTOR_UNKNOWN, DOCTOR_UNKNOWN};
    }
    return gpu;
}

static struct doctor_gpu *gpu_of(struct reading *r, uint32_t index)
{
    struct doctor_gpu *gpu = doctor_smi_gpu(r->smi, index, r->arena);
    r->refused = r->refused || gpu == NULL;
    r->seen = true;
    return gpu;
}

static const char *doctor_smi_keep(struct reading *r, struct piece text)
{
    char *copy = arena_strndup(r->arena, text.at, text.length);
    r->refused = r->refused || copy == NULL;
    for (char *c = copy; c != NULL && *c != '\0'; c++) {
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
    }
    return copy == NULL ? "" : copy;
}

/* What is said first stays: GFX_0 before the dies behind it. */
static void doctor_smi_set_clock(uint32_t *clock, uint32_t mhz)
{
    if (*clock == DOCTOR_UNKNOWN) {
        *clock = mhz;
    }
}

/* ---- lines ---- */

/* "AMDSMI Tool: 24.6.2 | AMDSMI Library version: 24.6.2.0 | ROCm version: 6.2.2 | amdgpu version: 6.8.5", and the two
 * lines of rocm-smi --version. */
static bool read_version(struct reading *r, struct piece line)
{
    struct doctor_tool *tool = &r->smi->tool;
    const struct {
        const char *key;
        const char **value;
        const char *name;
    } fields[] = {{"AMDSMI Tool", &tool->version, "amd-smi"},
                  {"AMDSMI Library version", &tool->library, "amd-smi"},
                  {"ROCm version", &tool->rocm, ""},
                  {"amdgpu version", &tool->driver, ""},
                  {"Driver version", &tool->driver, ""}, /* nvidia-smi's too, with blanks before the colon */
                  {"ROCM-SMI version", &tool->version, "rocm-smi"},
                  {"ROCM-SMI-LIB version", &tool->library, "rocm-smi"}};
    bool any = false;
    while (line.length > 0) {
        size_t bar = doctor_smi_find(line, "|");
        struct piece field = trimmed(line.at, bar);
        size_t colon = doctor_smi_find(field, ":");
        struct piece key = trimmed(field.at, colon);
        for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
            if (colon < field.length && same(key.at, key.length, fields[i].key)) {
                *fields[i].value = doctor_smi_keep(r, after(field, colon + 1));
                tool->name = fields[i].name[0] == '\0' ? tool->name : fields[i].name;
                any = true;
            }
        }
        line = bar < line.length ? after(line, bar + 1) : (struct piece){line.at, 0};
    }
    r->seen = r->seen || any;
    return any;
}

/* amd-smi: "GPU: 0". What follows is about this GPU, and no longer about one of nvidia-smi's. */
static bool doctor_smi_read_amd_gpu(struct reading *r, struct piece line)
{
    uint32_t index = 0;
    if (!begins(line, "GPU:")) {
        return false;
    }
    if (leading_number(after(line, 4), &index)) {
        r->gpu = gpu_of(r, index);
        r->nvidia = NULL;
        r->section = DOCTOR_CLOCK_KINDS;
        r->smi->tool.name = "amd-smi";
    }
    return true;
}

/* amd-smi: "GFX_0:", "CLK: 132 MHz". */
static bool read_amd(struct reading *r, struct piece line)
{
    if (r->gpu == NULL) {
        return false;
    }
    if (begins(line, "MARKET_NAME:")) {
        r->gpu->name = doctor_smi_keep(r, after(line, strlen("MARKET_NAME:")));
        return true;
    }
    if (line.at[line.length - 1] == ':') {
        r->section = doctor_smi_section(line.at, line.length - 1);
        r->section_lines = SECTION_LINES;
        return true;
    }
    if (r->section == DOCTOR_CLOCK_KINDS || r->section_lines == 0) {
        return false;
    }
    r->section_lines--;
    struct doctor_clock *clock = &r->gpu->clocks[r->section];
    const struct {
        const char *key;
        uint32_t *value;
    } fields[] = {{"CLK:", &clock->now}, {"MIN_CLK:", &clock->min}, {"MAX_CLK:", &clock->max}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (begins(line, fields[i].key)) {
            doctor_smi_set_clock(fields[i].value, first_mhz(line));
            return true;
        }
    }
    return false;
}

/* rocm-smi: "GPU[0] : sclk clock level: 1: (800Mhz)", "GPU[0] : Card Series: ...". */
static bool read_rocm(struct reading *r, struct piece line)
{
    uint32_t index = 0;
    size_t colon = doctor_smi_find(line, ":");
    if (!begins(line, "GPU[") || !leading_number(after(line, 4), &index) || colon == line.length) {
        return false;
    }
    struct piece rest = after(line, colon + 1);
    size_t space = doctor_smi_find(rest, " clock ");
    enum doctor_clock_kind kind = space < rest.length ? doctor_smi_key(rest.at, space) : DOCTOR_CLOCK_KINDS;
    bool named = begins(rest, "Card Series:");
    if (kind == DOCTOR_CLOCK_KINDS && !named) {
        return true;
    }
    struct doctor_gpu *gpu = gpu_of(r, index);
    r->smi->tool.name = "rocm-smi";
    if (gpu != NULL && named) {
        gpu->name = doctor_smi_keep(r, after(rest, strlen("Card Series:")));
    } else if (gpu != NULL) {
        doctor_smi_set_clock(&gpu->clocks[kind].now, first_mhz(rest));
    }
    return true;
}

/* nvidia-smi names GPUs by their place on the bus: they are counted, behind all that are there already. */
static uint32_t next_index(const struct doctor_smi *smi)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < smi->count; i++) {
        next = smi->gpus[i].index >= next ? smi->gpus[i].index + 1 : next;
    }
    return next;
}

/* nvidia-smi -q: "GPU 00000000:07:00.0", then sections "Clocks" and "Max Clocks" with "Graphics : 1980 MHz". */
static bool read_nvidia(struct reading *r, struct piece line)
{
    static const struct {
        const char *key;
        enum doctor_clock_kind kind;
    } known[] = {{"Graphics", DOCTOR_SCLK}, {"Memory", DOCTOR_MCLK}};
    size_t colon = doctor_smi_find(line, " : ");
    if (begins(line, "GPU 0") && doctor_smi_find(line, ":") < line.length && colon == line.length) {
        r->nvidia = gpu_of(r, next_index(r->smi));
        r->nvidia_clocks = NVIDIA_OTHER;
        r->gpu = NULL;
        r->smi->tool.name = "nvidia-smi";
        return true;
    }
    if (r->nvidia == NULL) {
        return false;
    }
    if (colon == line.length) {
        r->nvidia_clocks = same(line.at, line.length, "Clocks")       ? NVIDIA_NOW
                           : same(line.at, line.length, "Max Clocks") ? NVIDIA_MOST
                                                                      : NVIDIA_OTHER;
        return true;
    }
    struct piece key = trimmed(line.at, colon);
    if (same(key.at, key.length, "Product Name")) {
        r->nvidia->name = doctor_smi_keep(r, after(line, colon + 3));
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0] && r->nvidia_clocks != NVIDIA_OTHER; i++) {
        struct doctor_clock *clock = &r->nvidia->clocks[known[i].kind];
        if (same(key.at, key.length, known[i].key)) {
            doctor_smi_set_clock(r->nvidia_clocks == NVIDIA_NOW ? &clock->now : &clock->max, first_mhz(line));
        }
    }
    return true;
}

static struct piece next_word(struct piece *line)
{
    size_t length = 0;
    while (length < line->length && !isspace((unsigned char)line->at[length])) {
        length++;
    }
    struct piece word = {line->at, length};
    *line = after(*line, length);
    return word;
}

bool doctor_smi_column(const char *text, size_t length, enum doctor_clock_kind *kind)
{
    static const struct {
        const char *word;
        enum doctor_clock_kind kind;
    } known[] = {{"SCLK", DOCTOR_SCLK},          {"GFX_CLK", DOCTOR_SCLK},
                 {"GFX_CLOCK", DOCTOR_SCLK},     {"MCLK", DOCTOR_MCLK},
                 {"MEM_CLK", DOCTOR_MCLK},       {"MEM_CLOCK", DOCTOR_MCLK},
                 {"DCLOCK", DOCTOR_DCLK},        {"DEC_CLOCK", DOCTOR_DCLK},
                 {"VCLOCK", DOCTOR_CLOCK_KINDS}, {"ENC_CLOCK", DOCTOR_CLOCK_KINDS}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (same(text, length, known[i].word)) {
            *kind = known[i].kind;
            return true;
        }
    }
    return false;
}

/* The header of rocm-smi's or amd-smi monitor's table: which columns are clocks. */
static bool read_header(struct reading *r, struct piece line)
{
    bool rocm = doctor_smi_find(line, "SCLK") < line.length;
    if (!(begins(line, "GPU ") || begins(line, "Device ")) ||
        !(rocm || doctor_smi_find(line, "GFX_CL") < line.length)) {
        return false;
    }
    r->column_count = 0;
    r->nvidia = NULL;
    r->gpu = NULL;
    r->smi->tool.name = rocm ? "rocm-smi" : "amd-smi";
    while (line.length > 0) {
        struct piece word = next_word(&line);
        enum doctor_clock_kind kind;
        if (r->column_count < COLUMNS_MOST && doctor_smi_column(word.at, word.length, &kind)) {
            r->columns[r->column_count++] = kind;
        }
    }
    return true;
}

/* A row below it: the n-th clock belongs to the n-th clock column, which holds only when none is missing. */
static bool read_table_row(struct reading *r, struct piece line)
{
    uint32_t index = 0;
    uint32_t clocks[COLUMNS_MOST] = {0};
    unsigned count = 0;
    if (r->column_count == 0 || !leading_number(line, &index)) {
        return false;
    }
    for (struct piece rest = line; count < COLUMNS_MOST;) {
        size_t unit = doctor_smi_find(rest, "mhz");
        if (unit == rest.length) {
            break;
        }
        clocks[count++] = mhz_before(rest, unit);
        rest = after(rest, unit + 3);
    }
    struct doctor_gpu *gpu = gpu_of(r, index);
    for (unsigned i = 0; i < count && count == r->column_count && gpu != NULL; i++) {
        if (r->columns[i] != DOCTOR_CLOCK_KINDS) {
            doctor_smi_set_clock(&gpu->clocks[r->columns[i]].now, clocks[i]);
        }
    }
    return true;
}

static void read_line(struct reading *r, struct piece line)
{
    if (line.length == 0) {
        return;
    }
    /* In the order in which one could be taken for the other. */
    (void)(read_version(r, line) || read_header(r, line) || read_rocm(r, line) || doctor_smi_read_amd_gpu(r, line) ||
           read_nvidia(r, line) || read_amd(r, line) || read_table_row(r, line));
}

/* A clock of a GPU that sleeps is 0, and the lowest it has is then the one it wakes up to (spec rocm §1.4). */
static void wake_up(struct doctor_smi *smi)
{
    for (uint32_t i = 0; i < smi->count; i++) {
        struct doctor_clock *clock = &smi->gpus[i].clocks[DOCTOR_SCLK];
        if (clock->now == 0 && clock->min != DOCTOR_UNKNOWN) {
            clock->now = clock->min;
        }
    }
}

enum orr_status doctor_smi_parse(const char *name, const char *text, size_t size, struct arena *arena,
                                 struct doctor_smi *smi, struct orr_error *err)
{
    struct doctor_smi made = {
        .tool = {.file = name, .name = "", .version = "", .library = "", .rocm = "", .driver = ""}};
    struct reading r = {.smi = &made, .arena = arena, .section = DOCTOR_CLOCK_KINDS};
    enum orr_status status = ORR_OK;
    for (size_t at = 0; at < size && status == ORR_OK && !r.refused;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end == NULL ? size - at : (size_t)(end - text) - at;
        if (text[at] == '{' || text[at] == '[') {
            status = doctor_smi_json(name, text, size, arena, &made, err);
            r.seen = true;
            break;
        }
        read_line(&r, trimmed(text + at, length));
        at += length + 1;
    }
    if (status != ORR_OK) {
        return status;
    }
    if (r.refused) {
        return made.count == DOCTOR_GPUS_MOST
                   ? error_set(err, ORR_ERANGE, "%s: more than %d GPUs", name, DOCTOR_GPUS_MOST)
                   : mem_error(arena->mem, "the clocks of GPUs", err);
    }
    if (!r.seen) {
        return error_set(
            err, ORR_EINVAL,
            "%s: no clocks and no versions in it; what amd-smi metric --clock, amd-smi monitor, amd-smi "
            "version, rocm-smi or rocm-smi --showclocks prints is understood, as text or JSON, and nvidia-smi -q",
            name);
    }
    wake_up(&made);
    *smi = made;
    return ORR_OK;
}

bool doctor_dpm_parse(const char *text, struct doctor_clock *clock)
{
    struct doctor_clock found = {DOCTOR_UNKNOWN, DOCTOR_UNKNOWN, DOCTOR_UNKNOWN};
    bool any = false;
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        struct piece line = trimmed(text, length);
        uint32_t mhz = first_mhz(line);
        if (mhz != DOCTOR_UNKNOWN) {
            any = true;
            found.now = line.at[line.length - 1] == '*' ? mhz : found.now;
            bool sleeps = begins(line, "S:");
            if (!sleeps && (found.min == DOCTOR_UNKNOWN || mhz < found.min)) {
                found.min = mhz;
            }
            if (!sleeps && (found.max == DOCTOR_UNKNOWN || mhz > found.max)) {
                found.max = mhz;
            }
        }
        text += length + (text[length] == '\n');
    }
    if (any) {
        *clock = found;
    }
    return any;
}
