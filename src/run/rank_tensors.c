/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that do the same stand beside each other mostly, so a file's tensors are compared with the last ones kept and
 * with no others. */
#include "run/rank_tensors.h"

#include <inttypes.h>
#include <string.h>

bool run_rank_tensors_wanted(const struct sim_system *system)
{
    return system->track_local_mem || system->capacity.local > 0;
}

static enum orr_status run_rank_tensors_no_memory(struct mem *mem, struct orr_error *err)
{
    return mem_error(mem, "the tensors of the traces", err);
}

static enum orr_status load_file(struct run_rank_tensors *tensors, const char *prefix, uint32_t file, struct mem *mem,
                                 struct orr_error *err)
{
    size_t room = strlen(prefix) + 16;
    char *path = mem_alloc(mem, room);
    if (path == NULL || !MEM_GROW(mem, tensors->sets, tensors->set_capacity, tensors->set_count)) {
        mem_free(mem, path, room);
        return run_rank_tensors_no_memory(mem, err);
    }
    (void)snprintf(path, room, "%s.%" PRIu32 ".et", prefix, file);
    struct trace_tensors *loaded = NULL;
    enum orr_status status = trace_tensors_load(path, mem, &loaded, err);
    mem_free(mem, path, room);
    if (status != ORR_OK) {
        return status;
    }
    if (tensors->set_count > 0 && trace_tensors_equal(tensors->sets[tensors->set_count - 1], loaded)) {
        trace_tensors_free(loaded);
    } else {
        tensors->sets[tensors->set_count++] = loaded;
    }
    tensors->set_of_file[file] = tensors->set_count;
    return ORR_OK;
}

static enum orr_status load_all(const struct trace_set *traces, const char *prefix, struct mem *mem,
                                struct run_rank_tensors *tensors, struct orr_error *err)
{
    for (uint32_t rank = 0; rank < traces->rank_count; rank++) {
        uint32_t file = traces->ranks[rank].file;
        tensors->file_count = file >= tensors->file_count ? file + 1 : tensors->file_count;
    }
    tensors->rank_count = traces->rank_count;
    tensors->of_rank = mem_zalloc(mem, (size_t)traces->rank_count * sizeof *tensors->of_rank);
    tensors->set_of_file = mem_zalloc(mem, (size_t)tensors->file_count * sizeof *tensors->set_of_file);
    if (tensors->of_rank == NULL || tensors->set_of_file == NULL) {
        return run_rank_tensors_no_memory(mem, err);
    }
    for (uint32_t rank = 0; rank < traces->rank_count; rank++) {
        uint32_t file = traces->ranks[rank].file;
        enum orr_status status = tensors->set_of_file[file] != 0 ? ORR_OK : load_file(tensors, prefix, file, mem, err);
        if (status != ORR_OK) {
            return status;
        }
        tensors->of_rank[rank] = tensors->sets[tensors->set_of_file[file] - 1];
    }
    return ORR_OK;
}

static enum orr_status note_gaps(const struct run_rank_tensors *tensors, const char *prefix, bool grown,
                                 struct notes *notes, struct orr_error *err)
{
    uint64_t uses = 0;
    uint64_t untold = 0;
    for (uint32_t i = 0; i < tensors->set_count; i++) {
        uses += tensors->sets[i]->use_count;
        untold += tensors->sets[i]->untold;
    }
    if (uses == 0) {
        return notes_add(notes, err,
                         "no node of %s.*.et names the tensors it reads and writes (attributes \"inputs\" and "
                         "\"outputs\", lists of names and bytes): what ranks hold in memory is not known",
                         prefix);
    }
    enum orr_status status = ORR_OK;
    if (untold > 0) {
        status =
            notes_add(notes, err,
                      "%" PRIu64 " nodes of %s.*.et lack \"inputs\" or \"outputs\": they are taken to hold nothing "
                      "of that kind in memory",
                      untold, prefix);
    }
    return status == ORR_OK && grown
               ? notes_add(notes, err,
                           "ranks that were made hold what the traced rank in their place holds, whatever the size of "
                           "the job")
               : status;
}

enum orr_status run_rank_tensors_load(const struct trace_set *traces, const char *prefix, bool grown, struct mem *mem,
                                      struct notes *notes, struct run_rank_tensors *tensors, struct orr_error *err)
{
    enum orr_status status = load_all(traces, prefix, mem, tensors, err);
    return status == ORR_OK ? note_gaps(tensors, prefix, grown, notes, err) : status;
}

void run_rank_tensors_free(struct run_rank_tensors *tensors, struct mem *mem)
{
    for (uint32_t i = 0; i < tensors->set_count; i++) {
        trace_tensors_free(tensors->sets[i]);
    }
    mem_free(mem, tensors->sets, tensors->set_capacity * sizeof *tensors->sets);
    mem_free(mem, tensors->of_rank, (size_t)tensors->rank_count * sizeof *tensors->of_rank);
    mem_free(mem, tensors->set_of_file, (size_t)tensors->file_count * sizeof *tensors->set_of_file);
    *tensors = (struct run_rank_tensors){0};
}
