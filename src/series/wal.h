/* SPDX-License-Identifier: MIT */
/*
 * wal.h — the bytes of a log: what was appended and is not yet sealed. Pure; files are db.c's.
 *
 *     u32 length │ u32 crc32c of the rest │ u8 type │ payload (length bytes)      little-endian
 *
 * Every file stands alone: it begins with WAL_BEGIN, and a metric's number is defined by a record
 * of the same file before a row uses it. A record stands alone, too: differences are to the row
 * before in the same record. So a damaged record costs itself only.
 */
#ifndef HONE_SERIES_WAL_H
#define HONE_SERIES_WAL_H

#include "base/str.h"
#include "series/db.h"

enum wal_type {                /* stored: numbers never change */
                WAL_BEGIN = 1, /* "hone series 1" */
                WAL_NAME = 2,  /* number, text */
                WAL_ROWS = 3,  /* source, rows */
                WAL_DROP = 4,  /* experiment, trial */
                WAL_TYPES
};
#define WAL_HEAD    9
#define WAL_VERSION "hone series 1"

/* Append a record. Names are the numbers of this file: local[name of the handle]. */
void wal_put_begin(struct str *to);
void wal_put_name(struct str *to, uint32_t number, const char *text);
void wal_put_drop(struct str *to, int64_t experiment, int64_t trial);
void wal_put_rows(struct str *to, const struct series_source *source, const struct series_row *rows,
                  size_t n, const uint32_t *local);

struct wal_record {
    enum wal_type type;
    const unsigned char *payload;
    size_t size;
    size_t at, end; /* where in the bytes it begins and ends */
};
/* The first whole record at or behind `from`. If ret->at is above it, what lies between is damaged.
 * False: there is none; what is left is a torn tail. */
bool wal_next(const unsigned char *bytes, size_t n, size_t from, struct wal_record *ret);

/* What is in a record; -EBADMSG if it is not such a one. */
int wal_get_name(const struct wal_record *record, uint32_t *ret_number, const char **ret_text,
                 size_t *ret_n);
int wal_get_drop(const struct wal_record *record, int64_t *ret_experiment, int64_t *ret_trial);

struct wal_rows { /* a walk over the rows of a record; zero but for what wal_rows_init sets */
    struct series_source source;
    size_t left; /* rows to come */
    const unsigned char *p, *end;
    struct series_row row; /* the one before */
    VEC(uint32_t) names;   /* of this file */
    VEC(double) values;
};
int wal_rows_init(struct wal_rows *rows, const struct wal_record *record);
/* 1: rows->row is the next one, borrowed until the next call. 0: the end. */
int wal_rows_next(struct wal_rows *rows);
void wal_rows_release(struct wal_rows *rows);

#endif
