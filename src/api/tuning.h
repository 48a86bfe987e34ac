/* SPDX-License-Identifier: MIT */
/*
 * tuning.h — how the machine under a trial was tuned, read again from the events `tuned`,
 * `answered`, `changed` and `tune_note` and from the rows of its attempts: which configuration was
 * in force when, and what the changes cost. For export, show and the API.
 */
#ifndef HONE_TUNING_H
#define HONE_TUNING_H

#include "base/json.h"
#include "store/store.h"

/* Is it of tuning the machine? There may be many; `show` tells them apart from the others. */
bool tuning_is_event(const json_t *event);

/* The events of tuning of an experiment, by trial and then in their order. Kept as texts: there may
 * be many, and one trial is looked at after the other. */
struct tuning_event {
    int64_t trial, id, time_us;
    char *json;
};
struct tuning_log {
    VEC(struct tuning_event) events;
};
#define TUNING_LOG_INIT                                                                            \
    {                                                                                              \
        {                                                                                          \
            NULL, 0, 0                                                                             \
        }                                                                                          \
    }
/* `trial` 0: of all trials. Release in any case. */
int tuning_log_load(struct tuning_log *log, struct store *store, int64_t experiment, int64_t trial,
                    struct err *err);
void tuning_log_release(struct tuning_log *log);
/* Those of one trial: *ret_n of them from the returned one on. */
const struct tuning_event *tuning_log_find(const struct tuning_log *log, int64_t trial,
                                           size_t *ret_n);

/* The system parameters of a spec: of `system`, or under TUNE_JOINT the last of its space. */
size_t system_count(const struct spec *spec);
const char *system_name_at(const struct spec *spec, size_t i);

/* A configuration in force, until the next one. */
struct tuning_phase {
    int64_t since_us; /* wall; INT64_MIN: from the beginning */
    int64_t attempt;  /* in which it began; 0: the first */
    double step;      /* steps above it are its own; NaN: all of the attempt */
    int64_t generation;
    json_t **values; /* system_count() of them; NULL: not known; owned */
};
struct tuning_attempt {
    int64_t number, started_us, generation;
    char *system; /* JSON; NULL: none */
};
/* A clock that was set: between these times, the smaller first, nothing has a length. */
struct tuning_jump {
    int64_t attempt, from_us, to_us;
};
struct tuning_cost {
    int64_t n; /* changes whose cost was measured */
    double sum_s;
};
struct tuning {
    size_t n_values;
    VEC(struct tuning_phase) phases; /* at least one, oldest first; neighbours differ */
    VEC(struct tuning_attempt) attempts;
    VEC(struct tuning_jump) jumps;
    int64_t changes;                  /* of values */
    int64_t asked;                    /* and never made, or not yet; not among the changes */
    struct tuning_cost live, restart; /* seconds of progress lost */
};

/* What is known of one trial's. Release in any case. */
int tuning_load(struct tuning *tuning, struct store *store, const struct spec *spec,
                const struct trial_row *row, const struct tuning_log *log, struct err *err);
void tuning_release(struct tuning *tuning);
/* Was the clock set in this attempt, and if `to_us`, between these times? */
bool tuning_jumped(const struct tuning *tuning, int64_t attempt, int64_t from_us, int64_t to_us);
/* Which phase was it at this time (0: not known, then by the step) of this attempt? */
size_t tuning_phase_at(const struct tuning *tuning, int64_t attempt, int64_t time_us, int64_t step);
/* "threads=1 cpus=2"; what is not known is left out. */
void tuning_words(const struct tuning *tuning, const struct spec *spec, size_t phase,
                  struct str *to);
bool tuning_same_values(const struct tuning *tuning, size_t a, size_t b);
/* A value as it stands in a table: a text without quotes, "" if not known. */
void str_add_json_text(struct str *to, const json_t *value);
/* The value of a system parameter for people: memory as "400M", frequency as "1.2GHz". */
void str_add_setting(struct str *to, const char *name, const json_t *value);

/* An object with a member for each system parameter, null where it is not known; null without
 * `values`. */
void tuning_put_system(struct json_out *out, const struct spec *spec, const char *key,
                       json_t *const *values);

/* "3 changes, cost 1.2 s; 1 asked for and not made" */
void str_add_changes(struct str *to, int64_t changes, int64_t asked, double cost_s);
/* "12.4 kJ estimated", "1.27 J measured, its share by CPU time"; nothing where it is not known. */
void str_add_energy(struct str *to, double joules, bool measured);

#endif
