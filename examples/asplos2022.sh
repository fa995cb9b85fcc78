#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ASPLOS 2022 exercises: the same collective on different machines, and one training step on all of them. 16 devices;
# every device has 100 GB/s into the network in all, however its links divide it.
set -eu
. "$(dirname "$0")/lib/machine.sh"

# name, topology, algorithm, sizes, GB/s of a link, ns
machine() {
    network "$1.yml" "$2" "$4" "$5" "$6"
    # shellcheck disable=SC2086 # an algorithm a dimension
    system "$1.json" $3
}
machine ring Ring ring 16 50 500
machine switch Switch halvingDoubling 16 100 500
machine full FullyConnected direct 16 6.67 500
machine torus 'Ring, Ring' 'ring ring' '4, 4' '25, 25' '500, 500'
machines='ring switch full torus'

time_ns() {
    orrery run -w "$1" -s "$2.json" -n "$2.yml" --format json | sed -n 's/^ *"time_ns": \([0-9]*\),*/\1/p' | head -n 1
}
row() {
    printf '%-22s' "$1"
    for machine in $machines; do
        printf '%12s' "$(time_ns "$2" "$machine")"
    done
    echo
}

printf '%-22s%12s%12s%12s%12s\n' 'Exercise 1 (ns)' 'ring' 'switch' 'full' 'torus 4x4'
for type in all-reduce all-gather reduce-scatter; do
    for size in 64KiB 16MiB; do
        orrery gen collective --type $type --bytes $size --npus 16 -o "$type-$size" > made.txt
        row "$type $size" "$type-$size"
    done
done

# A step of four layers, data parallel: the gradients of a layer are reduced beside the layers before it.
cat > cnn.txt << END
DATA
4
stem   -1   400000 NONE 0   350000 NONE 0   380000 ALLREDUCE   262144  1000
stage1 -1  2200000 NONE 0  2100000 NONE 0  2150000 ALLREDUCE  8388608  4000
stage2 -1  1800000 NONE 0  1750000 NONE 0  1700000 ALLREDUCE 33554432  9000
fc     -1   120000 NONE 0   110000 NONE 0   115000 ALLREDUCE 16777216  3000
END
echo
orrery trace convert --ranks 16 cnn.txt -o cnn
printf '%-22s%12s%12s%12s%12s\n' 'Exercise 2 (ns)' 'ring' 'switch' 'full' 'torus 4x4'
row "data-parallel step" cnn
echo
orrery run -w cnn -s ring.json -n ring.yml | tail -n 1
