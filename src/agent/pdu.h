/* SPDX-License-Identifier: MIT */
/*
 * pdu.h — asks a power meter for its watts, over HTTP, on a libuv loop, again and again.
 */
#ifndef HONE_AGENT_PDU_H
#define HONE_AGENT_PDU_H

#include "base/err.h"

struct uv_loop_s;
struct pdu;

typedef void pdu_watts_fn(double watts, void *arg);

/* `url` is http://HOST[:PORT]/PATH, `path` leads to the number in its JSON as in
 * energy_pdu_watts(). Always succeeds: what is wrong is said once, as a warning, when it is asked,
 * and again after it has worked in between. Asks nothing before pdu_start(). */
struct pdu *pdu_new(struct uv_loop_s *loop, const char *url, const char *path,
                    pdu_watts_fn *on_watts, void *arg);
/* Closes its handles: let the loop turn once more. */
void pdu_free(struct pdu *pdu);
/* Ask now and then every `interval_us`, until pdu_stop(); no second question before the first is
 * answered or, after 10 s, given up. Does not keep the loop alive between questions. */
void pdu_start(struct pdu *pdu, int64_t interval_us);
void pdu_stop(struct pdu *pdu);

/* Ask once and wait, about 3 s at most. 0, -EINVAL for a wrong address, or -EIO with the reason why
 * it does not help. */
int pdu_probe(const char *url, const char *path, double *ret_watts, struct err *err);

#endif
