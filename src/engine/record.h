/* SPDX-License-Identifier: MIT */
/*
 * record.h — what attempts tell goes into the store of series before anything that rests on it is
 * committed. The runtime's: the engine itself touches no file.
 */
#ifndef HONE_RECORD_H
#define HONE_RECORD_H

#include "agent/agent.h"
#include "series/db.h"

struct record;

int record_open(const char *home, struct record **ret, struct err *err);
void record_free(struct record *record);
DEFINE_AUTOFREE(record);
struct series_db *record_db(struct record *record);

/* The samples of an EVENT_SAMPLES of this attempt. What was stored before is passed over. */
void record_samples(struct record *record, const struct attempt *attempt,
                    const struct agent_event *event);
/* Those of an EVENT_FIGURES, of the machine if `attempt` is NULL. */
void record_figures(struct record *record, const struct attempt *attempt,
                    const struct agent_event *event);
/* From here on the death of this process loses none of them. -ENOSPC: they are kept in memory; call
 * again, and let nothing be committed before it works. */
int record_flush(struct record *record, struct err *err);
/* Is there something that a power cut could still lose? */
bool record_unsynced(const struct record *record);
/* Make that safe, beside other work: call it again until nothing is unsynced. */
int record_sync(struct record *record, struct err *err);

#endif
