/* SPDX-License-Identifier: MIT */
/*
 * ingest.h — what other programs send: lines over HTTP and as datagrams, queries of what was sent,
 * and the counts of what came and what was dropped. On the loop's thread but for datagrams.
 */
#ifndef HONE_INGEST_H
#define HONE_INGEST_H

#include "engine/observe.h"
#include "engine/runtime.h"

struct ingest;

/* udp_port -1: no datagrams; 0: any free one. `runtime` is borrowed. */
int ingest_new(uv_loop_t *loop, struct runtime *runtime, const char *address, int udp_port,
               struct ingest **ret, struct err *err);
/* Something may have come. */
void ingest_turn(struct ingest *ingest);
/* Take no more datagrams. What came is stored, and what waits for a commit gets it, unless the disk
 * is full. */
void ingest_drain(struct ingest *ingest);
void ingest_free(struct ingest *ingest);
int ingest_udp_port(const struct ingest *ingest); /* -1: none */
struct observe *ingest_observe(const struct ingest *ingest);
void ingest_json(const struct ingest *ingest, struct str *to);
uint64_t ingest_lost(const struct ingest *ingest);

#endif
