/* SPDX-License-Identifier: Apache-2.0 */
/* Opening: what the library carries first, then the user's files over it. */
#include "compute/op_data.h"

#include <string.h>

#include "io/unpack.h"

enum orr_status op_sets_shipped(struct op_sets *sets, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < op_shipped_count && status == ORR_OK; i++) {
        const struct op_shipped *file = &op_shipped[i];
        void *bytes = NULL;
        size_t size = 0;
        status =
            io_unpack_zstd(file->name, file->bytes, (size_t)(file->end - file->bytes), &sets->mem, &bytes, &size, err);
        if (status == ORR_OK) {
            status = op_sets_parse(sets, file->name, bytes, size, err);
            mem_free(&sets->mem, bytes, size);
        }
    }
    return status;
}

/* "b200,gb200" */
static enum orr_status read_without(const char *text, bool hidden[OP_DEVICES_MOST], struct orr_error *err)
{
    for (const char *at = text;; at++) {
        char name[64];
        uint32_t device = 0;
        size_t length = strcspn(at, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), at);
        enum orr_status status = device_named(name, &device, err);
        if (status != ORR_OK) {
            return status;
        }
        hidden[device] = true;
        at += length;
        if (*at == '\0') {
            return ORR_OK;
        }
    }
}

enum orr_status orr_op_data_open_without(const char *const *files, size_t count, const char *without,
                                         struct orr_op_data **data, struct orr_error *err)
{
    struct op_sets sets = {.count = 0};
    bool hidden[OP_DEVICES_MOST] = {false};
    enum orr_status status = without != NULL ? read_without(without, hidden, err) : ORR_OK;
    status = status != ORR_OK ? status : op_sets_shipped(&sets, err);
    for (size_t i = 0; i < count && status == ORR_OK; i++) {
        status = op_sets_read(&sets, files[i], err);
    }
    status = status != ORR_OK ? status : op_data_make(&sets, hidden, data, err);
    if (status != ORR_OK) {
        op_sets_free(&sets);
    }
    return status;
}

enum orr_status orr_op_data_open(const char *const *files, size_t count, struct orr_op_data **data,
                                 struct orr_error *err)
{
    return orr_op_data_open_without(files, count, NULL, data, err);
}

enum orr_status orr_op_device_find(const char *name, uint32_t *device, struct orr_error *err)
{
    return device_named(name, device, err);
}
