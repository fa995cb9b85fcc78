/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of /proc and /sys have no size before they are read and are small, so they are read here and not through
 * io/file.h; one that is missing says nothing, since which of them there are differs from machine to machine.
 */
#include "api/doctor/machine.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/numbers.h"
#include "base/scan.h"
#include "base/thread_pool.h"

enum { SMALL_FILE = 8192, PATH_ROOM = 4096 };

/* The beginning of a small file, terminated; "" when it cannot be read. */
static const char *read_small(const char *path, char buffer[SMALL_FILE])
{
    FILE *file = fopen(path, "re");
    memset(buffer, 0, SMALL_FILE);
    if (file != NULL) {
        (void)fread(buffer, 1, SMALL_FILE - 1, file);
        (void)fclose(file);
    }
    return buffer;
}

/* A copy of the first `length` bytes without blanks around and without control characters; "" when memory is refused,
 * which the caller finds out with its next allocation. */
static const char *doctor_machine_keep(struct arena *arena, const char *text, size_t length)
{
    while (length > 0 && (unsigned char)*text <= ' ') {
        text++;
        length--;
    }
    while (length > 0 && (unsigned char)text[length - 1] <= ' ') {
        length--;
    }
    char *copy = length == 0 ? NULL : arena_strndup(arena, text, length);
    for (char *c = copy; c != NULL && *c != '\0'; c++) {
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c;
    }
    return copy == NULL ? "" : copy;
}

static const char *first_line(struct arena *arena, const char *path)
{
    char buffer[SMALL_FILE];
    const char *text = read_small(path, buffer);
    return doctor_machine_keep(arena, text, strcspn(text, "\n"));
}

/* What follows `key` and a colon at the beginning of a line; "" when no line begins so. */
static const char *line_value(struct arena *arena, const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; line != NULL && *line != '\0';) {
        size_t end = strcspn(line, "\n");
        size_t colon = strcspn(line, ":");
        if (strncmp(line, key, length) == 0 && colon < end) {
            return doctor_machine_keep(arena, line + colon + 1, end - colon - 1);
        }
        line += end + (line[end] == '\n');
    }
    return "";
}

/* ---- system ---- */

static uint64_t kib(const char *text)
{
    uint64_t value = strtoull(text, NULL, 10);
    return value > UINT64_MAX / 1024 ? 0 : value * 1024;
}

/* The least memory.max from the program's own control group up to the root of the second version's hierarchy. */
static uint64_t memory_limit(void)
{
    char groups[SMALL_FILE];
    char folder[PATH_ROOM];
    uint64_t limit = 0;
    const char *own = strstr(read_small("/proc/self/cgroup", groups), "0::/");
    if (own == NULL || strcspn(own, "\n") >= sizeof folder - 64) {
        return 0;
    }
    (void)snprintf(folder, sizeof folder, "%.*s", (int)strcspn(own + 3, "\n"), own + 3);
    for (;;) {
        char path[PATH_ROOM + 64];
        char text[SMALL_FILE];
        (void)snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", folder);
        uint64_t here = strtoull(read_small(path, text), NULL, 10); /* "max" reads as 0 */
        limit = here != 0 && (limit == 0 || here < limit) ? here : limit;
        char *slash = strrchr(folder, '/');
        if (slash == NULL) {
            break;
        }
        *slash = '\0';
    }
    return limit;
}

static void look_at_processors(struct arena *arena, struct doctor_report *report)
{
    char text[SMALL_FILE];
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    report->processors = online > 0 ? (uint32_t)online : 1;
    report->usable = thread_pool_processors();
    const char *info = read_small("/proc/cpuinfo", text);
    report->processor = line_value(arena, info, "model name");
}

static enum orr_status look_at_memory(struct doctor_report *report, struct orr_error *err)
{
    char text[SMALL_FILE];
    errno = 0;
    const char *info = read_small("/proc/meminfo", text);
    if (info[0] == '\0' && errno == ENOMEM) { /* a machine without memory would be the wrong finding */
        return error_set(err, ORR_ENOMEM, "out of memory looking at the machine");
    }
    const char *total = strstr(info, "MemTotal:");
    const char *available = strstr(info, "MemAvailable:");
    report->memory_bytes = total == NULL ? 0 : kib(total + strlen("MemTotal:"));
    report->available_bytes = available == NULL ? 0 : kib(available + strlen("MemAvailable:"));
    uint64_t limit = memory_limit();
    report->limit_bytes = limit < report->memory_bytes ? limit : 0;
    return ORR_OK;
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54  ...": the first word that begins with a digit. */
static const char *nvidia_version(struct arena *arena)
{
    char text[SMALL_FILE];
    const char *line = read_small("/proc/driver/nvidia/version", text);
    size_t end = strcspn(line, "\n");
    for (size_t i = 1; i < end; i++) {
        if (line[i - 1] == ' ' && line[i] >= '0' && line[i] <= '9') {
            return doctor_machine_keep(arena, line + i, strcspn(line + i, " \n"));
        }
    }
    return "";
}

enum orr_status doctor_machine_look(struct arena *arena, struct doctor_report *report, struct orr_error *err)
{
    struct utsname name;
    bool known = uname(&name) == 0;
    report->system = known ? arena_printf(arena, "%s %s", name.sysname, name.release) : "unknown";
    report->architecture = known ? arena_printf(arena, "%s", name.machine) : "unknown";
    if (report->system == NULL || report->architecture == NULL) {
        return mem_error(arena->mem, "the report", err);
    }
    look_at_processors(arena, report);
    enum orr_status status = look_at_memory(report, err);
    if (status != ORR_OK) {
        return status;
    }
    report->rocm = first_line(arena, "/opt/rocm/.info/version");
    report->amdgpu = first_line(arena, "/sys/module/amdgpu/version");
    report->nvidia = nvidia_version(arena);
    return ORR_OK;
}

/* ---- programs ---- */

static const struct doctor_part parts_known[] = {
    {"dot", "Graphviz's pictures (orrery trace export parameter 'to' dot, chakra_visualizer)", NULL},
    {"python3", "recording a job (orrery trace recipe)", NULL},
    {"torchrun", "recording a job on several GPUs", NULL},
    {"amd-smi", "clocks of AMD GPUs (parameter 'smi' FILE)", NULL},
    {"rocm-smi", "clocks of AMD GPUs, older ROCm (parameter 'smi' FILE)", NULL},
    {"nvidia-smi", "clocks of NVIDIA GPUs (parameter 'smi' FILE)", NULL},
};

enum { PARTS = sizeof parts_known / sizeof parts_known[0] };

static const char *search(const char *path, const char *name, struct arena *arena, bool *refused)
{
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        char *file = length == 0 ? NULL : arena_printf(arena, "%.*s/%s", (int)length, path, name);
        struct stat about;
        *refused = *refused || (file == NULL && length != 0);
        if (file != NULL && access(file, X_OK) == 0 && stat(file, &about) == 0 && S_ISREG(about.st_mode)) {
            return file;
        }
        path += length + (path[length] == ':');
    }
    return NULL;
}

enum orr_status doctor_parts_look(const char *path, struct arena *arena, const struct doctor_part **parts,
                                  uint32_t *count, struct orr_error *err)
{
    struct doctor_part *made = arena_alloc(arena, sizeof parts_known);
    bool refused = made == NULL;
    for (size_t i = 0; i < PARTS && made != NULL; i++) {
        made[i] = parts_known[i];
        made[i].path = search(path, made[i].name, arena, &refused);
    }
    if (refused) {
        return mem_error(arena->mem, "the report", err);
    }
    *parts = made;
    *count = PARTS;
    return ORR_OK;
}

/* ---- GPUs ---- */

#define DOCTOR_X(name, word, section, key, file) file,
static const char *const clock_files[] = {DOCTOR_CLOCKS(DOCTOR_X)};
#undef DOCTOR_X

/* The number of "card0"; false for its connectors ("card0-DP-1") and all else. */
static bool card_number(const char *name, uint32_t *number)
{
    uint64_t value = 0;
    if (strncmp(name, "card", 4) != 0) {
        return false;
    }
    size_t digits = scan_digits(name + 4, 6, &value);
    *number = (uint32_t)value;
    return digits > 0 && name[4 + digits] == '\0';
}

static const char *vendor(const char *id)
{
    static const struct {
        const char *id, *name;
    } known[] = {{"0x1002", "AMD"}, {"0x10de", "NVIDIA"}, {"0x8086", "Intel"}, {"0x1a03", "ASPEED"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(id, known[i].id) == 0) {
            return known[i].name;
        }
    }
    return id;
}

static enum orr_status look_at_card(const char *sysfs, uint32_t number, struct arena *arena, struct doctor_smi *smi,
                                    struct orr_error *err)
{
    char buffer[SMALL_FILE];
    const char *folder = arena_printf(arena, "%s/class/drm/card%" PRIu32 "/device", sysfs, number);
    struct doctor_gpu *gpu = folder == NULL ? NULL : doctor_smi_gpu(smi, number, arena);
    if (gpu == NULL) {
        return mem_error(arena->mem, "the clocks of GPUs", err);
    }
#define IN_FOLDER(file) arena_printf(arena, "%s/%s", folder, (file))
    const char *paths[] = {IN_FOLDER("vendor"), IN_FOLDER("device"), IN_FOLDER("product_name"),
                           IN_FOLDER("mem_info_vram_total")};
    const char *clocks[DOCTOR_CLOCK_KINDS];
    bool refused = false;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        refused = refused || paths[i] == NULL;
    }
    for (unsigned k = 0; k < DOCTOR_CLOCK_KINDS; k++) {
        clocks[k] = IN_FOLDER(clock_files[k]);
        refused = refused || clocks[k] == NULL;
    }
#undef IN_FOLDER
    if (refused) {
        return mem_error(arena->mem, "the clocks of GPUs", err);
    }
    const char *product = first_line(arena, paths[2]);
    const char *made = arena_printf(arena, "%s %s", vendor(first_line(arena, paths[0])),
                                    product[0] == '\0' ? first_line(arena, paths[1]) : product);
    gpu->name = made == NULL ? "" : doctor_machine_keep(arena, made, strlen(made));
    gpu->source = arena_printf(arena, "card%" PRIu32, number);
    gpu->source = gpu->source == NULL ? "card" : gpu->source;
    gpu->memory_bytes = strtoull(read_small(paths[3], buffer), NULL, 10);
    for (unsigned k = 0; k < DOCTOR_CLOCK_KINDS; k++) {
        (void)doctor_dpm_parse(read_small(clocks[k], buffer), &gpu->clocks[k]);
    }
    return ORR_OK;
}

enum orr_status doctor_sysfs_look(const char *sysfs, struct arena *arena, struct doctor_smi *smi, struct orr_error *err)
{
    uint32_t numbers[DOCTOR_GPUS_MOST];
    size_t count = 0;
    struct stat about;
    if (stat(sysfs, &about) != 0) {
        return error_system(err, errno, "%s", sysfs);
    }
    if (!S_ISDIR(about.st_mode)) {
        return error_set(err, ORR_EIO, "%s: not a folder; /sys of a machine, or a copy of it, is expected", sysfs);
    }
    const char *path = arena_printf(arena, "%s/class/drm", sysfs);
    if (path == NULL) {
        return mem_error(arena->mem, "the clocks of GPUs", err);
    }
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return ORR_OK; /* no graphics driver */
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (count < DOCTOR_GPUS_MOST && card_number(entry->d_name, &numbers[count])) {
            count++;
        }
    }
    (void)closedir(folder);
    qsort(numbers, count, sizeof numbers[0], numbers_order_u32);
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < count && status == ORR_OK; i++) {
        status = look_at_card(sysfs, numbers[i], arena, smi, err);
    }
    return status;
}
