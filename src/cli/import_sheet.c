/* SPDX-License-Identifier: MIT */
/*
 * import_sheet.c — the life of a sheet.
 */
#include "cli/import.h"

#include <math.h>

void import_sheet_release(struct import_sheet *sheet)
{
    vec_foreach (column, &sheet->columns) {
        vec_foreach (choice, &column->choices)
            value_release(choice);
        vec_release(&column->choices);
        vec_release(&column->x);
        free(column->name);
    }
    vec_foreach (row, &sheet->rows) {
        vec_release(&row->curve);
        vec_foreach (summary, &row->metrics)
            free((char *)summary->metric);
        vec_release(&row->metrics);
        free(row->values);
        free(row->path);
        free(row->label);
    }
    vec_foreach (objective, &sheet->objectives)
        free(objective->metric);
    vec_release(&sheet->columns);
    vec_release(&sheet->rows);
    vec_release(&sheet->objectives);
    vec_foreach (constraint, &sheet->constraints)
        free(constraint->metric);
    vec_release(&sheet->constraints);
    str_release(&sheet->notes);
    free(sheet->name);
    free(sheet->from);
}

struct import_row *import_add_row(struct import_sheet *sheet, size_t n_values)
{
    struct import_row row = {.values = xcalloc(n_values + 1, sizeof(double))};
    for (size_t i = 0; i < n_values; i++)
        row.values[i] = NAN;
    vec_push(&sheet->rows, row);
    return vec_last(&sheet->rows);
}

double import_choice(struct import_column *column, struct value value)
{
    for (size_t i = 0; i < column->choices.len; i++)
        if (value_equal(&column->choices.at[i], &value)) {
            value_release(&value);
            return (double)i;
        }
    vec_push(&column->choices, value);
    return (double)(column->choices.len - 1);
}
