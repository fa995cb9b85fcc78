/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orrery's public interface: simulate a training job on a machine that exists as configuration files, and read what
 * came out. Everything the `orrery` program does goes through the functions declared here.
 *
 * Objects are opaque; whoever gets one from an `_open` call gives it back with the matching `_close`. No function
 * keeps a pointer it was passed unless its comment says so, nothing is global, and separate objects may be used from
 * separate threads at once.
 *
 * A function that can fail returns `enum orr_status`; on failure it fills `struct orr_error` once, with a sentence
 * that names the file, the place, what was found and what would have been accepted. Outputs are written on success
 * only.
 */
#ifndef ORRERY_H
#define ORRERY_H

#include "orrery/advise.h"
#include "orrery/base.h"
#include "orrery/calib.h"
#include "orrery/cluster.h"
#include "orrery/colltime.h"
#include "orrery/doctor.h"
#include "orrery/faults.h"
#include "orrery/gen.h"
#include "orrery/lab.h"
#include "orrery/machine.h"
#include "orrery/op.h"
#include "orrery/plan.h"
#include "orrery/report.h"
#include "orrery/run.h"
#include "orrery/serve.h"
#include "orrery/simai.h"
#include "orrery/sweep.h"
#include "orrery/tools.h"
#include "orrery/trace.h"
#include "orrery/train.h"
#include "orrery/watch.h"

#endif
