/* SPDX-License-Identifier: MIT */
/*
 * inside.h — what the files behind db.h share: the handle, its log, its workers.
 *
 * Layers are in order of their numbers. In a handle that writes, the last one is the memory of the
 * log that is being written; memories before it are frozen and wait to be sealed.
 */
#ifndef HONE_SERIES_INSIDE_H
#define HONE_SERIES_INSIDE_H

#include "series/directory.h"
#include "series/intern.h"
#include "series/seal.h"
#include "series/segment.h"
#include "series/wal.h"

#include <pthread.h>
#include <stdatomic.h>

#define LOG_BYTES     (16u << 20)  /* then it is sealed */
#define LOG_BACKLOG   4            /* a log of so many times that waits for a slow worker */
#define LOG_BUFFER    (256u << 10) /* then it is written without being asked to */
#define LOG_KEPT      (1u << 20)   /* a smaller one is not sealed when the home is closed */
#define LOG_SMALL     (64u << 10)  /* a smaller one is not sealed when asked to */
#define DROPPED_WORTH 0.25 /* of a segment's sources: then it is written anew without them */

struct log {
    int fd;                 /* -1: none yet */
    uint64_t at;            /* bytes in the file */
    struct str buffer;      /* behind them */
    bool unsynced, unnamed; /* the data, the file's name in the folder */
};

enum job_kind { JOB_SEAL, JOB_MERGE };
struct job { /* a worker's; NULL: none runs */
    enum job_kind kind;
    pthread_t thread;
    _Atomic bool done;
    struct seal_folder folder;
    struct layer *layer;        /* to seal */
    VEC(struct layer *) layers; /* to merge, borrowed */
    VEC(struct merge_input) inputs;
    uint64_t first, last;
    bool keep_drops;
    int result;
    struct err err;
};

struct series_db {
    enum series_mode mode;
    const struct series_io *io;
    char *folder;
    int dir_fd; /* -1: there is no folder (yet) */
    struct intern intern;
    VEC(struct layer *) layers;
    VEC(uint64_t) left_out; /* first numbers of the files that could not be opened */
    struct directory directory;
    struct log log;
    uint64_t log_bytes;      /* LOG_BYTES; tests take less */
    series_rows_fn *on_rows; /* NULL: nobody is told */
    void *rows_arg;
    bool every;      /* series_db_every */
    uint64_t number; /* of the newest log or segment ever seen */
    struct job *sealing, *merging;
    struct syncing *syncing;       /* NULL: no sync runs */
    bool merge_due;                /* segments came, or samples were dropped, since the last look */
    uint64_t retry_at;             /* a seal failed: size of the log at which it is tried again */
    VEC(char *) notes;             /* ends with NULL */
    VEC(struct series_info) infos; /* of the source being listed */
    VEC(uint32_t) slots;           /* by name: place in infos + 1 */
};

int series_db_open_with(const char *home, enum series_mode mode, const struct series_io *io,
                        struct series_db **ret, struct err *err);
void db_note(struct series_db *db, const char *fmt, ...) PRINTF(2, 3);
void db_note_fn(const char *sentence, void *db);

/* ---- db_files.c ---- */
struct db_file {
    uint64_t first, last;
    bool wal;
    char name[SEAL_NAME_SIZE];
};
struct db_files {
    VEC(struct db_file) files; /* in order; none covers another */
    VEC(struct db_file) old;   /* covered by those, or half written */
};
void db_files_release(struct db_files *files);
/* What is in the folder at one moment. */
int db_files_list(int dir_fd, struct db_files *ret);
/* Bring the layers in line with the folder. */
int db_load(struct series_db *db, struct err *err);
/* Open segments anew whose index was lost; nobody else may be reading them. */
void db_reopen_lost(struct series_db *db);
/* The layer of a file; NULL: it is not loaded. */
struct layer *db_layer_find(const struct series_db *db, const struct db_file *file);
struct layer *layer_new(uint64_t first, uint64_t last);
void layer_free(struct layer *layer);
void db_layer_insert(struct series_db *db, struct layer *layer);
/* Take it out and free it. */
void db_layer_remove(struct series_db *db, struct layer *layer);

/* ---- db_log.c ---- */
struct layer *db_active(struct series_db *db);
/* Begin the next log; the one before stays for its seal. */
int db_log_begin(struct series_db *db, struct err *err);
int db_log_go_on(struct series_db *db, struct layer *layer, struct err *err);
int db_log_write(struct series_db *db, struct err *err);

/* ---- db_read.c ---- */
/* Of the parts of a source, as they are. */
int db_read_parts(struct series_db *db, const struct place *place, uint32_t name,
                  const struct series_range *range, series_chunk_fn *fn, void *arg);

/* ---- db_again.c ---- */
struct db_replaced { /* places among the values of a metric, counted from 0; a VEC, rising */
    uint64_t *at;
    size_t len, cap;
};
/* Those for which a later value of the same time counts. Release it. */
void db_replaced_find(struct series_db *db, const struct place *place, uint32_t name,
                      struct db_replaced *ret);
/* The values but for those. */
int db_read_last(struct series_db *db, const struct place *place, uint32_t name,
                 const struct db_replaced *replaced, series_chunk_fn *fn, void *arg);

/* ---- db_worker.c ---- */
/* Take over what workers have done, and give them what is to do. */
void db_workers_look(struct series_db *db);
/* How many of a segment's sources were dropped, 0 … 1; of a log 0. */
double db_dropped_share(const struct series_db *db, const struct layer *layer);
/* Wait for what runs; 0 or what the seal said. */
int db_workers_wait(struct series_db *db, struct err *err);
/* Seal here and now the logs that wait for it. */
int db_seal_frozen(struct series_db *db, struct err *err);
/* … and all that is in memory, and begin another log. */
int db_seal_all(struct series_db *db, struct err *err);

#endif
