#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# MICRO 2024, Chakra demo 1: traces written by a program. The tutorial uses Chakra's Python API; here it is a command, a
# table of nodes (CSV), or the library (orr_* in orrery.h).
set -eu

echo "1. One all-reduce, for 8 ranks and for 1024"
orrery gen collective --type all-reduce --bytes 1MiB --npus 8 -o allreduce | head -n 1
orrery gen collective --type all-reduce --bytes 1MiB --npus 1024 -o many/allreduce | head -n 1
orrery trace show allreduce.7.et
orrery trace check allreduce.*.et many/allreduce.*.et | grep -c ': 0 findings' | sed 's/$/ files without a finding/'

echo
echo "2. Any graph, as a table: two computations, and an all-reduce of 4 MiB behind both"
cat > graph.csv << END
id,name,duration_us,deps,comm,bytes
1,forward,300,,,
2,backward,600,1,,
3,gradients,,1;2,all-reduce,4194304
END
orrery trace convert --ranks 4 graph.csv -o graph
orrery trace stat graph.0.et

echo
echo "3. Chakra's own generator, by its name"
orrery chakra_generator --num_npus 2 --default_comm_size 4096 > made.txt
find . -name 'ALL_*.et' | wc -l | sed 's/^ *\([0-9]*\)/\1 traces of its all-reduce, all-gather and all-to-all/'
