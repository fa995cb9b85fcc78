/* SPDX-License-Identifier: Apache-2.0 */
/* Where results go: a result that could not be written is never reported as success, and a file is either whole or as
 * it was: the library writes those that the program makes too. */
#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_stream.h"

/* A pipe tells that nobody reads it: `orrery ... | head` has all it wanted. */
static bool reader_left(void)
{
    struct pollfd pipe_end = {.fd = STDOUT_FILENO};
    return poll(&pipe_end, 1, 0) > 0 && (pipe_end.revents & POLLERR) != 0;
}

int cli_stdout_failed(const char *reason)
{
    if (!reader_left()) {
        cli_error("standard output: %s; the result is not complete", reason);
    }
    __fpurge(stdout); /* said once: nothing is left that could fail again */
    clearerr(stdout);
    return orr_status_exit_code(ORR_EFAIL);
}

int cli_finish(int exit_code)
{
    bool failed = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == 0 && !failed) {
        return exit_code;
    }
    int failure = cli_stdout_failed(strerror(errno != 0 ? errno : EIO));
    return exit_code == 0 ? failure : exit_code;
}

static bool cli_output_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The folder a path lies in; the caller frees it. NULL when there is no memory. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static enum orr_status check_new_file(const char *option, const char *path, const char *folder, struct orr_error *err)
{
    if (folder == NULL) {
        return error_set(err, ORR_ENOMEM, "%s: out of memory looking at %s", option, path);
    }
    if (!cli_output_is_folder(folder)) {
        return error_set(err, ORR_EIO, "%s: cannot be written (%s): there is no folder %s", path, option, folder);
    }
    if (access(folder, W_OK | X_OK) != 0) {
        return error_set(err, ORR_EIO, "%s: cannot be written (%s): folder %s: %s", path, option, folder,
                         strerror(errno));
    }
    return ORR_OK;
}

/* Our own standard output or error under another name (/dev/stdout) is open already. */
static bool is_standard_stream(const struct stat *found)
{
    for (int descriptor = STDOUT_FILENO; descriptor <= STDERR_FILENO; descriptor++) {
        struct stat own;
        if (fstat(descriptor, &own) == 0 && own.st_dev == found->st_dev && own.st_ino == found->st_ino) {
            return true;
        }
    }
    return false;
}

enum orr_status cli_check_writable(const char *option, const char *path, struct orr_error *err)
{
    const char *slash = strrchr(path, '/');
    if (path[0] == '\0' || (slash != NULL && slash[1] == '\0')) {
        return error_set(err, ORR_EINVAL, "%s: \"%s\" is not the name of a file", option, path);
    }
    struct stat found;
    bool exists = stat(path, &found) == 0;
    if (exists && S_ISDIR(found.st_mode)) {
        return error_set(err, ORR_EIO, "%s: cannot be written (%s): it is a folder", path, option);
    }
    if (exists && is_standard_stream(&found)) {
        return ORR_OK;
    }
    if (exists && access(path, W_OK) != 0) {
        return error_set(err, ORR_EIO, "%s: cannot be written (%s): %s", path, option, strerror(errno));
    }
    if (exists && !S_ISREG(found.st_mode)) {
        return ORR_OK;
    }
    char *target = exists ? realpath(path, NULL) : strdup(path); /* links are followed, and the file replaced there */
    char *folder = target == NULL ? NULL : folder_of(target);
    enum orr_status status = check_new_file(option, path, folder, err);
    free(target);
    free(folder);
    return status;
}

enum orr_status cli_check_name(const char *option, const char *path, struct orr_error *err)
{
    const char *slash = strrchr(path, '/');
    if (path[0] == '\0' || (slash != NULL && slash[1] == '\0')) {
        return error_set(err, ORR_EINVAL, "%s: \"%s\" is not the name of a file", option, path);
    }
    if (strcmp(path, "-") == 0) {
        return error_set(err, ORR_EINVAL, "%s: \"-\" (standard output) is not for this; name a file", option);
    }
    if (cli_output_is_folder(path)) {
        return error_set(err, ORR_EIO, "%s: cannot be written (%s): it is a folder", path, option);
    }
    return ORR_OK;
}

bool cli_same_file(const char *a, const char *b)
{
    struct stat x;
    struct stat y;
    return a != NULL && b != NULL && stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool cli_is_rank_file(const char *path, const char *prefix)
{
    const char *end = strrchr(path, '.');
    const char *digits = end;
    while (digits != NULL && digits > path && digits[-1] >= '0' && digits[-1] <= '9') {
        digits--;
    }
    if (end == NULL || strcmp(end, ".et") != 0 || digits == end || digits == path || digits[-1] != '.') {
        return false;
    }
    char *same = NULL;
    if (asprintf(&same, "%s%s", prefix, digits - 1) < 0) {
        return false;
    }
    bool is = strcmp(path, same) == 0 || cli_same_file(path, same);
    free(same);
    return is;
}

enum orr_status cli_check_folder(const char *option, const char *path, struct orr_error *err)
{
    if (path[0] == '\0') {
        return error_set(err, ORR_EINVAL, "%s: \"\" is not the name of a folder", option);
    }
    char *above = strdup(path); /* cut down to the part that exists */
    struct stat found;
    while (above != NULL && stat(above, &found) != 0 && errno == ENOENT && strcmp(above, ".") != 0) {
        size_t length = strlen(above);
        while (length > 1 && above[length - 1] == '/') {
            above[--length] = '\0';
        }
        char *shorter = folder_of(above);
        free(above);
        above = shorter;
    }
    enum orr_status status = ORR_OK;
    if (above == NULL) {
        status = error_set(err, ORR_ENOMEM, "%s: out of memory looking at %s", option, path);
    } else if (stat(above, &found) != 0 || (S_ISDIR(found.st_mode) && access(above, W_OK | X_OK) != 0)) {
        status = error_set(err, ORR_EIO, "%s: cannot be written (%s): %s: %s", path, option, above, strerror(errno));
    } else if (!S_ISDIR(found.st_mode)) {
        status = error_set(err, ORR_EIO, "%s: cannot be written (%s): %s is not a folder", path, option, above);
    }
    free(above);
    return status;
}

static enum orr_status no_room(struct orr_error *err)
{
    return error_set(err, ORR_ENOMEM, "out of memory making the output");
}

enum orr_status cli_text_open(struct cli_text *made, struct orr_error *err)
{
    *made = (struct cli_text){0};
    made->stream = text_stream_open(&made->text, &made->size);
    return made->stream == NULL ? no_room(err) : ORR_OK;
}

enum orr_status cli_text_close(struct cli_text *made, enum orr_status status, const char *path, struct orr_error *err)
{
    bool failed = ferror(made->stream) != 0;
    failed = fclose(made->stream) != 0 || failed;
    if (status == ORR_OK && failed) {
        status = no_room(err);
    } else if (status == ORR_OK && path != NULL && strcmp(path, "-") != 0) {
        status = orr_file_write(path, made->text, made->size, err);
    } else if (status == ORR_OK) {
        (void)fwrite(made->text, 1, made->size, stdout);
    }
    free(made->text);
    return status;
}

static bool cli_output_is_stdout(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

static enum orr_status check_form(const char *option, const char *path, struct cli_inputs inputs, struct orr_error *err)
{
    if (path == NULL || cli_output_is_stdout(path)) {
        return ORR_OK;
    }
    for (size_t i = 0; i < inputs.count; i++) {
        if (cli_same_file(path, inputs.list[i])) {
            return error_set(err, ORR_EINVAL, "%s would replace the input %s", option, inputs.list[i]);
        }
    }
    return cli_check_writable(option, path, err);
}

enum orr_status cli_check_timeline(const char *option, const char *path, struct orr_error *err)
{
    size_t length = strlen(path);
    bool folder = length > 0 && path[length - 1] == '/';
    return folder ? cli_check_folder(option, path, err) : cli_check_writable(option, path, err);
}

/* A name that promises another format would hold what no program opens by it. */
enum orr_status cli_chart_check(const char *path, struct orr_error *err)
{
    size_t length = path != NULL ? strlen(path) : 0;
    if (path == NULL || (length > 4 && strcmp(path + length - 4, ".svg") == 0)) {
        return ORR_OK;
    }
    return error_set(err, ORR_EINVAL, "--chart: charts are written as SVG; %s does not end in .svg", path);
}

enum orr_status cli_forms_check(const struct cli_forms *forms, struct cli_inputs inputs, struct orr_error *err)
{
    bool both = forms->json != NULL && forms->csv != NULL &&
                (strcmp(forms->json, forms->csv) == 0 || cli_same_file(forms->json, forms->csv));
    if (both) {
        return error_set(err, ORR_EINVAL, "--json and --csv both want %s",
                         cli_output_is_stdout(forms->json) ? "standard output" : forms->json);
    }
    if (cli_output_is_stdout(forms->report)) {
        return error_set(err, ORR_EINVAL, "--report: \"-\" (standard output) is not for a page; name a file");
    }
    if (forms->report != NULL && (forms->json != NULL && strcmp(forms->report, forms->json) == 0)) {
        return error_set(err, ORR_EINVAL, "--json and --report both want %s", forms->json);
    }
    enum orr_status status = check_form("--json", forms->json, inputs, err);
    status = status == ORR_OK ? check_form("--csv", forms->csv, inputs, err) : status;
    status = status == ORR_OK ? cli_chart_check(forms->chart, err) : status;
    status = status == ORR_OK ? check_form("--chart", forms->chart, inputs, err) : status;
    return status == ORR_OK ? check_form("--report", forms->report, inputs, err) : status;
}

enum orr_status cli_chart_put(const char *path,
                              enum orr_status (*draw)(void *context, FILE *stream, struct orr_error *err),
                              void *context, struct orr_error *err)
{
    struct cli_text made;
    if (path == NULL) {
        return ORR_OK;
    }
    enum orr_status status = cli_text_open(&made, err);
    if (status == ORR_OK) {
        status = draw(context, made.stream, err);
        status = cli_text_close(&made, status, path, err);
    }
    return status;
}

enum orr_status cli_json_text(enum orr_status (*answer)(void *context, enum orr_form form, FILE *stream,
                                                        struct orr_error *err),
                              void *context, char **text, size_t *size, struct orr_error *err)
{
    *text = NULL;
    FILE *stream = text_stream_open(text, size);
    if (stream == NULL) {
        return no_room(err);
    }
    enum orr_status status = answer(context, ORR_FORM_JSON, stream, err);
    bool failed = fclose(stream) != 0;
    return status == ORR_OK && failed ? no_room(err) : status;
}

static enum orr_status put_report(const struct cli_forms *forms,
                                  enum orr_status (*answer)(void *context, enum orr_form form, FILE *stream,
                                                            struct orr_error *err),
                                  void *context, struct orr_error *err)
{
    char *text = NULL;
    size_t size = 0;
    enum orr_status status = cli_json_text(answer, context, &text, &size, err);
    status = status == ORR_OK
                 ? cli_report_text(forms->report, forms->argc, forms->argv, forms->argv[0], text, size, err)
                 : status;
    free(text);
    return status;
}

enum orr_status cli_forms_put(const struct cli_forms *forms,
                              enum orr_status (*answer)(void *context, enum orr_form form, FILE *stream,
                                                        struct orr_error *err),
                              void *context, struct orr_error *err)
{
    const char *const paths[] = {[ORR_FORM_TEXT] = NULL, [ORR_FORM_JSON] = forms->json, [ORR_FORM_CSV] = forms->csv};
    bool replaced = cli_output_is_stdout(forms->json) || cli_output_is_stdout(forms->csv);
    enum orr_status status = ORR_OK;
    for (int form = ORR_FORM_TEXT; form <= ORR_FORM_CSV && status == ORR_OK; form++) {
        struct cli_text made;
        if (form == ORR_FORM_TEXT ? replaced : paths[form] == NULL) {
            continue;
        }
        status = cli_text_open(&made, err);
        if (status == ORR_OK) {
            status = answer(context, (enum orr_form)form, made.stream, err);
            status = cli_text_close(&made, status, paths[form], err);
        }
    }
    return status == ORR_OK && forms->report != NULL ? put_report(forms, answer, context, err) : status;
}
