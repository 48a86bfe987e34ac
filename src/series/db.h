/* SPDX-License-Identifier: MIT */
/*
 * db.h — the series of a home, every number kept bit for bit: HOME/series/.
 *
 *     append ──► rows in memory + NNNNNNNN.wal ──► sealed by a worker ──► NNNNNNNN.seg ──► merged
 *                (write: survives kill;                (blocks of 1,024, CRC32C,
 *                 fdatasync ≤ 100 ms)                   an index at the end)
 *
 * A row is what one log call told: one step, one time, some values. Rows of one source with the
 * same metrics are a row group and share their columns of steps and times.
 *
 * One process writes (the engine, which holds HOME's lock), any number read meanwhile. A handle is
 * used by one thread at a time.
 */
#ifndef HONE_SERIES_DB_H
#define HONE_SERIES_DB_H

#include "base/err.h"
#include "base/rest.h"
#include "series/block.h"

struct series_db;

/* Where rows come from. Observed trials have attempt 0. trial 0: the machine's own figures. */
enum series_file { /* stored: numbers never change */
                   SERIES_METRICS = 0,
                   SERIES_STDOUT = 1,
                   SERIES_STDERR = 2,
                   SERIES_OUTSIDE = 3, /* line protocol over HTTP and UDP, imports */
                   SERIES_SYSTEM = 4,  /* what the machine measured of it */
                   SERIES_EVENTS = 5,  /* TensorBoard event files */
                   SERIES_FILES
};
struct series_source {
    int64_t experiment, trial, attempt;
    enum series_file file;
};

enum series_mode { SERIES_READ, SERIES_WRITE };
/* For writing the folder is made; a torn tail of the log is cut (and told by series_db_notes). For
 * reading, a home without series is an empty one. Opens at once after any crash. */
int series_db_open(const char *home, enum series_mode mode, struct series_db **ret,
                   struct err *err);
/* Waits for the worker; what was appended is written and synced. A log of more than 1 MiB is
 * sealed; a smaller one is gone on with. */
void series_db_free(struct series_db *db);
DEFINE_AUTOFREE(series_db);
/* Sentences about what was found wrong when it was opened or since (a cut tail, a bad block); NULL
 * ends the list. */
const char *const *series_db_notes(const struct series_db *db);

/* ---- writing ---- */
#define SERIES_NAME_MAX  1024       /* bytes of a metric's name */
#define SERIES_NAMES_MAX (1u << 20) /* different names in a home */
#define SERIES_NAME_NONE UINT32_MAX
/* The number of a name, the same for as long as the handle lives; a new one is made. NONE: too
 * long, empty, or too many. */
uint32_t series_db_name(struct series_db *db, const char *name, size_t n);
const char *series_db_name_text(const struct series_db *db, uint32_t name);
/* Whole numbers of 64 bits beyond ±2^53 are stored exactly as two values of a row, side by side:
 * the nearest double under the name, and behind it the rest (base/rest.h, as a double) under the
 * name that this gives. NONE: the name is too long for that, or there are too many. Lists do not
 * tell such names; chunks tell the rests beside the values. */
uint32_t series_db_rest(struct series_db *db, uint32_t name);
/* Is it such a name? */
bool series_db_is_rest(const struct series_db *db, uint32_t name);
/* Has some trial of the experiment such numbers of this metric? */
bool series_db_has_rests(struct series_db *db, int64_t experiment, uint32_t name);

struct series_row {
    uint64_t end;          /* offset in the source's file behind what told it; 0: not from a file */
    int64_t step;          /* STEP_NONE: none */
    int64_t time_ns;       /* wall; INT64_MIN: none */
    size_t n;              /* 1 … */
    const uint32_t *names; /* (n) different ones */
    const double *values;  /* (n) */
};
/* Rows in the order in which they came. One whose `end` is not 0 and not above what the source had
 * stored before the call is passed over: reading a file again doubles nothing. (So rows told by one
 * piece of a file may share an `end` if they come in one call: they are kept or lost together.)
 * -ENOSPC and the like: nothing was taken; try again. -EINVAL: a name that is none, no values. */
int series_db_append(struct series_db *db, const struct series_source *source,
                     const struct series_row *rows, size_t n, struct err *err);
/* The experiment's values from outside come as lines: of a metric's values with the same time the
 * last one counts, in lists, chunks and headers, so that a line which is sent again adds nothing.
 */
int series_db_lines(struct series_db *db, int64_t experiment, struct err *err);
bool series_db_is_lines(const struct series_db *db, const struct series_source *source);
/* Tell every value that came, also those that do not count: for who goes on by position. */
void series_db_every(struct series_db *db, bool every);
/* Who is told of rows as they are taken; NULL: nobody. The function may look at names, and nothing
 * else of the handle. */
typedef void series_rows_fn(const struct series_source *source, const struct series_row *rows,
                            size_t n, void *arg);
void series_db_on_rows(struct series_db *db, series_rows_fn *fn, void *arg);
/* Hand the log to the kernel: from here on the death of this process loses nothing. */
int series_db_flush(struct series_db *db, struct err *err);
/* … nor that of the machine. Call it at most 100 ms after a flush. */
int series_db_sync(struct series_db *db, struct err *err);
/* The same beside the caller's work, on a thread of its own. 0: all that was appended is safe; 1: a
 * sync runs, call it again later to hear what came of it. A failure is told by that call, and the
 * next one writes the rows to another file. */
int series_db_sync_begin(struct series_db *db, struct err *err);
/* The highest `end` stored of this source; 0: none. */
uint64_t series_db_end(const struct series_db *db, const struct series_source *source);
/* Forget an experiment (trial 0) or one trial, and the ends of its sources. As lasting as rows are:
 * after flush and sync. The room is given back when segments are merged. */
int series_db_drop(struct series_db *db, int64_t experiment, int64_t trial, struct err *err);
/* Seal what is in memory unless its log is small (64 KiB): a server that may idle for days starts
 * so. In memory a curve takes some kilobytes however short it is, in every handle. */
int series_db_seal(struct series_db *db, struct err *err);
/* Seal what is in memory and merge small segments now (`hone gc`, tests); else it is done by a
 * worker when the log has 16 MiB or the home is closed. */
int series_db_compact(struct series_db *db, struct err *err);

/* ---- reading. What was appended is seen at once by its own handle, by others after flush and
 * series_db_refresh. What is given to a function is borrowed for the call; the function must not
 * write to the handle or refresh it ---- */
int series_db_refresh(struct series_db *db, struct err *err);

/* The metrics of a trial (all attempts), in order of first appearance per source. */
struct series_info {
    struct series_source source;
    uint32_t name;
    struct block_stats stats;      /* over all of it, without decoding */
    int64_t first_step, last_step; /* smallest and largest; STEP_NONE: none has one */
    int64_t first_ns, last_ns;
    uint64_t replaced; /* values that do not count, since a later one has their time */
};
typedef int series_info_fn(const struct series_info *info, void *arg); /* not 0: stop, returned */
/* trial -1: of all trials of the experiment. name NONE: all but those of rests. */
int series_db_list(struct series_db *db, int64_t experiment, int64_t trial, uint32_t name,
                   series_info_fn *fn, void *arg);

/* All of them, for who wants names and sources: statistics are of every value that came. */
int series_db_names(struct series_db *db, int64_t experiment, int64_t trial, series_info_fn *fn,
                    void *arg);
/* Of values that came as lines, make stats.first and .last those of the smallest and the largest
 * time. series_db_list() has done so. */
void series_db_ends(struct series_db *db, struct series_info *info);
/* The answers of series_db_has_rests() while the series of one experiment are listed. */
struct series_wholes {      /* zero at first; release `known` */
    VEC(signed char) known; /* by name: 1, -1: it has none; 0: nobody asked */
};
bool series_wholes_ask(struct series_wholes *wholes, struct series_db *db,
                       const struct series_info *info);

/* The values of one metric of one source, in the order in which they came, a block at a time. */
struct series_chunk {
    size_t n;
    const int64_t *steps, *times_ns; /* borrowed for the call; of the row group */
    const double *values;
    const double *rests; /* NULL: there is none; ask series_chunk_rest() */
    const struct block_stats *stats;
    int64_t first_step, last_step; /* smallest and largest; STEP_NONE: none has one */
    int64_t first_ns, last_ns;     /* the same; INT64_MIN: none */
};
/* That of the i-th value, 0: it has none. */
static inline uint16_t series_chunk_rest(const struct series_chunk *chunk, size_t i)
{
    return chunk->rests ? rest_checked(chunk->values[i], chunk->rests[i]) : 0;
}
typedef int series_chunk_fn(const struct series_chunk *chunk, void *arg);
struct series_range { /* rows outside may still come; whole blocks outside are mostly not read */
    int64_t min_step, max_step; /* INT64_MIN, INT64_MAX: all */
    int64_t min_ns, max_ns;
    bool no_steps, no_times; /* they are not wanted: NULL in chunks that did without reading them */
};
extern const struct series_range series_all;
/* A corrupt block is left out, and noted. */
int series_db_read(struct series_db *db, const struct series_source *source, uint32_t name,
                   const struct series_range *range, series_chunk_fn *fn, void *arg);
/* The headers alone: a point for each block. values, steps and times are NULL in the chunk. */
int series_db_headers(struct series_db *db, const struct series_source *source, uint32_t name,
                      series_chunk_fn *fn, void *arg);

/* ---- care: read every byte; fn gets a sentence for each thing that is wrong. 0: all is well,
 * > 0: how many things are not. `torn`: nobody else writes, so that a record without its end is
 * told, too (what a writer has just begun to write looks torn) ---- */
int series_db_verify(struct series_db *db, bool torn, void (*fn)(const char *sentence, void *arg),
                     void *arg);
/* What is on disk. */
struct series_size {
    uint64_t values, rows, bytes, segments, log_bytes;
};
void series_db_size(const struct series_db *db, struct series_size *ret);
/* Has some segment samples of what was removed? Looks at every source. */
bool series_db_has_dropped(const struct series_db *db);

#endif
