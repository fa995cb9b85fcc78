/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network configuration, word by word: a key, then its value. The reference reads it the same way, so values may
 * stand on any line. Every key of the reference has a row here; those it never uses are rows too, with the reason,
 * since a user who sets one should hear that nothing will come of it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "config/wired.h"
#include "config/words.h"
#include "net/cc/cc.h"

enum packet_type { FLAG, COUNT, REAL, MICROSECONDS, RATE, MEBIBYTES, PATH, MAP, DOWN, UNUSED };

struct packet_row {
    const char *key;
    enum packet_type type;
    size_t offset;      /* into struct packet_config; PATH: into struct config_packet_files */
    double least, most; /* UNUSED with a reason: `least` is the value that agrees with what happens anyway */
    const char *why;    /* UNUSED: why it has no effect; NULL where all such keys are told in one line */
};

#define AT(member) offsetof(struct packet_config, member)
#define IN(member) offsetof(struct config_packet_files, member)
#define NO_EFFECT  SIZE_MAX

static const struct packet_row rows[] = {
    {"ENABLE_QCN", FLAG, AT(enable_qcn), 0, 1, NULL},
    {"USE_DYNAMIC_PFC_THRESHOLD", UNUSED, NO_EFFECT, 1, 0, "the threshold is always dynamic"},
    {"PAUSE_TIME", UNUSED, NO_EFFECT, 0, 0, NULL},
    {"PACKET_PAYLOAD_SIZE", COUNT, AT(payload_bytes), 1, 1 << 20, NULL},
    {"L2_CHUNK_SIZE", COUNT, AT(chunk_bytes), 0, UINT32_MAX, NULL},
    {"L2_ACK_INTERVAL", COUNT, AT(ack_interval), 0, UINT32_MAX, NULL},
    {"L2_BACK_TO_ZERO", FLAG, AT(back_to_zero), 0, 1, NULL},
    {"TOPOLOGY_FILE", PATH, IN(topology), 0, 0, NULL},
    {"FLOW_FILE", UNUSED, NO_EFFECT, 0, 0, NULL},
    {"TRACE_FILE", UNUSED, NO_EFFECT, 0, 0, NULL},
    {"TRACE_OUTPUT_FILE", UNUSED, NO_EFFECT, 0, 0, NULL},
    {"FCT_OUTPUT_FILE", PATH, IN(fct), 0, 0, NULL},
    {"PFC_OUTPUT_FILE", PATH, IN(pfc), 0, 0, NULL},
    {"QLEN_MON_FILE", PATH, IN(qlen), 0, 0, NULL},
    {"QLEN_MON_START", COUNT, AT(sample_start_ns), 0, UINT32_MAX, NULL},
    {"QLEN_MON_END", UNUSED, NO_EFFECT, 0, 0, NULL},
    {"SIMULATOR_STOP_TIME", UNUSED, NO_EFFECT, 0, 0, NULL},
    {"CC_MODE", COUNT, AT(cc_mode), 0, UINT32_MAX, NULL},
    {"ALPHA_RESUME_INTERVAL", MICROSECONDS, AT(alpha_resume_us), 0, 1e9, NULL},
    {"RATE_DECREASE_INTERVAL", MICROSECONDS, AT(rate_decrease_us), 0, 1e9, NULL},
    {"CLAMP_TARGET_RATE", FLAG, AT(clamp_target_rate), 0, 1, NULL},
    {"RP_TIMER", MICROSECONDS, AT(rp_timer_us), 0, 1e9, NULL},
    {"EWMA_GAIN", REAL, AT(ewma_gain), 0, 1, NULL},
    {"FAST_RECOVERY_TIMES", COUNT, AT(fast_recovery_times), 0, UINT32_MAX, NULL},
    {"RATE_AI", RATE, AT(rate_ai_bps), 0, 0, NULL},
    {"RATE_HAI", RATE, AT(rate_hai_bps), 0, 0, NULL},
    {"MIN_RATE", RATE, AT(min_rate_bps), 0, 0, NULL},
    {"DCTCP_RATE_AI", RATE, AT(dctcp_rate_ai_bps), 0, 0, NULL},
    {"ERROR_RATE_PER_LINK", REAL, AT(error_rate), 0, 1, NULL},
    {"HAS_WIN", FLAG, AT(has_window), 0, 1, NULL},
    {"GLOBAL_T", FLAG, AT(global_t), 0, 1, NULL},
    {"VAR_WIN", FLAG, AT(var_window), 0, 1, NULL},
    {"FAST_REACT", FLAG, AT(fast_react), 0, 1, NULL},
    {"U_TARGET", REAL, AT(u_target), 1e-6, 10, NULL},
    {"MI_THRESH", COUNT, AT(mi_thresh), 0, UINT32_MAX, NULL},
    {"INT_MULTI", UNUSED, NO_EFFECT, 1, 0, "telemetry is kept in its own units"},
    {"MULTI_RATE", FLAG, AT(multi_rate), 0, 1, NULL},
    {"SAMPLE_FEEDBACK", FLAG, AT(sample_feedback), 0, 1, NULL},
    {"PINT_LOG_BASE", REAL, AT(pint_log_base), 1.000001, 100, NULL},
    {"PINT_PROB", REAL, AT(pint_prob), 0, 1, NULL},
    {"RATE_BOUND", FLAG, AT(rate_bound), 0, 1, NULL},
    {"ACK_HIGH_PRIO", FLAG, AT(ack_high_prio), 0, 1, NULL},
    {"NIC_TOTAL_PAUSE_TIME", COUNT, AT(nic_total_pause), 0, UINT32_MAX, NULL},
    {"LINK_DOWN", DOWN, NO_EFFECT, 0, 0, NULL},
    {"ENABLE_TRACE", UNUSED, NO_EFFECT, 0, 0, "packet traces are not written"},
    {"KMAX_MAP", MAP, AT(marks[0].kmax_bytes), 1000, 0, NULL},
    {"KMIN_MAP", MAP, AT(marks[0].kmin_bytes), 1000, 0, NULL},
    {"PMAX_MAP", MAP, AT(marks[0].pmax), 1, 0, NULL},
    {"BUFFER_SIZE", MEBIBYTES, AT(buffer_bytes), 0, 4095, NULL},
    {"HEADROOM_FACTOR", COUNT, AT(headroom_factor), 0, 1 << 20, NULL},
    {"BW_MON_FILE", UNUSED, NO_EFFECT, 0, 0, NULL},
    {"RATE_MON_FILE", UNUSED, NO_EFFECT, 0, 0, NULL},
    {"CNP_MON_FILE", UNUSED, NO_EFFECT, 0, 0, NULL},
    {"MON_START", UNUSED, NO_EFFECT, 0, 0, NULL},
    {"MON_END", UNUSED, NO_EFFECT, 0, 0, NULL},
    {"QP_MON_INTERVAL", UNUSED, NO_EFFECT, 0, 0, NULL},
    {"BW_MON_INTERVAL", UNUSED, NO_EFFECT, 0, 0, NULL},
    {"QLEN_MON_INTERVAL", UNUSED, NO_EFFECT, 0, 0, NULL},
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

struct packet_reader {
    struct words words;
    struct arena *arena;
    struct notes *notes;
    struct packet_config *config;
    struct config_packet_files *files;
    const char *unused; /* names of keys that nothing uses, or NULL */
    uint32_t unused_count;
};

static const struct packet_row *config_packet_find_row(const struct word *word)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (word_is(word, rows[i].key)) {
            return &rows[i];
        }
    }
    return NULL;
}

/* Unknown words are passed over as in the reference, but told. */
static enum orr_status config_packet_note_unknown(struct packet_reader *reader, const struct word *word,
                                                  struct orr_error *err)
{
    const char *known[ROW_COUNT + 1];
    char room[WORD_ROOM];
    for (size_t i = 0; i < ROW_COUNT; i++) {
        known[i] = rows[i].key;
    }
    known[ROW_COUNT] = NULL;
    const char *nearest = error_nearest(word_text(word, room), known);
    return notes_add(reader->notes, err, "%s:%" PRIu64 ": unknown key \"%s\" is ignored%s%s%s", reader->words.name,
                     word->line, room, nearest == NULL ? "" : "; did you mean ", nearest == NULL ? "" : nearest,
                     nearest == NULL ? "" : "?");
}

static struct packet_mark *mark_of(struct packet_config *config, uint64_t rate_bps)
{
    for (uint32_t i = 0; i < config->mark_count; i++) {
        if (config->marks[i].rate_bps == rate_bps) {
            return &config->marks[i];
        }
    }
    if (config->mark_count == PACKET_MARKS_MOST) {
        return NULL;
    }
    config->marks[config->mark_count] = (struct packet_mark){.rate_bps = rate_bps};
    return &config->marks[config->mark_count++];
}

static enum orr_status config_packet_read_map(struct packet_reader *reader, const struct packet_row *row,
                                              struct orr_error *err)
{
    struct word word;
    uint64_t count = 0;
    enum orr_status status = words_need(&reader->words, row->key, &word, err);
    if (status == ORR_OK) {
        status = word_count(&reader->words, &word, row->key, PACKET_MARKS_MOST, &count, err);
    }
    for (uint64_t i = 0; status == ORR_OK && i < count; i++) {
        uint64_t rate = 0;
        double value = 0;
        status = words_need(&reader->words, row->key, &word, err);
        if (status == ORR_OK) {
            status = word_rate(&reader->words, &word, row->key, &rate, err);
        }
        if (status == ORR_OK) {
            status = words_need(&reader->words, row->key, &word, err);
        }
        if (status == ORR_OK) {
            status = word_real(&reader->words, &word, row->key, 0, 1e12, &value, err);
        }
        struct packet_mark *mark = status == ORR_OK ? mark_of(reader->config, rate) : NULL;
        if (status == ORR_OK && mark == NULL) {
            status = error_set(err, ORR_ERANGE, "%s:%" PRIu64 ": more than %d link rates in the marking maps",
                               reader->words.name, word.line, PACKET_MARKS_MOST);
        }
        if (mark != NULL) {
            size_t member = row->offset - AT(marks[0]);
            value *= row->least; /* kilobytes, where the map is one of sizes */
            memcpy((char *)mark + member, &value, sizeof value);
        }
    }
    return status;
}

/* `LINK_DOWN t A B`: 0 0 0 means never, which is what every known file says. */
static enum orr_status read_down(struct packet_reader *reader, struct orr_error *err)
{
    bool is_set = false;
    uint64_t line = reader->words.line;
    for (unsigned i = 0; i < 3; i++) {
        struct word word;
        double value = 0;
        enum orr_status status = words_need(&reader->words, "LINK_DOWN (time, two nodes)", &word, err);
        if (status == ORR_OK) {
            status = word_real(&reader->words, &word, "LINK_DOWN", 0, 1e18, &value, err);
        }
        if (status != ORR_OK) {
            return status;
        }
        is_set = is_set || value != 0;
    }
    return is_set
               ? notes_add(reader->notes, err,
                           "%s:%" PRIu64 ": LINK_DOWN is ignored: the reference takes the link down two seconds into "
                           "the run, which no run reaches; parameter 'link-down' takes one down at any time",
                           reader->words.name, line)
               : ORR_OK;
}

static enum orr_status read_path(struct packet_reader *reader, const struct packet_row *row, const char *text,
                                 size_t length, struct orr_error *err)
{
    const char *path = arena_strndup(reader->arena, text, length);
    if (path == NULL) {
        return mem_error(reader->arena->mem, "the network configuration", err);
    }
    memcpy((char *)reader->files + row->offset, &path, sizeof path);
    return ORR_OK;
}

static enum orr_status config_packet_read_number(struct packet_reader *reader, const struct packet_row *row,
                                                 const struct word *word, struct orr_error *err)
{
    char *at = (char *)reader->config + row->offset;
    double value = 0;
    uint64_t count = 0;
    enum orr_status status = row->type == RATE
                                 ? word_rate(&reader->words, word, row->key, &count, err)
                                 : word_real(&reader->words, word, row->key, row->least, row->most, &value, err);
    if (status != ORR_OK) {
        return status;
    }
    bool is_whole = row->type == COUNT || row->type == FLAG || row->type == MEBIBYTES;
    if (is_whole && value != (double)(uint64_t)value) {
        char room[WORD_ROOM];
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": %s is %s, not a whole number", reader->words.name,
                         word->line, row->key, word_text(word, room));
    }
    switch (row->type) {
    case FLAG:
        *(bool *)at = value != 0;
        break;
    case COUNT:
        *(uint32_t *)(void *)at = (uint32_t)value;
        break;
    case RATE:
        *(uint64_t *)(void *)at = count;
        break;
    case MEBIBYTES:
        *(uint64_t *)(void *)at = (uint64_t)value << 20;
        break;
    default:
        *(double *)(void *)at = value;
        break;
    }
    return ORR_OK;
}

/* Keys that every sample file has and nobody uses are gathered into one line; a value that asks for something which
 * does not happen gets its own. */
static enum orr_status read_unused(struct packet_reader *reader, const struct packet_row *row, const struct word *word,
                                   struct orr_error *err)
{
    char room[WORD_ROOM];
    if (row->why != NULL) {
        bool agrees = plain_strtod(word_text(word, room), NULL) == row->least;
        return agrees ? ORR_OK
                      : notes_add(reader->notes, err, "%s:%" PRIu64 ": %s is ignored: %s", reader->words.name,
                                  word->line, row->key, row->why);
    }
    reader->unused =
        reader->unused == NULL ? row->key : arena_printf(reader->arena, "%s, %s", reader->unused, row->key);
    reader->unused_count++;
    return reader->unused == NULL ? mem_error(reader->arena->mem, "the network configuration", err) : ORR_OK;
}

static enum orr_status config_packet_read_key(struct packet_reader *reader, const struct packet_row *row,
                                              struct orr_error *err)
{
    struct word word;
    if (row->type == MAP) {
        return config_packet_read_map(reader, row, err);
    }
    if (row->type == DOWN) {
        return read_down(reader, err);
    }
    enum orr_status status = words_need(&reader->words, row->key, &word, err);
    if (status != ORR_OK) {
        return status;
    }
    if (row->type == UNUSED) {
        return read_unused(reader, row, &word, err);
    }
    return row->type == PATH ? read_path(reader, row, word.text, word.length, err)
                             : config_packet_read_number(reader, row, &word, err);
}

/* Values that are good alone and contradict each other. */
static enum orr_status config_packet_check(const struct packet_reader *reader, struct orr_error *err)
{
    const struct packet_config *config = reader->config;
    const char *name = reader->words.name;
    if (config->ack_interval == 0) {
        return error_set(
            err, ORR_EINVAL,
            "%s: L2_ACK_INTERVAL is 0 or missing: nothing would ever be acknowledged; 1 acknowledges every "
            "packet",
            name);
    }
    if (config->min_rate_bps == 0) {
        return error_set(err, ORR_EINVAL, "%s: MIN_RATE is 0: a queue pair slowed down to it would never send again",
                         name);
    }
    for (uint32_t i = 0; i < config->mark_count; i++) {
        const struct packet_mark *mark = &config->marks[i];
        if (mark->kmin_bytes > mark->kmax_bytes) {
            return error_set(err, ORR_EINVAL, "%s: links of %" PRIu64 " b/s have KMIN %g above KMAX %g (bytes)", name,
                             mark->rate_bps, mark->kmin_bytes, mark->kmax_bytes);
        }
        if (mark->pmax > 1) {
            return error_set(err, ORR_ERANGE, "%s: links of %" PRIu64 " b/s have PMAX %g; it must lie between 0 and 1",
                             name, mark->rate_bps, mark->pmax);
        }
    }
    return ORR_OK;
}

static enum orr_status note_without_effect(const struct packet_reader *reader, struct orr_error *err)
{
    const char *name = reader->words.name;
    if (reader->unused_count > 0) {
        enum orr_status status =
            notes_add(reader->notes, err, "%s: %" PRIu32 " key%s no effect: %s", name, reader->unused_count,
                      reader->unused_count == 1 ? " has" : "s have", reader->unused);
        if (status != ORR_OK) {
            return status;
        }
    }
    return cc_is_in_files(reader->config->cc_mode)
               ? ORR_OK
               : notes_add(reader->notes, err,
                           "%s: CC_MODE %" PRIu32 " is no congestion control: a fixed window at line rate, as 12", name,
                           reader->config->cc_mode);
}

const char *config_packet_key(uint32_t index)
{
    return index < ROW_COUNT ? rows[index].key : NULL;
}

static bool is_overridden(const struct config_text *text, const struct packet_row *row)
{
    for (uint32_t i = 0; i < text->override_count; i++) {
        if (strcmp(text->overrides[i].key, row->key) == 0) {
            return true;
        }
    }
    return false;
}

/* What goes before the file, with the words of the value in the place of the file's. */
static enum orr_status config_packet_read_overrides(struct packet_reader *reader, const struct config_text *text,
                                                    struct orr_error *err)
{
    const struct words file = reader->words;
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; status == ORR_OK && i < text->override_count; i++) {
        const struct config_override *one = &text->overrides[i];
        const struct word key = {one->key, strlen(one->key), one->line};
        const struct packet_row *row = config_packet_find_row(&key);
        struct word more;
        if (row != NULL && row->type == PATH) { /* all of it, blanks too, which the file itself cannot say */
            status = read_path(reader, row, one->value, strlen(one->value), err);
            continue;
        }
        words_init(&reader->words, one->origin, one->value, strlen(one->value));
        reader->words.line = one->line;
        status = row != NULL
                     ? config_packet_read_key(reader, row, err)
                     : error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": \"%.80s\" is no key of a network configuration",
                                 one->origin, one->line, one->key);
        if (status == ORR_OK && words_next(&reader->words, &more)) {
            char room[WORD_ROOM];
            status = error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": %s: \"%s\" is one word too many", one->origin,
                               one->line, one->key, word_text(&more, room));
        }
    }
    reader->words = file;
    return status;
}

/* A key that is overridden is read all the same, since its words must be passed over, and lost. */
static enum orr_status config_packet_read_file(struct packet_reader *reader, const struct config_text *text,
                                               struct orr_error *err)
{
    struct packet_config *kept = reader->config;
    struct config_packet_files *files = reader->files;
    struct packet_config lost_config = PACKET_CONFIG_DEFAULT;
    struct config_packet_files lost_files = {0};
    struct word word;
    enum orr_status status = ORR_OK;
    words_init(&reader->words, text->name, text->text, text->size);
    while (status == ORR_OK && words_next(&reader->words, &word)) {
        const struct packet_row *row = config_packet_find_row(&word);
        bool lost = row != NULL && is_overridden(text, row);
        reader->config = lost ? &lost_config : kept;
        reader->files = lost ? &lost_files : files;
        status =
            row == NULL ? config_packet_note_unknown(reader, &word, err) : config_packet_read_key(reader, row, err);
    }
    reader->config = kept;
    reader->files = files;
    return status;
}

enum orr_status config_take_packet(const struct config_text *text, struct arena *arena, struct notes *notes,
                                   struct packet_config *config, struct config_packet_files *files,
                                   struct orr_error *err)
{
    struct packet_config read = PACKET_CONFIG_DEFAULT;
    struct config_packet_files named = {0};
    struct packet_reader reader = {.arena = arena, .notes = notes, .config = &read, .files = &named};
    enum orr_status status = config_packet_read_file(&reader, text, err);
    if (status == ORR_OK) {
        status = config_packet_read_overrides(&reader, text, err);
    }
    if (status == ORR_OK) {
        status = config_packet_check(&reader, err);
    }
    if (status == ORR_OK) {
        status = note_without_effect(&reader, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    *config = read;
    *files = named;
    return ORR_OK;
}

enum orr_status config_parse_packet(const char *name, const char *text, size_t size, struct arena *arena,
                                    struct notes *notes, struct packet_config *config,
                                    struct config_packet_files *files, struct orr_error *err)
{
    const struct config_text plain = {.name = name, .text = text, .size = size};
    return config_take_packet(&plain, arena, notes, config, files, err);
}
