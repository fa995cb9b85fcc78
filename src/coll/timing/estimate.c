/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choice, model and measurements put together. A measured curve of this very GPU, operation and number of ranks is the
 * answer, between its points; one of a relative, of another release or of other numbers of ranks is carried over by the
 * model's ratio of the two, so that the model has to be right about differences only. Without any the model speaks.
 *
 * The algorithm and the protocol that are told are those whose time it is. What was measured is what the library chose,
 * so that beside it stands the tuner's choice; the model's time is that of its fastest way, whose constants are fitted
 * on what libraries really took, and beside it stands that way, unless the question names one.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "coll/timing/timing.h"

enum { RANKS_MOST = 1 << 24 };

/* A release that is not told is taken for one of these days; from EPOCH on NCCL launches and chooses otherwise. */
enum { VERSION_UNTOLD = 22500, VERSION_EPOCH = 22900 };

/* A curve at a size: between its points by straight lines of the logarithms, behind the last at the rate of the last
 * two, before the first as the first. */
static double timing_curve_at(const struct timing_curves *curves, const struct timing_curve *curve, double bytes)
{
    const float *us = curves->values + curve->values;
    double place = log2(bytes) - curve->first;
    if (place <= 0) {
        return us[0];
    }
    uint32_t last = curve->count - 1;
    if (place < last) {
        uint32_t below = (uint32_t)place;
        double part = place - below;
        return us[below] * pow((double)us[below + 1] / us[below], part);
    }
    if (last == 0) {
        return us[0] * exp2(place);
    }
    double ends = ldexp(1, (int)(curve->first + last));
    double each = fmax((us[last] - us[last - 1]) / (ends / 2), 0.5 * us[last] / ends);
    return us[last] + (bytes - ends) * each;
}

/* Who counts a rack for one node means hosts of four GPUs, which is what GB200's trays have. */
enum { HOST_MOST = 16, HOST_TRAY = 4 };

/* GPUs of a whole node. In a rack that is one NVLink domain a node is what the question says where nobody else does. */
static uint32_t whole_node(const struct timing_machine *machine, const struct orr_coll_question *question, bool is_rack)
{
    uint32_t whole = machine->node_gpus > 0           ? machine->node_gpus
                     : is_rack                        ? question->gpus
                     : machine->fabric->node_gpus > 0 ? machine->fabric->node_gpus
                                                      : 8;
    return whole > question->gpus ? whole : question->gpus;
}

void timing_shape_of(const struct timing_machine *machine, const struct orr_coll_question *question,
                     struct timing_shape *shape)
{
    uint32_t ranks = question->nodes * question->gpus;
    bool is_rack = machine->gpu->domain > 16 && question->gpus < machine->gpu->domain;
    uint32_t whole = whole_node(machine, question, is_rack);
    uint32_t nodes = question->nodes;
    uint32_t gpus = question->gpus;
    if (is_rack) {
        /* Racks take the place of nodes: as few of them as hold all, filled alike. */
        uint32_t held = machine->gpu->domain / whole > 0 ? machine->gpu->domain / whole : 1;
        nodes = (question->nodes + held - 1) / held;
        gpus = (ranks + nodes - 1) / nodes;
        whole *= (question->nodes + nodes - 1) / nodes;
    }
    uint32_t host = question->gpus > HOST_MOST ? HOST_TRAY : question->gpus;
    uint32_t groups = question->groups > 0 ? question->groups : 1;
    double nics = fmax((double)whole / machine->nic_every, 1);
    /* A group has the NICs of its own GPUs, and its part where several groups want them at once. */
    double reached = fmax((double)gpus / machine->nic_every * (gpus <= 2 ? machine->gpu->nic_reach : 1), 1);
    double alone = fmin(reached, nics);
    double part = fmin(reached, nics / groups);
    *shape = (struct timing_shape){.op = question->op,
                                   .bytes = question->bytes > 0 ? (double)question->bytes : 1,
                                   .nodes = nodes,
                                   .gpus = gpus,
                                   .ranks = ranks,
                                   .hosts = (gpus + host - 1) / host,
                                   .net_gbytes = part * machine->nic_gbytes,
                                   .nic_gbytes = fmin(part, 1) * machine->nic_gbytes,
                                   .alone_gbytes = alone * machine->nic_gbytes};
}

/* ---- the nearest curves ---- */

/* The curves that speak for a shape, whatever its size: all of one GPU, of this number of ranks if there are any. */
enum { FAMILY_MOST = 32 };

struct family {
    const struct timing_curves *set;
    const struct timing_gpu *gpu;
    uint32_t relation; /* 0: this GPU */
    uint32_t count;
    const struct timing_curve *curves[FAMILY_MOST];
};

/* Of them the nearest for a size. */
struct found {
    const struct timing_curves *set;
    const struct timing_curve *below, *above; /* by number of ranks; the same where there is no other */
    uint32_t relation;
    const struct timing_gpu *gpu;
};

static uint32_t version_distance(uint32_t asked, uint32_t measured)
{
    uint32_t a = asked == 0 ? VERSION_UNTOLD : asked;
    uint32_t b = measured == 0 ? VERSION_UNTOLD : measured;
    uint32_t distance = a > b ? a - b : b - a;
    return distance + ((a >= VERSION_EPOCH) != (b >= VERSION_EPOCH) ? 100000 : 0);
}

/* Powers of two between a size (its logarithm) and the nearest measured one, from 1; 0: inside. */
static uint32_t beyond(const struct timing_curve *curve, double power)
{
    double last = curve->first + curve->count - 1;
    return power > last           ? (uint32_t)(1 + (power - last))
           : power < curve->first ? (uint32_t)(1 + (curve->first - power))
                                  : 0;
}

struct nearest {
    const struct timing_curve *curve;
    uint32_t distance;
};

/* The curves that may be of an operation and of such nodes: from *first on, up to before what is returned. */
static size_t curves_of(const struct timing_curves *set, const struct timing_shape *shape, size_t *first)
{
    unsigned kind = 2 * (unsigned)shape->op + (shape->nodes > 1);
    *first = set->kinds != NULL ? set->kinds[kind] : 0;
    return set->kinds != NULL ? set->kinds[kind + 1] : set->count;
}

static void keep_nearer(struct nearest *nearest, const struct timing_curve *curve, uint32_t distance)
{
    if (nearest->curve == NULL || distance < nearest->distance) {
        *nearest = (struct nearest){curve, distance};
    }
}

/* Between nodes a curve speaks for the network it was measured on, and for its NICs. */
static bool is_same_network(const struct timing_machine *machine, const struct timing_curve *curve)
{
    const struct timing_fabric *fabric = timing_fabric_at(curve->fabric);
    double rate = fabric->nic_gbytes > 0 ? fabric->nic_gbytes : machine->gpu->nic_gbytes;
    return strcmp(fabric->name, machine->fabric->name) == 0 && rate == machine->nic_gbytes;
}

static bool is_left_out(const struct timing_machine *machine, const struct timing_curve *curve)
{
    const struct timing_curve *left = machine->left_out;
    return left != NULL && left->version == curve->version && strcmp(left->source, curve->source) == 0 &&
           strcmp(left->gpu, curve->gpu) == 0;
}

/* Which of the machine's relatives was measured; as many as there are: none. A user's own curves are of itself. */
static uint32_t relation_of(const struct timing_machine *machine, const struct timing_curve *curve, bool is_own)
{
    const struct timing_gpu *gpu = is_own ? NULL : timing_gpu_at(curve->row);
    uint32_t relation = 0;
    while (!is_own && relation < machine->relative_count && gpu != machine->relatives[relation]) {
        relation++;
    }
    return relation;
}

/* Whether a curve may speak for the shape, of which relative it is and how far off: first those of this number of
 * ranks, of the nearest relative; then those whose number is nearest. */
static bool is_of(const struct timing_machine *machine, const struct timing_shape *shape,
                  const struct timing_curve *curve, bool is_own, uint32_t *relation, uint32_t *distance)
{
    bool is_exact = curve->gpus == shape->gpus;
    if (curve->op != (uint32_t)shape->op || curve->nodes != shape->nodes || (shape->nodes > 1 && !is_exact)) {
        return false;
    }
    *relation = relation_of(machine, curve, is_own);
    uint32_t more = curve->gpus > shape->gpus ? curve->gpus : shape->gpus;
    uint32_t fewer = curve->gpus > shape->gpus ? shape->gpus : curve->gpus;
    *distance = (is_exact ? 0 : 16 * more / fewer) * TIMING_RELATIVES + *relation;
    return is_own || (*relation < machine->relative_count && (shape->nodes == 1 || is_same_network(machine, curve)) &&
                      !is_left_out(machine, curve));
}

/* The curves of the relative that has the nearest one. */
static bool find_of(const struct timing_machine *machine, const struct timing_shape *shape,
                    const struct timing_curves *set, struct family *family)
{
    bool is_own = set == &machine->own;
    uint32_t best = UINT32_MAX;
    uint32_t relation;
    uint32_t distance;
    size_t first;
    size_t end = curves_of(set, shape, &first);
    for (size_t i = first; i < end; i++) {
        if (is_of(machine, shape, &set->curves[i], is_own, &relation, &distance) && distance < best) {
            best = distance;
            family->relation = relation;
        }
    }
    for (size_t i = first; i < end && best != UINT32_MAX && family->count < FAMILY_MOST; i++) {
        const struct timing_curve *curve = &set->curves[i];
        if (is_of(machine, shape, curve, is_own, &relation, &distance) && relation == family->relation &&
            (best >= TIMING_RELATIVES || curve->gpus == shape->gpus)) {
            family->curves[family->count++] = curve;
        }
    }
    family->set = set;
    family->gpu = is_own ? machine->gpu : machine->relatives[family->relation];
    return family->count > 0;
}

/* A user's own curves go before the shipped ones. */
static bool estimate_family(const struct timing_machine *machine, const struct timing_shape *shape,
                            struct family *family)
{
    family->count = 0;
    family->relation = 0;
    return (machine->own.count > 0 && find_of(machine, shape, &machine->own, family)) ||
           find_of(machine, shape, &machine->shipped, family);
}

/* The curve of this number of ranks, or of the nearest fewer and the nearest more, for a size (its logarithm). */
static struct found nearest_of(const struct timing_machine *machine, const struct timing_shape *shape,
                               const struct family *family, double power)
{
    struct nearest fewer = {0};
    struct nearest more = {0};
    for (uint32_t i = 0; i < family->count; i++) {
        const struct timing_curve *curve = family->curves[i];
        uint32_t distance = version_distance(machine->version, curve->version) + 30000 * beyond(curve, power);
        if (curve->gpus <= shape->gpus) {
            keep_nearer(&fewer, curve, distance + 10 * (shape->gpus - curve->gpus));
        } else {
            keep_nearer(&more, curve, distance + 10 * (curve->gpus - shape->gpus));
        }
    }
    return (struct found){.set = family->set,
                          .below = fewer.curve != NULL ? fewer.curve : more.curve,
                          .above = more.curve != NULL ? more.curve : fewer.curve,
                          .relation = family->relation,
                          .gpu = family->gpu};
}

/* ---- what they say ---- */

static double estimate_model_of(const struct timing_machine *machine, const struct timing_shape *shape)
{
    enum orr_coll_algo algo = ORR_COLL_ALGO_AUTO;
    enum orr_coll_proto proto = ORR_COLL_PROTO_AUTO;
    return timing_model_best(machine, shape, &algo, &proto);
}

static double estimate_model_at(const struct timing_machine *machine, const struct timing_shape *shape, double bytes)
{
    struct timing_shape other = *shape;
    other.bytes = bytes;
    return estimate_model_of(machine, &other);
}

/* A curve that ends with so much is carried on at the rate of its last two sizes, a shorter one by the model. */
static const double ends_large = 16 << 20;

/*
 * A curve at any size. Outside of what was measured the model goes on from the nearest end: what of that end is
 * latency by the model (its time of one byte) and what is bandwidth tells how much of the difference between the two is
 * carried over to each, so that neither a slow start makes large sizes slow nor a slow link small ones.
 */
static double curve_carried_on(const struct timing_machine *machine, const struct timing_shape *shape,
                               const struct timing_curves *set, const struct timing_curve *curve)
{
    double least = ldexp(1, (int)curve->first);
    double most = ldexp(1, (int)(curve->first + curve->count - 1));
    bool is_below = shape->bytes < least;
    if (!is_below && (shape->bytes <= most || (most >= ends_large && curve->count > 1))) {
        return timing_curve_at(set, curve, shape->bytes);
    }
    double end = is_below ? least : most;
    double us = timing_curve_at(set, curve, end);
    double there = estimate_model_at(machine, shape, end);
    double latency = estimate_model_at(machine, shape, 1);
    double here = estimate_model_of(machine, shape);
    double part = latency / there;
    if (!is_below) {
        return us + (here - there) * pow(us / there, 1 - part);
    }
    double start = fmin(latency * pow(us / there, part), us);
    return there > latency ? start + (us - start) * fmin((here - latency) / (there - latency), 1) : us;
}

/* A curve as a time of the asked shape. Where NICs are shared or a relative's rate differs, times the model's ratio;
 * of other numbers of ranks, and what the model says that more of them take in addition. Both sides are reckoned with
 * the constants of the GPU that was measured. */
static double estimate_carried(const struct timing_machine *machine, const struct timing_shape *shape,
                               const struct found *found, const struct timing_curve *curve)
{
    struct timing_machine here = *machine;
    here.gpu = found->gpu;
    struct timing_machine there = here;
    struct timing_shape measured = *shape;
    measured.gpus = curve->gpus;
    measured.hosts = curve->gpus == shape->gpus ? shape->hosts : 1;
    measured.ranks = curve->nodes * curve->gpus;
    measured.net_gbytes = shape->alone_gbytes;
    measured.nic_gbytes = fmin(shape->alone_gbytes, machine->nic_gbytes);
    bool same_rate = found->set == &machine->own || machine->link_gbytes == found->gpu->link_gbytes;
    there.link_gbytes = same_rate ? here.link_gbytes : found->gpu->link_gbytes;
    double us = curve_carried_on(&there, &measured, found->set, curve);
    if (!same_rate || (shape->nodes > 1 && shape->net_gbytes < measured.net_gbytes)) {
        struct timing_shape alike = measured;
        alike.net_gbytes = shape->net_gbytes;
        alike.nic_gbytes = shape->nic_gbytes;
        us *= estimate_model_of(&here, &alike) / estimate_model_of(&there, &measured);
        measured = alike;
    }
    if (curve->gpus == shape->gpus) {
        return us;
    }
    double before = estimate_model_of(&here, &measured);
    double after = estimate_model_of(&here, shape);
    if (curve->gpus < shape->gpus && shape->op != ORR_COLL_OP_ALL_TO_ALL) {
        return us + fmax(after - before, 0); /* of an all-to-all each peer has less where there are more */
    }
    return after > before ? us + (after - before) : us * after / before;
}

static bool is_new(uint32_t version)
{
    return (version == 0 ? VERSION_UNTOLD : version) >= VERSION_EPOCH;
}

/* From NCCL 2.29 on small collectives are quicker by this much: the mean of 12 pairs of curves, B200 at 2.27.5
 * and 2.28.9 against 2.29.2. */
static const double release_gain = 0.04;

/* What another release makes of a curve: where a relative was measured with both, the ratio of its two curves. */
static double release_factor(const struct timing_machine *machine, const struct timing_shape *shape,
                             const struct found *found)
{
    const struct timing_curve *used = found->below;
    if (found->set == &machine->own || is_new(machine->version) == is_new(used->version)) {
        return 1;
    }
    const struct timing_curve *asked = NULL;
    const struct timing_curve *same = NULL;
    size_t first;
    size_t end = curves_of(found->set, shape, &first);
    for (size_t i = first; i < end && *found->gpu->like != '\0'; i++) {
        const struct timing_curve *curve = &found->set->curves[i];
        if (curve->op != used->op || curve->nodes != used->nodes || curve->gpus != used->gpus ||
            strcmp(curve->gpu, found->gpu->like) != 0 || is_left_out(machine, curve)) {
            continue;
        }
        same = curve->version == used->version ? curve : same;
        asked = is_new(curve->version) == is_new(machine->version) ? curve : asked;
    }
    if (same != NULL && asked != NULL) {
        return timing_curve_at(found->set, asked, shape->bytes) / timing_curve_at(found->set, same, shape->bytes);
    }
    double fades = 1 / (1 + shape->bytes / (4 << 20));
    return is_new(machine->version) ? 1 - release_gain * fades : 1 + release_gain * fades;
}

static double measured_at(const struct timing_machine *machine, const struct timing_shape *shape,
                          const struct found *found)
{
    double below = estimate_carried(machine, shape, found, found->below);
    if (found->below == found->above) {
        return below;
    }
    double above = estimate_carried(machine, shape, found, found->above);
    double part =
        log2((double)shape->gpus / found->below->gpus) / log2((double)found->above->gpus / found->below->gpus);
    return below * pow(above / below, part);
}

/* ---- never less for more ---- */

/* At a power of two, from the curves that are nearest there. */
static double measured_at_power(const struct timing_machine *machine, const struct timing_shape *shape,
                                const struct family *family, int power)
{
    struct timing_shape there = *shape;
    there.bytes = ldexp(1, power);
    struct found found = nearest_of(machine, shape, family, power);
    return measured_at(machine, &there, &found) * release_factor(machine, &there, &found);
}

/* Whether what is looked at is one measured curve, which grows with the size. */
static bool is_itself(const struct timing_machine *machine, const struct timing_shape *shape,
                      const struct family *family, int below, int above)
{
    const struct timing_curve *curve = family->curves[0];
    return family->count == 1 && curve->gpus == shape->gpus && below >= (int)curve->first &&
           above < (int)(curve->first + curve->count) && machine->link_gbytes == family->gpu->link_gbytes &&
           !(shape->nodes > 1 && shape->net_gbytes < shape->alone_gbytes) &&
           (family->set == &machine->own || is_new(machine->version) == is_new(curve->version));
}

/* Carried to another number of ranks, rate or release, bends of the two curves lie at different sizes and can leave a
 * time that falls, and so can the change from one curve to the next. So times are made at powers of two, of each the
 * most that it and smaller ones take, and between two of them by the straight line of the logarithms. Of large sizes,
 * whose times double, the next smaller ones are enough. */
enum { SMALLER = 5, FLAT = 20 };

static int least_power(const struct family *family, int below)
{
    int least = below > FLAT ? below - SMALLER : below;
    for (uint32_t i = 0; i < family->count && below <= FLAT; i++) {
        least = (int)family->curves[i]->first < least ? (int)family->curves[i]->first : least;
    }
    return least > 0 ? least : 0;
}

static double measured_us(const struct timing_machine *machine, const struct timing_shape *shape,
                          const struct family *family)
{
    double place = log2(shape->bytes);
    int below = (int)floor(place);
    double part = place - below;
    if (is_itself(machine, shape, family, below, below + (part > 0))) {
        struct found found = nearest_of(machine, shape, family, place);
        return measured_at(machine, shape, &found);
    }
    double most = 0;
    for (int power = least_power(family, below); power <= below; power++) {
        most = fmax(most, measured_at_power(machine, shape, family, power));
    }
    double above = part > 0 ? measured_at_power(machine, shape, family, below + 1) : most;
    return above > most ? most * pow(above / most, part) : most;
}

/* Of another GPU or number of ranks there is nothing to hold the time against. */
static void point_of(const struct found *found, const struct timing_shape *shape, struct orr_coll_point nearest[2])
{
    const struct timing_curve *curve = found->below;
    double bytes = shape->bytes;
    if (found->relation != 0 || curve->gpus != shape->gpus) {
        return;
    }
    double place = log2(bytes) - curve->first;
    double last = curve->count - 1;
    uint32_t below = place <= 0 ? 0 : (uint32_t)fmin(place, last);
    uint32_t above = below + 1 < curve->count && place > below ? below + 1 : below;
    const float *us = found->set->values + curve->values;
    nearest[0] = (struct orr_coll_point){curve->source, (uint64_t)1 << (curve->first + below), us[below]};
    nearest[1] = (struct orr_coll_point){curve->source, (uint64_t)1 << (curve->first + above), us[above]};
}

static enum orr_coll_method method_of(const struct timing_machine *machine, const struct timing_shape *shape,
                                      const struct found *found, double power)
{
    if (found->below->gpus != shape->gpus || beyond(found->below, power) > 0) {
        return ORR_COLL_METHOD_EXTENDED;
    }
    return found->relation == 0 && version_distance(machine->version, found->below->version) < 100
               ? ORR_COLL_METHOD_MEASURED
               : ORR_COLL_METHOD_RELATIVE;
}

static double estimate_bus_factor(const struct timing_shape *shape)
{
    double ranks = shape->ranks;
    switch (shape->op) {
    case ORR_COLL_OP_ALL_REDUCE:
        return 2 * (ranks - 1) / ranks;
    case ORR_COLL_OP_ALL_GATHER:
    case ORR_COLL_OP_REDUCE_SCATTER:
    case ORR_COLL_OP_ALL_TO_ALL:
        return (ranks - 1) / ranks;
    default:
        return 1;
    }
}

/* On more nodes nothing is quicker than what was measured on one of them, of an all-to-all what stays there, or on two:
 * machines whose hosts are slower than their NICs, and measurements that the model does not reach. */
static double fewer_us(const struct timing_machine *machine, const struct timing_shape *shape, uint32_t nodes)
{
    struct timing_shape inside = *shape;
    inside.nodes = nodes;
    inside.ranks = nodes * shape->gpus;
    if (shape->op == ORR_COLL_OP_ALL_TO_ALL) {
        inside.bytes = fmax(shape->bytes * nodes / shape->nodes, 1);
    }
    struct family family;
    return estimate_family(machine, &inside, &family) ? measured_us(machine, &inside, &family) : 0;
}

static enum orr_status estimate_check(const struct orr_coll_question *question, struct orr_error *err)
{
    uint64_t ranks = (uint64_t)question->nodes * question->gpus;
    if (ranks < 1 || ranks > RANKS_MOST) {
        return error_set(err, ORR_ERANGE, "%u nodes of %u GPUs: there must be 1 to %d ranks", question->nodes,
                         question->gpus, RANKS_MOST);
    }
    return (unsigned)question->op < ORR_COLL_OP_COUNT && (unsigned)question->algo < ORR_COLL_ALGO_COUNT &&
                   (unsigned)question->proto < ORR_COLL_PROTO_COUNT
               ? ORR_OK
               : error_set(err, ORR_EINVAL, "operation, algorithm or protocol is not one of the lists");
}

/* A way that neither the tuner nor the model knows there: what of it was named is told, and nothing else. */
static enum orr_status estimate_refuse(const struct timing_machine *machine, const struct orr_coll_question *question,
                                       struct orr_error *err)
{
    bool algo = question->algo != ORR_COLL_ALGO_AUTO;
    bool proto = question->proto != ORR_COLL_PROTO_AUTO;
    return error_set(err, ORR_EINVAL, "%s does not use %s%s%s for %s on %u x %u %s",
                     machine->gpu->is_rccl                     ? "RCCL"
                     : machine->gpu->link == TIMING_LINK_TORUS ? "the library"
                                                               : "NCCL",
                     algo ? orr_coll_algo_name(question->algo) : "", algo && proto ? " with " : "",
                     proto ? orr_coll_proto_name(question->proto) : "", orr_coll_op_name(question->op), question->nodes,
                     question->gpus, machine->gpu->name);
}

enum orr_status timing_estimate(const struct timing_machine *machine, const struct orr_coll_question *question,
                                struct orr_coll_answer *answer, struct orr_error *err)
{
    enum orr_status status = estimate_check(question, err);
    if (status != ORR_OK) {
        return status;
    }
    struct timing_shape shape;
    timing_shape_of(machine, question, &shape);
    struct orr_coll_answer made = {.algo = question->algo, .proto = question->proto};
    bool is_forced = question->algo != ORR_COLL_ALGO_AUTO || question->proto != ORR_COLL_PROTO_AUTO;
    if (shape.ranks == 1) {
        made.us = made.model_us = machine->gpu->base_us[TIMING_LL] / 2;
        made.method = ORR_COLL_METHOD_MODEL;
        *answer = made;
        return ORR_OK;
    }
    enum orr_coll_algo fastest_algo = ORR_COLL_ALGO_AUTO;
    enum orr_coll_proto fastest_proto = ORR_COLL_PROTO_AUTO;
    bool has_tuner = machine->gpu->link != TIMING_LINK_TORUS;
    made.tuner_us = has_tuner ? timing_tuner_choose(machine, &shape, &made.algo, &made.proto)
                              : timing_model_best(machine, &shape, &made.algo, &made.proto);
    made.model_us = isinf(made.tuner_us) ? made.tuner_us
                    : is_forced          ? timing_model_us(machine, &shape, made.algo, made.proto)
                                         : timing_model_best(machine, &shape, &fastest_algo, &fastest_proto);
    if (isinf(made.model_us)) {
        return estimate_refuse(machine, question, err);
    }
    made.method = ORR_COLL_METHOD_MODEL;
    made.us = made.model_us;
    /* What was measured is a choice among the other ways: none of the networks had switches that reduce. */
    bool by_switches = made.algo == ORR_COLL_ALGO_COLLNET_DIRECT || made.algo == ORR_COLL_ALGO_COLLNET_CHAIN;
    struct family family;
    if (!by_switches && estimate_family(machine, &shape, &family)) {
        double power = log2(shape.bytes);
        struct found found = nearest_of(machine, &shape, &family, power);
        made.us = measured_us(machine, &shape, &family);
        made.method = method_of(machine, &shape, &found, power);
        point_of(&found, &shape, made.nearest);
        if (is_forced) {
            made.us *= fmax(made.model_us / estimate_model_of(machine, &shape), 1);
            made.method = ORR_COLL_METHOD_EXTENDED;
        }
    } else if (!is_forced) {
        made.algo = fastest_algo;
        made.proto = fastest_proto;
        double inside = shape.nodes > 1 && shape.gpus > 1 ? fewer_us(machine, &shape, 1) : 0;
        double fewer = fmax(inside, shape.nodes > 2 ? fewer_us(machine, &shape, 2) : 0);
        if (fewer > made.us) {
            made.us = fewer;
            made.method = ORR_COLL_METHOD_EXTENDED;
        }
    }
    made.channels = question->channels > 0 ? question->channels
                    : has_tuner            ? timing_tuner_channels(machine, &shape, made.algo)
                                           : machine->gpu->links;
    made.algbw_gbytes = shape.bytes * 1e-3 / made.us;
    made.busbw_gbytes = made.algbw_gbytes * estimate_bus_factor(&shape);
    *answer = made;
    return ORR_OK;
}
