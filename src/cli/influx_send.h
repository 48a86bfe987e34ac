/* SPDX-License-Identifier: MIT */
/*
 * influx_send.h — batches of lines to the write API of an InfluxDB, 1.x and 2.x, over one
 * connection that is kept. libcurl is loaded when the first link is made.
 */
#ifndef HONE_INFLUX_SEND_H
#define HONE_INFLUX_SEND_H

#include "base/err.h"
#include "base/str.h"

struct influx_target {  /* borrowed */
    const char *url;    /* http://host:8086, may hold user:password@ */
    const char *db;     /* 1.x; NULL: 2.x */
    const char *org;    /* 2.x */
    const char *bucket; /* 2.x */
    const char *user;   /* name:password; NULL: that of the URL */
    const char *token;  /* NULL: none */
};
struct influx_address {
    char *url;    /* of the write API */
    char *shown;  /* for people and files: without user and password */
    char *user;   /* NULL: none */
    char *header; /* "Authorization: …"; NULL: none */
};
void influx_address_release(struct influx_address *address);
/* -EINVAL with a sentence if the URL is none. `ret` is released by the caller in any case. */
int influx_address_make(const struct influx_target *target, struct influx_address *ret,
                        struct err *err);

enum influx_verdict {
    INFLUX_TAKEN,
    INFLUX_PARTLY,  /* some lines were refused, for ever; the others are stored */
    INFLUX_LATER,   /* nothing is known to be stored: send it again */
    INFLUX_REFUSED, /* and sending it again will not help */
};
/* What a status and what the server says mean. */
enum influx_verdict influx_verdict(long status, const char *sentence);
/* The sentence in a reply: the error of its JSON, else its first line; cut and printable. */
void influx_sentence(long status, const char *body, size_t n, struct str *ret);

struct influx_link;
/* `address` is borrowed and must outlive it. -ENOTSUP: there is no libcurl. */
int influx_link_new(const struct influx_address *address, struct influx_link **ret,
                    struct err *err);
void influx_link_free(struct influx_link *link);
DEFINE_AUTOFREE(influx_link);
/* Post the lines, compressed, and wait for the answer. Anything but TAKEN: the sentence says why.
 */
enum influx_verdict influx_link_post(struct influx_link *link, const char *lines, size_t n,
                                     struct str *ret_sentence);

#endif
