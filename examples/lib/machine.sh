# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What several scripts here need; sourced by them. Files are written into the current folder.
export LC_ALL=C

# shellcheck disable=SC2034 # used by the scripts
recording=$(cd "$(dirname "$0")/.." && pwd)/tests/data/pytorch/cifar10_gloo

# system FILE ALGORITHM...: ASTRA-sim's system file with one algorithm a dimension, four chunks a collective and one of
# them in flight, 50 GB/s of local memory.
system() {
    file=$1
    shift
    list=$(printf '"%s", ' "$@")
    list=${list%, }
    pairs=$(echo "$list" | sed 's/halvingDoubling/direct/g') # which has no all-to-all
    cat > "$file" << END
{
  "scheduling-policy": "LIFO",
  "collective-optimization": "localBWAware",
  "preferred-dataset-splits": 4,
  "active-chunks-per-dimension": 1,
  "endpoint-delay": 10,
  "local-mem-bw": 50,
  "all-reduce-implementation": [$list],
  "all-gather-implementation": [$list],
  "reduce-scatter-implementation": [$list],
  "all-to-all-implementation": [$pairs]
}
END
}

# network FILE TOPOLOGY SIZE GB/s NS, each a list with commas: ASTRA-sim's network file.
network() {
    printf 'topology: [ %s ]\nnpus_count: [ %s ]\nbandwidth: [ %s ] # GB/s\nlatency: [ %s ] # ns\n' \
        "$2" "$3" "$4" "$5" > "$1"
}

# mlp FILE: six fully connected layers, model-parallel, as a text workload of ASTRA-sim 1.0. Forward, each layer's
# output is gathered; backward, each layer's input gradient is reduced beside the computation of its weight gradient.
mlp() {
    {
        printf 'MODEL\n6\n'
        layer=0
        # time of the forward pass and of the input gradient, time of the weight gradient, bytes
        while read -r forward weight bytes; do
            echo "fc$layer -1 $forward ALLGATHER $bytes $forward ALLREDUCE $bytes $weight NONE 0 $((forward / 10))"
            layer=$((layer + 1))
        done << END
32291 12864 37632
7488 3648 65536
7488 3456 65536
14144 10368 147456
7488 3648 65536
9984 3456 65536
END
    } > "$1"
}

# steps: what ASTRA-sim prints of each rank, ranks with the same time on one line.
steps() {
    sed -n 's/.*sys\[\([0-9]*\)\] finished, \(.*\)/\2/p' | sort | uniq -c | sed 's/^ *\([0-9]*\) /\1 ranks: /'
}

# wires FILE TOPOLOGY PAYLOAD: the network configuration of ROCm-ASTRAsim's studies: fixed windows, 32 MiB buffers.
wires() {
    cat > "$1" << END
TOPOLOGY_FILE $2
PACKET_PAYLOAD_SIZE $3
CC_MODE 12
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
GLOBAL_T 0
BUFFER_SIZE 32
KMAX_MAP 2 25000000000 400 65000000000 1600
KMIN_MAP 2 25000000000 100 65000000000 400
PMAX_MAP 2 25000000000 0.2 65000000000 0.2
END
}
