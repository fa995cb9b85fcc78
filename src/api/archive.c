/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of archives of traces; io/etz.h does the work. */
#include "io/etz.h"
#include "orrery.h"
#include "run/workload_find.h"

enum orr_status orr_trace_pack(const char *workload, const char *archive, uint64_t memory_limit,
                               struct orr_pack_result *result, struct orr_error *err)
{
    struct mem mem = {.limit = memory_limit};
    struct arena arena;
    struct run_workload found;
    struct etz_counts counts;
    if (!etz_is_output(archive)) {
        return error_set(err, ORR_EINVAL, "\"%.200s\" is no name of an archive, which ends in .etz", archive);
    }
    arena_init(&arena, &mem);
    enum orr_status status = run_workload_find(workload, NULL, NULL, &arena, &found, err);
    if (status == ORR_OK && found.prefix == NULL) {
        status = error_set(err, ORR_EINVAL, "%.300s: recordings, of which orrery trace import makes traces", workload);
    }
    status = status == ORR_OK ? etz_pack_files(found.prefix, archive, &mem, &counts, err) : status;
    if (status == ORR_OK) {
        *result = (struct orr_pack_result){counts.ranks, counts.different, counts.likened, counts.bytes, counts.packed};
    }
    arena_free(&arena);
    return status;
}

enum orr_status orr_trace_unpack(const char *archive, const char *prefix, uint64_t memory_limit, uint32_t *ranks,
                                 struct orr_error *err)
{
    struct mem mem = {.limit = memory_limit};
    return etz_is_output(prefix)
               ? error_set(err, ORR_EINVAL, "\"%.200s\" is the name of an archive; a prefix is needed", prefix)
               : etz_unpack_files(archive, prefix, &mem, ranks, err);
}

uint32_t orr_trace_archived(const char *path)
{
    struct etz_reader reader;
    struct orr_error unsaid;
    uint32_t ranks = 0;
    if (etz_is_archive(path) && etz_open(path, &reader, &unsaid) == ORR_OK) {
        ranks = reader.ranks;
        etz_close(&reader);
    }
    return ranks;
}
