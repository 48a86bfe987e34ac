/* SPDX-License-Identifier: MIT */
/*
 * microhttpd.h — libmicrohttpd, opened when a server starts: with the TLS libraries that it brings
 * along it would double the start of every command that serves nothing.
 */
#ifndef HONE_NET_MICROHTTPD_H
#define HONE_NET_MICROHTTPD_H

#include "base/err.h"

#include <microhttpd.h>

#define MICROHTTPD(X)                                                                              \
    X(MHD_start_daemon)                                                                            \
    X(MHD_stop_daemon)                                                                             \
    X(MHD_suspend_connection)                                                                      \
    X(MHD_resume_connection)                                                                       \
    X(MHD_get_connection_values_n)                                                                 \
    X(MHD_lookup_connection_value)                                                                 \
    X(MHD_get_connection_info)                                                                     \
    X(MHD_create_response_from_buffer)                                                             \
    X(MHD_create_response_from_buffer_with_free_callback)                                          \
    X(MHD_create_response_from_callback)                                                           \
    X(MHD_create_response_from_fd_at_offset64)                                                     \
    X(MHD_add_response_header)                                                                     \
    X(MHD_queue_response)                                                                          \
    X(MHD_destroy_response)

#define MEMBER(name) __typeof__(&name) name;
struct microhttpd {
    MICROHTTPD(MEMBER)
};
#undef MEMBER

/* From any thread; it stays open until the program ends. NULL: it is not there, and `err` names the
 * package to install. */
const struct microhttpd *microhttpd_load(struct err *err);

#endif
