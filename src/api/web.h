/* SPDX-License-Identifier: MIT */
/*
 * web.h — the engine over HTTP and UDP: one table of routes. Requests come by queue to the loop's
 * thread and are answered when what they caused is safe.
 */
#ifndef HONE_WEB_H
#define HONE_WEB_H

#include "engine/runtime.h"

struct web;
struct web_command;

#define WEB_PORT 7470 /* unless another is asked for */

struct web_options {
    const char *address; /* of this machine alone, but for TLS or a proxy */
    int port;            /* taken: any free one */
    int udp_port;        /* -1: no datagrams; 0: any free one */
    /* v1_commands.h: what it runs for its users; ends with a NULL name; NULL: nothing. */
    const struct web_command *commands;
    bool trust_local;               /* as root, too, spare own stock clients the token: auth.h */
    const char *tls_cert, *tls_key; /* PEM texts, both or none */
    const char *name;               /* by which others know it; NULL: none */
    bool behind_proxy;              /* of that name, which speaks TLS */
};
/* `runtime` is borrowed. HOME/address holds the address while it is open. */
int web_open(uv_loop_t *loop, struct runtime *runtime, const struct web_options *options,
             struct web **ret, struct err *err);
/* Take no more. What came is stored, and what waits for a commit gets it, unless the disk is full.
 * Then the counts are the last ones. */
void web_drain(struct web *web);
/* Call it right before the runtime is closed. What was not drained is. */
void web_close(struct web *web);
const char *web_address(const struct web *web); /* "127.0.0.1:7470" */
/* An address that opens the pages, once, for who is told it; free it. */
char *web_link(struct web *web);
int web_udp_port(const struct web *web); /* -1: none */
/* What came and what was dropped, as JSON: GET /v1/ingest. */
void web_ingest(const struct web *web, struct str *to);
/* Datagrams and lines that were lost or refused. */
uint64_t web_lost(const struct web *web);

#endif
