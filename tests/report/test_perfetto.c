/* SPDX-License-Identifier: Apache-2.0 */
/* Chrome's JSON and Perfetto's protobuf of one run, both read back and put down as sorted lines: slices with their
 * arguments, arrows with the slices they join, values of counters. The lines are the same. */
#include "tests/report/fixture.h"

#include <inttypes.h>
#include <jansson.h>

#include "io/wire.h"
#include "report/perfetto.h"
#include "report/timeline.h"

/* ---- lines ---- */

enum { LINES = 4096, LINE = 384, SLICES = 1024, TRACKS = 512, TEXTS = 64 };

struct lines {
    char text[LINES][LINE];
    uint32_t count;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

ORR_PRINTF(2, 3) static void put(struct lines *lines, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    assert_true(lines->count < LINES);
    (void)vsnprintf(lines->text[lines->count++], LINE, format, arguments);
    va_end(arguments);
}

/* A slice as either form tells it; `where` is "rank 3/compute". */
struct slice {
    char where[LINE / 2], name[LINE / 4], category[64], arguments[LINE / 2];
    uint64_t start_ns, end_ns;
    bool ended;
};

struct told {
    struct slice slices[SLICES];
    uint32_t count;
    struct lines lines;
};

static void put_slices(struct told *told)
{
    for (uint32_t i = 0; i < told->count; i++) {
        const struct slice *one = &told->slices[i];
        CHECK(one->ended, "%s at %" PRIu64 " ends", one->name, one->start_ns);
        put(&told->lines, "slice %s %s [%s] %" PRIu64 "-%" PRIu64 "%s", one->where, one->name, one->category,
            one->start_ns, one->end_ns, one->arguments);
    }
}

static void put_flow(struct told *told, const struct slice *from, const struct slice *into)
{
    CHECK(from != NULL && into != NULL, "both ends of an arrow are slices");
    put(&told->lines, "flow %s %" PRIu64 " > %s %" PRIu64, from->where, from->start_ns, into->where, into->start_ns);
}

/* ---- Chrome's JSON ---- */

static uint64_t ns_of(const json_t *event, const char *key)
{
    return (uint64_t)(json_number_value(json_object_get(event, key)) * 1000 + 0.5);
}

struct chrome {
    struct told *told;
    char names[TRACKS][2][64]; /* by pid * 40 + tid, and pid alone */
    const struct slice *flow_from[SLICES];
};

static const char *word(const json_t *event, const char *key)
{
    return json_string_value(json_object_get(event, key));
}

static size_t place_of(const json_t *event)
{
    return (size_t)(json_integer_value(json_object_get(event, "pid")) * 40 +
                    json_integer_value(json_object_get(event, "tid")));
}

static void chrome_name(struct chrome *chrome, const json_t *event)
{
    const char *name = word(event, "name"), *text = word(json_object_get(event, "args"), "name");
    size_t pid = (size_t)json_integer_value(json_object_get(event, "pid"));
    assert_true(place_of(event) < TRACKS);
    if (strcmp(name, "process_name") == 0) {
        (void)snprintf(chrome->names[pid][0], sizeof chrome->names[pid][0], "%s", text);
    } else if (strcmp(name, "thread_name") == 0) {
        (void)snprintf(chrome->names[place_of(event)][1], sizeof chrome->names[0][1], "%s", text);
    }
}

static void chrome_slice(struct chrome *chrome, json_t *event)
{
    struct slice *one = &chrome->told->slices[chrome->told->count++];
    const char *key;
    json_t *value;
    size_t pid = (size_t)json_integer_value(json_object_get(event, "pid"));
    *one = (struct slice){.start_ns = ns_of(event, "ts"), .ended = true};
    one->end_ns = one->start_ns + ns_of(event, "dur");
    (void)snprintf(one->where, sizeof one->where, "%s/%s", chrome->names[pid][0], chrome->names[place_of(event)][1]);
    (void)snprintf(one->name, sizeof one->name, "%s", word(event, "name"));
    (void)snprintf(one->category, sizeof one->category, "%s", word(event, "cat"));
    json_object_foreach(json_object_get(event, "args"), key, value)
    {
        size_t at = strlen(one->arguments);
        if (json_is_string(value)) {
            (void)snprintf(one->arguments + at, sizeof one->arguments - at, " %s=%s", key, json_string_value(value));
        } else {
            (void)snprintf(one->arguments + at, sizeof one->arguments - at, " %s=%" JSON_INTEGER_FORMAT, key,
                           json_integer_value(value));
        }
    }
}

/* The slice of a thread that is open at a time, or (`begins`) begins then. */
static const struct slice *chrome_open(const struct chrome *chrome, const json_t *event, bool begins)
{
    char where[LINE / 2];
    uint64_t time_ns = ns_of(event, "ts");
    size_t pid = (size_t)json_integer_value(json_object_get(event, "pid"));
    (void)snprintf(where, sizeof where, "%s/%s", chrome->names[pid][0], chrome->names[place_of(event)][1]);
    for (uint32_t i = 0; i < chrome->told->count; i++) {
        const struct slice *one = &chrome->told->slices[i];
        if (strcmp(one->where, where) == 0 &&
            (begins ? one->start_ns == time_ns : one->start_ns <= time_ns && time_ns < one->end_ns)) {
            return one;
        }
    }
    return NULL;
}

static void chrome_event(struct chrome *chrome, json_t *event)
{
    const char phase = word(event, "ph")[0];
    size_t id = (size_t)json_integer_value(json_object_get(event, "id"));
    const char *unit;
    json_t *value;
    if (phase == 's' || phase == 'f') {
        assert_true(id < SLICES);
    }
    if (phase == 's') {
        chrome->flow_from[id] = chrome_open(chrome, event, true);
    } else if (phase == 'f') {
        CHECK_TEXT(word(event, "bp"), "e");
        put_flow(chrome->told, chrome->flow_from[id], chrome_open(chrome, event, false));
    } else if (phase == 'C') {
        const char *process = chrome->names[json_integer_value(json_object_get(event, "pid"))][0];
        json_object_foreach(json_object_get(event, "args"), unit, value)
        {
            bool told = strcmp(unit, "count") != 0 && strcmp(unit, "bytes") != 0;
            put(&chrome->told->lines, "counter %s/%s%s%s%s %" PRIu64 " %" JSON_INTEGER_FORMAT,
                strcmp(process, "all ranks") == 0 ? "job" : process, word(event, "name"), told ? " (" : "",
                told ? unit : "", told ? ")" : "", ns_of(event, "ts"), json_integer_value(value));
        }
    }
}

static void read_chrome(const char *text, struct told *told)
{
    static struct chrome chrome;
    memset(&chrome, 0, sizeof chrome);
    chrome.told = told;
    json_t *root = json_loads(text, 0, NULL);
    CHECK(root != NULL, "a document");
    static const char phases[][4] = {"M", "X", "sfC"};
    for (size_t turn = 0; turn < 3; turn++) {
        size_t i;
        json_t *event;
        json_array_foreach(json_object_get(root, "traceEvents"), i, event)
        {
            if (strchr(phases[turn], word(event, "ph")[0]) == NULL) {
                continue;
            }
            if (turn == 0) {
                chrome_name(&chrome, event);
            } else if (turn == 1) {
                chrome_slice(&chrome, event);
            } else {
                chrome_event(&chrome, event);
            }
        }
    }
    put_slices(told);
    json_decref(root);
}

/* ---- Perfetto's protobuf ---- */

struct track {
    char path[LINE / 4]; /* with those above it, less the job */
    int64_t open;        /* slice; -1: none */
    uint64_t last_ns;
    bool is_counter;
};

struct perfetto_file {
    struct told *told;
    struct track tracks[TRACKS];
    char texts[32][TEXTS][64]; /* by field of InternedData */
    const struct slice *flow_from[SLICES];
    struct {
        uint64_t number;
        uint32_t slice;
    } ends[SLICES];
    uint32_t end_count;
};

/* Each field of a message in turn. */
static bool next_field(const uint8_t **at, const uint8_t *end, struct wire_field *field)
{
    if (*at == end) {
        return false;
    }
    const uint8_t *next = wire_field_read(*at, end, field);
    CHECK(next != NULL, "%s", wire_field_fault(*at, end));
    *at = next;
    return true;
}

static void read_track(struct perfetto_file *file, struct wire_field message)
{
    struct wire_field field;
    const uint8_t *at = message.bytes;
    uint64_t number = 0, parent = 0;
    char name[64] = "";
    bool counts = false;
    while (next_field(&at, message.bytes + message.value, &field)) {
        number = field.tag == WIRE_TAG(1, WIRE_VARINT) ? field.value : number;
        parent = field.tag == WIRE_TAG(5, WIRE_VARINT) ? field.value : parent;
        counts = counts || field.tag == WIRE_TAG(8, WIRE_BYTES);
        if (field.tag == WIRE_TAG(2, WIRE_BYTES)) {
            (void)snprintf(name, sizeof name, "%.*s", (int)field.value, (const char *)field.bytes);
        }
    }
    CHECK(number > 0 && number < TRACKS && file->tracks[number].path[0] == '\0', "track %" PRIu64 " is new", number);
    struct track *track = &file->tracks[number];
    *track = (struct track){.open = -1, .is_counter = counts};
    CHECK(parent == 0 || file->tracks[parent].path[0] != '\0', "track %" PRIu64 " is known before its children",
          parent);
    if (parent > 1 || (parent == 1 && counts)) {
        char above[LINE / 4];
        memcpy(above, file->tracks[parent].path, sizeof above);
        (void)snprintf(track->path, sizeof track->path, "%.40s/%.40s", above, name);
    } else {
        (void)snprintf(track->path, sizeof track->path, "%s", name);
    }
}

static void read_interned(struct perfetto_file *file, struct wire_field message)
{
    struct wire_field entry, field;
    const uint8_t *at = message.bytes;
    while (next_field(&at, message.bytes + message.value, &entry)) {
        const uint8_t *inner = entry.bytes;
        uint64_t number = 0;
        while (next_field(&inner, entry.bytes + entry.value, &field)) {
            number = field.tag == WIRE_TAG(1, WIRE_VARINT) ? field.value : number;
            if (field.tag == WIRE_TAG(2, WIRE_BYTES)) {
                CHECK(number > 0 && number < TEXTS, "text %" PRIu64, number);
                char *text = file->texts[wire_field_number(&entry)][number];
                CHECK_TEXT(text, "");
                (void)snprintf(text, 64, "%.*s", (int)field.value, (const char *)field.bytes);
            }
        }
    }
}

static void read_argument(const struct perfetto_file *file, struct wire_field message, struct slice *slice)
{
    struct wire_field field;
    const uint8_t *at = message.bytes;
    const char *name = "";
    while (next_field(&at, message.bytes + message.value, &field)) {
        size_t end = strlen(slice->arguments), room = sizeof slice->arguments - end;
        char *to = slice->arguments + end;
        switch (field.tag) {
        case WIRE_TAG(1, WIRE_VARINT):
            name = file->texts[3][field.value];
            break;
        case WIRE_TAG(3, WIRE_VARINT):
            (void)snprintf(to, room, " %s=%" PRIu64, name, field.value);
            break;
        case WIRE_TAG(4, WIRE_VARINT):
            (void)snprintf(to, room, " %s=%" PRId64, name, (int64_t)field.value);
            break;
        case WIRE_TAG(17, WIRE_VARINT):
            (void)snprintf(to, room, " %s=%s", name, file->texts[29][field.value]);
            break;
        default:
            CHECK(false, "tag %u of an argument", field.tag);
        }
    }
}

/* The slice that an event begins or ends; NULL: it is a counter's. */
static struct slice *slice_of_event(struct perfetto_file *file, uint64_t type, struct track *track, uint64_t time_ns)
{
    struct told *told = file->told;
    CHECK(track->path[0] != '\0' && time_ns >= track->last_ns, "%s goes back to %" PRIu64, track->path, time_ns);
    track->last_ns = time_ns;
    CHECK(track->is_counter == (type == 4), "%s has events of one kind", track->path);
    if (type == 1) {
        CHECK(track->open == -1, "%s has one slice at a time", track->path);
        track->open = told->count;
        told->slices[told->count] = (struct slice){.start_ns = time_ns};
        (void)snprintf(told->slices[told->count].where, sizeof told->slices[0].where, "%s", track->path);
        return &told->slices[told->count++];
    }
    if (type == 4) {
        return NULL;
    }
    CHECK(type == 2 && track->open >= 0, "%s: what ends has begun", track->path);
    struct slice *ended = &told->slices[track->open];
    ended->end_ns = time_ns;
    ended->ended = true;
    track->open = -1;
    return ended;
}

static void read_event(struct perfetto_file *file, struct wire_field message, uint64_t time_ns)
{
    struct wire_field field;
    const uint8_t *at = message.bytes;
    uint64_t type = 0, number = 0;
    while (next_field(&at, message.bytes + message.value, &field)) {
        type = field.tag == WIRE_TAG(9, WIRE_VARINT) ? field.value : type;
        number = field.tag == WIRE_TAG(11, WIRE_VARINT) ? field.value : number;
    }
    CHECK(number < TRACKS, "track %" PRIu64, number);
    struct track *track = &file->tracks[number];
    struct slice *slice = slice_of_event(file, type, track, time_ns);
    at = message.bytes;
    while (next_field(&at, message.bytes + message.value, &field)) {
        switch (field.tag) {
        case WIRE_TAG(3, WIRE_VARINT):
            (void)snprintf(slice->category, sizeof slice->category, "%s", file->texts[1][field.value]);
            break;
        case WIRE_TAG(10, WIRE_VARINT):
            (void)snprintf(slice->name, sizeof slice->name, "%s", file->texts[2][field.value]);
            break;
        case WIRE_TAG(4, WIRE_BYTES):
            read_argument(file, field, slice);
            break;
        case WIRE_TAG(30, WIRE_VARINT):
            put(&file->told->lines, "counter %s %" PRIu64 " %" PRIu64, track->path, time_ns, field.value);
            break;
        case WIRE_TAG(47, WIRE_FIXED64):
            CHECK(field.value < SLICES && file->flow_from[field.value] == NULL, "an arrow begins once");
            file->flow_from[field.value] = slice;
            break;
        case WIRE_TAG(48, WIRE_FIXED64):
            assert_true(file->end_count < SLICES);
            file->ends[file->end_count].number = field.value;
            file->ends[file->end_count++].slice = (uint32_t)(slice - file->told->slices);
            break;
        default:
            CHECK(wire_field_number(&field) == 9 || wire_field_number(&field) == 11, "tag %u of an event", field.tag);
        }
    }
}

static void read_packet(struct perfetto_file *file, struct wire_field packet, bool first)
{
    struct wire_field field;
    const uint8_t *at = packet.bytes;
    uint64_t time_ns = 0, sequence = 0, flags = 0;
    while (next_field(&at, packet.bytes + packet.value, &field)) {
        time_ns = field.tag == WIRE_TAG(8, WIRE_VARINT) ? field.value : time_ns;
        sequence = field.tag == WIRE_TAG(10, WIRE_VARINT) ? field.value : sequence;
        flags = field.tag == WIRE_TAG(13, WIRE_VARINT) ? field.value : flags;
        if (field.tag == WIRE_TAG(12, WIRE_BYTES)) {
            read_interned(file, field);
        } else if (field.tag == WIRE_TAG(60, WIRE_BYTES)) {
            read_track(file, field);
        }
    }
    CHECK_U64(sequence, 1, "one sequence");
    CHECK_U64(flags, first ? 1 : 2, "nothing interned before the first, everything after");
    at = packet.bytes;
    while (next_field(&at, packet.bytes + packet.value, &field)) {
        if (field.tag == WIRE_TAG(11, WIRE_BYTES)) {
            read_event(file, field, time_ns);
        }
    }
}

static void read_perfetto(const char *bytes, size_t size, struct told *told)
{
    static struct perfetto_file file;
    memset(&file, 0, sizeof file);
    file.told = told;
    const uint8_t *at = (const uint8_t *)bytes;
    struct wire_field packet;
    for (bool first = true; next_field(&at, (const uint8_t *)bytes + size, &packet); first = false) {
        CHECK_U64(packet.tag, WIRE_TAG(1, WIRE_BYTES), "nothing but packets");
        read_packet(&file, packet, first);
    }
    for (uint32_t i = 0; i < file.end_count; i++) {
        put_flow(told, file.flow_from[file.ends[i].number], &told->slices[file.ends[i].slice]);
    }
    put_slices(told);
}

/* ---- runs ---- */

static void write_both(const struct fixture *f, struct told *chrome, struct told *perfetto)
{
    struct orr_error err = {0};
    char *bytes = NULL;
    size_t size = 0;
    memset(chrome, 0, sizeof *chrome);
    memset(perfetto, 0, sizeof *perfetto);
    FILE *stream = open_memstream(&bytes, &size);
    CHECK_OK(report_timeline_write(&f->result, stream, &err), &err);
    assert_int_equal(fclose(stream), 0);
    read_chrome(bytes, chrome);
    free(bytes);
    stream = open_memstream(&bytes, &size);
    CHECK_OK(report_perfetto_write(&f->result, stream, &err), &err);
    assert_int_equal(fclose(stream), 0);
    read_perfetto(bytes, size, perfetto);
    free(bytes);
    CHECK_U64(f->mem.used, 0, "all memory is given back");
    qsort(chrome->lines.text, chrome->lines.count, LINE, by_text);
    qsort(perfetto->lines.text, perfetto->lines.count, LINE, by_text);
}

static void check_same(const struct told *chrome, const struct told *perfetto)
{
    for (uint32_t i = 0; i < chrome->lines.count && i < perfetto->lines.count; i++) {
        CHECK_TEXT(perfetto->lines.text[i], chrome->lines.text[i]);
    }
    CHECK_U64(perfetto->lines.count, chrome->lines.count, "as many lines");
}

static bool has_line(const struct told *told, const char *line)
{
    for (uint32_t i = 0; i < told->lines.count; i++) {
        if (strcmp(told->lines.text[i], line) == 0) {
            return true;
        }
    }
    return false;
}

static struct told chrome, perfetto;

static void both_forms_tell_the_same_of_a_run(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    f.intervals[FIXTURE_NODES * 3 + 2].start_ns = 150010; /* comes last to the all-gather */
    write_both(&f, &chrome, &perfetto);
    check_same(&chrome, &perfetto);
    CHECK(has_line(&perfetto, "flow rank 3/communication 150010 > rank 0/communication 117780"),
          "who waited for the last");
    CHECK(has_line(&perfetto, "counter rank 0/bytes in flight 117780 2097152"), "the all-gather alone");
    CHECK(has_line(&perfetto, "counter job/communications in flight 0 8"), "one a rank");
    CHECK(has_line(&perfetto, "counter job/communication rate (MB/s) 405520 0"), "all that goes up comes down");
    CHECK(has_line(&perfetto, "slice rank 1/communication ag [kernel] 117780-405520 node_id=103 stream=2 Collective "
                              "name=all-gather bytes=2097152 Process Group Name=0 Group size=8"),
          "a slice has the arguments of its node");
}

/* A rank's operator of the host launches a send; receives of the next rank overlap. */
static void messages_and_launches_are_arrows_and_what_overlaps_is_spread(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    struct trace_node nodes[43] = {
        {.id = 1, .type = TRACE_COMP, .is_cpu_op = 1},
        {.id = 2, .type = TRACE_SEND, .comm_dst = 1, .comm_tag = -7, .comm_bytes = 4096, .parent_count = 1},
        {.id = 3, .type = TRACE_MEM_LOAD, .tensor_bytes = 64}};
    uint32_t parents[] = {0}, starts[43] = {0}, written[43] = {0, 1};
    struct sim_interval intervals[43] = {
        {0, 0, 0, 100, SIM_SLOT_CPU, 0}, {0, 1, 100, 400, SIM_SLOT_COMM, 0}, {2, 2, 30, 30, SIM_SLOT_COMP, 0}};
    for (uint32_t i = 3; i < 43; i++) { /* more than there are lanes for */
        nodes[i] =
            (struct trace_node){.id = i + 1, .type = TRACE_RECV, .comm_bytes = 4096, .comm_tag = i == 3 ? -7 : 0};
        intervals[i] = (struct sim_interval){1, i, i, 500 + i, SIM_SLOT_NONE, 0};
    }
    struct sim_usage_step steps[] = {{0, 1000}, {400, 500}};
    struct sim_usage_rank usage[FIXTURE_RANKS] = {{.steps = steps, .step_count = 2}};
    f.graph.nodes = nodes;
    f.graph.node_count = 43;
    f.graph.parents = parents;
    f.graph.parent_start = starts;
    f.graph.parent_written = written;
    f.result.intervals = intervals;
    f.result.interval_count = 43;
    f.result.usage = (struct sim_usage){.tracked = true, .ranks = usage, .rank_count = FIXTURE_RANKS};
    write_both(&f, &chrome, &perfetto);
    check_same(&chrome, &perfetto);
    CHECK(has_line(&perfetto, "flow rank 0/communication 100 > rank 1/receive 3"), "from the send to its receive");
    CHECK(has_line(&perfetto, "flow rank 0/CPU 0 > rank 0/communication 100"), "from the host to what it launches");
    CHECK(has_line(&perfetto, "counter rank 0/memory 400 500"), "what tensors take");
    CHECK(has_line(&perfetto, "slice rank 0/communication send [kernel] 100-400 node_id=2 stream=2 Collective "
                              "name=send bytes=4096 dst=1 tag=-7"),
          "signed numbers");
    CHECK(has_line(&perfetto, "slice rank 2/compute memory load [gpu_memcpy] 30-30 node_id=203 stream=1 bytes=64"),
          "a slice without length");
}

static void a_perfetto_trace_is_chosen_by_the_name(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    static const struct {
        const char *name;
        uint8_t first[2];
    } cases[] = {{"t.pftrace", {0x0a, 0}},
                 {"t.perfetto-trace", {0x0a, 0}},
                 {"t.pftrace.gz", {0x1f, 0x8b}},
                 {"t.json", {'{', 0}},
                 {"pftrace", {'{', 0}}};
    const char *folder = fixture_folder();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct orr_error err = {0};
        char path[128];
        (void)snprintf(path, sizeof path, "%s/%s", folder, cases[i].name);
        CHECK_OK(report_write(&f.result, ORR_OUTPUT_TIMELINE, path, NULL, &err), &err);
        FILE *file = fopen(path, "rb");
        uint8_t got[2];
        assert_true(file != NULL && fread(got, 1, 2, file) == 2);
        (void)fclose(file);
        CHECK(got[0] == cases[i].first[0] && (cases[i].first[1] == 0 || got[1] == cases[i].first[1]), "%s",
              cases[i].name);
    }
    fixture_remove(folder);
}

static void a_perfetto_trace_keeps_to_the_memory_limit(void **state)
{
    (void)state;
    struct fixture f;
    for (uint64_t limit = 64;; limit *= 2) {
        struct orr_error err = {0};
        char *bytes = NULL;
        size_t size = 0;
        fixture_make(&f);
        f.mem.limit = limit;
        FILE *stream = open_memstream(&bytes, &size);
        enum orr_status status = report_perfetto_write(&f.result, stream, &err);
        assert_int_equal(fclose(stream), 0);
        free(bytes);
        CHECK_U64(f.mem.used, 0, "all memory is given back");
        if (status == ORR_OK) {
            CHECK(limit > 4096, "%" PRIu64 " bytes suffice", limit);
            break;
        }
        CHECK(status == ORR_ENOMEM, "%s", err.text);
    }
}

TEST_MAIN(both_forms_tell_the_same_of_a_run, messages_and_launches_are_arrows_and_what_overlaps_is_spread,
          a_perfetto_trace_is_chosen_by_the_name, a_perfetto_trace_keeps_to_the_memory_limit)
