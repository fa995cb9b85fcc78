/* SPDX-License-Identifier: Apache-2.0 */
/* Every pair of the archive that Chakra's linker linked, through the compatible one: the same bytes. Where the original
 * stopped because of HTA, the archive has what it answers with that step left out. */
#include "tests/convert/archive.h"

#include <stdlib.h>
#include <unistd.h>

#include "compat/chakra/link.h"
#include "tests/check.h"

static enum orr_status link_pair(const struct archive *archive, const char *host_name, const char *device_name,
                                 const char *output, struct orr_error *err)
{
    char host_path[ARCHIVE_PATH], device_path[ARCHIVE_PATH];
    struct mem mem = {0};
    struct notes notes;
    struct host_trace *host = NULL;
    struct kineto_trace *device = NULL;
    struct link_compat_summary summary = {0};
    archive_path(archive, host_name, host_path);
    archive_path(archive, device_name, device_path);
    notes_init(&notes, &mem, false);
    enum orr_status status = host_read(host_path, &mem, &notes, &host, err);
    if (status == ORR_OK)
        status = kineto_read(device_path, &mem, &notes, &device, err);
    if (status == ORR_OK)
        status = link_compat(host, device, output, IO_OUTFILE_PLAIN, &notes, &summary, err);
    host_free(host);
    kineto_free(device);
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "all memory is given back");
    return status;
}

/* Whether the case's answer is ours; `compared` counts the cases that have one. */
static bool try_case(const struct archive *archive, const char *set, const char *name, size_t *compared)
{
    char host[ARCHIVE_PATH], device[ARCHIVE_PATH], want_name[ARCHIVE_PATH], output[ARCHIVE_PATH];
    struct orr_error err = {0};
    size_t got_size = 0;
    size_t want_size = 0;
    snprintf(host, sizeof host, "%s/%s/host.json", set, name);
    snprintf(device, sizeof device, "%s/%s/kineto.json", set, name);
    snprintf(want_name, sizeof want_name, "%s/%s/hdt.json", set, name);
    char *want = archive_read(archive, want_name, &want_size);
    if (want == NULL) {
        snprintf(want_name, sizeof want_name, "%s/%s/hdt_nohta.json", set, name);
        want = archive_read(archive, want_name, &want_size);
    }
    archive_output(archive, "hdt.json", output);
    enum orr_status status = link_pair(archive, host, device, output, &err);
    if (want == NULL) { /* the original stopped for another reason, or there was none to run */
        return status == ORR_OK || err.text[0] != '\0';
    }
    char *got = archive_read(archive, output, &got_size);
    bool same = status == ORR_OK && got != NULL && archive_same(name, got, got_size, want, want_size);
    if (status != ORR_OK)
        printf("%s: %s\n", name, err.text);
    free(want);
    free(got);
    unlink(output);
    (*compared)++;
    return same;
}

static void try_set(const struct archive *archive, const char *set, const char *start, size_t least)
{
    char **names = archive_names(archive, set, start);
    size_t wrong = 0;
    size_t compared = 0;
    for (size_t i = 0; names[i] != NULL; i++)
        wrong += !try_case(archive, set, names[i], &compared);
    archive_names_free(names);
    CHECK_U64(wrong, 0, "cases of %s that differ", set);
    CHECK(compared >= least, "only %zu cases of %s were compared", compared, set);
}

static void recorded_pairs_are_linked_to_the_same_bytes(void **state)
{
    try_set(*state, "link", "", 10);
}

static void hand_made_pairs_are_linked_to_the_same_bytes(void **state)
{
    try_set(*state, "edge", "link_", 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_pairs_are_linked_to_the_same_bytes),
        cmocka_unit_test(hand_made_pairs_are_linked_to_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, archive_open, archive_close);
}
