/* SPDX-License-Identifier: MIT */
/*
 * table.c — aligned tables. No line ends in spaces; a table without titles has no head.
 */
#include "cli/table.h"
#include "cli/served.h"
#include "cli/width.h"

#include <assert.h>
#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define GAP        2  /* between columns */
#define SHRINK_MIN 12 /* a cut column keeps this much */
#define TITLE_MIN  6  /* and a cut title this much */

static const char *const colour_codes[] = {
    [PLAIN] = "",          [DIM] = "\033[2m",  [BOLD] = "\033[1m",  [GREEN] = "\033[32m",
    [YELLOW] = "\033[33m", [RED] = "\033[31m", [CYAN] = "\033[36m",
};

const char *colour_on(bool wanted, enum colour colour)
{
    return wanted ? colour_codes[colour] : "";
}

const char *colour_off(bool wanted, enum colour colour)
{
    return wanted && colour != PLAIN ? "\033[0m" : "";
}

int terminal_width(void)
{
    struct winsize size;
    const char *columns = served() ? getenv("COLUMNS") : NULL;

    if (columns)
        return (int)strtol(columns, NULL, 10);
    if (!isatty(STDOUT_FILENO))
        return 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
        return 80;
    return size.ws_col;
}

void table_release(struct table *table)
{
    vec_foreach (column, &table->columns)
        free(column->title);
    vec_foreach (cell, &table->cells)
        free(cell->text);
    vec_release(&table->columns);
    vec_release(&table->cells);
}

void table_column(struct table *table, const char *title, int how)
{
    vec_push(&table->columns, ((struct table_column){xstrdup(title), how}));
}

void table_add(struct table *table, enum colour colour, const char *text)
{
    struct str printable = STR_INIT;
    str_add_printable(&printable, text, strlen(text));
    vec_push(&table->cells, ((struct table_cell){str_take(&printable), colour}));
}

void table_addf(struct table *table, enum colour colour, const char *fmt, ...)
{
    autorelease(str) struct str text = STR_INIT;
    va_list ap;
    va_start(ap, fmt);
    str_addv(&text, fmt, ap);
    va_end(ap);
    table_add(table, colour, text.s);
}

void table_number(struct table *table, enum colour colour, double x)
{
    if (isnan(x))
        table_add(table, colour, "");
    else
        table_addf(table, colour, "%.6g", x);
}

size_t table_rows(const struct table *table)
{
    return table->columns.len ? table->cells.len / table->columns.len : 0;
}

/* As wide as the widest cell. */
static size_t *measure(const struct table *table)
{
    size_t n = table->columns.len;
    size_t *widths = xcalloc(n, sizeof(*widths));

    assert(n > 0);
    for (size_t i = 0; i < table->cells.len; i++)
        widths[i % n] = MAX(widths[i % n], text_width(table->cells.at[i].text));
    for (size_t i = 0; i < n; i++)
        if (widths[i] || !(table->columns.at[i].how & COLUMN_IF_ANY))
            widths[i] = MAX(widths[i], text_width(table->columns.at[i].title));
    return widths;
}

/* Columns of the terminal that the table takes; a column of width 0 is not shown. */
static size_t total_width(const size_t *widths, size_t n)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += widths[i] ? widths[i] + (total ? GAP : 0) : 0;
    return total;
}

static void leave_out(const struct table *table, size_t *widths, size_t limit)
{
    size_t n = table->columns.len;
    for (size_t i = n; i-- > 0 && total_width(widths, n) > limit;)
        if (table->columns.at[i].how & COLUMN_OPTIONAL)
            widths[i] = 0;
}

/* What each column keeps when it is cut: those that may, a bit of their cells; the others, their
 * cells and a bit of the title. */
static size_t *least_widths(const struct table *table)
{
    size_t n = table->columns.len;
    size_t *least = xcalloc(n, sizeof(*least));

    for (size_t i = 0; i < n; i++)
        least[i] = TITLE_MIN;
    for (size_t i = 0; i < table->cells.len; i++)
        least[i % n] = MAX(least[i % n], text_width(table->cells.at[i].text));
    for (size_t i = 0; i < n; i++)
        if (table->columns.at[i].how & COLUMN_SHRINK)
            least[i] = SHRINK_MIN;
    return least;
}

/* Take what is too much from the widest column of that kind, again and again. */
static void shrink(const struct table *table, size_t *widths, int how, size_t limit)
{
    size_t n = table->columns.len, total = total_width(widths, n);
    autofree(mem) size_t *least = least_widths(table);

    for (; total > limit; total--) {
        size_t widest = n;
        for (size_t i = 0; i < n; i++)
            if ((table->columns.at[i].how & COLUMN_SHRINK) == how && widths[i] > least[i] &&
                (widest == n || widths[i] > widths[widest]))
                widest = i;
        if (widest == n)
            return;
        widths[widest]--;
    }
}

/* Bring it to the width of the terminal, by what hurts least first. */
static void fit(const struct table *table, size_t *widths, size_t limit)
{
    leave_out(table, widths, limit);
    shrink(table, widths, COLUMN_SHRINK, limit);
    shrink(table, widths, 0, limit);
}

static void print_cell(FILE *to, const struct table_cell *cell, const struct table_column *column,
                       size_t width, bool last, bool colour)
{
    autorelease(str) struct str text = STR_INIT;
    int pad = (int)(width - str_add_fitted(&text, cell->text, width));

    if (column->how & COLUMN_RIGHT)
        fprintf(to, "%*s", pad, "");
    fprintf(to, "%s%s%s", colour_on(colour, cell->colour), text.s,
            colour_off(colour, cell->colour));
    if (!(column->how & COLUMN_RIGHT) && !last)
        fprintf(to, "%*s", pad, "");
    fprintf(to, "%*s", last ? 0 : GAP, "");
}

/* The last cell of a row that is not empty: nothing is printed after it, so no line ends in
 * spaces. */
static size_t row_end(const struct table_cell *row, const size_t *widths, size_t n)
{
    while (n > 1 && (!row[n - 1].text[0] || !widths[n - 1]))
        n--;
    return n;
}

static void print_row(const struct table *table, const struct table_cell *row, const size_t *widths,
                      FILE *to, bool colour)
{
    size_t end = row_end(row, widths, table->columns.len);
    for (size_t i = 0; i < end; i++)
        if (widths[i] || !(table->columns.at[i].how & (COLUMN_OPTIONAL | COLUMN_IF_ANY)))
            print_cell(to, &row[i], &table->columns.at[i], widths[i], i + 1 == end, colour);
    fputc('\n', to);
}

static void print_head(const struct table *table, const size_t *widths, FILE *to, bool colour)
{
    VEC(struct table_cell) head = {0};
    bool any = false;

    vec_foreach (column, &table->columns) {
        vec_push(&head, ((struct table_cell){column->title, DIM}));
        any = any || column->title[0];
    }
    if (any)
        print_row(table, head.at, widths, to, colour);
    vec_release(&head);
}

void table_print(const struct table *table, FILE *to, bool colour, int width)
{
    size_t n = table->columns.len;
    autofree(mem) size_t *widths = measure(table);

    if (width > 0)
        fit(table, widths, (size_t)width);
    print_head(table, widths, to, colour);
    for (size_t i = 0; i + n <= table->cells.len; i += n)
        print_row(table, &table->cells.at[i], widths, to, colour);
}
