/* SPDX-License-Identifier: MIT */
/*
 * workload.h — what a program taught about the machine: how much faster or slower it is under each
 * configuration, what it takes, and how it looks to the counters. So the next one of its kind
 * starts from there.
 *
 *     workloads ─┐                      ┌─ speed_prior() for each configuration
 *     query ─────┴► workload_match() ──►┴─ workload_prior() says how sure
 *
 * A match is a prior, not an order: the less certain it is, the wider it makes what is known, until
 * it says nothing. Pure: same calls, same answers. Every number in a workload is finite; what is
 * not known is NaN in the response and marked missing in the profile.
 */
#ifndef HONE_TUNE_WORKLOAD_H
#define HONE_TUNE_WORKLOAD_H

#include "base/err.h"
#include "base/str.h"

#define WORKLOAD_IDENTITY       64  /* hex digits of a SHA-256 */
#define WORKLOAD_NAME           200 /* bytes of a name, of a machine's kind, of a counter's name */
#define WORKLOAD_CONFIGURATIONS 200 /* the least known go first */
#define WORKLOAD_COUNTERS       200

struct workload_configuration {
    char *json;       /* canonical: {"cpus":2,"threads":1}, names in order */
    double ln_effect; /* ln seconds per unit of progress against one level for all of a workload */
    double deviation; /* of ln_effect */
    double windows;   /* that it rests on; old ones fade */
    double load;      /* cores that others took meanwhile */
};

/* What it takes; NaN: not known. */
struct workload_response {
    double seconds;      /* per unit of progress */
    double memory_bytes; /* at its peak */
    double cpus;         /* in use, on average */
};

struct workload_counter {
    char *name;
    double value;  /* in the counter's own unit; NaN if missing */
    double scaled; /* 0: none, 1: much; NaN if missing */
    bool missing;
    bool hardware; /* counted by the processor itself */
};

struct workload {
    char *identity;     /* hex SHA-256 of workload_identity_text() */
    char *name;         /* for people */
    char *machine;      /* its kind: "AMD EPYC 7B13, 2 cpus" */
    int64_t updated_us; /* wall */
    int64_t runs;       /* trials that taught it */
    int64_t cluster;    /* from 1; 0: none */
    VEC(struct workload_configuration) configurations;
    VEC(char *) failed; /* configurations under which it failed, canonical */
    struct workload_response response;
    VEC(struct workload_counter) profile;
};

/* Texts are copied. Nothing is known yet. */
void workload_init(struct workload *workload, const char *identity, const char *name,
                   const char *machine);
void workload_release(struct workload *workload);
void workload_copy(const struct workload *from, struct workload *ret);

/* ---- what is the same workload ---- */

/* Texts are borrowed. */
struct workload_program {
    const char *const *words; /* of the command, with {name} where parameters go */
    size_t n_words;
    const char *const *files; /* hashes of the program's files, or of the snapshot; any order */
    size_t n_files;
    const char *const *params; /* names of hyperparameters; any order */
    size_t n_params;
    const char *const *system; /* names of system parameters; any order */
    size_t n_system;
    const char *machine; /* its kind */
};
/* The text whose SHA-256 (sha256_hex() of store/object.h) is the identity: two programs have the
 * same text if and only if all of the above is the same. */
void workload_identity_text(const struct workload_program *program, struct str *to);

/* ---- learning ---- */

/* One more configuration as a JSON object of numbers, texts and truths; the same one again
 * replaces. False, and ignored, if it is no such object, or a number is NaN, infinite or absurd. */
bool workload_learn(struct workload *workload, const char *json, double ln_effect, double deviation,
                    double windows, double load);
/* The program failed or ran out of memory under this configuration; again: nothing. False, and
 * ignored, if it is no configuration, or there are WORKLOAD_CONFIGURATIONS of them. */
bool workload_fail(struct workload *workload, const char *json);
/* `json` must be canonical. */
bool workload_failed(const struct workload *workload, const char *json);
/* One more counter; NaN in either number: missing. The same name again replaces. */
void workload_count(struct workload *workload, const char *name, double value, double scaled,
                    bool hardware);
/* NULL if absent. `json` must be canonical. */
const struct workload_configuration *workload_find(const struct workload *workload,
                                                   const char *json);
/* The fastest and slowest known; NULL if none is known. */
/* Of those under which it did not fail, if there are such. */
const struct workload_configuration *workload_best(const struct workload *workload);
const struct workload_configuration *workload_worst(const struct workload *workload);

/* The same workload again: `from` becomes part of `into`. Effects are averaged by how sure they
 * are, on one level, and the older ones fade. Where the two have no configuration in common their
 * levels cannot be told apart, and the one that compares more is kept. The newer one's profile
 * and name are kept. What failed is remembered until the newer one has measured it. What says the
 * same as before changes nothing. */
void workload_merge(struct workload *into, const struct workload *from);

/* The configuration in canonical form (free it); -EINVAL with a sentence. */
int workload_canonical(const char *json, char **ret, struct err *err);

/* ---- as JSON: one object, without an id ---- */

void workload_encode(const struct workload *workload, struct str *to);
/* The sentence of -EINVAL names the member that is wrong. `ret` is released by the caller in any
 * case. */
int workload_decode(const char *json, size_t n, struct workload *ret, struct err *err);

/* ---- matching ---- */

enum match_kind {
    MATCH_NONE,
    MATCH_IDENTITY, /* the same program, parameters and kind of machine */
    MATCH_RESPONSE, /* as fast under the same configurations, with about its memory and cpus */
    MATCH_PROFILE,  /* looks like it to the counters */
};
const char *match_name(enum match_kind kind);

struct workload_match {
    enum match_kind kind;
    size_t index;     /* of the workload; SIZE_MAX: none */
    double distance;  /* 0: the same, 1: as far as two runs of one program may be */
    double certainty; /* 0..1 */
};
/* The best of the first kind that there is, in the order above. */
void workload_match(const struct workload *all, size_t n, const struct workload *query,
                    struct workload_match *ret);

/* The deviation with which configuration `i` of a match of this certainty is known. False if it has
 * nothing to say. */
bool workload_prior(const struct workload *workload, size_t i, double certainty,
                    double *ret_deviation);
/* The same for speed_prior() where others take `load` cores: what was is never quite what is. */
bool workload_prior_here(const struct workload *workload, size_t i, double certainty, double load,
                         double *ret_deviation);

#endif
