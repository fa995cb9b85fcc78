/* SPDX-License-Identifier: Apache-2.0 */
/* A file is whole or not there, and what was there before survives a failure. */
#include "io/outfile.h"
#include "tests/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static char path[128];

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "outfile-test-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    (void)snprintf(path, sizeof path, "%s/out", folder);
    return 0;
}

/* Fails when anything but the named files is left in the folder. */
static int remove_folder(void **state)
{
    (void)state;
    char link[128];
    (void)snprintf(link, sizeof link, "%s/link", folder);
    (void)unlink(link);
    (void)unlink(path);
    return rmdir(folder);
}

static void write_through(const char *where, const char *text)
{
    struct orr_error err = {0};
    struct io_outfile *file = NULL;
    CHECK_OK(io_outfile_open(where, IO_OUTFILE_PLAIN, &file, &err), &err);
    (void)fputs(text, io_outfile_stream(file));
    CHECK_OK(io_outfile_commit(file, &err), &err);
}

static void check_content(const char *want)
{
    char text[64] = "";
    FILE *file = fopen(path, "r");
    CHECK(file != NULL, "%s is not there", path);
    (void)!fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    CHECK_TEXT(text, want);
}

static void the_target_changes_only_at_the_commit(void **state)
{
    (void)state;
    struct orr_error err = {0};
    struct io_outfile *file = NULL;
    write_through(path, "old");
    CHECK_OK(io_outfile_open(path, IO_OUTFILE_PLAIN, &file, &err), &err);
    (void)fputs("new", io_outfile_stream(file));
    CHECK_OK(io_outfile_finish(file, &err), &err);
    check_content("old");
    CHECK_OK(io_outfile_commit(file, &err), &err);
    check_content("new");
}

/* How many entries the folder has. */
static unsigned entry_count(void)
{
    DIR *open_folder = opendir(folder);
    assert_non_null(open_folder);
    unsigned count = 0;
    for (const struct dirent *entry = readdir(open_folder); entry != NULL; entry = readdir(open_folder)) {
        count += entry->d_name[0] != '.';
    }
    (void)closedir(open_folder);
    return count;
}

static void a_file_under_way_has_no_name_where_the_file_system_can(void **state)
{
    (void)state;
    int probe = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    if (probe < 0) {
        print_message("this file system has no files without names\n");
        skip();
    }
    (void)close(probe);
    for (int form = IO_OUTFILE_PLAIN; form <= IO_OUTFILE_GZIP; form++) {
        struct orr_error err = {0};
        struct io_outfile *file = NULL;
        (void)unlink(path);
        CHECK_OK(io_outfile_open(path, (enum io_outfile_form)form, &file, &err), &err);
        (void)fputs("something", io_outfile_stream(file));
        (void)fflush(io_outfile_stream(file));
        CHECK_U64(entry_count(), 0, "entries while writing");
        CHECK_OK(io_outfile_commit(file, &err), &err);
        CHECK_U64(entry_count(), 1, "entries after the commit");
    }
}

/* A name that something else has taken is stepped over, not replaced. */
static void a_temporary_name_in_use_is_left_alone(void **state)
{
    (void)state;
    char taken[192];
    (void)snprintf(taken, sizeof taken, "%s.tmp-%ld-0", path, (long)getpid());
    write_through(taken, "mine");
    write_through(path, "new");
    check_content("new");
    assert_int_equal(unlink(taken), 0);
}

static void an_aborted_file_leaves_the_old_one(void **state)
{
    (void)state;
    struct orr_error err = {0};
    struct io_outfile *file = NULL;
    write_through(path, "old");
    CHECK_OK(io_outfile_open(path, IO_OUTFILE_PLAIN, &file, &err), &err);
    (void)fputs("new", io_outfile_stream(file));
    io_outfile_abort(file);
    check_content("old");
}

static void the_mode_of_an_existing_file_is_kept(void **state)
{
    (void)state;
    struct stat info;
    write_through(path, "old");
    assert_int_equal(chmod(path, 0640), 0);
    write_through(path, "new");
    assert_int_equal(stat(path, &info), 0);
    CHECK_U64(info.st_mode & 0777, 0640, "mode");
}

static void a_link_stays_a_link(void **state)
{
    (void)state;
    char link[128];
    struct stat info;
    write_through(path, "old");
    (void)snprintf(link, sizeof link, "%s/link", folder);
    assert_int_equal(symlink("out", link), 0);
    write_through(link, "new");
    check_content("new");
    assert_int_equal(lstat(link, &info), 0);
    CHECK(S_ISLNK(info.st_mode), "it was replaced");
}

static void a_full_disk_is_an_error_in_both_forms(void **state)
{
    (void)state;
    for (int form = IO_OUTFILE_PLAIN; form <= IO_OUTFILE_GZIP; form++) {
        struct orr_error err = {0};
        struct io_outfile *file = NULL;
        CHECK_OK(io_outfile_open("/dev/full", (enum io_outfile_form)form, &file, &err), &err);
        (void)fputs("something", io_outfile_stream(file));
        CHECK_STATUS(io_outfile_commit(file, &err), ORR_EFAIL);
        CHECK_CONTAINS(err.text, "/dev/full: cannot be written: No space left on device");
    }
}

static void folders_are_made_where_missing_and_files_in_the_way_named(void **state)
{
    (void)state;
    struct orr_error err = {0};
    char deep[160];
    (void)snprintf(deep, sizeof deep, "%s/a/b/", folder);
    CHECK_OK(io_make_folder(deep, &err), &err);
    CHECK_OK(io_make_folder(deep, &err), &err);
    assert_int_equal(rmdir(deep), 0);
    (void)snprintf(deep, sizeof deep, "%s/a", folder);
    assert_int_equal(rmdir(deep), 0);
    write_through(path, "a file");
    CHECK_STATUS(io_make_folder(path, &err), ORR_EIO);
    CHECK_CONTAINS(err.text, "Not a directory");
    CHECK_STATUS(io_make_folder("", &err), ORR_EIO);
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(the_target_changes_only_at_the_commit),
        IN_FOLDER(a_file_under_way_has_no_name_where_the_file_system_can),
        IN_FOLDER(a_temporary_name_in_use_is_left_alone),
        IN_FOLDER(an_aborted_file_leaves_the_old_one),
        IN_FOLDER(the_mode_of_an_existing_file_is_kept),
        IN_FOLDER(a_link_stays_a_link),
        IN_FOLDER(a_full_disk_is_an_error_in_both_forms),
        IN_FOLDER(folders_are_made_where_missing_and_files_in_the_way_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
