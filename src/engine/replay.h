/* SPDX-License-Identifier: MIT */
/*
 * replay.h — would the search suggest the same again? Asks it anew for every trial of an
 * experiment, with the results that each suggestion rested on.
 */
#ifndef HONE_REPLAY_H
#define HONE_REPLAY_H

#include "store/store.h"

struct replay_check {
    int64_t suggestions; /* trials that the search suggested */
    int64_t same;        /* of them, the first so many come again to the bit */
    int64_t other;       /* the first trial that does not; 0: all do */
    char *kernel;        /* of linear algebra, where it was run; NULL: none was used */
    const char *here;    /* the one of this machine; "": none was used */
};
/* -ENODATA with a sentence: nothing to ask again. Release *ret. */
int replay_check(struct store *store, int64_t experiment, struct replay_check *ret,
                 struct err *err);
void replay_check_release(struct replay_check *check);

#endif
