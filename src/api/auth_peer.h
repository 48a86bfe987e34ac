/* SPDX-License-Identifier: MIT */
/*
 * auth_peer.h — whose program is at the other end of a connection on this machine: the kernel knows
 * (sock_diag).
 */
#ifndef HONE_AUTH_PEER_H
#define HONE_AUTH_PEER_H

#include "base/err.h"

#include <sys/socket.h>

/* Both ends of a connection as our side sees them. */
struct auth_ends {
    struct sockaddr_storage peer, local;
    int64_t *known; /* kept with the connection: its user + 1, 0: not asked yet; NULL: not kept */
};

/* Both are loopback addresses (127.0.0.0/8, ::1, and the former written as IPv6). */
bool ends_local(const struct auth_ends *ends);
/* The user whose process holds the other end. *fd is the question's socket, opened when it is < 0
 * and kept; it is closed after a failure. Any doubt is an error: the connection is not established,
 * nobody holds it, the kernel does not say. */
int ends_user(const struct auth_ends *ends, int *fd, uid_t *ret, struct err *err);

#endif
