#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What holds a job up, and what would help: a recorded step, a pipeline with too few micro-batches, one rank that is slower
# than the others, and the collectives of a torus tuned. Every suggestion is a run that was made.
set -eu
. "$(dirname "$0")/lib/machine.sh"

told() {
    sed -n '/^Step/p; /^Findings/,/^Tried/p' | grep -v -e '^Tried' -e Repeat: -e '^$' | sed 's/^\( *-[0-9.]*%\): .*/\1/'
}

echo "1. A recorded step of two ranks waits for the host"
system system.json ring
network network.yml Ring 2 20 500
orrery trace import "$recording" -o traces/cnn > import.txt
orrery advise run -w traces/cnn -s system.json -n network.yml | told

echo
echo "2. Four ranks, one of which computes three times as long"
orrery gen three-node --bytes 64KiB --compute 100us --npus 4 -o traces/even > made.txt
orrery gen three-node --bytes 64KiB --compute 300us --npus 4 -o traces/slow > made.txt
cp traces/slow.2.et traces/even.2.et
network network4.yml Ring 4 50 500
orrery advise run -w traces/even -s system.json -n network4.yml | told | head -n 8

echo
echo "3. A pipeline of eight stages with two micro-batches"
orrery advise train --model llama3-8b --machine dgx-h100:1 --pp 8 --global-batch 2 --no-neighbours | told |
    sed -n 's/^\(  [0-9]\. [^(]*[^( ]\).*/\1/p' | head -n 3 # numbers follow the operators' fit

echo
echo "4. An all-reduce on a torus of 16: settings chosen one by one, written down and run again"
orrery gen collective --type all-reduce --bytes 4MiB --npus 16 -o traces/ar > made.txt
orrery tune collectives -w traces/ar --machine 16gpu_torus2d_4 --bandwidth 100 --tries 300 -o tuned.json | sed -n '/^Step/p; /^Settings/,/^Coll/p' |
    grep -v '^Coll'
orrery run -w traces/ar --machine 16gpu_torus2d_4 --bandwidth 100 --system tuned.json --backend aware | grep '^Step time'
