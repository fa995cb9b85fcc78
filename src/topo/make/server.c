/* SPDX-License-Identifier: Apache-2.0 */
/* The rows are made of presets/machines/ by the build; data sheets give both directions of NVLink and xGMI together,
 * and the files half of that. */
#include "topo/make/server.h"

#include <string.h>

#include "base/words.h"
#include "presets.h"

static const struct topo_pair_links mi250x_pairs[] = {PRESET_PAIRS_OF_mi250x};

static const struct topo_server servers[] = {
#define SERVER_X(name, synonyms, summary, defaults, type, device, gpus, fabric, rate, delay, nic, every, rails, pcie,  \
                 pairs, pair_count, source)                                                                            \
    {name, synonyms, summary, defaults, type,  device,     gpus,  TOPO_FABRIC_##fabric, rate, delay,                   \
     nic,  every,    rails,   pcie,     pairs, pair_count, source},
    PRESET_SERVERS(SERVER_X)
#undef SERVER_X
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
        if (strcmp(servers[i].name, name) == 0 || words_have(servers[i].synonyms, name, strlen(name), false)) {
            return &servers[i];
        }
    }
    return NULL;
}

const struct topo_server *topo_server_at(size_t index)
{
    return index < SERVER_COUNT ? &servers[index] : NULL;
}
