/* SPDX-License-Identifier: MIT */
/*
 * table.h — aligned tables for people: columns as wide as their widest cell, cut with … where a
 * terminal is too narrow; colours that vanish when they are not wanted.
 */
#ifndef HONE_TABLE_H
#define HONE_TABLE_H

#include "base/str.h"

enum colour { PLAIN, DIM, BOLD, GREEN, YELLOW, RED, CYAN };
enum column { /* bits */
              COLUMN_LEFT = 0,
              COLUMN_RIGHT = 1,
              COLUMN_SHRINK = 2, /* may be cut */
              COLUMN_OPTIONAL =
                  4,             /* left out where the terminal is too narrow, the last one first */
              COLUMN_IF_ANY = 8, /* left out where all of its cells are empty */
};

struct table_column {
    char *title;
    int how; /* enum column */
};
struct table_cell {
    char *text; /* printable */
    enum colour colour;
};
struct table {
    VEC(struct table_column) columns;
    VEC(struct table_cell) cells; /* row by row */
};
#define TABLE_INIT                                                                                 \
    {                                                                                              \
        {0},                                                                                       \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

void table_release(struct table *table);
/* All columns come before the first cell. */
void table_column(struct table *table, const char *title, int how);
/* The next cell; text of any kind, made printable here. */
void table_add(struct table *table, enum colour colour, const char *text);
void table_addf(struct table *table, enum colour colour, const char *fmt, ...) PRINTF(3, 4);
void table_number(struct table *table, enum colour colour, double x); /* NaN: empty */
size_t table_rows(const struct table *table);
/* Print head and rows; width 0: as wide as it is. */
void table_print(const struct table *table, FILE *to, bool colour, int width);

/* Columns of the terminal on standard output; 0 if it is none. */
int terminal_width(void);
/* Start and end of a colour: "" when not wanted. */
const char *colour_on(bool wanted, enum colour colour);
const char *colour_off(bool wanted, enum colour colour);

#endif
