/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every command whose help has examples, in an order in which each finds the files that those before it made. The usage
 * test holds it against what `orrery help` lists, so that none can be forgotten.
 */
#ifndef ORR_TESTS_CLI_COMMANDS_H
#define ORR_TESTS_CLI_COMMANDS_H

#define COMMANDS_WITH_EXAMPLES                                                                                         \
    "gen collective", "gen three-node", "gen ddp", "run", "trace recipe", "trace ready", "trace import", "trace link", \
        "trace convert", "trace show", "trace stat", "trace check", "trace simplify", "trace scale", "trace rewrite",  \
        "trace cut", "trace merge", "trace pack", "trace unpack", "trace compose", "trace diff", "trace export",       \
        "trace view", "trace timeline", "trace", "trace fix", "coll show", "coll time", "coll compare", "coll fit",    \
        "coll experts", "coll", "completion", "machine list", "machine show", "machine", "topo", "topo make",          \
        "topo list", "topo check", "topo stat", "topo show", "gen", "gen aicb", "gen aicb training",                   \
        "gen aicb inference", "gen aicb vidur", "gen aicb physical", "gen stg", "simai analytical", "simai simulate",  \
        "simai", "calc batch", "calc groups", "calc pp-comm", "calc", "lab run", "calib fit", "calib show",            \
        "calib apply", "calib", "lab list", "lab show", "lab diff", "lab rerun", "lab export", "lab import", "lab",    \
        "doctor", "cost", "sweep"

#endif
