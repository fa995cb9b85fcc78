/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A foreign text through its converter and back as one line a rank, so that a case is an input and a sentence. A node
 * is its name, then "/US" for compute ("~" before it for the host's), "=TYPE:BYTES" for a collective, ">PEER#TAG:BYTES"
 * for a send, "<PEER#TAG:BYTES" for a receive, "!" for anything else, and in brackets the ids it waits for. Whatever
 * comes out is also checked (trace/check.h), and its ids must count from 0 with every dependency on a smaller one.
 */
#ifndef ORR_TESTS_CONVERT_CONVERTING_H
#define ORR_TESTS_CONVERT_CONVERTING_H

#include <stdlib.h>
#include <unistd.h>

#include "convert/workload.h"
#include "io/file.h"
#include "tests/check.h"
#include "tests/folder.h"
#include "trace/check.h"
#include "trace/document.h"

struct converting {
    struct mem mem;
    struct notes notes;
    struct convert_request request;
    struct convert_summary summary;
    struct orr_error err;
    char input[64], output[64];
};

static inline void converting_begin(struct converting *one, const char *name)
{
    *one = (struct converting){0};
    notes_init(&one->notes, &one->mem, false);
    snprintf(one->input, sizeof one->input, "%s/%s", folder, name);
    snprintf(one->output, sizeof one->output, "%s/out", folder);
    one->request = (struct convert_request){.input = one->input, .output = one->output, .passes = 1};
    one->request.mem = &one->mem;
    one->request.notes = &one->notes;
}

static inline void converting_end(struct converting *one)
{
    notes_free(&one->notes);
    CHECK_U64(one->mem.used, 0, "everything is given back");
}

static inline enum orr_status converting_run(struct converting *one, const struct converter *converter,
                                             const char *text)
{
    CHECK_OK(file_write(one->input, text, strlen(text), &one->err), &one->err);
    return workload_convert(converter, &one->request, &one->summary, &one->err);
}

static inline bool converting_has_note(const struct converting *one, const char *part)
{
    for (uint32_t i = 0; i < one->notes.count; i++) {
        if (strstr(one->notes.lines[i], part) != NULL)
            return true;
    }
    return false;
}

static inline int64_t attribute(const Chakra__Node *node, enum trace_attr which)
{
    uint64_t bits = 0;
    bool negative = false;
    const Chakra__Attribute *attr = trace_document_attribute(node, which);
    return attr != NULL && trace_document_integer(attr, &bits, &negative) ? (int64_t)bits : -99;
}

static inline const Chakra__Attribute *named(const Chakra__Node *node, const char *name)
{
    for (size_t i = 0; i < node->n_attr; i++) {
        if (strcmp(node->attr[i]->name, name) == 0)
            return node->attr[i];
    }
    return NULL;
}

static inline void describe_node(FILE *stream, const Chakra__Node *node)
{
    bool sends = node->type == CHAKRA__NODE_TYPE__COMM_SEND_NODE;
    fprintf(stream, " %s", node->name);
    if (node->type == CHAKRA__NODE_TYPE__COMP_NODE)
        fprintf(stream, "%s/%" PRIu64, attribute(node, TRACE_ATTR_IS_CPU_OP) == 1 ? "~" : "", node->duration_micros);
    else if (node->type == CHAKRA__NODE_TYPE__COMM_COLL_NODE)
        fprintf(stream, "=%" PRId64 ":%" PRId64, attribute(node, TRACE_ATTR_COMM_TYPE),
                attribute(node, TRACE_ATTR_COMM_SIZE));
    else if (sends || node->type == CHAKRA__NODE_TYPE__COMM_RECV_NODE)
        fprintf(stream, "%c%" PRId64 "#%" PRId64 ":%" PRId64, sends ? '>' : '<',
                attribute(node, sends ? TRACE_ATTR_COMM_DST : TRACE_ATTR_COMM_SRC),
                attribute(node, TRACE_ATTR_COMM_TAG), attribute(node, TRACE_ATTR_COMM_SIZE));
    else
        fprintf(stream, "!");
    for (size_t i = 0; i < node->n_data_deps; i++)
        fprintf(stream, "%c%" PRIu64, i == 0 ? '(' : ',', node->data_deps[i]);
    fprintf(stream, "%s", node->n_data_deps > 0 ? ")" : "");
}

static inline struct trace_document *converting_open(const char *path)
{
    static struct mem mem;
    struct orr_error err = {0};
    struct trace_document *document = NULL;
    CHECK_OK(trace_document_read(path, &mem, &document, &err), &err);
    return document;
}

/* To be freed. */
static inline char *describe(const char *path)
{
    struct mem mem = {0};
    struct orr_error err = {0};
    struct trace_findings findings;
    char *text = NULL;
    size_t size = 0;
    struct trace_document *document = converting_open(path);
    CHECK_OK(trace_check(document, &mem, &findings, &err), &err);
    CHECK(findings.count == 0, "%s: %s", path, findings.items[0].text);
    trace_findings_free(&findings);
    FILE *stream = open_memstream(&text, &size);
    for (uint32_t i = 0; i < document->node_count; i++) {
        CHECK_U64(document->nodes[i]->id, i, "ids count from 0");
        for (size_t d = 0; d < document->nodes[i]->n_data_deps; d++)
            CHECK(document->nodes[i]->data_deps[d] < i, "%s: node %u waits for one behind it", path, i);
        describe_node(stream, document->nodes[i]);
    }
    fclose(stream);
    trace_document_free(document);
    return text;
}

/* The rank's file of a prefix. */
static inline const char *rank_path(const struct converting *one, uint32_t rank)
{
    static char path[96];
    snprintf(path, sizeof path, "%s.%" PRIu32 ".et", one->output, rank);
    return path;
}

static inline void check_rank(const struct converting *one, uint32_t rank, const char *want)
{
    char *got = describe(rank_path(one, rank));
    CHECK(strcmp(got, want) == 0, "rank %" PRIu32 " is\n  %s\nnot\n  %s", rank, got, want);
    free(got);
    unlink(rank_path(one, rank));
}

/* The input is refused with this in the message, and nothing is written. */
static inline void check_refused(struct converting *one, const struct converter *converter, const char *text,
                                 const char *message)
{
    CHECK_STATUS(converting_run(one, converter, text), ORR_EINVAL);
    CHECK_CONTAINS(one->err.text, message);
    CHECK(access(rank_path(one, 0), F_OK) != 0, "%s was written", rank_path(one, 0));
}

/* Runs the traces PREFIX.R.et of `ranks` ranks on a ring; the time in ns. */
static inline uint64_t simulate(const struct converting *one, uint32_t ranks)
{
    char network[96];
    char system_file[96];
    char text[160];
    struct orr_error err = {0};
    struct orr_run *run = NULL;
    static const char rules[] =
        "{\"scheduling-policy\": \"LIFO\", \"preferred-dataset-splits\": 1,"
        " \"all-reduce-implementation\": [\"ring\"], \"all-gather-implementation\": [\"ring\"],"
        " \"reduce-scatter-implementation\": [\"ring\"], \"all-to-all-implementation\": [\"ring\"]}";
    snprintf(network, sizeof network, "%s/network.yml", folder);
    snprintf(system_file, sizeof system_file, "%s/system.json", folder);
    snprintf(text, sizeof text,
             "topology: [ Ring ]\nnpus_count: [ %" PRIu32 " ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n", ranks);
    CHECK_OK(file_write(network, text, strlen(text), &err), &err);
    CHECK_OK(file_write(system_file, rules, strlen(rules), &err), &err);
    struct orr_run_options options;
    orr_run_options_init(&options);
    options.workload = one->output;
    options.network = network;
    options.system = system_file;
    CHECK_OK(orr_run_open(&options, &run, &err), &err);
    CHECK_OK(orr_run_execute(run, &err), &err);
    uint64_t time_ns = orr_run_time_ns(run);
    orr_run_close(run);
    return time_ns;
}

#endif
