/* SPDX-License-Identifier: MIT */
/*
 * launch.c — what the keeper of an attempt is told: command line, environment, folders, limits.
 *
 * RANK, WORLD_SIZE and TF_CONFIG are set for trials of several processes only: many training
 * scripts take their mere presence for a distributed run.
 */
#include "base/fs.h"
#include "engine/internal.h"
#include "exec/lever.h"
#include "spec/parse.h"

#include <math.h>
#include <sys/stat.h>

struct environment {
    VEC(char *) list; /* owned texts; NULL-terminated when done */
};

static size_t key_length(const char *pair)
{
    return strcspn(pair, "=");
}

static char **env_find(struct environment *env, const char *key, size_t n)
{
    vec_foreach (pair, &env->list)
        if (key_length(*pair) == n && memcmp(*pair, key, n) == 0)
            return pair;
    return NULL;
}

/* Set a pair; it takes `pair`. */
static void env_put(struct environment *env, char *pair)
{
    char **old = env_find(env, pair, key_length(pair));
    if (!old) {
        vec_push(&env->list, pair);
        return;
    }
    free(*old);
    *old = pair;
}

static void env_set(struct environment *env, const char *key, const char *value)
{
    env_put(env, xasprintf("%s=%s", key, value));
}

static void env_set_int(struct environment *env, const char *key, int64_t value)
{
    env_put(env, xasprintf("%s=%lld", key, (long long)value));
}

static void env_default(struct environment *env, const char *key, const char *value)
{
    if (!env_find(env, key, strlen(key)))
        env_set(env, key, value);
}

/* Everything inherited but what an outer Hone set for an outer trial. */
static void env_inherit(struct environment *env, char *const *envp)
{
    static const char *const ours[] = {
        "HONE_PARAM",   "HONE_METRICS=", "HONE_CONTROL=",    "HONE_CHECKPOINT",
        "HONE_ATTEMPT", "HONE_TRIAL=",   "HONE_EXPERIMENT=", "HONE_SYSTEM="};
    for (; envp && *envp; envp++) {
        bool outer = false;
        for (size_t i = 0; i < ARRAY_LEN(ours); i++)
            outer = outer || str_starts(*envp, ours[i]);
        if (!outer)
            vec_push(&env->list, xstrdup(*envp));
    }
}

static void env_identity(struct environment *env, const struct live *live, const char *attempt_id)
{
    const struct attempt *attempt = &live->attempt;
    env_set_int(env, "HONE_EXPERIMENT", attempt->experiment);
    env_put(env, xasprintf("HONE_TRIAL=%lld.%lld", (long long)attempt->experiment,
                           (long long)attempt->trial));
    env_set_int(env, "HONE_ATTEMPT", attempt->number);
    env_set(env, "HONE_ATTEMPT_ID", attempt_id);
    env_set(env, "HONE_ROLE", "worker");
    env_set(env, "HONE_RANK", "0");
    env_set(env, "HONE_WORLD_SIZE", "1");
}

static void env_files(struct environment *env, const char *dir, const char *checkpoints,
                      const char *checkpoint)
{
    env_put(env, xasprintf("HONE_PARAMS=%s/params.json", dir));
    env_put(env, xasprintf("HONE_METRICS=%s/metrics", dir));
    env_put(env, xasprintf("HONE_CONTROL=%s/state", dir));
    env_set(env, "HONE_CHECKPOINT_DIR", checkpoints);
    if (checkpoint)
        env_set(env, "HONE_CHECKPOINT", checkpoint);
}

/* Threads that wait without spinning, as many as there are cpus for them; the user's own win, but
 * not against a count that is tuned. */
static void env_threads(struct environment *env, const struct live *live)
{
    static const char *const counts[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                         "MKL_NUM_THREADS"};
    const struct run *run = live->run;
    double threads = NAN, interop = NAN;

    if (live->tuned) {
        threads = tuning_value(run, live->tuned->now, SYSTEM_THREADS);
        interop = tuning_value(run, live->tuned->now, SYSTEM_INTEROP);
    }
    if (!isnan(threads))
        for (size_t i = 0; i < ARRAY_LEN(counts); i++)
            env_set_int(env, counts[i], (int64_t)threads);
    if (!isnan(interop))
        env_set_int(env, "TF_NUM_INTEROP_THREADS", (int64_t)interop);
    if (run->spec.tune == TUNE_OFF_RAW)
        return;
    vec_push(&env->list, NULL);
    autofree(mem) char **more = lever_environment(env->list.at, (size_t)MAX(1, run->spec.cpus));
    env->list.len--;
    for (char **pair = more; *pair; pair++)
        env_put(env, xstrdup(*pair));
}

/* Settings that most programs need to behave well beside each other; the user's own win. */
static void env_manners(struct environment *env, const struct live *live)
{
    const struct engine *engine = live->run->engine;

    env_default(env, "PYTHONUNBUFFERED", "1");
    env_threads(env, live);
    if (live->attempt.system)
        env_set(env, "HONE_SYSTEM", live->attempt.system);
    if (live->attempt.gpus)
        env_set(env, "CUDA_VISIBLE_DEVICES", live->attempt.gpus);
    if (engine->python_path) {
        char **old = env_find(env, "PYTHONPATH", strlen("PYTHONPATH"));
        const char *before = old ? *old + strlen("PYTHONPATH=") : "";
        env_put(env,
                xasprintf("PYTHONPATH=%s%s%s", before, *before ? ":" : "", engine->python_path));
    }
}

static void env_make(struct environment *env, const struct live *live,
                     const struct command_line *line)
{
    const struct run *run = live->run;
    env_inherit(env, run->envp ? run->envp : run->engine->options.envp);
    env_manners(env, live);
    vec_foreach (pair, &run->spec.env)
        env_set(env, pair->key, pair->value);
    vec_foreach (pair, &line->env)
        env_put(env, xstrdup(*pair));
}

/* workdir: trial — the program runs elsewhere, so files that the command names relative to the
 * spec's folder are named in full. */
static void anchor_words(const struct spec *spec, struct command_line *line)
{
    vec_foreach (word, &line->argv) {
        if ((*word)[0] == '/' || (*word)[0] == '-' || (*word)[0] == '\0')
            continue;
        char *full = xasprintf("%s/%s", spec->dir, *word);
        if (!fs_exists(full) || (word == line->argv.at && !strchr(*word, '/'))) {
            free(full);
            continue;
        }
        free(*word);
        *word = full;
    }
}

/* Of one that an earlier engine started, the step it began from is not known: then the time tells,
 * give or take a second. */
bool launch_new_checkpoint(const struct live *live)
{
    int64_t step = -1;
    struct stat st;
    autofree(mem) char *dir =
        checkpoint_dir(live->run->engine->home, live->attempt.experiment, live->attempt.trial);
    autofree(mem) char *newest = checkpoint_newest(dir, &step);

    if (!newest || !live->adopted)
        return newest && step > live->start_step;
    return stat(newest, &st) == 0 && (st.st_mtim.tv_sec + 1) * US_PER_S >= live->attempt.started_us;
}

/* The configuration it begins with, a point of spec.system; NULL: there is none. Free it. */
static double *system_point(const struct live *live)
{
    const struct tuning *tuning = live->run->tuning;

    if (!tuning || !live->tuned)
        return NULL;
    double *point = xcalloc(tuning->n, sizeof(*point));
    tuning_point(live->run, live->tuned->now, point);
    return point;
}

static void send_launch(struct live *live, enum agent_command_kind kind, struct launch *launch,
                        const char *checkpoint)
{
    struct run *run = live->run;
    struct engine *engine = run->engine;
    struct trial *trial = run_trial(run, live->attempt.trial);
    struct agent_command command = {
        .kind = kind,
        .attempt = live->attempt.id,
        .launch = launch,
        .rules = run->rules,
        .given = {&run->spec, trial->point},
        .tensorboard = run->spec.tensorboard,
        .tuned = run->tuning && run->tuning->speed,
        .cpus = run->spec.cpus,
        .figures_us = run->spec.figures_us,
    };
    struct command_line line = {0};
    struct environment env = {0};
    autorelease(str) struct str params = STR_INIT;
    autorelease(err) struct err err = ERR_INIT;
    autofree(mem) char *checkpoints =
        checkpoint_dir(engine->home, live->attempt.experiment, live->attempt.trial);
    autofree(mem) char *workdir = NULL;
    autofree(mem) double *system = system_point(live);
    struct json_out out = JSON_OUT(&params);

    spec_command_line(&run->spec, trial->point, system, checkpoint, &line, &err);
    if (run->spec.workdir == WORKDIR_TRIAL) {
        workdir = xasprintf("%s/work", launch->dir);
        fs_make_dirs(workdir, 0777, NULL);
        anchor_words(&run->spec, &line);
    }
    env_make(&env, live, &line);
    env_identity(&env, live, launch->attempt_id);
    env_files(&env, launch->dir, checkpoints, checkpoint);
    spec_params_json(&run->spec, trial->point, system, &out);
    vec_push(&line.argv, NULL);
    vec_push(&env.list, NULL);
    launch->cwd = workdir ? workdir : run->spec.dir;
    launch->params_json = params.s;
    launch->argv = line.argv.at;
    launch->envp = env.list.at;
    engine->options.send(&command, engine->options.arg);
    vec_foreach (pair, &env.list)
        free(*pair);
    vec_release(&env.list);
    line.argv.len--;
    command_line_release(&line);
}

/* An attempt that begins from nothing does not inherit the figures of the one before. One that has
 * reported has begun already, and the figures are its own. */
static void forget_figures(struct live *live, enum agent_command_kind kind)
{
    struct trial *trial = run_trial(live->run, live->attempt.trial);
    if (kind != COMMAND_START || live->attempt.number == 1 || live->samples_seen)
        return;
    trial->value = trial->best = NAN;
    trial->last_step = trial->first_nan_step = STEP_NONE;
    live->dirty = true;
}

void launch_send(struct live *live, enum agent_command_kind kind)
{
    const struct spec *spec = &live->run->spec;
    struct engine *engine = live->run->engine;
    const struct attempt *attempt = &live->attempt;
    autofree(mem) char *dir =
        attempt_dir(engine->home, attempt->experiment, attempt->trial, attempt->number);
    autofree(mem) char *attempt_id = xasprintf("%s-%lld", engine->home_id, (long long)attempt->id);
    autofree(mem) char *checkpoints =
        checkpoint_dir(engine->home, attempt->experiment, attempt->trial);
    autofree(mem) char *checkpoint = NULL;
    autofree(mem) char *control =
        attempt->system ? xasprintf("{\"system\":%s}", attempt->system) : xstrdup("{}");
    struct launch launch = {
        .attempt = attempt->id,
        .attempt_id = attempt_id,
        .dir = dir,
        .control_json = control,
        .time_limit_us = spec->trial_time_us,
        .memory_bytes = spec->memory_bytes ? spec->memory_bytes : tuned_most_memory(live),
        .output_bytes = spec->output_bytes,
        .grace_us = spec->grace_us,
        .pty = spec->pty,
    };
    int64_t step = -1;
    checkpoint = checkpoint_newest(checkpoints, &step);
    if (!checkpoint)
        forget_figures(live, kind);
    if (!live->launched) { /* said again later, it has begun already */
        live->start_step = checkpoint ? step : -1;
        if (checkpoint)
            curve_load_before(live);
    }
    live->launched = true;
    send_launch(live, kind, &launch, checkpoint);
}
