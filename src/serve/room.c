/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/thread_pool.h"
#include "serve/folder.h"
#include "serve/jobs.h"

void orr_serve_options_init(struct orr_serve_options *options)
{
    *options = (struct orr_serve_options){.size = sizeof *options,
                                          .connections = 512,
                                          .memory_limit = (uint64_t)2 << 30,
                                          .time_limit_ns = (uint64_t)30 * 1000000000U,
                                          .patience_ns = (uint64_t)10 * 1000000000U};
}

/* A folder is served with its store, where it has one; a store, by itself. */
static enum orr_status room_take_path(struct serve_room *room, const char *path, struct orr_error *err)
{
    struct stat about;
    char *store = NULL;
    if (stat(path, &about) != 0) {
        return error_system(err, errno, "%s: cannot be served", path);
    }
    if (!S_ISDIR(about.st_mode)) {
        const struct orr_store_filter newest = {.newest = 1};
        char *text = NULL;
        size_t size = 0;
        FILE *stream = NULL;
        enum orr_status status = orr_stream_text(&text, &size, &stream, err);
        if (status == ORR_OK) { /* what is no store is refused at once, and not at the first question */
            struct orr_error unsaid = {0};
            status = orr_store_list(path, &newest, ORR_STORE_JSON, stream, err);
            (void)!orr_stream_close(stream, &unsaid);
            orr_free(text);
        }
        room->store = status == ORR_OK ? strdup(path) : NULL;
        return status == ORR_OK && room->store == NULL ? error_set(err, ORR_ENOMEM, "%s: no memory", path) : status;
    }
    if (asprintf(&store, "%s/orrery.db", path) < 0) {
        return error_set(err, ORR_ENOMEM, "%s: no memory", path);
    }
    if (stat(store, &about) == 0 && S_ISREG(about.st_mode)) {
        room->store = store;
    } else {
        free(store);
    }
    return serve_folder_open(path, &room->folder, err);
}

enum orr_status serve_room_open(struct serve_room *room, const struct orr_serve_options *options, struct orr_error *err)
{
    *room = (struct serve_room){.folder = -1,
                                .memory_limit = options->memory_limit,
                                .time_limit_ns = options->time_limit_ns,
                                .threads = options->threads != 0 ? options->threads : thread_pool_processors()};
    enum orr_status status = options->path != NULL ? room_take_path(room, options->path, err) : ORR_OK;
    status = status == ORR_OK ? orr_trainer_open(&room->trainer, err) : status;
    status = status == ORR_OK ? serve_jobs_open(room, &room->jobs, err) : status;
    if (status != ORR_OK) {
        serve_room_close(room);
    }
    return status;
}

void serve_room_close(struct serve_room *room)
{
    serve_jobs_close(room->jobs);
    orr_trainer_close(room->trainer);
    if (room->folder >= 0) {
        (void)close(room->folder);
    }
    free(room->store);
    room->jobs = NULL;
    room->trainer = NULL;
    room->folder = -1;
    room->store = NULL;
}
