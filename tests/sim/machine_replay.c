/* SPDX-License-Identifier: MIT */
/*
 * machine_replay.c — read traces, and run jobs whose steps come from them.
 */
#include "tests/sim/machine_replay.h"

#include "base/json.h"
#include "base/rng.h"
#include "tune/decide.h"
#include "tune/window.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>

#define SEGMENT_S 1.0
#define KNOWN     0.03 /* deviation of an effect that a few windows told */
#define WINDOWS   8

/* ---- reading ---- */

/* The next field of a line, which may stand in quotes; cut out in place. NULL: there is none. */
static char *next_field(char **at)
{
    char *field = *at, *to = field, *from = field;
    bool quoted = *from == '"';

    if (!*from)
        return NULL;
    from += quoted;
    while (*from && (quoted || (*from != ',' && *from != '\n'))) {
        if (quoted && *from == '"' && *++from != '"')
            break;
        *to++ = *from++;
    }
    from += strcspn(from, ",\n");
    *at = *from ? from + 1 : from;
    *to = 0;
    return field;
}

/* "threads=2 cpus=1" or {"threads": 2, "cpus": 1}. Returns how many knobs, 0: none, or too many. */
static size_t parse_configuration(const char *text, char **ret_names, double *ret_values)
{
    size_t n = 0;

    while (*(text += strcspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"))) {
        size_t len = 0;
        char *end;
        while (isalnum((unsigned char)text[len]) || text[len] == '_' || text[len] == '-')
            len++;
        const char *value = text + len + strspn(text + len, "\"=: ");
        double number = strtod(value, &end);
        if (end == value || !isfinite(number) || n == TRACE_KNOBS)
            return 0;
        ret_names[n] = xstrndup(text, len);
        ret_values[n++] = number;
        text = end;
    }
    return n;
}

static struct set *find_set(struct traces *all, const char *scene, const char *workload)
{
    vec_foreach (set, &all->sets)
        if (str_eq(set->scene, scene) && str_eq(set->workload, workload))
            return set;
    vec_push(&all->sets, ((struct set){.scene = xstrdup(scene), .workload = xstrdup(workload)}));
    return vec_last(&all->sets);
}

static bool knobs_agree(const struct set *set, char *const *names, size_t n)
{
    bool same = set->knobs == n;

    for (size_t j = 0; j < n && same; j++)
        same = str_eq(set->names[j], names[j]);
    return same || set->knobs == 0;
}

static int find_configuration(struct set *set, const char *text, struct configuration **ret,
                              struct err *err)
{
    char *names[TRACE_KNOBS] = {NULL};
    double values[TRACE_KNOBS] = {0};
    size_t n = parse_configuration(text, names, values);
    bool agree = knobs_agree(set, names, n);

    for (size_t j = 0; j < TRACE_KNOBS; j++) {
        if (set->knobs == 0 && j < n)
            set->names[j] = TAKE(names[j]);
        free(names[j]);
    }
    if (n == 0)
        return err_set(err, EINVAL, "'%s' is no configuration", text);
    if (!agree)
        return err_set(err, EINVAL, "'%s': other parameters than before", text);
    set->knobs = n;
    *ret = NULL;
    vec_foreach (c, &set->configurations)
        if (memcmp(c->values, values, sizeof(values)) == 0)
            *ret = c;
    if (!*ret) {
        vec_push(&set->configurations, (struct configuration){0});
        *ret = vec_last(&set->configurations);
        memcpy((*ret)->values, values, sizeof(values));
    }
    return 0;
}

static void add_row(struct configuration *c, long run, double step, double seconds)
{
    bool first = c->traces.len == 0 || vec_last(&c->traces)->run != run;

    if (first)
        vec_push(&c->traces, (struct trace){.run = run});
    double steps = first ? 0 : step - c->last_step;
    c->last_step = step;
    if (!(steps > 0) || !(seconds > 0) || !isfinite(seconds) || !isfinite(steps))
        return; /* where a run begins, or no progress */
    vec_push(&vec_last(&c->traces)->chunks, ((struct chunk){steps, seconds}));
    c->steps += steps;
    c->seconds += seconds;
}

static int add_line(struct traces *all, char *line, struct err *err)
{
    char *fields[6];
    struct configuration *c;

    for (size_t k = 0; k < ARRAY_LEN(fields); k++)
        if (!(fields[k] = next_field(&line)))
            return err_set(err, EINVAL, "a row has 6 fields");
    struct set *set = find_set(all, fields[0], fields[1]);
    int r = find_configuration(set, fields[2], &c, err);
    if (r < 0)
        return r;
    add_row(c, strtol(fields[3], NULL, 10), strtod(fields[4], NULL), strtod(fields[5], NULL));
    return 0;
}

/* Every configuration has made progress, and no knob has too many values. */
static int check_sets(struct traces *all, struct err *err)
{
    vec_foreach (set, &all->sets) {
        if (set->configurations.len > TRACE_VALUES)
            return err_set(err, EINVAL, "%s: more than %d configurations", set->workload,
                           TRACE_VALUES);
        vec_foreach (c, &set->configurations) {
            vec_foreach (trace, &c->traces)
                if (trace->chunks.len == 0)
                    return err_set(err, EINVAL, "%s %s: run %ld has no steps", set->scene,
                                   set->workload, trace->run);
        }
    }
    return 0;
}

int traces_load(struct traces *traces, const char *path, struct err *err)
{
    char line[1024];
    FILE *file = fopen(path, "re");
    size_t number = 0;
    int r = 0;

    if (!file)
        return err_errno(err, errno, "%s", path);
    while (r == 0 && fgets(line, sizeof(line), file)) {
        number++;
        if (line[0] != '#' && !str_starts(line, "scene,"))
            r = add_line(traces, line, err);
    }
    fclose(file);
    if (r < 0)
        return err_context(err, "%s:%zu", path, number);
    r = check_sets(traces, err);
    return r < 0 ? err_context(err, "%s", path) : 0;
}

static void set_release(struct set *set)
{
    vec_foreach (c, &set->configurations) {
        vec_foreach (trace, &c->traces)
            vec_release(&trace->chunks);
        vec_release(&c->traces);
    }
    vec_release(&set->configurations);
    for (size_t j = 0; j < TRACE_KNOBS; j++)
        free(set->names[j]);
    free(set->scene);
    free(set->workload);
}

void traces_release(struct traces *traces)
{
    vec_foreach (set, &traces->sets)
        set_release(set);
    vec_release(&traces->sets);
}

/* ---- one job ---- */

/* A program whose steps come from traces. */
struct player {
    const struct set *set;
    struct rng rng;
    const struct trace *trace;
    size_t at;
    double segment_s; /* left of it */
};

struct replay {
    struct player player;
    struct window window;
    struct speed *speed;
    struct decide *decide;
    size_t c; /* in force */
    double now_s, cost_s;
    const struct replay_knowledge *known; /* NULL: nothing */
    bool taken;
    size_t looked; /* configurations measured when it was looked whether it answers alike */
};

static struct chunk play(struct player *p, size_t c)
{
    const struct configuration *configuration = &p->set->configurations.at[c];

    if (p->segment_s <= 0 || p->at >= p->trace->chunks.len) {
        p->trace = &configuration->traces.at[rng_below(&p->rng, configuration->traces.len)];
        p->at = rng_below(&p->rng, p->trace->chunks.len);
        p->segment_s = SEGMENT_S;
    }
    struct chunk chunk = p->trace->chunks.at[p->at++];
    p->segment_s -= chunk.seconds;
    return chunk;
}

double set_mean(const struct set *set, size_t c)
{
    return set->configurations.at[c].seconds / set->configurations.at[c].steps;
}

static size_t index_of(const struct set *set, const double *values)
{
    for (size_t c = 0; c < set->configurations.len; c++)
        if (memcmp(set->configurations.at[c].values, values, set->knobs * sizeof(*values)) == 0)
            return c;
    abort(); /* decide.c chooses from those it was given */
}

/* What the tuner may choose from: the recorded configurations (n, knobs), and their knobs. */
struct choices {
    struct knob knobs[TRACE_KNOBS];
    double values[TRACE_KNOBS][TRACE_VALUES];
    double *rows;
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void choices_init(struct choices *choices, const struct set *set)
{
    *choices =
        (struct choices){.rows = xcalloc(set->configurations.len * set->knobs + 1, sizeof(double))};
    for (size_t j = 0; j < set->knobs; j++) {
        double *values = choices->values[j];
        size_t n = 0;
        for (size_t c = 0; c < set->configurations.len; c++) {
            double value = set->configurations.at[c].values[j];
            size_t k = 0;
            choices->rows[c * set->knobs + j] = value;
            while (k < n && values[k] != value)
                k++;
            assert(k < TRACE_VALUES); /* there are no more configurations */
            values[k] = value;
            n = MAX(n, k + 1);
        }
        qsort(values, n, sizeof(*values), by_value);
        choices->knobs[j] = (struct knob){.name = set->names[j],
                                          .min = values[0],
                                          .max = values[n - 1],
                                          .values = values,
                                          .n = n};
    }
}

/* Put what was decided in place. */
static void change_to(struct replay *r, const struct decision *decision, double change_s)
{
    r->c = index_of(r->player.set, decision->to);
    r->now_s += change_s;
    r->cost_s += change_s;
    r->player.segment_s = 0;
    speed_tell_change(r->speed, decision->kind, change_s);
    window_change(&r->window, r->now_s);
}

/* ---- knowledge ---- */

static double load_of(const struct set *set)
{
    return str_eq(set->scene, "alone") ? 0 : 1;
}

static char *configuration_json(const struct set *set, size_t c)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    char *canonical = NULL;

    json_begin_object(&out);
    for (size_t j = 0; j < set->knobs; j++)
        json_put_double(&out, set->names[j], set->configurations.at[c].values[j]);
    json_end_object(&out);
    if (workload_canonical(text.s, &canonical, NULL) < 0)
        abort(); /* names and numbers */
    return canonical;
}

static void name_workload(const struct set *set, struct workload *ret)
{
    char identity[WORKLOAD_IDENTITY + 1];
    autofree(mem) char *text = xasprintf("%s %s", set->scene, set->workload);
    uint64_t hash = hash_bytes(text, strlen(text), 0);

    for (size_t i = 0; i < WORKLOAD_IDENTITY; i += 16)
        snprintf(identity + i, 17, "%016llx", (unsigned long long)hash);
    workload_init(ret, identity, set->workload, "the same");
}

void set_workload(const struct set *set, struct workload *ret)
{
    name_workload(set, ret);
    for (size_t c = 0; c < set->configurations.len; c++) {
        autofree(mem) char *json = configuration_json(set, c);
        workload_learn(ret, json, log(set_mean(set, c)), KNOWN, WINDOWS, load_of(set));
    }
}

static void take_prior(struct replay *r, double certainty)
{
    const struct set *set = r->player.set;
    const struct workload *from = r->known->from;
    double deviation;

    r->taken = true;
    for (size_t c = 0; c < set->configurations.len; c++) {
        autofree(mem) char *json = configuration_json(set, c);
        const struct workload_configuration *known = workload_find(from, json);
        size_t i = known ? (size_t)(known - from->configurations.at) : SIZE_MAX;
        if (known && workload_prior_here(from, i, certainty, load_of(set), &deviation))
            speed_prior(r->speed, set->configurations.at[c].values, known->ln_effect, deviation);
    }
}

/* Two configurations are measured, or one more: does what is known answer alike? */
static void look_for_alike(struct replay *r)
{
    const struct set *set = r->player.set;
    const double *first = set->configurations.at[0].values;
    struct workload mine;
    struct workload_match match;

    name_workload(set, &mine);
    for (size_t c = 0; c < set->configurations.len; c++) {
        const double *values = set->configurations.at[c].values;
        size_t windows = speed_windows(r->speed, 1, values, 0);
        struct belief_ln effect = speed_compare(r->speed, 1, values, first, 0);
        autofree(mem) char *json = configuration_json(set, c);
        if (windows)
            workload_learn(&mine, json, effect.mean, fmax(effect.deviation, 0.01), (double)windows,
                           load_of(set));
    }
    if (mine.configurations.len >= 2 && mine.configurations.len != r->looked) {
        r->looked = mine.configurations.len;
        workload_match(r->known->from, 1, &mine, &match);
        if (match.kind != MATCH_NONE)
            take_prior(r, match.certainty);
    }
    workload_release(&mine);
}

/* A window ended. */
static void decide_next(struct replay *r, double left, double change_s)
{
    struct window_result result = window_take(&r->window);
    struct decide_input input = {.now_s = r->now_s,
                                 .remaining_s = left * exp(result.ln_seconds),
                                 .remaining_at_s = r->now_s,
                                 .ln_seconds = result.ln_seconds,
                                 .variance = result.error * result.error,
                                 .cut = result.cut};
    struct decision decision;

    decide_on_window(r->decide, &input, &decision);
    if (r->known && !r->taken)
        look_for_alike(r);
    if (decision.kind != CHANGE_NONE)
        change_to(r, &decision, change_s);
}

double replay_job(const struct set *set, size_t configuration, double steps, double change_s,
                  uint64_t seed)
{
    return replay_job_known(set, configuration, steps, change_s, seed, NULL);
}

double replay_job_known(const struct set *set, size_t configuration, double steps, double change_s,
                        uint64_t seed, const struct replay_knowledge *known)
{
    struct choices choices;
    struct replay r = {.player = {.set = set}, .c = configuration, .known = known};

    choices_init(&choices, set);
    r.speed = speed_new(choices.knobs, set->knobs);
    r.decide = decide_new(r.speed, choices.rows, set->configurations.len, NULL);
    if (known && known->certainty > 0)
        take_prior(&r, known->certainty);
    rng_init(&r.player.rng, seed, 1);
    decide_begin(r.decide, 1, &choices.rows[configuration * set->knobs]);
    window_init(&r.window, NULL);
    window_change(&r.window, 0);
    for (double done = 0; done < steps;) {
        struct chunk chunk = play(&r.player, r.c);
        r.now_s += chunk.seconds;
        r.cost_s += fmin(chunk.steps, steps - done) * set_mean(set, r.c);
        done += chunk.steps;
        window_bar(&r.window, decide_bar(r.decide, 0));
        if (window_sample(&r.window, r.now_s, done) && done < steps)
            decide_next(&r, steps - done, change_s);
    }
    decide_free(r.decide);
    speed_free(r.speed);
    free(choices.rows);
    return r.cost_s;
}
