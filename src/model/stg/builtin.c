/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own sheets, written from the published architectures: GPT-2/3 (two-matrix MLP), LLaMA (gated MLP, grouped
 * queries, one norm weight) and a token-choice mixture of gated experts. Conventions of all of them:
 *
 *  - Activations between modules are [Batch/(dp*ep), Seq/(cp*sp), Dmodel]: ep splits the batch as dp does, since expert
 *    parallelism lies inside data parallelism; sp is tp with sequence parallelism and 1 without. Inside attention and
 *    MLP the sequence is whole over tp (an all-gather with sp, nothing without), and what they give is a partial sum
 *    over tp (a reduce-scatter with sp, an all-reduce without).
 *  - Gradients of weights are partial sums over dp, ep and cp, those of experts over dp and cp: each rank has its own
 *    experts. Norms and the router see a part of the sequence only; their gradients are summed over tp first.
 *  - CUSTOM and E count floating-point operations; views (slices of qkv, expert slots) count none.
 *  - Attention is one fused kernel: 4·S²·D a sequence forward, two and a half times as much backward. Keys and values
 *    are gathered over cp before, their gradients scattered after.
 */
#include <stdio.h>
#include <string.h>

#include "model/stg/family.h"
#include "model/stg/sheet.h"

enum { ROWS_MAX = 28, PORTS_MAX = 8 };

struct builtin {
    const char *name;
    const char *rows[ROWS_MAX][STG_COLUMN_COUNT];
    const char *inputs[PORTS_MAX], *outputs[PORTS_MAX];
};

#define STREAM           "Batch/(dp*ep), Seq/(cp*sp), Dmodel"
#define WHOLE            "Batch/(dp*ep), Seq/cp, Dmodel"
#define HIDDEN           "Batch/(dp*ep), Seq/cp, Dff/tp"
#define HEADS(count)     "Batch/(dp*ep), Seq/cp, Dmodel/Head, " count "/tp"
#define ALL_HEADS(count) "Batch/(dp*ep), Seq, Dmodel/Head, " count "/tp"
#define QKV              HEADS("(Head+2*KVHead)")
#define W_QKV            "Dmodel, Dmodel/Head, (Head+2*KVHead)/tp"
#define W_O              "Dmodel/Head, Head/tp, Dmodel"
#define LOGITS           "Batch/(dp*ep), Seq/cp, Dvocal/tp"
#define COPIES           "Batch/(dp*ep), Seq*KExperts/(cp*sp), Dmodel"
#define ROUTED           "Batch/dp, Seq*KExperts/(cp*sp*ep), Dmodel"
#define SLOT             "Batch/dp, Seq*KExperts/(cp*sp*Experts), Dmodel"
#define CHOICE           "Batch/(dp*ep), Seq/(cp*sp), Experts"
#define SCORES           "Batch/(dp*ep)*Seq/cp*Seq*Dmodel/tp"
#define EVERY_COPY       "Batch/(dp*ep)*Seq/(cp*sp)*KExperts*Dmodel"
#define SUMMED           "1/(dp*ep*cp)"
#define AFTER(names)     "{\"data_deps\": [" names "]}"

/* Cells are put together from pieces. NOLINTBEGIN(bugprone-suspicious-missing-comma) */
static const struct builtin builtins[] = {
    {"norm",
     {{"in", "N", "", "", "T", "", STREAM, "1"},
      {"g", "Y", "", "", "T", "", "Dmodel", "1"},
      {"out", "N", "in", "", "E", "5", STREAM, "1", "", "", "", AFTER("\"g\"")},
      {"dout", "N", "", "", "T", "", STREAM, "1", "", "", "out"},
      {"din", "N", "dout", "", "E", "8", STREAM, "1", "", "", "", AFTER("\"in\", \"g\"")},
      {"dg1", "N", "dout", "in", "M", "bsm,bsm->m", STREAM, "1", STREAM, "1"},
      {"dg", "N", "dg1", "", "I", "", "Dmodel", SUMMED, "", "", "g"}},
     {"in", "g", "dout"},
     {"in", "out", "din", "dg"}},
    {"residual",
     {{"a", "N", "", "", "T", "", STREAM, "1"},
      {"b", "N", "", "", "T", "", STREAM, "1"},
      {"out", "N", "a", "b", "A", "", STREAM, "1", STREAM, "1"},
      {"dout", "N", "", "", "T", "", STREAM, "1", "", "", "out"},
      {"da", "N", "dout", "", "I", "", STREAM, "1", "", "", "a"},
      {"db", "N", "dout", "", "I", "", STREAM, "1", "", "", "b"}},
     {"a", "b", "dout"},
     {"out", "da", "db"}},
    {"gradient_sum",
     {{"da", "N", "", "", "T", "", STREAM, "1"},
      {"db", "N", "", "", "T", "", STREAM, "1"},
      {"dall", "N", "da", "db", "A", "", STREAM, "1", STREAM, "1"}},
     {"da", "db"},
     {"dall"}},
    {"attention",
     {{"in", "N", "", "", "T", "", STREAM, "1"},
      {"wqkv", "Y", "", "", "T", "", W_QKV, "1"},
      {"wo", "Y", "", "", "T", "", W_O, "1"},
      {"x", "N", "in", "", "I", "", WHOLE, "1"},
      {"qkv", "N", "x", "wqkv", "M", "bsm,mnh->bsnh", WHOLE, "1", W_QKV, "1"},
      {"k", "N", "qkv", "", "CUSTOM", "0", QKV, "1", HEADS("KVHead"), "1"},
      {"v", "N", "qkv", "", "CUSTOM", "0", QKV, "1", HEADS("KVHead"), "1"},
      {"keys", "N", "k", "", "I", "", ALL_HEADS("KVHead"), "1"},
      {"values", "N", "v", "", "I", "", ALL_HEADS("KVHead"), "1"},
      {"attended", "N", "qkv", "", "CUSTOM", "4*" SCORES, QKV, "1", HEADS("Head"), "1", "",
       AFTER("\"keys\", \"values\"")},
      {"o", "N", "attended", "wo", "M", "bsmh,mhn->bsn", HEADS("Head"), "1", W_O, "1"},
      {"out", "N", "o", "", "I", "", STREAM, "1"},
      {"dout", "N", "", "", "T", "", STREAM, "1", "", "", "out"},
      {"dy", "N", "dout", "", "I", "", WHOLE, "1"},
      {"dattended", "N", "dy", "wo", "M", "bsn,mhn->bsmh", WHOLE, "1", W_O, "1", "attended"},
      {"dwo", "N", "dy", "attended", "M", "bsn,bsmh->mhn", WHOLE, "1", HEADS("Head"), "1", "wo"},
      {"dscores", "N", "dattended", "", "CUSTOM", "10*" SCORES, HEADS("Head"), "1", QKV, "1", "",
       AFTER("\"qkv\", \"keys\", \"values\"")},
      {"dkeys", "N", "dscores", "", "CUSTOM", "0", QKV, "1", ALL_HEADS("KVHead"), "1/cp"},
      {"dvalues", "N", "dscores", "", "CUSTOM", "0", QKV, "1", ALL_HEADS("KVHead"), "1/cp"},
      {"dk", "N", "dkeys", "", "I", "", HEADS("KVHead"), "1"},
      {"dv", "N", "dvalues", "", "I", "", HEADS("KVHead"), "1"},
      {"dqkv", "N", "dscores", "", "CUSTOM", "0", QKV, "1", QKV, "1", "qkv", AFTER("\"dk\", \"dv\"")},
      {"dx1", "N", "in", "", "I", "", WHOLE, "1", "", "", "", AFTER("\"dout\"")},
      {"dwqkv", "N", "dqkv", "dx1", "M", "bsnh,bsm->mnh", QKV, "1", WHOLE, "1", "wqkv"},
      {"dx", "N", "dqkv", "wqkv", "M", "bsnh,mnh->bsm", QKV, "1", W_QKV, "1"},
      {"din", "N", "dx", "", "I", "", STREAM, "1", "", "", "in"}},
     {"in", "wqkv", "wo", "dout"},
     {"out", "dwo", "dwqkv", "din"}},
    {"mlp",
     {{"in", "N", "", "", "T", "", STREAM, "1"},
      {"w1", "Y", "", "", "T", "", "Dmodel, Dff/tp", "1"},
      {"w2", "Y", "", "", "T", "", "Dff/tp, Dmodel", "1"},
      {"x", "N", "in", "", "I", "", WHOLE, "1"},
      {"h", "N", "x", "w1", "M", "bsm,mn->bsn", WHOLE, "1", "Dmodel, Dff/tp", "1"},
      {"a", "N", "h", "", "E", "8", HIDDEN, "1"},
      {"y", "N", "a", "w2", "M", "bsm,mn->bsn", HIDDEN, "1", "Dff/tp, Dmodel", "1"},
      {"out", "N", "y", "", "I", "", STREAM, "1"},
      {"dout", "N", "", "", "T", "", STREAM, "1", "", "", "out"},
      {"dy", "N", "dout", "", "I", "", WHOLE, "1"},
      {"dw2", "N", "dy", "a", "M", "bsn,bsm->mn", WHOLE, "1", HIDDEN, "1", "w2"},
      {"da", "N", "dy", "w2", "M", "bsn,mn->bsm", WHOLE, "1", "Dff/tp, Dmodel", "1", "a"},
      {"dh", "N", "da", "", "E", "10", HIDDEN, "1", "", "", "h", AFTER("\"h\"")},
      {"dx1", "N", "in", "", "I", "", WHOLE, "1", "", "", "", AFTER("\"dout\"")},
      {"dw1", "N", "dh", "dx1", "M", "bsn,bsm->mn", HIDDEN, "1", WHOLE, "1", "w1"},
      {"dx", "N", "dh", "w1", "M", "bsn,mn->bsm", HIDDEN, "1", "Dmodel, Dff/tp", "1"},
      {"din", "N", "dx", "", "I", "", STREAM, "1", "", "", "in"}},
     {"in", "w1", "w2", "dout"},
     {"out", "dw1", "dw2", "din"}},
    {"gated_mlp",
     {{"in", "N", "", "", "T", "", STREAM, "1"},
      {"wgate", "Y", "", "", "T", "", "Dmodel, Dff/tp", "1"},
      {"wup", "Y", "", "", "T", "", "Dmodel, Dff/tp", "1"},
      {"wdown", "Y", "", "", "T", "", "Dff/tp, Dmodel", "1"},
      {"x", "N", "in", "", "I", "", WHOLE, "1"},
      {"gate", "N", "x", "wgate", "M", "bsm,mn->bsn", WHOLE, "1", "Dmodel, Dff/tp", "1"},
      {"up", "N", "x", "wup", "M", "bsm,mn->bsn", WHOLE, "1", "Dmodel, Dff/tp", "1"},
      {"a", "N", "gate", "up", "E2", "6", HIDDEN, "1", HIDDEN, "1"},
      {"y", "N", "a", "wdown", "M", "bsm,mn->bsn", HIDDEN, "1", "Dff/tp, Dmodel", "1"},
      {"out", "N", "y", "", "I", "", STREAM, "1"},
      {"dout", "N", "", "", "T", "", STREAM, "1", "", "", "out"},
      {"dy", "N", "dout", "", "I", "", WHOLE, "1"},
      {"dwdown", "N", "dy", "a", "M", "bsn,bsm->mn", WHOLE, "1", HIDDEN, "1", "wdown"},
      {"da", "N", "dy", "wdown", "M", "bsn,mn->bsm", WHOLE, "1", "Dff/tp, Dmodel", "1", "a"},
      {"dgate", "N", "da", "up", "E2", "8", HIDDEN, "1", HIDDEN, "1", "gate", AFTER("\"gate\"")},
      {"dup", "N", "da", "gate", "E2", "5", HIDDEN, "1", HIDDEN, "1", "up"},
      {"dx1", "N", "in", "", "I", "", WHOLE, "1", "", "", "", AFTER("\"dout\"")},
      {"dwgate", "N", "dgate", "dx1", "M", "bsn,bsm->mn", HIDDEN, "1", WHOLE, "1", "wgate"},
      {"dwup", "N", "dup", "dx1", "M", "bsn,bsm->mn", HIDDEN, "1", WHOLE, "1", "wup"},
      {"dxgate", "N", "dgate", "wgate", "M", "bsn,mn->bsm", HIDDEN, "1", "Dmodel, Dff/tp", "1"},
      {"dxup", "N", "dup", "wup", "M", "bsn,mn->bsm", HIDDEN, "1", "Dmodel, Dff/tp", "1"},
      {"dx", "N", "dxgate", "dxup", "A", "", WHOLE, "1/tp", WHOLE, "1/tp"},
      {"din", "N", "dx", "", "I", "", STREAM, "1", "", "", "in"}},
     {"in", "wgate", "wup", "wdown", "dout"},
     {"out", "dwgate", "dwup", "dwdown", "din"}},
    {"router",
     {{"in", "N", "", "", "T", "", STREAM, "1"},
      {"w", "Y", "", "", "T", "", "Dmodel, Experts", "1"},
      {"choice", "N", "in", "w", "M", "bsm,mn->bsn", STREAM, "1", "Dmodel, Experts", "1"},
      {"weights", "N", "choice", "", "E", "5", CHOICE, "1"},
      {"copies", "N", "in", "", "CUSTOM", EVERY_COPY, STREAM, "1", COPIES, "1", "", AFTER("\"weights\"")},
      {"sent", "N", "copies", "", "I", "", ROUTED, "1"},
      {"back", "N", "", "", "T", "", ROUTED, "1"},
      {"returned", "N", "back", "", "I", "", COPIES, "1"},
      {"out", "N", "returned", "", "CUSTOM", "2*" EVERY_COPY, COPIES, "1", STREAM, "1", "", AFTER("\"weights\"")},
      {"dout", "N", "", "", "T", "", STREAM, "1", "", "", "out"},
      {"dreturned", "N", "dout", "", "CUSTOM", EVERY_COPY, STREAM, "1", COPIES, "1", "", AFTER("\"weights\"")},
      {"dsent", "N", "dreturned", "", "I", "", ROUTED, "1"},
      {"dchoice", "N", "dout", "", "CUSTOM", "2*" EVERY_COPY, STREAM, "1", CHOICE, "1", "",
       AFTER("\"returned\", \"choice\"")},
      {"dw1", "N", "dchoice", "in", "M", "bsn,bsm->mn", CHOICE, "1", STREAM, "1"},
      {"dw", "N", "dw1", "", "I", "", "Dmodel, Experts", SUMMED, "", "", "w"},
      {"dback", "N", "", "", "T", "", ROUTED, "1"},
      {"dcopies", "N", "dback", "", "I", "", COPIES, "1"},
      {"dtokens", "N", "dcopies", "", "CUSTOM", EVERY_COPY, COPIES, "1", STREAM, "1"},
      {"drouted", "N", "dchoice", "w", "M", "bsn,mn->bsm", CHOICE, "1", "Dmodel, Experts", "1"},
      {"din", "N", "dtokens", "drouted", "A", "", STREAM, "1", STREAM, "1"}},
     {"in", "w", "back", "dout", "dback"},
     {"out", "sent", "dsent", "dw", "din"}},
    {"expert_slot",
     {{"in", "N", "", "", "T", "", ROUTED, "1"},
      {"taken", "N", "in", "", "CUSTOM", "0", ROUTED, "1", SLOT, "1"},
      {"made", "N", "", "", "T", "", SLOT, "1"},
      {"out", "N", "made", "", "CUSTOM", "0", SLOT, "1", ROUTED, "1"},
      {"dout", "N", "", "", "T", "", ROUTED, "1"},
      {"dtaken", "N", "dout", "", "CUSTOM", "0", ROUTED, "1", SLOT, "1"},
      {"dmade", "N", "", "", "T", "", SLOT, "1"},
      {"din", "N", "dmade", "", "CUSTOM", "0", SLOT, "1", ROUTED, "1"}},
     {"in", "made", "dout", "dmade"},
     {"taken", "out", "dtaken", "din"}},
    {"embedding",
     {{"tokens", "N", "", "", "T", "", "Batch/(dp*ep), Seq/cp", "1"},
      {"w", "Y", "", "", "T", "", "Dvocal/tp, Dmodel", "1"},
      {"looked_up", "N", "tokens", "", "CUSTOM", "Batch/(dp*ep)*Seq/cp*Dmodel", "Batch/(dp*ep), Seq/cp", "1", WHOLE,
       "1/tp", "", AFTER("\"w\"")},
      {"out", "N", "looked_up", "", "I", "", STREAM, "1"},
      {"dout", "N", "", "", "T", "", STREAM, "1", "", "", "out"},
      {"dy", "N", "dout", "", "I", "", WHOLE, "1"},
      {"dw", "N", "dy", "", "CUSTOM", "Batch/(dp*ep)*Seq/cp*Dmodel", WHOLE, "1", "Dvocal/tp, Dmodel", SUMMED, "w",
       AFTER("\"tokens\"")}},
     {"tokens", "w", "dout"},
     {"out", "dw"}},
    {"head",
     {{"in", "N", "", "", "T", "", STREAM, "1"},
      {"w", "Y", "", "", "T", "", "Dmodel, Dvocal/tp", "1"},
      {"x", "N", "in", "", "I", "", WHOLE, "1"},
      {"out", "N", "x", "w", "M", "bsm,mn->bsn", WHOLE, "1", "Dmodel, Dvocal/tp", "1"},
      {"dout", "N", "", "", "T", "", LOGITS, "1", "", "", "out"},
      {"dx1", "N", "in", "", "I", "", WHOLE, "1", "", "", "", AFTER("\"dout\"")},
      {"dw", "N", "dout", "dx1", "M", "bsn,bsm->mn", LOGITS, "1", WHOLE, "1", "w"},
      {"dx", "N", "dout", "w", "M", "bsn,mn->bsm", LOGITS, "1", "Dmodel, Dvocal/tp", "1"},
      {"din", "N", "dx", "", "I", "", STREAM, "1", "", "", "in"}},
     {"in", "w", "dout"},
     {"out", "dw", "din"}},
    {"loss",
     {{"logits", "N", "", "", "T", "", LOGITS, "1"},
      {"exps", "N", "logits", "", "E", "4", LOGITS, "1"},
      {"sums", "N", "exps", "", "CUSTOM", "0", LOGITS, "1", "Batch/(dp*ep), Seq/cp", "1/tp"},
      {"loss", "N", "sums", "", "I", "", "Batch/(dp*ep), Seq/cp", "1"},
      {"dlogits", "N", "exps", "", "E", "2", LOGITS, "1", "", "", "logits", AFTER("\"loss\"")}},
     {"logits"},
     {"dlogits"}},
};
/* NOLINTEND(bugprone-suspicious-missing-comma) */

static enum orr_status load_ports(const struct builtin *builtin, struct stg_graph *sheet, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (unsigned i = 0; i < PORTS_MAX && builtin->inputs[i] != NULL && status == ORR_OK; i++) {
        status = stg_sheet_port(sheet, builtin->name, builtin->inputs[i], true, err);
    }
    for (unsigned i = 0; i < PORTS_MAX && builtin->outputs[i] != NULL && status == ORR_OK; i++) {
        status = stg_sheet_port(sheet, builtin->name, builtin->outputs[i], false, err);
    }
    return status;
}

enum orr_status stg_sheet_builtin(const char *name, struct stg_graph *sheet, struct orr_error *err)
{
    size_t at = 0;
    while (at < sizeof builtins / sizeof builtins[0] && strcmp(builtins[at].name, name) != 0) {
        at++;
    }
    if (at == sizeof builtins / sizeof builtins[0]) {
        return error_set(err, ORR_EINVAL, "there is no sheet \"%s\"", name);
    }
    enum orr_status status = ORR_OK;
    for (unsigned row = 0; row < ROWS_MAX && builtins[at].rows[row][0] != NULL && status == ORR_OK; row++) {
        struct stg_cells cells = {0};
        char where[64];
        (void)snprintf(where, sizeof where, "sheet %s:%u", name, row + 1);
        memcpy(cells.text, builtins[at].rows[row], sizeof cells.text);
        status = stg_sheet_row(sheet, where, &cells, err);
    }
    status = status == ORR_OK ? stg_sheet_close(sheet, err) : status;
    return status == ORR_OK ? load_ports(&builtins[at], sheet, err) : status;
}
