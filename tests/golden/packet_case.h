/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What golden cases of the packet network have beyond case_file.h, and the files it is turned back into: config.txt,
 * topology.txt and logical.json (from the sizes of the `network` line, whose other words do not count). The lines:
 *
 *   config KEY=VALUE …          config.txt; the case's value wins over the default's
 *   marks GBPS:KMIN:KMAX:PMAX … the marking of links of this rate, kilobytes and probability; wins likewise
 *   nodes COUNT [RANKS]         the machine's nodes, and which of them are switches
 *   links RATE DELAY LOSS LINK… LINK is A-B, or A-B+DA,DB*N for N links, each DA and DB further on
 *   packet OUTCOME              what ASTRA-sim did; the hash is that of fct.txt. INCOMPLETE has the reason `job` (it
 *                               hangs, and the job itself cannot go on) or `loss` (a timeout would have helped)
 *   flows N                     lines of fct.txt
 *   pauses N HASH               lines of pfc.txt and their XXH64; none without this line, and unknown where it hung
 *   lossy                       packets are dropped: with a timeout it ends too, and may end at another time
 *   sorted                      both hashes are those of the lines put in order
 */
#ifndef ORR_TESTS_GOLDEN_PACKET_CASE_H
#define ORR_TESTS_GOLDEN_PACKET_CASE_H

#include "tests/golden/case_file.h"

/* All of the case's input files into the existing folder `folder`. */
ORR_MUST_CHECK enum orr_status packet_case_write(const struct case_file *file, const struct golden_case *one,
                                                 const char *folder, struct orr_error *err);

struct packet_expectation {
    uint64_t flows, pauses;
    uint64_t pauses_hash;
    bool has_pauses;
    bool sorted;
};

ORR_MUST_CHECK enum orr_status packet_case_expects(const struct case_file *file, const struct golden_case *one,
                                                   struct packet_expectation *expected, struct orr_error *err);

#endif
