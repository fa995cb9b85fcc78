/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces come one after the other and are forgotten, but for a few that stand alone: a trace that is new is packed
 * against the one of them whose size is nearest, and stands alone itself where that saves less than half.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "base/map.h"
#include "io/etz_index.h"
#include "io/outfile.h"

enum { LEADERS = 8, LEVEL = 6, LEADER_BYTES_MOST = 256 << 20, SMALL_BYTES = 1024 };

/* A content by what is in it. */
struct content_entry {
    XXH128_hash_t hash;
    uint32_t form;
    uint32_t number_plus_1; /* 0: free */
};

MAP_STRUCT(content_map, struct content_entry);

static uint32_t content_hash_of(const void *context, const struct content_entry *entry)
{
    (void)context;
    return (uint32_t)entry->hash.low64;
}

static bool content_is(const void *context, const struct content_entry *entry, const struct content_entry *wanted)
{
    (void)context;
    return XXH128_isEqual(entry->hash, wanted->hash) && entry->form == wanted->form;
}

#define CONTENT_IS_FREE(entry) ((entry)->number_plus_1 == 0)
MAP_DEFINE(content_map, struct content_entry, const struct content_entry *, const void *, content_hash_of, content_is,
           CONTENT_IS_FREE);

struct leader {
    struct etz_bytes bytes;
    uint32_t content;
};

struct side {
    char ending[ETZ_SIDE_NAME];
    uint32_t content;
};

struct etz_writer {
    struct mem *mem;
    struct io_outfile *file;
    ZSTD_CCtx *context;
    uint64_t offset;
    struct etz_counts counts;
    struct content_map known;
    struct etz_content *contents;
    struct etz_run *runs;
    struct side *sides;
    uint32_t content_capacity, run_count, run_capacity, side_count, side_capacity;
    struct leader leaders[LEADERS];
    uint32_t leader_count;
    struct etz_form form;
    struct etz_bytes back, alone, against; /* room that stays between traces */
};

static enum orr_status etz_no_memory(const struct etz_writer *writer, struct orr_error *err)
{
    return mem_error(writer->mem, "an archive of traces", err);
}

static void etz_write(struct etz_writer *writer, const void *bytes, size_t size)
{
    (void)fwrite(bytes, 1, size, io_outfile_stream(writer->file)); /* a short write shows in the commit */
    writer->offset += size;
}

enum orr_status etz_writer_open(const char *path, struct mem *mem, struct etz_writer **writer, struct orr_error *err)
{
    struct etz_writer *made = mem_zalloc(mem, sizeof *made);
    if (made == NULL) {
        return mem_error(mem, "an archive of traces", err);
    }
    *made = (struct etz_writer){
        .mem = mem, .context = ZSTD_createCCtx(), .back = {.mem = mem}, .alone = {.mem = mem}, .against = {.mem = mem}};
    etz_form_init(&made->form, mem);
    enum orr_status status = made->context == NULL ? etz_no_memory(made, err) : io_make_folder_above(path, err);
    status = status == ORR_OK ? io_outfile_open(path, IO_OUTFILE_PLAIN, &made->file, err) : status;
    if (status != ORR_OK) {
        etz_writer_abort(made);
        return status;
    }
    etz_write(made, ETZ_MAGIC, ETZ_MAGIC_BYTES);
    *writer = made;
    return ORR_OK;
}

static void etz_writer_free(struct etz_writer *writer)
{
    struct mem *mem = writer->mem;
    for (uint32_t i = 0; i < writer->leader_count; i++) {
        etz_bytes_free(&writer->leaders[i].bytes);
    }
    etz_form_free(&writer->form);
    etz_bytes_free(&writer->back);
    etz_bytes_free(&writer->alone);
    etz_bytes_free(&writer->against);
    content_map_free(&writer->known, mem);
    mem_free(mem, writer->contents, writer->content_capacity * sizeof *writer->contents);
    mem_free(mem, writer->runs, writer->run_capacity * sizeof *writer->runs);
    mem_free(mem, writer->sides, writer->side_capacity * sizeof *writer->sides);
    (void)ZSTD_freeCCtx(writer->context);
    mem_free(mem, writer, sizeof *writer);
}

void etz_writer_abort(struct etz_writer *writer)
{
    if (writer != NULL) {
        io_outfile_abort(writer->file);
        etz_writer_free(writer);
    }
}

/* ---- contents ---- */

/* False where memory is refused. */
static bool etz_pack(struct etz_writer *writer, const uint8_t *bytes, size_t size, const struct leader *leader,
                     struct etz_bytes *packed)
{
    size_t most = ZSTD_compressBound(size);
    size_t reach = size + (leader != NULL ? leader->bytes.size : 0);
    int window = 10;
    while (window < 27 && (size_t)1 << window < reach) {
        window++;
    }
    packed->size = 0;
    if (!mem_reserve_bytes(packed->mem, (void **)&packed->at, &packed->capacity, 0, most)) {
        return false;
    }
    (void)ZSTD_CCtx_reset(writer->context, ZSTD_reset_session_and_parameters);
    (void)ZSTD_CCtx_setParameter(writer->context, ZSTD_c_compressionLevel, LEVEL);
    (void)ZSTD_CCtx_setParameter(writer->context, ZSTD_c_windowLog, window);
    if (leader != NULL) {
        (void)ZSTD_CCtx_setParameter(writer->context, ZSTD_c_enableLongDistanceMatching, 1);
        (void)ZSTD_CCtx_refPrefix(writer->context, leader->bytes.at, leader->bytes.size);
    }
    size_t made = ZSTD_compress2(writer->context, packed->at, packed->capacity, bytes, size);
    packed->size = ZSTD_isError(made) ? 0 : made;
    return !ZSTD_isError(made);
}

static const struct leader *nearest_leader(const struct etz_writer *writer, size_t size)
{
    const struct leader *nearest = NULL;
    size_t least = SIZE_MAX;
    for (uint32_t i = 0; i < writer->leader_count; i++) {
        size_t other = writer->leaders[i].bytes.size;
        size_t apart = other > size ? other - size : size - other;
        if (apart < least) {
            least = apart;
            nearest = &writer->leaders[i];
        }
    }
    return nearest;
}

static bool keep_leader(struct etz_writer *writer, const uint8_t *bytes, size_t size, uint32_t content)
{
    if (writer->leader_count == LEADERS || size < SMALL_BYTES || size > LEADER_BYTES_MOST / LEADERS) {
        return true;
    }
    struct leader *leader = &writer->leaders[writer->leader_count++];
    *leader = (struct leader){.bytes = {.mem = writer->mem}, .content = content};
    etz_bytes_put(&leader->bytes, bytes, size);
    return !leader->bytes.refused;
}

static enum orr_status add_new(struct etz_writer *writer, const uint8_t *bytes, size_t size, uint32_t form,
                               struct orr_error *err)
{
    const struct leader *leader = size < SMALL_BYTES ? NULL : nearest_leader(writer, size);
    uint32_t number = writer->counts.contents;
    bool packed = etz_pack(writer, bytes, size, NULL, &writer->alone) &&
                  (leader == NULL || etz_pack(writer, bytes, size, leader, &writer->against)) &&
                  MEM_GROW(writer->mem, writer->contents, writer->content_capacity, number);
    if (!packed) {
        return etz_no_memory(writer, err);
    }
    bool likened = leader != NULL && writer->against.size < writer->alone.size / 2;
    const struct etz_bytes *chosen = likened ? &writer->against : &writer->alone;
    writer->contents[number] = (struct etz_content){.offset = writer->offset,
                                                    .packed = chosen->size,
                                                    .unpacked = size,
                                                    .hash = (uint64_t)XXH3_64bits(bytes, size),
                                                    .like = likened ? leader->content + 1 : 0,
                                                    .form = form};
    writer->counts.contents++;
    writer->counts.likened += likened;
    etz_write(writer, chosen->at, chosen->size);
    return likened || keep_leader(writer, bytes, size, number) ? ORR_OK : etz_no_memory(writer, err);
}

/* The content that is these bytes, new or known. */
static enum orr_status add_content(struct etz_writer *writer, const uint8_t *bytes, size_t size, uint32_t form,
                                   uint32_t *content, struct orr_error *err)
{
    const struct content_entry wanted = {.hash = XXH3_128bits(bytes, size), .form = form};
    const struct content_entry *known = content_map_find(NULL, &writer->known, (uint32_t)wanted.hash.low64, &wanted);
    if (known != NULL) {
        *content = known->number_plus_1 - 1;
        return ORR_OK;
    }
    *content = writer->counts.contents;
    enum orr_status status = add_new(writer, bytes, size, form, err);
    if (status == ORR_OK && !content_map_room(NULL, &writer->known, writer->mem)) {
        status = etz_no_memory(writer, err);
    }
    if (status == ORR_OK) {
        struct content_entry *entry = content_map_place(NULL, &writer->known, (uint32_t)wanted.hash.low64, &wanted);
        *entry = wanted;
        entry->number_plus_1 = *content + 1;
        writer->known.count++;
    }
    return status;
}

/* ---- ranks ---- */

/* A rank goes on the last run where it has its content and a base that follows: the second rank says by how much. */
static enum orr_status etz_add_rank(struct etz_writer *writer, uint32_t content, uint32_t names, uint64_t base,
                                    struct orr_error *err)
{
    uint32_t rank = writer->counts.ranks++;
    struct etz_run *last = writer->run_count > 0 ? &writer->runs[writer->run_count - 1] : NULL;
    if (last != NULL && last->content == content && last->names == names) {
        uint64_t more = rank - last->first;
        last->step = more == 1 ? base - last->base : last->step;
        if (last->base + more * last->step == base) {
            return ORR_OK;
        }
    }
    if (!MEM_GROW(writer->mem, writer->runs, writer->run_capacity, writer->run_count)) {
        return etz_no_memory(writer, err);
    }
    writer->runs[writer->run_count++] =
        (struct etz_run){.first = rank, .content = content, .base = base, .names = names};
    return ORR_OK;
}

enum orr_status etz_writer_add(struct etz_writer *writer, const uint8_t *bytes, size_t size, struct orr_error *err)
{
    struct etz_form *form = &writer->form;
    uint32_t known = writer->counts.contents;
    uint32_t content = 0;
    uint32_t names = 0;
    form->rank = writer->counts.ranks;
    if (form->rank == UINT32_MAX - 1) {
        return error_set(err, ORR_ERANGE, "an archive of traces has at most %" PRIu32 " ranks", UINT32_MAX - 1);
    }
    writer->back.size = 0;
    bool same = etz_form_make(bytes, size, form) && etz_form_undo(form, &writer->back) && writer->back.size == size &&
                memcmp(writer->back.at, bytes, size) == 0;
    if (etz_form_refused(form) || writer->back.refused) {
        return etz_no_memory(writer, err);
    }
    writer->counts.bytes += size;
    enum orr_status status = same ? add_content(writer, form->body.at, form->body.size,
                                                form->by_rank ? ETZ_FORM_BY_RANK : ETZ_FORM, &content, err)
                                  : add_content(writer, bytes, size, ETZ_PLAIN, &content, err);
    writer->counts.different += writer->counts.contents - known;
    if (status == ORR_OK && same && form->names.size > 0) {
        status = add_content(writer, form->names.at, form->names.size, ETZ_PLAIN, &names, err);
        names++;
    }
    return status == ORR_OK ? etz_add_rank(writer, content, names, same ? form->base : 0, err) : status;
}

enum orr_status etz_writer_add_side(struct etz_writer *writer, const char *ending, const uint8_t *bytes, size_t size,
                                    struct orr_error *err)
{
    uint32_t content = 0;
    if (strlen(ending) >= ETZ_SIDE_NAME) {
        return error_set(err, ORR_ERANGE, "'%.80s' is too long for the name of a file in an archive", ending);
    }
    enum orr_status status = add_content(writer, bytes, size, ETZ_PLAIN, &content, err);
    if (status == ORR_OK && !MEM_GROW(writer->mem, writer->sides, writer->side_capacity, writer->side_count)) {
        status = etz_no_memory(writer, err);
    }
    if (status == ORR_OK) {
        struct side *side = &writer->sides[writer->side_count++];
        *side = (struct side){.content = content};
        memcpy(side->ending, ending, strlen(ending));
    }
    return status;
}

/* ---- the index ---- */

static void etz_write_row(struct etz_writer *writer, uint8_t *row, size_t size)
{
    etz_put32(row + size - ETZ_CHECK_BYTES, etz_check_of(row, size));
    etz_write(writer, row, size);
}

static void write_index(struct etz_writer *writer)
{
    uint64_t index = writer->offset;
    for (uint32_t i = 0; i < writer->counts.contents; i++) {
        const struct etz_content *content = &writer->contents[i];
        uint8_t row[ETZ_CONTENT_BYTES] = {0};
        etz_put64(row, content->offset);
        etz_put64(row + 8, content->packed);
        etz_put64(row + 16, content->unpacked);
        etz_put64(row + 24, content->hash);
        etz_put32(row + 32, content->like);
        etz_put32(row + 36, content->form);
        etz_write_row(writer, row, sizeof row);
    }
    for (uint32_t i = 0; i < writer->run_count; i++) {
        uint8_t row[ETZ_RUN_BYTES] = {0};
        etz_put32(row, writer->runs[i].first);
        etz_put32(row + 4, writer->runs[i].content);
        etz_put64(row + 8, writer->runs[i].base);
        etz_put64(row + 16, writer->runs[i].step);
        etz_put32(row + 24, writer->runs[i].names);
        etz_write_row(writer, row, sizeof row);
    }
    for (uint32_t i = 0; i < writer->side_count; i++) {
        uint8_t row[ETZ_SIDE_BYTES] = {0};
        memcpy(row, writer->sides[i].ending, ETZ_SIDE_NAME);
        etz_put32(row + ETZ_SIDE_NAME, writer->sides[i].content);
        etz_write_row(writer, row, sizeof row);
    }
    uint8_t trailer[ETZ_TRAILER_BYTES - ETZ_MAGIC_BYTES] = {0};
    etz_put64(trailer, index);
    etz_put32(trailer + 8, writer->counts.contents);
    etz_put32(trailer + 12, writer->run_count);
    etz_put32(trailer + 16, writer->side_count);
    etz_put32(trailer + 20, writer->counts.ranks);
    etz_write_row(writer, trailer, sizeof trailer);
    etz_write(writer, ETZ_MAGIC, ETZ_MAGIC_BYTES);
}

enum orr_status etz_writer_commit(struct etz_writer *writer, struct etz_counts *counts, struct orr_error *err)
{
    write_index(writer);
    writer->counts.packed = writer->offset;
    *counts = writer->counts;
    enum orr_status status = io_outfile_commit(writer->file, err);
    etz_writer_free(writer);
    return status;
}
