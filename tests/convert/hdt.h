/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small PyTorch traces for tests, written from a few words a node: "id~name~parent~members~inputs~attrs", one a line.
 * The name THREAD or PROCESS stands for the recorder's own; members are JSON ("\"stream\": 7"), inputs are
 * "values~types" without the outer brackets where given, attrs more attributes. What is left out is usual.
 */
#ifndef ORR_TESTS_CONVERT_HDT_H
#define ORR_TESTS_CONVERT_HDT_H

#include <stdio.h>
#include <string.h>

#define HDT_ATTRS                                                                                                      \
    "{\"name\": \"rf_id\", \"type\": \"uint64\", \"value\": 5}, {\"name\": \"fw_parent\", \"type\": \"uint64\", "      \
    "\"value\": 0}, {\"name\": \"seq_id\", \"type\": \"int64\", \"value\": -1}, {\"name\": \"scope\", \"type\": "      \
    "\"uint64\", \"value\": 0}, {\"name\": \"tid\", \"type\": \"uint64\", \"value\": 1}, {\"name\": \"fw_tid\", "      \
    "\"type\": \"uint64\", \"value\": 0}, {\"name\": \"op_schema\", \"type\": \"string\", \"value\": \"\"}"

/* The trees of the goldens: a process, and a thread in it. The process' parent is in no file. */
#define HDT_FRONT "0~PROCESS~99\n1~THREAD~0\n"

enum { HDT_PARTS = 7, HDT_LINE = 1024 };

static void hdt_put_node(FILE *file, char *line)
{
    const char *parts[HDT_PARTS] = {"", "", "", "", "", "", ""};
    for (int i = 0; i < HDT_PARTS && line != NULL; i++) {
        parts[i] = strsep(&line, "~");
    }
    const char *name = parts[1];
    name = strcmp(name, "THREAD") == 0 ? "[pytorch|profiler|execution_trace|thread]" : name;
    name = strcmp(name, "PROCESS") == 0 ? "[pytorch|profiler|execution_trace|process]" : name;
    fprintf(
        file,
        "  {\"id\": %s, \"name\": \"%s\", \"ctrl_deps\": %s,\n   \"inputs\": {\"values\": [%s], \"shapes\": [], "
        "\"types\": [%s]}, \"outputs\": {\"values\": [], \"shapes\": [], \"types\": []},\n   \"attrs\": [%s%s%s]%s%s}",
        parts[0], name, parts[2], parts[4], parts[5], HDT_ATTRS, parts[6][0] == '\0' ? "" : ", ", parts[6],
        parts[3][0] == '\0' ? "" : ", ", parts[3]);
}

/* One document with these nodes. `more` is JSON for the front: "\"start_ts\": 4, …"; NULL = the usual. */
static void hdt_put(FILE *file, const char *schema, const char *nodes, const char *more)
{
    fprintf(file, "{\n \"schema\": \"%s\",\n %s,\n \"nodes\": [\n", schema,
            more != NULL ? more : "\"pid\": 7, \"time\": \"2024-01-02 03:04:05\", \"start_ts\": 11");
    for (const char *at = nodes; *at != '\0';) {
        char line[HDT_LINE];
        size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        hdt_put_node(file, line);
        at += length + (at[length] == '\n');
        fputs(*at == '\0' ? "\n" : ",\n", file);
    }
    fputs(" ],\n \"finish_ts\": 22\n}\n", file);
}

static void hdt_write(const char *path, const char *schema, const char *nodes)
{
    FILE *file = fopen(path, "w");
    hdt_put(file, schema, nodes, NULL);
    fclose(file);
}

#endif
