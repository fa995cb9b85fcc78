/* placeholder until the diagnosis is written */
#include "sim/engine.h"

const char *sim_stall_kind_name(enum sim_stall_kind kind)
{
    static const char *const names[] = {
#define SIM_STALL_X(name, text) text,
        SIM_STALL_KINDS(SIM_STALL_X)
#undef SIM_STALL_X
    };
    return names[kind];
}

void sim_stall_diagnose(struct sim *sim)
{
    sim->result.stall.kind = SIM_STALL_WAITS;
}
