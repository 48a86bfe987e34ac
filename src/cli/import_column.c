/* SPDX-License-Identifier: MIT */
/*
 * import_column.c — a parameter from the texts of its values: whole numbers, numbers or words. A
 * range is what was seen; its scale is logarithmic when it lies above 0 and spans two decades.
 */
#include "cli/import.h"

#include <errno.h>
#include <math.h>

#define CHOICES_MAX 10000

struct cells {
    const struct import_cell *at;
    size_t stride, rows;
};

static const struct import_cell *cell_of(const struct cells *cells, size_t row)
{
    return &cells->at[row * cells->stride];
}

char import_separator(const char *line, size_t n)
{
    static const char marks[] = {',', ';', '\t'};
    bool seen[ARRAY_LEN(marks)] = {false}, quoted = false;

    for (size_t i = 0; i < n && line[i] != '\n'; i++) {
        quoted ^= line[i] == '"';
        for (size_t k = 0; k < ARRAY_LEN(marks) && !quoted; k++)
            seen[k] |= line[i] == marks[k];
    }
    for (size_t k = 0; k < ARRAY_LEN(marks); k++)
        if (seen[k])
            return marks[k];
    return ',';
}

void import_decimal_comma(char *text)
{
    char *comma = strchr(text, ',');

    if (comma && !text[strspn(text, " 0123456789+-,eE")] && !strchr(comma + 1, ',') &&
        strpbrk(text, "0123456789"))
        *comma = '.';
}

bool import_cell_number(const struct import_cell *cell, double *ret)
{
    char *end;

    *ret = NAN;
    if (!*cell->text)
        return true;
    if (strspn(cell->text, " 0123456789+-.eE") != strlen(cell->text))
        return strcasecmp(cell->text, "nan") == 0 || strcasestr(cell->text, "inf") != NULL;
    *ret = strtod(cell->text, &end);
    return end > cell->text && !*end;
}

/* Are all cells of the column numbers, and whole ones? */
static bool cells_are_numbers(const struct cells *cells, bool *ret_whole)
{
    bool some = false;

    *ret_whole = true;
    for (size_t i = 0; i < cells->rows; i++) {
        const struct import_cell *cell = cell_of(cells, i);
        double x;
        if (cell->quoted || !import_cell_number(cell, &x) || (*cell->text && !isfinite(x)))
            return false;
        some |= isfinite(x);
        if (isfinite(x) && (x != floor(x) || fabs(x) > 1e15 || strpbrk(cell->text, ".eE")))
            *ret_whole = false;
    }
    return some;
}

static void add_numbers(const struct cells *cells, struct import_column *column)
{
    column->min = INFINITY;
    column->max = -INFINITY;
    for (size_t i = 0; i < cells->rows; i++) {
        double x;
        import_cell_number(cell_of(cells, i), &x);
        vec_push(&column->x, x);
        column->min = fmin(column->min, x);
        column->max = fmax(column->max, x);
    }
    column->log = column->min > 0 && column->max / column->min >= 100;
}

static int add_words(const struct cells *cells, struct import_column *column, struct err *err)
{
    for (size_t i = 0; i < cells->rows; i++) {
        const struct import_cell *cell = cell_of(cells, i);
        vec_push(&column->x, *cell->text || cell->quoted
                                 ? import_choice(column, value_guess(cell->text, cell->quoted))
                                 : NAN);
        if (column->choices.len > CHOICES_MAX)
            return err_set(err, EINVAL,
                           "'%s' has more than %d different words: leave it out by --ignore",
                           column->name, CHOICES_MAX);
    }
    return 0;
}

int import_add_column(struct import_sheet *sheet, const char *name, const struct import_cell *at,
                      size_t stride, size_t rows, struct err *err)
{
    struct cells cells = {at, stride, rows};
    bool whole;

    vec_push(&sheet->columns, ((struct import_column){.name = xstrdup(name)}));
    struct import_column *column = vec_last(&sheet->columns);
    if (cells_are_numbers(&cells, &whole)) {
        column->type = whole ? PARAM_INT : PARAM_FLOAT;
        add_numbers(&cells, column);
        return 0;
    }
    column->type = PARAM_CHOICE;
    return add_words(&cells, column, err);
}
