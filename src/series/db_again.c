/* SPDX-License-Identifier: MIT */
/*
 * db_again.c — a point of a line that is sent again with its time is one point, and the last
 * counts.
 *
 * That is so of experiments whose values came as lines (series_db_lines); elsewhere several values
 * of one time are several. Which they are is told by a row of their trial 0, under a name that no
 * list tells.
 *
 *     times    1 2 3 │ 5 4 5 │ 6 7 8        settled: what is behind a bar is later than all before
 * it replaced         ▲                    so only points between two bars can be of one time
 *
 * Nearly all lines come in the order of their times, and then there is nothing to look for: groups
 * whose times rise, and whose spans do not meet, have each time once. A sealed group is looked at
 * once for that, one in memory as far as it has grown.
 */
#include "series/inside.h"

#define FEW 32 /* points are compared with each other */

static struct series_source mark_of(int64_t experiment)
{
    return (struct series_source){experiment, 0, 0, SERIES_OUTSIDE};
}

static bool is_marked(const struct series_db *db, int64_t experiment)
{
    struct series_source mark = mark_of(experiment);
    const struct place *place = directory_find(&db->directory, &mark);

    for (size_t i = 0; place && i < place->parts.len; i++)
        if (!place->parts.at[i].memory || place->parts.at[i].memory->rows)
            return true;
    return false;
}

int series_db_lines(struct series_db *db, int64_t experiment, struct err *err)
{
    static const char text[] = {INTERN_REST};
    struct series_source mark = mark_of(experiment);

    if (is_marked(db, experiment))
        return 0;
    uint32_t name = intern_add(&db->intern, text, sizeof(text));
    double value = 1;
    struct series_row row = {
        .step = INT64_MIN, .time_ns = INT64_MIN, .n = 1, .names = &name, .values = &value};
    return series_db_append(db, &mark, &row, 1, err);
}

bool series_db_is_lines(const struct series_db *db, const struct series_source *source)
{
    return source->file == SERIES_OUTSIDE && source->attempt == 0 &&
           is_marked(db, source->experiment);
}

void series_db_every(struct series_db *db, bool every)
{
    db->every = every;
}

/* ---- can there be any? ---- */

struct spans { /* of groups' times, smallest and largest */
    struct segment_span *at;
    size_t len, cap;
};

/* False: its times do not rise. */
static bool add_memory_group(struct memory_group *group, struct spans *to)
{
    const int64_t *times = group->times_ns.at;
    size_t n = group->times_ns.len;

    for (; group->risen < n && !group->falls; group->risen++)
        group->falls = times[group->risen] == INT64_MIN ||
                       (group->risen && times[group->risen] <= times[group->risen - 1]);
    if (n && !group->falls)
        vec_push(to, ((struct segment_span){times[0], times[n - 1]}));
    return !group->falls;
}

static bool add_memory(const struct memory_source *source, uint32_t name, struct spans *to)
{
    const struct memory_column *column = memory_column(source, name);

    for (size_t i = 0; column && i < column->strands.len; i++)
        if (!add_memory_group(source->groups.at[column->strands.at[i].group], to))
            return false;
    return true;
}

static bool add_segment(struct series_db *db, const struct part *part, uint32_t name,
                        struct spans *to)
{
    struct segment *segment = part->layer->segment;
    struct segment_reader reader = {segment, db_note_fn, db};
    const struct segment_column *column = segment_column(segment, part->index, name);

    for (uint32_t i = 0; column && i < column->strands; i++) {
        uint32_t at = segment->strands[column->first_strand + i].group;
        const struct segment_group *group = &segment->groups[at];
        if (!segment_group_rises(segment, &reader, at))
            return false;
        if (!group->chunks)
            continue;
        const struct segment_chunk *first = &segment->chunks[group->first_chunk];
        vec_push(to, ((struct segment_span){first->first_ns, first[group->chunks - 1].last_ns}));
    }
    return true;
}

static int by_first(const void *a, const void *b)
{
    const struct segment_span *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static bool spans_meet(struct spans *spans)
{
    if (spans->len > 1)
        qsort(spans->at, spans->len, sizeof(*spans->at), by_first);
    for (size_t i = 1; i < spans->len; i++)
        if (spans->at[i].first <= spans->at[i - 1].last)
            return true;
    return false;
}

static bool may_repeat(struct series_db *db, const struct place *place, uint32_t name)
{
    struct spans spans = {0};
    bool rises = true;

    for (size_t i = 0; i < place->parts.len && rises; i++) {
        const struct part *part = &place->parts.at[i];
        rises = part->memory ? add_memory(part->memory, name, &spans)
                             : add_segment(db, part, name, &spans);
    }
    bool may = !rises || spans_meet(&spans);
    vec_release(&spans);
    return may;
}

/* ---- which? ---- */

struct times {
    int64_t *at;
    size_t len, cap;
};
struct timed {
    int64_t time_ns;
    uint64_t place;
};

static int take_times(const struct series_chunk *chunk, void *arg)
{
    struct times *times = arg;

    vec_reserve(times, times->len + chunk->n);
    memcpy(times->at + times->len, chunk->times_ns, chunk->n * sizeof(*times->at));
    times->len += chunk->n;
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;

    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static int by_place(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Of a few. */
static void find_between_few(const int64_t *times, uint64_t from, size_t n, struct db_replaced *ret)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            if (times[i] == times[k] && times[i] != INT64_MIN) {
                vec_push(ret, from + i);
                break;
            }
}

/* Of n times from the place `from`. */
static void find_between(const int64_t *times, uint64_t from, size_t n, struct db_replaced *ret)
{
    autofree(mem) struct timed *sorted = xmalloc(n * sizeof(*sorted));
    size_t before = ret->len;

    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct timed){times[i], from + i};
    qsort(sorted, n, sizeof(*sorted), by_time);
    for (size_t i = 0; i + 1 < n; i++)
        if (sorted[i].time_ns == sorted[i + 1].time_ns && sorted[i].time_ns != INT64_MIN)
            vec_push(ret, sorted[i].place);
    if (ret->len > before)
        qsort(ret->at + before, ret->len - before, sizeof(*ret->at), by_place);
}

static void find_replaced(const struct times *times, struct db_replaced *ret)
{
    size_t n = times->len;
    autofree(mem) int64_t *least = xmalloc((n + 1) * sizeof(*least)); /* from there on */

    least[n] = INT64_MAX;
    for (size_t i = n; i-- > 0;)
        least[i] = MIN(times->at[i], least[i + 1]);
    for (size_t from = 0, to; from < n; from = to) {
        int64_t most = times->at[from];
        for (to = from + 1; to < n && least[to] <= most; to++)
            most = MAX(most, times->at[to]);
        size_t few = to - from;
        if (few > 1)
            (few <= FEW ? find_between_few : find_between)(times->at + from, from, few, ret);
    }
}

void db_replaced_find(struct series_db *db, const struct place *place, uint32_t name,
                      struct db_replaced *ret)
{
    struct times times = {0};

    *ret = (struct db_replaced){0};
    if (db->every || place->key.file != SERIES_OUTSIDE || !series_db_is_lines(db, &place->key) ||
        !may_repeat(db, place, name))
        return;
    db_read_parts(db, place, name, &series_all, take_times, &times);
    find_replaced(&times, ret);
    vec_release(&times);
}

/* ---- the first and the last in time ---- */

static size_t strands_of(const struct part *part, uint32_t name)
{
    if (part->memory) {
        const struct memory_column *column = memory_column(part->memory, name);
        return column ? column->strands.len : 0;
    }
    const struct segment_column *column = segment_column(part->layer->segment, part->index, name);
    return column ? column->strands : 0;
}

/* Is every value later than the ones that came before it? True only where that is quickly seen. */
static bool comes_in_order(struct series_db *db, const struct place *place, uint32_t name)
{
    struct spans spans = {0};
    bool rises = true;

    for (size_t i = 0; i < place->parts.len && rises; i++) {
        const struct part *part = &place->parts.at[i];
        rises =
            strands_of(part, name) <= 1 && (part->memory ? add_memory(part->memory, name, &spans)
                                                         : add_segment(db, part, name, &spans));
    }
    for (size_t i = 1; i < spans.len && rises; i++)
        rises = spans.at[i].first > spans.at[i - 1].last;
    vec_release(&spans);
    return rises;
}

struct ends {
    bool any;
    int64_t first_ns, last_ns;
    double first, last;
};

/* Of equal times the last to come counts. */
static int take_ends(const struct series_chunk *chunk, void *arg)
{
    struct ends *ends = arg;

    for (size_t i = 0; i < chunk->n; i++) {
        int64_t time_ns = chunk->times_ns[i];
        if (time_ns == INT64_MIN)
            continue;
        if (!ends->any || time_ns <= ends->first_ns) {
            ends->first_ns = time_ns;
            ends->first = chunk->values[i];
        }
        if (!ends->any || time_ns >= ends->last_ns) {
            ends->last_ns = time_ns;
            ends->last = chunk->values[i];
        }
        ends->any = true;
    }
    return 0;
}

static void read_at(struct series_db *db, const struct place *place, uint32_t name, int64_t time_ns,
                    struct ends *ends)
{
    struct series_range range = series_all;

    range.min_ns = range.max_ns = time_ns;
    db_read_parts(db, place, name, &range, take_ends, ends);
}

/* Reads the blocks that hold the two times, and none if the values came in order. */
void series_db_ends(struct series_db *db, struct series_info *info)
{
    const struct place *place = directory_find(&db->directory, &info->source);
    struct ends ends = {.any = false};

    if (!place || info->last_ns == INT64_MIN || !series_db_is_lines(db, &info->source) ||
        comes_in_order(db, place, info->name))
        return;
    read_at(db, place, info->name, info->first_ns, &ends);
    if (info->last_ns != info->first_ns)
        read_at(db, place, info->name, info->last_ns, &ends);
    if (ends.any) {
        info->stats.first = ends.first;
        info->stats.last = ends.last;
    }
}

/* ---- the others ---- */

struct sieve {
    const struct db_replaced *replaced;
    size_t next;    /* of those */
    uint64_t place; /* of the next value */
    series_chunk_fn *fn;
    void *arg;
    int64_t steps[BLOCK_VALUES], times_ns[BLOCK_VALUES];
    double values[BLOCK_VALUES], rests[BLOCK_VALUES];
};

static bool is_replaced(struct sieve *sieve)
{
    const struct db_replaced *replaced = sieve->replaced;
    bool is = sieve->next < replaced->len && replaced->at[sieve->next] == sieve->place;

    sieve->next += is;
    sieve->place++;
    return is;
}

static int sift(const struct series_chunk *chunk, void *arg)
{
    struct sieve *sieve = arg;
    struct strand_rows rows = {.steps = sieve->steps,
                               .times_ns = sieve->times_ns,
                               .values = sieve->values,
                               .rests = chunk->rests ? sieve->rests : NULL};

    for (size_t i = 0; i < chunk->n; i++) {
        if (is_replaced(sieve))
            continue;
        sieve->steps[rows.n] = chunk->steps[i];
        sieve->times_ns[rows.n] = chunk->times_ns[i];
        sieve->rests[rows.n] = chunk->rests ? chunk->rests[i] : 0;
        sieve->values[rows.n++] = chunk->values[i];
    }
    if (!rows.n)
        return 0;
    strand_rows_measure(&rows);
    return strand_rows_tell(&rows, sieve->fn, sieve->arg);
}

int db_read_last(struct series_db *db, const struct place *place, uint32_t name,
                 const struct db_replaced *replaced, series_chunk_fn *fn, void *arg)
{
    autofree(mem) struct sieve *sieve = xcalloc(1, sizeof(*sieve));

    sieve->replaced = replaced;
    sieve->fn = fn;
    sieve->arg = arg;
    return db_read_parts(db, place, name, &series_all, sift, sieve);
}
