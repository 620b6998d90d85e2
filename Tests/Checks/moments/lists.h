/* Live lists of a context, whose change sets are replayed. */
#ifndef QUIRE_MOMENTS_LISTS_H_
#define QUIRE_MOMENTS_LISTS_H_

#include "side.h"

followed *follow_list(side *side, int query);
void leave_list(followed *followed);

/* Replays what was reported since the last time, and compares the list with the view of its context in each form. */
void check_list(side *side, followed *followed);

#endif
