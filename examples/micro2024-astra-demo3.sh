#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# MICRO 2024, ASTRA-sim demo 3: one all-reduce of 1 MiB as one ring of all ranks and as rings along two dimensions, packet
# by packet, on a fat tree of 128 hosts, and as one ring on 8 hosts. Two dimensions take far fewer steps (2 x 127 against
# 2 x 15 + 2 x 7), which is what counts where messages are small.
set -eu
. "$(dirname "$0")/lib/machine.sh"
system 1d.json ring
system 2d.json ring ring
echo '{"logical-dims": ["16", "8"]}' > 2d-logical.json

# hosts leaves spines: the machine and ASTRA-sim's ns-3 configuration of it
packets() {
    orrery topo make fat-tree --hosts "$1" --leaves "$2" --spines "$3" --bandwidth 400Gbps --latency 500ns \
        -o "fat$1.txt" > made.txt
    cat > "fat$1.conf" << END
TOPOLOGY_FILE fat$1.txt
PACKET_PAYLOAD_SIZE 1000
CC_MODE 12
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
GLOBAL_T 0
BUFFER_SIZE 32
KMAX_MAP 1 400000000000 1600
KMIN_MAP 1 400000000000 400
PMAX_MAP 1 400000000000 0.2
END
}
packets 128 8 8
packets 8 2 1
orrery topo stat fat128.txt

# title, then the options of the run
step() {
    printf '%s  ' "$1"
    shift
    orrery run --backend packet "$@" --quiet | sed -n 1p
}
for size in 64KiB 1MiB; do
    echo
    echo "All-reduce of $size"
    orrery gen collective --type all-reduce --bytes $size --npus 128 -o "all$size" > made.txt
    orrery gen collective --type all-reduce --bytes $size --npus 8 -o "few$size" > made.txt
    step "3-1: 128 hosts, one ring       " -w "all$size" -s 1d.json -n fat128.conf
    step "3-2: 128 hosts, 16 x 8         " -w "all$size" -s 2d.json -n fat128.conf --logical 2d-logical.json
    step "3-3: 8 hosts, one ring         " -w "few$size" -s 1d.json -n fat8.conf
done
