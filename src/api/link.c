/* SPDX-License-Identifier: Apache-2.0 */
/* Linking: two files in, one out. The compatible linker and our own write different documents, and count differently;
 * what both know is what a caller gets. */
#include "convert/pytorch/link/link.h"
#include "base/notices.h"
#include "compat/chakra/link.h"
#include "orrery.h"

void orr_link_options_init(struct orr_link_options *options)
{
    *options = (struct orr_link_options){.rank = -1};
}

static enum orr_status link_as_chakra(const struct orr_link_options *options, struct mem *mem, struct notes *notes,
                                      struct orr_link_summary *summary, struct orr_error *err)
{
    struct host_trace *host = NULL;
    struct kineto_trace *device = NULL;
    struct link_compat_summary made = {0};
    if (options->host == NULL || options->device == NULL) {
        return error_set(err, ORR_EINVAL, "Chakra's linker needs a host trace and a device trace");
    }
    enum orr_status status = host_read(options->host, mem, notes, &host, err);
    if (status == ORR_OK) {
        status = kineto_read(options->device, mem, notes, &device, err);
    }
    if (status == ORR_OK) {
        status = link_compat(host, device, options->output, io_outfile_form_of(options->output), notes, &made, err);
    }
    if (status == ORR_OK) {
        *summary = (struct orr_link_summary){
            .host_nodes = made.host_nodes,
            .matched = made.matched,
            .device_nodes = made.device_nodes,
            .unlinked = made.orphans,
            .sync_dependencies = made.sync_nodes,
        };
    }
    host_free(host);
    kineto_free(device);
    return status;
}

static enum orr_status link_right(const struct orr_link_options *options, struct mem *mem, struct notes *notes,
                                  struct orr_link_summary *summary, struct orr_error *err)
{
    struct link_request request = {
        .host = options->host,
        .device = options->device,
        .output = options->output,
        .rank = options->rank,
        .mem = mem,
        .notes = notes,
    };
    struct linked_counts counts = {0};
    if (options->host == NULL && options->device == NULL) {
        return error_set(err, ORR_EINVAL, "nothing to link: neither a host trace nor a device trace is given");
    }
    enum orr_status status = link_run(&request, &counts, err);
    if (status == ORR_OK) {
        *summary = (struct orr_link_summary){
            .host_nodes = counts.host_nodes,
            .matched = counts.matched,
            .device_nodes = counts.kernels + counts.copies + counts.sets,
            .unlinked = counts.unlaunched,
            .sync_dependencies = counts.waits_recorded + counts.waits_inferred,
        };
    }
    return status;
}

enum orr_status orr_trace_link(const struct orr_link_options *options, const struct orr_notices *notices,
                               struct orr_link_summary *summary, struct orr_error *err)
{
    struct mem mem = {.limit = options->memory_limit};
    struct notes notes;
    struct orr_link_summary made = {0};
    if (options->output == NULL) {
        return error_set(err, ORR_EINVAL, "no file to write the linked trace to");
    }
    notices_begin(&notes, &mem, notices);
    enum orr_status status = options->compat_chakra ? link_as_chakra(options, &mem, &notes, &made, err)
                                                    : link_right(options, &mem, &notes, &made, err);
    notices_end(&notes, notices);
    if (status == ORR_OK) {
        *summary = made;
    }
    return status;
}
