/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fast-forward: once the whole network is back in a state it was in before, whatever happened in between will happen
 * again, as long as no message ends or starts and nothing else is due. So instead of sending those packets again, time
 * is set as many whole periods further as that holds, and all that merely counts is advanced by as much. Everything
 * after that continues as if each packet had been sent: the results are the same to the last bit.
 *
 * The engine calls in after every event of one port, the anchor, and after so many events; all the rest is here.
 * forward_state.h says what a state is; this decides when one is worth taking and when to jump. The cost is kept to a
 * few hundredths of the engine's own, whether there is a period or not.
 */
#ifndef ORR_NET_PACKET_FORWARD_H
#define ORR_NET_PACKET_FORWARD_H

#include "net/packet/engine.h"

enum { FORWARD_NOWHERE = UINT32_MAX }; /* no anchor */

/* Off where the configuration says so, where chance has a part in every packet, and where memory is refused. */
void packet_forward_open(struct packet_net *network);
void packet_forward_close(struct packet_net *network);

/* So many events have been handled: is there something to be gained, and where? */
void packet_forward_look(struct packet_net *network);
/* An event of the anchor is over. */
void packet_forward_step(struct packet_net *network);

#endif
