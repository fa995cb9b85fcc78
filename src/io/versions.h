/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The versions of the format libraries that the program runs with. Here because nobody above io/ sees their headers.
 */
#ifndef ORR_IO_VERSIONS_H
#define ORR_IO_VERSIONS_H

enum { IO_VERSION_TEXT = 24 };

struct io_version {
    const char *name;
    char version[IO_VERSION_TEXT];
};

/* Fills `versions` with up to `room` entries, always in the same order, and returns how many there are. */
unsigned io_versions(struct io_version *versions, unsigned room);

#endif
