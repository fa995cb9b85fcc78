/* SPDX-License-Identifier: Apache-2.0 */
/* Asked of the libraries at run time, where they can tell: what is installed may not be what was compiled against. */
#include "io/versions.h"

#include <stdio.h>

#include <jansson.h>
#include <sqlite3.h>
#include <xxhash.h>
#include <yaml.h>
#include <zlib.h>
#include <zstd.h>

static void io_versions_put(struct io_version *versions, unsigned room, unsigned *count, const char *name,
                            const char *version)
{
    if (*count < room) {
        versions[*count].name = name;
        (void)snprintf(versions[*count].version, IO_VERSION_TEXT, "%s", version);
        (*count)++;
    }
}

unsigned io_versions(struct io_version *versions, unsigned room)
{
    char xxhash[IO_VERSION_TEXT];
    unsigned number = XXH_versionNumber();
    unsigned count = 0;
    (void)snprintf(xxhash, sizeof xxhash, "%u.%u.%u", number / 10000, number / 100 % 100, number % 100);
    io_versions_put(versions, room, &count, "jansson", jansson_version_str());
    io_versions_put(versions, room, &count, "libyaml", yaml_get_version_string());
    io_versions_put(versions, room, &count, "sqlite", sqlite3_libversion());
    io_versions_put(versions, room, &count, "xxhash", xxhash);
    io_versions_put(versions, room, &count, "zlib", zlibVersion());
    io_versions_put(versions, room, &count, "zstd", ZSTD_versionString());
    return count;
}
