/* SPDX-License-Identifier: MIT */
/*
 * series.c — builds series from the sources of a trial's attempts: rows of the store, or files,
 * each read once from its beginning through the parsers of metrics/.
 *
 *     attempt 1:  0 1 2 3 4 5          killed
 *     attempt 2:        3 4 5 6 7      went on from the checkpoint of step 2
 *     series:     0 1 2 3 4 5 6 7      3, 4, 5 as attempt 2 gave them
 *
 * Files are streamed; a hole in them is jumped over. What a program may make us hold is capped:
 * so many metrics (more are left out), so many points (more is an error).
 */
#include "series/series.h"

#include "base/fs.h"
#include "base/map.h"
#include "metrics/metrics.h"
#include "series/attempt_files.h"
#include "series/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define METRICS_MAX 10000

/* What is known of a series while its attempt is read. */
struct track {
    int64_t next; /* step of the next sample without one */
    size_t file;  /* the one that it comes from */
};

struct builder {
    const char *metric; /* the one wanted; NULL: all */
    bool system;        /* … and what the machine measured */
    series_fn *fn;      /* gets the samples, none is kept; NULL: they are kept */
    void *arg;
    size_t file;            /* being read */
    struct series_set set;  /* of this attempt */
    struct map_text places; /* name → &set.series.at[i], as i + 1 */
    VEC(struct track) tracks;
    size_t points;
};

static void series_release(struct series *series)
{
    free(series->metric);
    vec_release(&series->points);
}

void series_set_release(struct series_set *set)
{
    vec_foreach (series, &set->series)
        series_release(series);
    vec_release(&set->series);
}

static struct series *find(const struct series_set *set, const char *metric)
{
    vec_foreach (series, &set->series)
        if (str_eq(series->metric, metric))
            return series;
    return NULL;
}

const struct series *series_find(const struct series_set *set, const char *metric)
{
    return find(set, metric);
}

static void builder_release(struct builder *builder)
{
    series_set_release(&builder->set);
    map_text_release(&builder->places);
    vec_release(&builder->tracks);
}

static bool wanted(const struct builder *builder, const char *metric)
{
    return builder->metric ? str_eq(metric, builder->metric) : !metric_is_word(metric);
}

/* Index of the metric's series, a new one if need be; -1 if there are too many. */
static ptrdiff_t place_of(struct builder *builder, const char *metric)
{
    uintptr_t place = (uintptr_t)map_text_find(&builder->places, metric);
    if (place)
        return (ptrdiff_t)place - 1;
    if (builder->set.series.len >= METRICS_MAX)
        return -1;
    struct series series = {.metric = xstrdup(metric)};
    struct track track = {.next = 0, .file = builder->file};
    vec_push(&builder->set.series, series);
    vec_push(&builder->tracks, track);
    map_text_put(&builder->places, metric, (void *)(uintptr_t)builder->set.series.len);
    return (ptrdiff_t)builder->set.series.len - 1;
}

static bool is_output(const struct builder *builder)
{
    return attempt_files[builder->file].source == METRICS_OUTPUT;
}

/* A progress bar says the same step many times; its last word counts. */
static bool is_redraw(const struct builder *builder, const struct series *series, int64_t step)
{
    return is_output(builder) && step != STEP_NONE && series->points.len &&
           vec_last(&series->points)->step == step;
}

struct told { /* by a line or by the store */
    const char *metric;
    int64_t step, time_ns;
    double value;
    uint16_t rest;
};

static struct series_point point_of(struct track *track, const struct told *told)
{
    return (struct series_point){.step = metrics_step(&track->next, told->step),
                                 .time_us = told->time_ns == INT64_MIN ? 0 : told->time_ns / 1000,
                                 .value = told->value};
}

static void hand_out(struct builder *builder, size_t place, const struct told *told)
{
    struct series_sample out = {
        .metric = builder->set.series.at[place].metric,
        .place = place,
        .point = point_of(&builder->tracks.at[place], told),
        .time_ns = told->time_ns,
        .rest = told->rest,
        .output = is_output(builder),
        .figure = attempt_files[builder->file].file == SERIES_SYSTEM,
    };
    builder->fn(&out, builder->arg);
}

static void take(struct builder *builder, const struct told *told)
{
    if (builder->points > SERIES_POINTS_MAX || !wanted(builder, told->metric))
        return;
    ptrdiff_t place = place_of(builder, told->metric);
    if (place < 0 || builder->tracks.at[place].file != builder->file)
        return;
    struct series *series = &builder->set.series.at[place];
    if (builder->fn) {
        hand_out(builder, (size_t)place, told);
        return;
    }
    if (is_redraw(builder, series, told->step)) {
        vec_last(&series->points)->value = told->value;
        return;
    }
    vec_push(&series->points, point_of(&builder->tracks.at[place], told));
    builder->points++;
}

static void on_sample(const struct sample *sample, void *arg)
{
    struct told told = {.metric = sample->metric,
                        .step = sample->step,
                        .time_ns = sample_time_ns(sample->time_us, sample->ns),
                        .value = sample->value,
                        .rest = sample->rest};
    take(arg, &told);
}

static int feed_file(int fd, struct metrics_parser *parser, char *block)
{
    off_t offset = 0;
    ssize_t n;

    do
        n = attempt_file_feed(fd, parser, block, &offset);
    while (n > 0);
    return (int)n;
}

struct place { /* where an attempt's samples are */
    const char *home;
    struct series_db *db; /* NULL: in its files alone */
    struct series_source source;
    const char *dir;
    const struct metrics_rules *rules;
    struct metrics_given given;
    bool ended;   /* nobody writes the files any more */
    bool running; /* the store is good enough for one that runs, too */
};

/* Where it has ended the last line of output is whole. What is no regular file was put there by the
 * program, and is none of ours: a pipe or /dev/zero would hold us for ever. */
static int read_file(struct builder *builder, const char *path, const struct place *place,
                     struct err *err)
{
    struct stat st;
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT || errno == ELOOP || errno == ENXIO
                   ? 0
                   : err_errno(err, errno, "cannot open %s", path);
    if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return 0;
    autofree(metrics_parser) struct metrics_parser *parser =
        metrics_parser_new(place->rules, attempt_files[builder->file].source, on_sample, builder);
    metrics_parser_given(parser, &place->given);
    autofree(mem) char *block = xmalloc(ATTEMPT_FILE_BLOCK);
    int r = feed_file(fd, parser, block);
    if (r < 0)
        return err_errno(err, -r, "cannot read %s", path);
    if (place->ended)
        metrics_parser_finish(parser, 0);
    return 0;
}

/* ---- the store ---- */

bool series_whole(const char *home)
{
    autofree(mem) char *path = xasprintf("%s/series/whole", home);
    return fs_exists(path);
}

struct listing { /* the series of one source, or whether any file of the attempt is stored */
    struct series_source source;
    bool any;
    VEC(uint32_t) names;
};

static int on_info(const struct series_info *info, void *arg)
{
    struct listing *listing = arg;

    if (info->source.attempt != listing->source.attempt)
        return 0;
    listing->any |= info->source.file <= SERIES_STDERR || info->source.file == SERIES_EVENTS;
    if (info->source.file == listing->source.file)
        vec_push(&listing->names, info->name);
    return 0;
}

/* Are the attempt's samples to be read from the store? While an older home is being migrated nobody
 * knows which are there whole. */
static bool is_stored(const struct place *place)
{
    struct listing listing = {.source = place->source};

    if (!place->db || !(place->ended || place->running) ||
        (fs_is_dir(place->dir) && !series_whole(place->home)))
        return false;
    series_db_names(place->db, place->source.experiment, place->source.trial, on_info, &listing);
    vec_release(&listing.names);
    return listing.any;
}

struct stored { /* being read */
    struct builder *builder;
    const char *metric;
};

static int on_chunk(const struct series_chunk *chunk, void *arg)
{
    const struct stored *stored = arg;

    for (size_t i = 0; i < chunk->n; i++) {
        struct told told = {.metric = stored->metric,
                            .step = chunk->steps[i],
                            .time_ns = chunk->times_ns[i],
                            .value = chunk->values[i],
                            .rest = series_chunk_rest(chunk, i)};
        take(stored->builder, &told);
    }
    return 0;
}

struct walked { /* rows of a source, all metrics together */
    struct builder *builder;
    struct series_db *db;
};

static void on_cell(const struct series_cell *cell, void *arg)
{
    const struct walked *walked = arg;
    struct told told = {.metric = series_db_name_text(walked->db, cell->name),
                        .step = cell->step,
                        .time_ns = cell->time_ns,
                        .value = cell->value,
                        .rest = cell->rest};
    take(walked->builder, &told);
}

static void read_rows(struct builder *builder, const struct place *place, enum series_file file)
{
    struct series_source source = place->source;
    struct walked walked = {builder, place->db};

    source.file = file;
    series_db_rows(place->db, &source, on_cell, &walked);
}

static void read_stored(struct builder *builder, const struct place *place, enum series_file file)
{
    struct listing listing = {.source = place->source};

    if (builder->fn && !builder->metric) {
        read_rows(builder, place, file);
        return;
    }
    listing.source.file = file;
    series_db_names(place->db, place->source.experiment, place->source.trial, on_info, &listing);
    vec_foreach (name, &listing.names) {
        struct stored stored = {builder, series_db_name_text(place->db, *name)};
        if (wanted(builder, stored.metric))
            series_db_read(place->db, &listing.source, *name, &series_all, on_chunk, &stored);
    }
    vec_release(&listing.names);
}

static int read_source(struct builder *builder, const struct place *place, bool stored,
                       struct err *err)
{
    size_t i = builder->file;

    if (attempt_files[i].file == SERIES_SYSTEM && !builder->metric && !builder->system)
        return 0;
    if (!attempt_files[i].name || stored) {
        if (place->db)
            read_stored(builder, place, attempt_files[i].file);
        return 0;
    }
    autofree(mem) char *path = xasprintf("%s/%s", place->dir, attempt_files[i].name);
    return read_file(builder, path, place, err);
}

static int read_attempt(struct builder *builder, const struct place *place, struct err *err)
{
    bool stored = is_stored(place);

    for (size_t i = 0; i < ATTEMPT_FILES; i++) {
        builder->file = i;
        int r = read_source(builder, place, stored, err);
        if (r < 0)
            return r;
    }
    if (builder->points > SERIES_POINTS_MAX)
        return err_set(err, EFBIG, "%s has more than %u samples: ask for one metric", place->dir,
                       SERIES_POINTS_MAX);
    return 0;
}

/* Keep the points before `step`. */
static void forget_from(struct series *series, int64_t step)
{
    size_t kept = 0;
    vec_foreach (point, &series->points)
        if (point->step < step)
            series->points.at[kept++] = *point;
    series->points.len = kept;
}

static void append(struct series *to, const struct series *from)
{
    int64_t first = INT64_MAX;
    vec_foreach (point, &from->points)
        first = MIN(first, point->step);
    forget_from(to, first);
    vec_reserve(&to->points, to->points.len + from->points.len);
    vec_foreach (point, &from->points)
        vec_push(&to->points, *point);
}

/* A newer attempt over the older ones. `newer` is emptied. */
static void merge(struct series_set *set, struct series_set *newer)
{
    vec_foreach (series, &newer->series) {
        struct series *known = set->series.len ? find(set, series->metric) : NULL;
        if (known) {
            append(known, series);
            continue;
        }
        vec_push(&set->series, *series);
        *series = (struct series){NULL, {NULL, 0, 0}};
    }
}

int series_read(struct series_db *db, const char *home, const struct spec *spec,
                const struct trial *trial, const char *metric, struct series_set *ret,
                struct err *err)
{
    autofree(metrics_rules) struct metrics_rules *rules = NULL;
    autorelease(series_set) struct series_set set = {{NULL, 0, 0}};
    int r = metrics_rules_new(spec, &rules, err);
    if (r < 0)
        return r;
    for (int64_t number = trial->attempts ? 1 : 0; number <= trial->attempts; number++) {
        autorelease(builder) struct builder builder = {.metric = metric};
        autofree(mem) char *dir = attempt_dir(home, trial->experiment, trial->number, number);
        struct place place = {
            .home = home,
            .db = db,
            .source = {trial->experiment, trial->number, number, SERIES_METRICS},
            .dir = dir,
            .rules = rules,
            .given = {spec, trial->point},
            .ended = number < trial->attempts || trial->state != TRIAL_RUNNING,
        };
        r = read_attempt(&builder, &place, err);
        if (r < 0)
            return r;
        merge(&set, &builder.set);
    }
    *ret = set;
    set = (struct series_set){{NULL, 0, 0}};
    return 0;
}

static struct place place_of_walk(const struct series_walk *walk, const char *dir)
{
    return (struct place){
        .home = walk->home,
        .db = walk->db,
        .source = {walk->experiment, walk->trial, walk->attempt, SERIES_METRICS},
        .dir = dir,
        .given = {walk->spec, walk->point},
        .ended = walk->ended,
        .running = walk->stored,
    };
}

bool series_walk_stored(const struct series_walk *walk)
{
    autofree(mem) char *dir = attempt_dir(walk->home, walk->experiment, walk->trial, walk->attempt);
    struct place place = place_of_walk(walk, dir);

    return is_stored(&place);
}

int series_walk(const struct series_walk *walk, series_fn *fn, void *arg, struct err *err)
{
    autofree(metrics_rules) struct metrics_rules *rules = NULL;
    autorelease(builder) struct builder builder = {
        .metric = walk->metric, .system = walk->system, .fn = fn, .arg = arg};
    autofree(mem) char *dir = attempt_dir(walk->home, walk->experiment, walk->trial, walk->attempt);
    int r = metrics_rules_new(walk->spec, &rules, err);
    struct place place = place_of_walk(walk, dir);

    place.rules = rules;
    return r < 0 ? r : read_attempt(&builder, &place, err);
}
