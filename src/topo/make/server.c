/* SPDX-License-Identifier: Apache-2.0 */
/* Data sheets give both directions of NVLink and xGMI together; here is half of that. They give no latency of a link:
 * inside a server it is SimAI's 25 ns (spec simai §8), behind a PCIe switch the 110 ns of Broadcom's PEX88000 brief. */
#include "topo/make/server.h"

#include <string.h>

/* Four packages of two dies: four links in the package, one or two to the neighbours, and the odd dies have the NICs
 * (Frontier's and LUMI's node; Pearson, "Interconnect Bandwidth Heterogeneity on AMD MI250x and Infinity Fabric",
 * 2023). */
static const struct topo_pair_links mi250x_pairs[] = {
    {0, 1, 4}, {2, 3, 4}, {4, 5, 4}, {6, 7, 4}, {0, 6, 2}, {2, 4, 2},
    {0, 2, 1}, {1, 3, 1}, {1, 5, 1}, {3, 7, 1}, {4, 6, 1}, {5, 7, 1},
};

enum { MI250X_PAIRS = sizeof mi250x_pairs / sizeof mi250x_pairs[0] };

static const struct topo_server servers[] = {
    {.name = "gpu",
     .gpu_type = "H100",
     .gpus = 1,
     .rate = "400Gbps",
     .delay = "25ns",
     .nic = "400Gbps",
     .nic_every = 1,
     .pcie = 5,
     .source = "one GPU with a NIC"},
    {.name = "dgx-a100",
     .gpu_type = "A100",
     .gpus = 8,
     .fabric = TOPO_FABRIC_NVSWITCH,
     .rate = "2400Gbps",
     .delay = "25ns",
     .nic = "200Gbps",
     .nic_every = 1,
     .pcie = 4,
     .source = "DGX A100 data sheet: NVLink 600 GB/s a GPU, 8 x 200 Gb/s HDR"},
    {.name = "dgx-h100",
     .gpu_type = "H100",
     .gpus = 8,
     .fabric = TOPO_FABRIC_NVSWITCH,
     .rate = "3600Gbps",
     .delay = "25ns",
     .nic = "400Gbps",
     .nic_every = 1,
     .pcie = 5,
     .source = "DGX H100 data sheet: NVLink 900 GB/s a GPU, 8 x 400 Gb/s NDR"},
    {.name = "dgx-b200",
     .gpu_type = "B200",
     .gpus = 8,
     .fabric = TOPO_FABRIC_NVSWITCH,
     .rate = "7200Gbps",
     .delay = "25ns",
     .nic = "400Gbps",
     .nic_every = 1,
     .pcie = 5,
     .source = "DGX B200 data sheet: NVLink 14.4 TB/s in all, 8 x 400 Gb/s"},
    {.name = "nvl72",
     .gpu_type = "GB200",
     .gpus = 72,
     .fabric = TOPO_FABRIC_NVSWITCH,
     .rate = "7200Gbps",
     .delay = "25ns",
     .nic = "400Gbps",
     .nic_every = 1,
     .rails = 4,
     .pcie = 5,
     .source = "GB200 NVL72 data sheet: NVLink 130 TB/s in all; 18 trays of 4 GPUs and 4 NICs"},
    {.name = "nvl36",
     .gpu_type = "GB200",
     .gpus = 36,
     .fabric = TOPO_FABRIC_NVSWITCH,
     .rate = "7200Gbps",
     .delay = "25ns",
     .nic = "400Gbps",
     .nic_every = 1,
     .rails = 4,
     .pcie = 5,
     .source = "half an NVL72: 9 trays of 4 GPUs and 4 NICs"},
    {.name = "mi250x",
     .gpu_type = "MI250X",
     .gpus = 8,
     .fabric = TOPO_FABRIC_PAIRS,
     .rate = "400Gbps",
     .delay = "25ns",
     .nic = "200Gbps",
     .nic_every = 2,
     .pairs = mi250x_pairs,
     .pair_count = MI250X_PAIRS,
     .pcie = 4,
     .source = "CDNA 2 white paper: xGMI 100 GB/s a link; Frontier's node of 8 dies and 4 x 200 Gb/s"},
    {.name = "mi300x",
     .gpu_type = "MI300X",
     .gpus = 8,
     .fabric = TOPO_FABRIC_MESH,
     .rate = "512Gbps",
     .delay = "25ns",
     .nic = "400Gbps",
     .nic_every = 1,
     .pcie = 5,
     .source = "MI300X platform data sheet: 7 xGMI links a GPU, 128 GB/s each"},
    {.name = "pcie-pair",
     .gpu_type = "PCIe",
     .gpus = 2,
     .fabric = TOPO_FABRIC_PCIE,
     .rate = "252Gbps",
     .delay = TOPO_PCIE_DELAY,
     .nic = "100Gbps",
     .nic_every = 1,
     .pcie = 4,
     .source = "PCIe 4.0 x16: 16 GT/s on 16 lanes, 128b/130b"},
};

enum { SERVER_COUNT = sizeof servers / sizeof servers[0] };

/* Transfers a second on 16 lanes: 8, 16 and 32 GT/s at 128b/130b; 64 GT/s in flits of 256 bytes, 242 of them data. What
 * the headers of packets take besides depends on their sizes and is left to the network. */
const char *topo_pcie_rate(uint32_t generation)
{
    static const char *const rates[] = {"126Gbps", "252Gbps", "504Gbps", "968Gbps"};
    return rates[generation - TOPO_PCIE_FIRST];
}

const struct topo_server *topo_server_find(const char *name)
{
    for (size_t i = 0; i < SERVER_COUNT; i++) {
        if (strcmp(servers[i].name, name) == 0) {
            return &servers[i];
        }
    }
    return NULL;
}

const struct topo_server *topo_server_at(size_t index)
{
    return index < SERVER_COUNT ? &servers[index] : NULL;
}
