#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# MICRO 2024, Chakra demo 2: workloads written as text (ASTRA-sim 1.0's language), made into traces for 32 ranks and
# drawn. The same three layers under every strategy that takes no further words.
set -eu

# strategy
workload() {
    cat << END
$1
3
embedding -1  40000 ALLTOALL  1048576   40000 ALLTOALL  1048576   20000 ALLREDUCE  4194304  1000
block     -1 250000 ALLGATHER 8388608  250000 ALLREDUCE 8388608  240000 ALLREDUCE 50331648  5000
head      -1  90000 ALLGATHER 2097152   90000 ALLREDUCE 2097152   80000 ALLREDUCE 16777216  2000
END
}
for strategy in DATA MODEL HYBRID_DATA_MODEL HYBRID_MODEL_DATA DISTRIBUTED_INFERENCE MICRO; do
    workload $strategy > $strategy.txt
    orrery trace convert --ranks 32 $strategy.txt -o $strategy 2> warnings.txt # of what a strategy leaves out
done

echo
echo "Data parallel, one rank"
orrery trace stat DATA.0.et

echo
echo "The graph of it: as dot, and drawn"
orrery trace export --to dot DATA.0.et -o data.dot
orrery trace view DATA.0.et -o data.svg
grep -c -e '->' data.dot | sed 's/$/ edges in data.dot/'

echo
echo "Chakra's converter by its name, with its options"
orrery chakra_converter Text --input MODEL.txt --output old --num-npus 4 --num-passes 1
find . -name 'old.*.et' | wc -l | sed 's/^ *\([0-9]*\)/\1 traces of its own/'
