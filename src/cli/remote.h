/* SPDX-License-Identifier: MIT */
/*
 * remote.h — a server instead of a home: --server or HONE_SERVER. Requests are answered while the
 * caller waits; one handle is of one thread. libcurl is loaded when the first is made.
 */
#ifndef HONE_REMOTE_H
#define HONE_REMOTE_H

#include "cli/cmd.h"

struct remote;

/* The server of the call, with the token of --token-file, HONE_TOKEN or ~/.config/hone/token,
 * and the certificates to trust of --ca, HONE_CA, CURL_CA_BUNDLE or SSL_CERT_FILE. Nothing is asked
 * yet. */
int remote_open(const struct cmd_call *call, struct remote **ret, struct err *err);
void remote_free(struct remote *remote);
DEFINE_AUTOFREE(remote);
const char *remote_url(const struct remote *remote); /* for people */

/* Ask, and read a JSON answer (json_decref). `body` is JSON, NULL: none. The server's refusal is
 * the sentence: -ENOENT 404, -EINVAL 400, -EACCES 401, -EPERM 403, -EBUSY 409, -EAGAIN 503;
 * -ECONNREFUSED: it cannot be reached; -EPROTO: its certificate is not trusted. */
int remote_call(struct remote *remote, const char *method, const char *path, const char *body,
                json_t **ret, struct err *err);
/* Is there something at this path? 1, 0, or an error. */
int remote_has(struct remote *remote, const char *path, struct err *err);
/* What is there, as bytes; valid until the next request. */
int remote_read(struct remote *remote, const char *path, const struct str **ret, struct err *err);
/* The status of the last answer: 200, 201 … */
long remote_status(const struct remote *remote);
/* A number in a header of the last answer; `missing` if there is none. */
int64_t remote_header(const struct remote *remote, const char *name, int64_t missing);
/* Send the file as the body of a PUT. */
int remote_put(struct remote *remote, const char *path, const char *file, struct err *err);
/* A reply that goes on: lines without their ends, as they come, until `line` returns not 0 (then
 * 0), or the connection ends or is silent for a minute (an error). */
typedef int remote_line_fn(const char *line, size_t n, void *arg);
int remote_lines(struct remote *remote, const char *path, remote_line_fn *line, void *arg,
                 struct err *err);
/* From any thread, within a second: what is being asked fails, and all that is asked later. */
void remote_quit(struct remote *remote);
/* What `hone show REF --json` says there (json_decref). */
int remote_show(struct remote *remote, const char *ref, json_t **ret, struct err *err);

/* A folder of ours for what is sent or opened: ~/.cache/hone; free it. It need not be there. */
char *remote_cache(void);
/* Did the request fail in a way that may pass: the server is away, comes up or has too much to do?
 * Then wait, and say on standard error that it is awaited, the first time of `*tries`. False: it
 * is hopeless, or was tried for a minute. */
bool remote_again(const struct remote *remote, int r, struct err *err, int *tries);

/* ---- commands against a server ---- */

/* hone logs --follow. Returns the exit code. */
int remote_logs(struct cmd_call *call, struct remote *remote);
/* Do what the call asks, there. Returns the exit code. */
int remote_command(struct cmd_call *call);
/* Have the server run the command, and print what it says; `text` (may be NULL) is given it
 * instead of standard output. Returns the exit code of the command. */
int remote_run(const struct cmd_call *call, struct remote *remote, struct str *text);
/* An act on one of the experiments or trials (kind): POST /v1/KIND/REF/WHAT. 0, or an exit code
 * after having said what is wrong. */
int remote_act(const struct cmd_call *call, const char *kind, const char *ref, const char *what,
               const char *body);

#endif
