/* SPDX-License-Identifier: Apache-2.0 */
/* Names are matched on what is left of them in lower case without '_', '-' and blanks, because every layer spells the
 * same collective its own way (allreduce, all_reduce, AllReduce, _allgather_base, allgather_into_tensor_coalesced). The
 * order of the words decides: a barrier may be carried out by an all-reduce and be called all_reduce_barrier,
 * "reduce_scatter" holds two other words, "allgather" one. */
#include "convert/comm_name.h"

#include <stddef.h>
#include <string.h>

const char *comm_kind_text(enum comm_kind kind)
{
    static const char *const texts[COMM_KIND_COUNT] = {
#define COMM_X(id, text) text,
        COMM_KINDS(COMM_X)
#undef COMM_X
    };
    return texts[kind];
}

const char *comm_kind_dominant(const uint64_t counts[COMM_KIND_COUNT])
{
    static const struct {
        const char *word;
        enum comm_kind kinds[2];
    } patterns[] = {
        {"allreduce", {COMM_ALL_REDUCE, COMM_NONE}},
        {"allgather", {COMM_ALL_GATHER, COMM_NONE}},
        {"alltoall", {COMM_ALL_TO_ALL, COMM_NONE}},
        {"reducescatter", {COMM_REDUCE_SCATTER, COMM_REDUCE_SCATTER_BLOCK}},
        {"broadcast", {COMM_BROADCAST, COMM_NONE}},
        {"reduce", {COMM_REDUCE, COMM_NONE}},
        {"gather", {COMM_GATHER, COMM_NONE}},
        {"scatter", {COMM_SCATTER, COMM_NONE}},
    };
    const char *word = "workload";
    uint64_t most = 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const enum comm_kind *kinds = patterns[i].kinds;
        uint64_t count = counts[kinds[0]] + (kinds[1] == COMM_NONE ? 0 : counts[kinds[1]]);
        if (count > most) {
            most = count;
            word = patterns[i].word;
        } else if (count > 0 && count == most) {
            word = "workload";
        }
    }
    return word;
}

enum { PLAIN_ROOM = 256 };

static char comm_name_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* At most `length` characters of `text`; a longer name is cut: what names speak of stands at their front. */
static void comm_name_make_plain(const char *text, size_t length, char plain[PLAIN_ROOM])
{
    size_t used = 0;
    for (size_t i = 0; i < length && text[i] != '\0' && used + 1 < PLAIN_ROOM; i++) {
        if (strchr("_- ", text[i]) == NULL) {
            plain[used++] = comm_name_lower(text[i]);
        }
    }
    plain[used] = '\0';
}

struct word {
    const char *text;
    enum comm_kind kind;
};

static const struct word words[] = {
    {"barrier", COMM_BARRIER},
    {"reducescatter", COMM_REDUCE_SCATTER},
    {"allreduce", COMM_ALL_REDUCE},
    {"allgather", COMM_ALL_GATHER},
    {"alltoall", COMM_ALL_TO_ALL},
    {"all2all", COMM_ALL_TO_ALL},
    {"broadcast", COMM_BROADCAST},
    {"bcast", COMM_BROADCAST},
    {"sendrecv", COMM_UNKNOWN},
    {"gather", COMM_GATHER},
    {"scatter", COMM_SCATTER},
    {"reduce", COMM_REDUCE},
    {"send", COMM_SEND},
    {"recv", COMM_RECV},
    {"receive", COMM_RECV},
    {"coalesc", COMM_UNKNOWN},
};

static enum comm_kind plain_kind(const char *plain)
{
    if (strncmp(plain, "wait", 4) == 0 || strncmp(plain, "init", 4) == 0) {
        return COMM_NONE;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strstr(plain, words[i].text) != NULL) {
            return words[i].kind;
        }
    }
    return COMM_NONE;
}

enum comm_kind comm_name_word(const char *word)
{
    char plain[PLAIN_ROOM];
    comm_name_make_plain(word, PLAIN_ROOM, plain);
    return plain_kind(plain);
}

/* In lower case; the name's rest is the word. */
static const char *const op_fronts[] = {
    "c10d::",
    "_c10d_functional::",
    "c10d_functional::",
    "_c10d_functional_autograd::",
    "nccl:",
    "rccl:",
    "gloo:",
    "xccl:",
    "mpi:",
    "ucc:",
    "hccl:",
    "oneccl:",
    "oneccl_",
    "oneccl_bindings_for_pytorch:",
    "symm_mem::",
    "_dtensor::",
    "horovod",
    "nccl_",
    "mpi_",
    "gloo_",
};

static bool convert_comm_name_begins(const char *name, const char *front)
{
    while (*front != '\0' && comm_name_lower(*name) == *front) {
        name++;
        front++;
    }
    return *front == '\0';
}

enum comm_kind comm_name_op(const char *name)
{
    if (strcmp(name, "record_param_comms") == 0) {
        return COMM_UNKNOWN;
    }
    for (size_t i = 0; i < sizeof op_fronts / sizeof op_fronts[0]; i++) {
        if (convert_comm_name_begins(name, op_fronts[i])) {
            char plain[PLAIN_ROOM];
            const char *rest = name + strlen(op_fronts[i]);
            comm_name_make_plain(rest, strcspn(rest, "|"), plain);
            return plain_kind(plain);
        }
    }
    return COMM_NONE;
}

/* Kernels that name neither NCCL nor RCCL, in plain form; the first that fits. */
static const struct family_word {
    const char *text;
    enum comm_family family;
    enum comm_kind kind; /* COMM_NONE: it is no communication after all */
} kernels[] = {
    {"msccl", COMM_FAMILY_LIBRARY, COMM_UNKNOWN},
    {"oneccl", COMM_FAMILY_LIBRARY, COMM_UNKNOWN},
    {"getdispatchlayout", COMM_FAMILY_LIBRARY, COMM_NONE}, /* counts tokens on its own device */
    {"deepep::", COMM_FAMILY_EXPERT, COMM_ALL_TO_ALL},
    {"dpsk::ep::", COMM_FAMILY_EXPERT, COMM_ALL_TO_ALL},
    {"mori::", COMM_FAMILY_EXPERT, COMM_ALL_TO_ALL},
    {"pplx::", COMM_FAMILY_EXPERT, COMM_ALL_TO_ALL},
    {"epdispatch", COMM_FAMILY_EXPERT, COMM_ALL_TO_ALL},
    {"epcombine", COMM_FAMILY_EXPERT, COMM_ALL_TO_ALL},
    {"nvshmem", COMM_FAMILY_ONE_SIDED, COMM_UNKNOWN},
    {"rocshmem", COMM_FAMILY_ONE_SIDED, COMM_UNKNOWN},
    {"userbuffers", COMM_FAMILY_USERBUFFERS, COMM_UNKNOWN},
    {"allreducefusion", COMM_FAMILY_FUSED, COMM_ALL_REDUCE},
    {"fusedallreduce", COMM_FAMILY_FUSED, COMM_ALL_REDUCE},
    {"allreducefused", COMM_FAMILY_FUSED, COMM_ALL_REDUCE},
    {"allreducenorm", COMM_FAMILY_FUSED, COMM_ALL_REDUCE},
    {"allreducermsnorm", COMM_FAMILY_FUSED, COMM_ALL_REDUCE},
    {"reducenormkernel", COMM_FAMILY_FUSED, COMM_ALL_REDUCE},
    {"crossdevicereduce", COMM_FAMILY_CUSTOM, COMM_ALL_REDUCE},
    {"quickreduce", COMM_FAMILY_CUSTOM, COMM_ALL_REDUCE},
    {"allreduceprototype", COMM_FAMILY_CUSTOM, COMM_ALL_REDUCE},
    {"oneshotallreduce", COMM_FAMILY_SYMMETRIC, COMM_ALL_REDUCE},
    {"twoshotallreduce", COMM_FAMILY_SYMMETRIC, COMM_ALL_REDUCE},
    {"multimemallreduce", COMM_FAMILY_SYMMETRIC, COMM_ALL_REDUCE},
    {"multimemallgather", COMM_FAMILY_SYMMETRIC, COMM_ALL_GATHER},
    {"multimemreducescatter", COMM_FAMILY_SYMMETRIC, COMM_REDUCE_SCATTER},
};

/* What stands in brackets are the types of arguments, which may hold any of the words. */
static void plain_kernel(const char *name, char plain[PLAIN_ROOM])
{
    static const char nameless[] = "(anonymous namespace)::";
    for (const char *at = strstr(name, nameless); at != NULL; at = strstr(name, nameless)) {
        name = at + sizeof nameless - 1;
    }
    comm_name_make_plain(name, strcspn(name, "(<"), plain);
}

static const struct family_word *comm_name_find_family(const char *plain, const char **found)
{
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        *found = strstr(plain, kernels[i].text);
        if (*found != NULL) {
            return &kernels[i];
        }
    }
    return NULL;
}

/* Where a name of NCCL's or RCCL's begins; NULL in others'. */
static const char *library_in(const char *plain)
{
    const char *library = strstr(plain, "nccl");
    library = library == NULL ? strstr(plain, "rccl") : library;
    return library != NULL && strstr(library, "kernel") != NULL ? library : NULL;
}

const char *comm_family_text(enum comm_family family)
{
    static const char *const texts[COMM_FAMILY_COUNT] = {
#define COMM_X(id, text, by_op) text,
        COMM_FAMILIES(COMM_X)
#undef COMM_X
    };
    return texts[family];
}

bool comm_family_is_sized(enum comm_family family)
{
    static const bool sized[COMM_FAMILY_COUNT] = {
#define COMM_X(id, text, by_op) by_op,
        COMM_FAMILIES(COMM_X)
#undef COMM_X
    };
    return sized[family];
}

enum comm_family comm_name_family(const char *name)
{
    char plain[PLAIN_ROOM];
    const char *found;
    plain_kernel(name, plain);
    const struct family_word *word = library_in(plain) != NULL ? NULL : comm_name_find_family(plain, &found);
    return word == NULL || word->kind == COMM_NONE ? COMM_FAMILY_LIBRARY : word->family;
}

enum comm_kind comm_name_kernel(const char *name)
{
    char plain[PLAIN_ROOM];
    const char *found = NULL;
    plain_kernel(name, plain);
    const char *library = library_in(plain);
    if (library != NULL) {
        enum comm_kind kind = plain_kind(library);
        return kind == COMM_NONE ? COMM_UNKNOWN : kind;
    }
    const struct family_word *word = comm_name_find_family(plain, &found);
    if (word == NULL || word->kind == COMM_NONE ||
        (word->family != COMM_FAMILY_LIBRARY && !comm_family_is_sized(word->family))) {
        return COMM_NONE;
    }
    enum comm_kind kind = word->kind == COMM_UNKNOWN ? plain_kind(found) : word->kind;
    return kind == COMM_NONE ? COMM_UNKNOWN : kind;
}

/* Plain names; a trailing 't' of int8_t and its like is dropped before the search. */
static const struct {
    const char *name;
    uint32_t bytes;
} dtypes[] = {
    {"byte", 1},
    {"char", 1},
    {"int8", 1},
    {"uint8", 1},
    {"i8", 1},
    {"u8", 1},
    {"bool", 1},
    {"qint8", 1},
    {"quint8", 1},
    {"unsignedchar", 1},
    {"signedchar", 1},
    {"half", 2},
    {"float16", 2},
    {"bfloat16", 2},
    {"short", 2},
    {"shortint", 2},
    {"int16", 2},
    {"uint16", 2},
    {"i16", 2},
    {"f16", 2},
    {"fp16", 2},
    {"bf16", 2},
    {"float", 4},
    {"float32", 4},
    {"f32", 4},
    {"fp32", 4},
    {"int", 4},
    {"int32", 4},
    {"uint32", 4},
    {"i32", 4},
    {"u32", 4},
    {"qint32", 4},
    {"complexhalf", 4},
    {"complex32", 4},
    {"unsignedint", 4},
    {"double", 8},
    {"float64", 8},
    {"f64", 8},
    {"fp64", 8},
    {"long", 8},
    {"longint", 8},
    {"longlong", 8},
    {"int64", 8},
    {"uint64", 8},
    {"i64", 8},
    {"u64", 8},
    {"unsignedlong", 8},
    {"complexfloat", 8},
    {"complex64", 8},
    {"complex<float>", 8},
    {"complexdouble", 16},
    {"complex128", 16},
    {"complex<double>", 16},
};

uint32_t comm_dtype_bytes(const char *dtype)
{
    static const char *const fronts[] = {"c10::", "torch.", "at::", "std::"};
    for (size_t i = 0; i < sizeof fronts / sizeof fronts[0]; i++) {
        dtype += convert_comm_name_begins(dtype, fronts[i]) ? strlen(fronts[i]) : 0;
    }
    char plain[PLAIN_ROOM];
    comm_name_make_plain(dtype, PLAIN_ROOM, plain);
    if (strncmp(plain, "float8", 6) == 0 || strncmp(plain, "fp8", 3) == 0 || strncmp(plain, "f8", 2) == 0) {
        return 1;
    }
    size_t length = strlen(plain);
    if (length > 4 && plain[length - 1] == 't' && strstr(plain, "int") != NULL && plain[length - 2] != 'n') {
        plain[length - 1] = '\0';
    }
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        if (strcmp(plain, dtypes[i].name) == 0) {
            return dtypes[i].bytes;
        }
    }
    return 0;
}
