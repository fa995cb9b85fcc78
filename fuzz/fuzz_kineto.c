/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a Kineto device trace: read, looked through for the critical path, and linked as Chakra does it with a
 * host trace that has the record function ids 1 to 8. Besides not crashing: a refusal is one printable line, events are
 * in order, and nothing stays in the account. The readers take paths, so the bytes lie in nameless files. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compat/chakra/link.h"
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int make_file(const void *bytes, size_t size, char path[64])
{
    int file = memfd_create("trace", 0);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size) {
        abort();
    }
    (void)snprintf(path, 64, "/proc/self/fd/%d", file);
    return file;
}

static int make_host(char path[64])
{
    char text[4096];
    int used = snprintf(text, sizeof text, "{\"schema\":\"1.0.2-chakra.0.0.4\",\"nodes\":[");
    for (int id = 1; id <= 10; id++) {
        used +=
            snprintf(text + used, sizeof text - (size_t)used,
                     "%s{\"id\":%d,\"name\":\"n\",\"ctrl_deps\":%d,\"inputs\":{},\"outputs\":{},\"attrs\":[{\"name\":"
                     "\"rf_id\",\"type\":\"uint64\",\"value\":%d}]}",
                     id == 1 ? "" : ",", id, id == 1 ? 0 : 1, id <= 2 ? 0 : id - 2);
    }
    used += snprintf(text + used, sizeof text - (size_t)used, "]}");
    return make_file(text, (size_t)used, path);
}

static void check_order(const struct kineto_trace *device)
{
    for (uint32_t i = 0; i < device->event_count; i++) {
        const struct kineto_event *event = &device->events[i];
        if ((i > 0 && event->ts_us < event[-1].ts_us) || event->tid >= device->thread_count ||
            event->name >= intern_count(&device->names)) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char device_path[64];
    char host_path[64];
    struct fuzz_reading reading;
    struct kineto_trace *device = NULL;
    struct host_trace *host = NULL;
    struct link_compat_summary summary = {0};
    int device_file = make_file(data, size, device_path);
    int host_file = make_host(host_path);
    fuzz_reading_begin(&reading);
    enum orr_status status = kineto_read(device_path, &reading.mem, &reading.notes, &device, &reading.err);
    fuzz_check_status(&reading, status);
    if (status == ORR_OK) {
        check_order(device);
        status = host_read(host_path, &reading.mem, &reading.notes, &host, &reading.err);
        fuzz_check_status(&reading, status);
    }
    if (status == ORR_OK) {
        fuzz_check_status(
            &reading, link_compat(host, device, "/dev/null", IO_OUTFILE_PLAIN, &reading.notes, &summary, &reading.err));
    }
    host_free(host);
    kineto_free(device);
    fuzz_reading_end(&reading);
    (void)close(device_file);
    (void)close(host_file);
    return 0;
}
