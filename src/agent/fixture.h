/* SPDX-License-Identifier: MIT */
/*
 * fixture.h — for the tests of the local agent: a home that goes away, an agent on a loop, real
 * keepers and programs, and all that it tells. Waits for events, never for time.
 */
#ifndef HONE_AGENT_FIXTURE_H
#define HONE_AGENT_FIXTURE_H

#include "tests/test.h"

#include "agent/local.h"
#include "base/clock.h"
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 60000

/* What one attempt has told so far. */
struct seen {
    int started, ended, paused, resumed, answered, used, profiled, figured;
    int without;             /* FIGURES in which w.figure was not */
    struct agent_event turn; /* the newest of STARTED, PAUSED, RESUMED */
    pid_t pid;
    VEC(struct agent_sample) samples;
    VEC(char *) names;
    struct ending ending;
    char *error;
    struct agent_event answer; /* the newest of SYSTEM */
    char *text;
    struct attempt_use use; /* the newest */
    struct profile profile;
    size_t n_figures; /* of the newest */
    double figure;    /* the newest that is called as w.figure */
    int64_t cpu_us;   /* of the newest */
    uint64_t used_bytes;
};

#define ATTEMPTS 300
static struct world {
    char home[64];
    uv_loop_t loop;
    struct spec spec;
    struct metrics_rules *rules;
    struct agent *agent;
    struct seen seen[ATTEMPTS];
    bool in_command;
    bool tuned;         /* START, ADOPT */
    double cpus;        /* START, ADOPT */
    int64_t figures_us; /* START, ADOPT */
    const char *figure; /* of interest; NULL: none */
    const char *extra;  /* one more variable of the programs' environment */
} w;

static inline UNUSED void on_event(const struct agent_event *event, void *arg)
{
    struct world *world = arg;
    struct seen *seen = &world->seen[event->attempt];

    assert_false(world->in_command);
    assert_int_equal(seen->ended, 0);
    assert_true(event->time_us > 0);
    if (event->kind == EVENT_STARTED) {
        seen->started++;
        seen->pid = event->pid;
        seen->turn = *event;
    } else if (event->kind == EVENT_PAUSED || event->kind == EVENT_RESUMED) {
        assert_int_equal(turn_paused(event->turn), event->kind == EVENT_PAUSED);
        seen->paused += event->kind == EVENT_PAUSED;
        seen->resumed += event->kind == EVENT_RESUMED;
        seen->turn = *event;
    } else if (event->kind == EVENT_SAMPLES) {
        assert_int_equal(event->first_sample, (int64_t)seen->samples.len);
        for (size_t i = 0; i < event->n_samples; i++) {
            struct agent_sample sample = event->samples[i];
            sample.metric = xstrdup(sample.metric);
            vec_push(&seen->names, (char *)sample.metric);
            vec_push(&seen->samples, sample);
        }
    } else if (event->kind == EVENT_SYSTEM) {
        seen->answered++;
        seen->answer = *event;
        free(seen->text);
        seen->text = event->text ? xstrdup(event->text) : NULL;
    } else if (event->kind == EVENT_USE) {
        seen->used++;
        seen->use = event->use;
        seen->profiled += event->profile != NULL;
        if (event->profile)
            seen->profile = *event->profile;
    } else if (event->kind == EVENT_FIGURES) {
        seen->figured++;
        seen->n_figures = event->n_samples;
        seen->cpu_us = event->cpu_us;
        seen->used_bytes = event->used_bytes;
        bool found = false;
        for (size_t i = 0; i < event->n_samples; i++)
            if (w.figure && str_eq(event->samples[i].metric, w.figure)) {
                seen->figure = event->samples[i].value;
                found = true;
            }
        seen->without += !found;
    } else {
        assert_int_equal(event->kind, EVENT_ENDED);
        seen->ended++;
        seen->ending = event->ending;
        seen->error = event->ending.error ? xstrdup(event->ending.error) : NULL;
    }
}

static inline UNUSED void forget(int64_t attempt)
{
    struct seen *seen = &w.seen[attempt];
    vec_foreach (name, &seen->names)
        free(*name);
    vec_release(&seen->names);
    vec_release(&seen->samples);
    free(seen->error);
    free(seen->text);
    *seen = (struct seen){0};
}

static inline UNUSED void agent_begin(void)
{
    autorelease(err) struct err err = ERR_INIT;
    assert_int_equal(uv_loop_init(&w.loop), 0);
    autofree(mem) char *home_id = xasprintf("test%d", (int)getpid());
    assert_ok(agent_local_new(&w.loop, home_id, on_event, &w, &w.agent, &err), &err);
}

/* As when the engine's process dies: attempts go on. */
static inline UNUSED void agent_end(void)
{
    agent_free(w.agent);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w.loop), 0);
    for (int64_t i = 0; i < ATTEMPTS; i++)
        forget(i);
}

static inline UNUSED void begin(void)
{
    snprintf(w.home, sizeof(w.home), "/tmp/hone-agent-XXXXXX");
    assert_non_null(mkdtemp(w.home));
    spec_init(&w.spec);
    assert_int_equal(metrics_rules_new(&w.spec, &w.rules, NULL), 0);
    agent_begin();
}

static inline UNUSED void end(void)
{
    agent_end();
    metrics_rules_free(w.rules);
    spec_release(&w.spec);
    fs_remove_tree(w.home, NULL);
}

static inline UNUSED void send_command(enum agent_command_kind kind, int64_t attempt,
                                       const char *const *argv, int64_t time_limit_us)
{
    autofree(mem) char *dir = xasprintf("%s/%lld", w.home, (long long)attempt);
    autofree(mem) char *id = xasprintf("%s-%lld", w.home + 5, (long long)attempt);
    autofree(mem) char *metrics = xasprintf("HONE_METRICS=%s/metrics", dir);
    autofree(mem) char *variable = xasprintf("HONE_ATTEMPT_ID=%s", id);
    char *envp[] = {(char *)"PATH=/usr/bin:/bin", metrics, variable, (char *)w.extra, NULL};
    struct launch launch = {
        .attempt = attempt,
        .attempt_id = id,
        .dir = dir,
        .cwd = w.home,
        .params_json = "{}",
        .control_json = "{}",
        .argv = (char *const *)argv,
        .envp = envp,
        .time_limit_us = time_limit_us,
        .grace_us = US_PER_S / 5,
    };
    struct agent_command command = {
        .kind = kind,
        .attempt = attempt,
        .launch = &launch,
        .rules = w.rules,
        .grace_us = US_PER_S / 5,
        .tuned = w.tuned,
        .cpus = w.cpus,
        .figures_us = w.figures_us,
    };
    w.in_command = true;
    agent_command(w.agent, &command);
    w.in_command = false;
}

/* A file of the home, changed in place as the kernel changes its own. */
static inline UNUSED void put_file(const char *name, const char *text)
{
    autofree(mem) char *path = xasprintf("%s/%s", w.home, name);
    autofree(mem) char *dir = xstrndup(path, (size_t)(strrchr(path, '/') - path));
    assert_int_equal(fs_make_dirs(dir, 0755, NULL), 0);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static inline UNUSED void check_file(const char *name, const char *expected)
{
    autofree(mem) char *path = xasprintf("%s/%s", w.home, name);
    autorelease(str) struct str text = STR_INIT;
    assert_int_equal(fs_read(path, 4096, &text, NULL), 0);
    str_cut(&text, strcspn(text.s, "\n"));
    assert_string_equal(text.s, expected);
}

/* All that takes seconds takes moments. */
static inline UNUSED struct local *hurry(void)
{
    struct local *local = (struct local *)w.agent;
    local->pace = (struct pace){
        .tick_us = 20000,
        .use_us = 150000,
        .profile_us = 150000,
        .silent_us = US_PER_S / 10,
        .pdu_us = 5000,
    };
    return local;
}

static inline UNUSED void start_shell(int64_t attempt, const char *script)
{
    send_command(COMMAND_START, attempt, (const char *[]){"sh", "-c", script, NULL}, 0);
}

static inline UNUSED void adopt(int64_t attempt)
{
    send_command(COMMAND_ADOPT, attempt, NULL, 0);
}

static inline UNUSED void stop(int64_t attempt, bool kill)
{
    struct agent_command command = {
        .kind = COMMAND_STOP, .attempt = attempt, .kill = kill, .grace_us = US_PER_S / 5};
    agent_command(w.agent, &command);
}

static inline UNUSED void on_patience(uv_timer_t *timer UNUSED)
{
    fail_msg("nothing happened for %d s", PATIENCE_MS / 1000);
}

/* Turn the loop until it is so. */
#define WAIT(condition)                                                                            \
    do {                                                                                           \
        uv_timer_t patience;                                                                       \
        uv_timer_init(&w.loop, &patience);                                                         \
        uv_timer_start(&patience, on_patience, PATIENCE_MS, 0);                                    \
        while (!(condition))                                                                       \
            uv_run(&w.loop, UV_RUN_ONCE);                                                          \
        uv_close((uv_handle_t *)&patience, NULL);                                                  \
        uv_run(&w.loop, UV_RUN_NOWAIT);                                                            \
    } while (0)

static inline UNUSED void wait_for(const int *counter, int n)
{
    WAIT(*counter >= n);
}

static inline UNUSED void wait_for_samples(int64_t attempt, size_t n)
{
    WAIT(w.seen[attempt].samples.len >= n || w.seen[attempt].ended);
    assert_true(w.seen[attempt].samples.len >= n);
}

static inline UNUSED size_t count_files(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        n += entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return n;
}

static inline UNUSED size_t count_fds(void)
{
    return count_files("/proc/self/fd");
}

#endif
