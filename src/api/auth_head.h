/* SPDX-License-Identifier: MIT */
/*
 * auth_head.h — the head of a request: who sends it, and may they?
 */
#ifndef HONE_AUTH_HEAD_H
#define HONE_AUTH_HEAD_H

#include "api/auth.h"

/* On the http thread, with its own handle. 0, and a struct auth_caller is attached to the request;
 * or < 0 with the status and a sentence to answer. */
int auth_head(struct auth *auth, struct store *store, struct http_request *request, struct now now,
              unsigned *ret_status, struct err *err);
/* The other end of its connection; ours, too, where stock clients ask. */
void auth_ends_of(const struct http_request *request, struct auth_ends *ret);

#endif
