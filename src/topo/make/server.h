/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Servers and racks of real makes: how many GPUs, what joins them inside, which of them have NICs. Facts with their
 * sources, from presets/machines/; rates are those of one direction.
 */
#ifndef ORR_TOPO_MAKE_SERVER_H
#define ORR_TOPO_MAKE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum topo_fabric {
    TOPO_FABRIC_NONE,     /* one GPU, or GPUs that meet in the network only */
    TOPO_FABRIC_NVSWITCH, /* all on an NVSwitch; several share the rate */
    TOPO_FABRIC_PCIE,     /* all on a PCIe switch */
    TOPO_FABRIC_MESH,     /* each pair by a link of its own */
    TOPO_FABRIC_PAIRS,    /* the pairs of a list; GPUs forward, since not all are neighbours */
};

struct topo_pair_links {
    uint8_t a, b;
    uint8_t links; /* in parallel; written as one link of their rates' sum */
};

struct topo_server {
    const char *name;
    const char *synonyms; /* a blank between two; "": none */
    const char *summary, *defaults;
    const char *gpu_type; /* in SimAI's files */
    const char *device;   /* of presets/devices; "": not known */
    uint32_t gpus;
    enum topo_fabric fabric;
    const char *rate;   /* inside: of a GPU to the switch, or of one link of a pair */
    const char *delay;  /* inside */
    const char *nic;    /* rate of a NIC */
    uint32_t nic_every; /* every so many GPUs have a NIC: the last of each such group */
    uint32_t rails;     /* NICs of a server are spread over so many; 0: each on its own */
    uint32_t pcie;      /* generation of the PCIe between a GPU and its NIC; x16 */
    const struct topo_pair_links *pairs;
    uint32_t pair_count;
    const char *source;
};

/* Delay of a NIC's link and of links between switches where nothing is said: SimAI's (spec simai §8). */
#define TOPO_NIC_DELAY "500ns"

/* Of PCIe where nothing is said: that of a switch. */
#define TOPO_PCIE_DELAY "110ns"

enum { TOPO_PCIE_FIRST = 3, TOPO_PCIE_LAST = 6 };

/* One direction of x16 of a generation, TOPO_PCIE_FIRST to TOPO_PCIE_LAST, after its line code. */
const char *topo_pcie_rate(uint32_t generation);

const struct topo_server *topo_server_find(const char *name); /* NULL when there is none */
const struct topo_server *topo_server_at(size_t index);       /* NULL past the last */

#endif
