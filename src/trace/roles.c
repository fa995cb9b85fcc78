/* SPDX-License-Identifier: Apache-2.0 */
/* A role is a stride and a size. Groups that are no arithmetic row, or a longer row of a stride that a shorter one has
 * already, span several roles at once (data and context parallel ranks together, say) and tell nothing new. */
#include "trace/roles.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Above so many collectives in a group it is taken for a tensor-parallel one. */
enum { TENSOR_COLLECTIVES = 20, CANDIDATES = 32 };

struct candidate {
    uint32_t stride;
    uint32_t size; /* 0: not known */
    const char *name;
    uint64_t collectives;
    bool exchanges, sends;
};

struct inferring {
    struct candidate found[CANDIDATES];
    uint32_t count;
};

static char trace_roles_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether `word` stands in `text` by itself or within a longer word, whatever the case. */
static bool trace_roles_holds(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (; *text != '\0'; text++) {
        size_t i = 0;
        while (i < length && trace_roles_lower(text[i]) == word[i]) {
            i++;
        }
        if (i == length) {
            return true;
        }
    }
    return false;
}

/* The first that a description holds. */
static const char *trace_roles_name_of(const char *text)
{
    static const struct {
        const char *word, *name;
    } words[] = {
        {"tensor", "tp"}, {"pipeline", "pp"}, {"pipe", "pp"},  {"context", "cp"}, {"expert", "ep"},
        {"data", "dp"},   {"fsdp", "dp"},     {"shard", "dp"}, {"replic", "dp"},  {"tp", "tp"},
        {"pp", "pp"},     {"cp", "cp"},       {"ep", "ep"},    {"dp", "dp"},
    };
    for (size_t i = 0; text != NULL && i < sizeof words / sizeof words[0]; i++) {
        if (trace_roles_holds(text, words[i].word)) {
            /* "mesh_default" and "default_pg" hold none of them but for chance. */
            return trace_roles_holds(text, "default") || trace_roles_holds(text, "undefined") ? NULL : words[i].name;
        }
    }
    return NULL;
}

static struct candidate *candidate_of(struct inferring *inferring, uint32_t stride)
{
    uint32_t at = 0;
    while (at < inferring->count && inferring->found[at].stride < stride) {
        at++;
    }
    if (at < inferring->count && inferring->found[at].stride == stride) {
        return &inferring->found[at];
    }
    if (inferring->count == CANDIDATES) {
        return NULL;
    }
    memmove(&inferring->found[at + 1], &inferring->found[at], (inferring->count - at) * sizeof inferring->found[0]);
    inferring->found[at] = (struct candidate){.stride = stride};
    inferring->count++;
    return &inferring->found[at];
}

/* The stride of an ascending arithmetic row; 0 when it is none. */
static uint32_t trace_roles_stride_of(const struct trace_role_group *group)
{
    uint32_t stride = group->count < 2 || group->ranks[1] <= group->ranks[0] ? 0 : group->ranks[1] - group->ranks[0];
    for (uint32_t i = 2; i < group->count && stride > 0; i++) {
        stride = group->ranks[i] - group->ranks[i - 1] == stride && group->ranks[i] > group->ranks[i - 1] ? stride : 0;
    }
    return stride;
}

static void trace_roles_take_group(struct inferring *inferring, const struct trace_role_group *group)
{
    uint32_t stride = trace_roles_stride_of(group);
    struct candidate *at = stride == 0 ? NULL : candidate_of(inferring, stride);
    if (at == NULL || (at->size != 0 && at->size < group->count)) {
        return;
    }
    const char *name = trace_roles_name_of(group->text);
    bool same = at->size == group->count;
    at->size = group->count;
    at->name = name != NULL || !same ? name : at->name;
    at->collectives = same ? at->collectives + group->collectives : group->collectives;
    at->exchanges = (same && at->exchanges) || group->exchanges;
}

static void take_peer(struct inferring *inferring, uint32_t rank, uint32_t peer)
{
    uint32_t distance = peer > rank ? peer - rank : rank - peer;
    for (uint32_t i = inferring->count; i-- > 0;) {
        struct candidate *at = &inferring->found[i];
        if (distance % at->stride == 0 && (at->size == 0 || distance / at->stride < at->size)) {
            at->sends = true;
            return;
        }
    }
    struct candidate *made = distance == 0 ? NULL : candidate_of(inferring, distance);
    if (made != NULL) {
        made->sends = true;
    }
}

/* A row as long as several roles together tells nothing that those do not. */
static void drop_unions(struct inferring *inferring)
{
    for (uint32_t i = 0; i < inferring->count; i++) {
        struct candidate *at = &inferring->found[i];
        uint64_t reach = (uint64_t)at->stride * at->size;
        for (uint32_t k = i + 1; k < inferring->count && at->size > 0; k++) {
            uint32_t stride = inferring->found[k].stride;
            if (stride < reach && stride % at->stride == 0) {
                at->size = stride / at->stride; /* it goes on where the next role begins */
                at->name = NULL;
                break;
            }
        }
    }
}

static enum orr_status add_role(struct trace_layout *layout, const struct candidate *from, uint32_t size,
                                struct orr_error *err)
{
    if (layout->role_count == TRACE_ROLES_MAX) {
        return error_set(err, ORR_EINVAL, "the process groups tell of more than %d roles", TRACE_ROLES_MAX);
    }
    struct trace_role *role = &layout->roles[layout->role_count++];
    *role = (struct trace_role){.size = size};
    (void)snprintf(role->name, sizeof role->name, "%s",
                   from == NULL                             ? ""
                   : from->sends                            ? "pp"
                   : from->name != NULL                     ? from->name
                   : from->exchanges                        ? "ep"
                   : from->collectives > TENSOR_COLLECTIVES ? "tp?"
                                                            : "");
    return ORR_OK;
}

static enum orr_status nest(const struct inferring *inferring, uint32_t ranks, struct trace_layout *layout,
                            struct orr_error *err)
{
    uint64_t below = 1;
    for (uint32_t i = 0; i < inferring->count; i++) {
        const struct candidate *at = &inferring->found[i];
        uint64_t above = i + 1 < inferring->count ? inferring->found[i + 1].stride : ranks;
        uint64_t stride = at->stride > 0 ? at->stride : 1; /* which it is: none is kept without one */
        uint64_t size = at->size != 0 ? at->size : above / stride;
        if (below == 0 || stride % below != 0 || stride < below || size == 0 || ranks % (stride * size) != 0) {
            return error_set(err, ORR_EINVAL,
                             "the process groups do not nest: ranks %" PRIu32 " apart in groups of %" PRIu64
                             ", above %" PRIu64 " ranks, in a job of %" PRIu32
                             "; parameter 'parallel' says how it is split, fastest role first, as in tp:2,dp:4",
                             at->stride, size, below, ranks);
        }
        enum orr_status status = ORR_OK;
        if (stride > below) {
            status = add_role(layout, NULL, (uint32_t)(stride / below), err);
        }
        status = status != ORR_OK ? status : add_role(layout, at, (uint32_t)size, err);
        if (status != ORR_OK) {
            return status;
        }
        below = stride * size;
    }
    return below < ranks ? add_role(layout, NULL, (uint32_t)(ranks / below), err) : ORR_OK;
}

static bool trace_roles_is_named(const struct trace_layout *layout, const char *name, uint32_t but)
{
    for (uint32_t i = 0; i < layout->role_count; i++) {
        if (i != but && strcmp(layout->roles[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* What nothing names: the fastest of several is tensor parallel, as every launcher numbers ranks, the rest data
 * parallel; a name is given once. */
static void name_rest(struct trace_layout *layout)
{
    static const char *const spare[] = {"dp", "tp", "cp", "ep", "dp2", "dp3"};
    uint32_t open = 0;
    for (uint32_t i = 0; i < layout->role_count; i++) {
        struct trace_role *role = &layout->roles[i];
        open += role->name[0] == '\0';
        if (strcmp(role->name, "tp?") == 0) {
            (void)snprintf(role->name, sizeof role->name, "%s", trace_roles_is_named(layout, "tp", i) ? "" : "tp");
            open += role->name[0] == '\0';
        }
    }
    for (uint32_t i = 0; i < layout->role_count; i++) {
        struct trace_role *role = &layout->roles[i];
        bool twice = false;
        for (uint32_t k = 0; k < i; k++) {
            twice = twice || strcmp(layout->roles[k].name, role->name) == 0;
        }
        if (role->name[0] != '\0' && !twice) {
            continue;
        }
        bool first_of_several = role->name[0] == '\0' && open > 1 && !trace_roles_is_named(layout, "tp", i);
        open = role->name[0] == '\0' ? 1 : open; /* only the fastest */
        const char *name = first_of_several ? "tp" : NULL;
        for (size_t s = 0; name == NULL && s < sizeof spare / sizeof spare[0]; s++) {
            name = trace_roles_is_named(layout, spare[s], i) ? NULL : spare[s];
        }
        (void)snprintf(role->name, sizeof role->name, "%s", name == NULL ? "x" : name);
    }
}

enum orr_status trace_roles_infer(const struct trace_role_clues *clues, struct trace_layout *layout,
                                  struct orr_error *err)
{
    struct inferring inferring = {.count = 0};
    struct trace_layout made = {.role_count = 0};
    for (uint32_t i = 0; i < clues->group_count; i++) {
        if (clues->groups[i].count < clues->ranks) {
            trace_roles_take_group(&inferring, &clues->groups[i]);
        }
    }
    for (uint32_t i = 0; i < clues->peer_count; i++) {
        take_peer(&inferring, clues->rank, clues->peers[i]);
    }
    drop_unions(&inferring);
    if (inferring.count == 0) {
        const char *name = NULL;
        for (uint32_t i = 0; i < clues->group_count && name == NULL; i++) {
            name = trace_roles_name_of(clues->groups[i].text);
        }
        made.roles[0].size = clues->ranks;
        (void)snprintf(made.roles[0].name, sizeof made.roles[0].name, "%s", name == NULL ? "dp" : name);
        made.role_count = 1;
        *layout = made;
        return ORR_OK;
    }
    enum orr_status status = nest(&inferring, clues->ranks, &made, err);
    if (status == ORR_OK) {
        name_rest(&made);
        *layout = made;
    }
    return status;
}

const char *trace_layout_text(const struct trace_layout *layout, char text[TRACE_LAYOUT_TEXT])
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < layout->role_count; i++) {
        int wrote = snprintf(text + used, TRACE_LAYOUT_TEXT - used, "%s%s:%" PRIu32, i == 0 ? "" : ",",
                             layout->roles[i].name, layout->roles[i].size);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    return text;
}
