#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# MICRO 2024, Chakra demo 4: PyTorch's traces into Chakra's, with Chakra's own programs by their names and options
# (merge.sh, convert.sh), then with ours. The recording is ours: a small CNN on two ranks.
set -eu
. "$(dirname "$0")/lib/machine.sh"

for rank in 0 1; do
    gunzip -c "$recording/host_$rank.json.gz" > "host_$rank.json"
    gunzip -c "$recording/device_$rank.json.gz" > "device_$rank.json"
done

echo "As in the tutorial: chakra_trace_link, chakra_converter"
for rank in 0 1; do
    orrery chakra_trace_link --rank $rank --chakra-host-trace host_$rank.json \
        --chakra-device-trace device_$rank.json --output-file merged_$rank.json > link.txt 2>&1
    orrery chakra_converter PyTorch --input merged_$rank.json --output theirs.$rank.et > convert.txt 2>&1
done
orrery trace stat theirs.0.et | head -n 6

echo
echo "Both ranks at once, sizes known, order kept"
mkdir recording && mv host_?.json device_?.json recording
orrery trace import recording -o ours

echo
echo "Fit to simulate?"
orrery trace check ours.0.et ours.1.et
orrery trace timeline ours.0.et -o when.json
