/* SPDX-License-Identifier: Apache-2.0 */
/* Each line says one thing and, where it is not the whole truth, what it was taken from. */
#include "report/topo_text.h"

#include <inttypes.h>

#include "base/plain.h"
#include "io/json_write.h"
#include "report/number.h"

struct text {
    char text[64];
};

static struct text rate_text(uint64_t bps)
{
    struct text rate;
    bool tera = bps >= UINT64_C(10000000000000);
    (void)snprintf(rate.text, sizeof rate.text, "%s %s", report_short((double)bps / (tera ? 1e12 : 1e9)).text,
                   tera ? "Tbps" : "Gbps");
    return rate;
}

static struct text range_text(uint32_t least, uint32_t most)
{
    struct text range;
    if (least == most) {
        (void)snprintf(range.text, sizeof range.text, "%" PRIu32, least);
    } else {
        (void)snprintf(range.text, sizeof range.text, "%" PRIu32 " to %" PRIu32, least, most);
    }
    return range;
}

static void put_distances(const struct topo_distances *distances, const char *what, FILE *stream)
{
    (void)fprintf(stream, "  %-22s %" PRIu32 " links at most, %s on average%s\n", what, distances->diameter,
                  report_fixed(distances->average, 4).text, distances->sampled > 0 ? " (sampled)" : "");
}

/* In a large torus there are more than anybody counts. */
static struct text ways_text(double ways)
{
    struct text text;
    if (ways < 1e7) {
        (void)snprintf(text.text, sizeof text.text, "%s", report_short(ways).text);
    } else {
        (void)plain_snprintf(text.text, sizeof text.text, "%.2e", ways);
    }
    return text;
}

static void put_between_hosts(const struct topo_measure *measure, FILE *stream)
{
    const struct topo_distances *hosts = &measure->between_hosts;
    put_distances(hosts, "between two GPUs", stream);
    if (hosts->sampled > 0) {
        (void)fprintf(stream, "  %-22s from %" PRIu32 " GPUs spread over the machine, each for those like it\n", "",
                      hosts->sampled);
    }
    if (measure->forwarding) {
        (void)fprintf(stream, "  %-22s with GPUs forwarding, which packet networks do not: some reach others only so\n",
                      "");
    }
    if (hosts->unreached_pairs > 0) {
        (void)fprintf(stream, "  %-22s %" PRIu64 " ordered pairs have no way at all\n", "", hosts->unreached_pairs);
    }
    (void)fprintf(stream, "  %-22s %s to %s, %s on average\n", "shortest ways", ways_text(hosts->ways_least).text,
                  ways_text(hosts->ways_most).text, ways_text(hosts->ways_average).text);
}

static void put_bandwidth(const struct topo_measure *measure, FILE *stream)
{
    (void)fprintf(stream, "  %-22s %s", "bandwidth of a GPU", rate_text(measure->host_bps_least).text);
    if (measure->host_bps_least != measure->host_bps_most) {
        (void)fprintf(stream, " to %s", rate_text(measure->host_bps_most).text);
    }
    (void)fputs(", all its links together\n", stream);
    if (!measure->has_bisection) {
        (void)fprintf(stream, "  %-22s not computed: the machine is too large\n", "bisection");
        return;
    }
    uint32_t half = measure->hosts / 2;
    (void)fprintf(stream, "  %-22s %s from GPUs 0-%" PRIu32 " to the rest", "bisection",
                  rate_text(measure->bisection_bps).text, half > 0 ? half - 1 : 0);
    if (half > 0) {
        (void)fprintf(stream, ", %s a GPU", rate_text(measure->bisection_bps / half).text);
    }
    (void)fputs(" (maximum flow)\n", stream);
}

void topo_text_put(const struct topo_measure *measure, const char *title, FILE *stream)
{
    (void)fprintf(stream, "%s: %" PRIu32 " GPUs, ", title, measure->hosts);
    if (measure->nvswitches > 0) {
        (void)fprintf(stream, "%" PRIu32 " NVSwitches, ", measure->nvswitches);
    }
    (void)fprintf(stream, "%" PRIu32 " switches, %" PRIu32 " links\n", measure->switches, measure->links);
    (void)fprintf(stream, "  %-22s %s\n", "links of a GPU",
                  range_text(measure->host_degree_least, measure->host_degree_most).text);
    if (measure->switch_degree_most > 0) {
        (void)fprintf(stream, "  %-22s %s\n", "ports of a switch",
                      range_text(measure->switch_degree_least, measure->switch_degree_most).text);
    }
    (void)fprintf(stream, "  %-22s %" PRIu32 " of GPUs, %" PRIu32 " of NVSwitches, %" PRIu32 " between switches\n",
                  "cables", measure->host_links, measure->nvswitch_links, measure->switch_links);
    if (measure->parallel_links > 0) {
        (void)fprintf(stream, "  %-22s %" PRIu32 " beyond the first between two nodes\n", "parallel links",
                      measure->parallel_links);
    }
    put_between_hosts(measure, stream);
    if (measure->switches_joined) {
        put_distances(&measure->between_switches, "between two switches", stream);
    }
    put_bandwidth(measure, stream);
}

static void put_json_distances(struct json_writer *json, const char *key, const struct topo_distances *distances,
                               bool ways)
{
    json_write_member_object(json, key, false);
    json_write_member_u64(json, "diameter", distances->diameter);
    json_write_member_fixed(json, "average", distances->average, 6);
    json_write_member_u64(json, "unreached_pairs", distances->unreached_pairs);
    if (ways) {
        json_write_member_fixed(json, "ways_least", distances->ways_least, 0);
        json_write_member_fixed(json, "ways_average", distances->ways_average, 3);
        /* Beyond 2^53 a number with a point: readers refuse integers that large. */
        json_write_member_fixed(json, "ways_most", distances->ways_most, distances->ways_most < 0x1p53 ? 0 : 1);
    }
    json_write_member_u64(json, "sampled", distances->sampled);
    json_write_object_end(json);
}

void topo_json_put(const struct topo_measure *measure, const char *title, FILE *stream)
{
    const struct {
        const char *key;
        uint64_t value;
    } counts[] = {
        {"hosts", measure->hosts},
        {"switches", measure->switches},
        {"nvswitches", measure->nvswitches},
        {"links", measure->links},
        {"parallel_links", measure->parallel_links},
        {"host_links", measure->host_links},
        {"nvswitch_links", measure->nvswitch_links},
        {"switch_links", measure->switch_links},
        {"host_degree_least", measure->host_degree_least},
        {"host_degree_most", measure->host_degree_most},
        {"switch_degree_least", measure->switch_degree_least},
        {"switch_degree_most", measure->switch_degree_most},
        {"host_bps_least", measure->host_bps_least},
        {"host_bps_most", measure->host_bps_most},
    };
    struct json_writer json;
    json_write_document(&json, stream);
    json_write_member_string(&json, "file", title);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        json_write_member_u64(&json, counts[i].key, counts[i].value);
    }
    json_write_member_bool(&json, "hosts_forward", measure->forwarding);
    put_json_distances(&json, "between_hosts", &measure->between_hosts, true);
    json_write_key(&json, "bisection_bps");
    if (measure->has_bisection) {
        json_write_u64(&json, measure->bisection_bps);
    } else {
        json_write_null(&json);
    }
    if (measure->switches_joined) {
        put_json_distances(&json, "between_switches", &measure->between_switches, false);
    }
    json_write_document_end(&json);
}
