/* SPDX-License-Identifier: MIT */
/*
 * prometheus.c — a table of families, each with the function that adds its samples.
 *
 * A scraper takes a whole page or none of it. So whatever a program calls its metrics, this is
 * always true: a family's samples stand together below its HELP and TYPE, no two of them have the
 * same labels, and every label is UTF-8 with its quotes escaped.
 */
#include "api/prometheus.h"

#include "base/map.h"

#include <math.h>

struct family;

/* The page, and the labels of the sample that is being added. */
struct page {
    const struct family *family;
    struct str *to;
    struct str labels;
    struct map_text seen; /* labels of this family's samples */
};

struct family {
    const char *name, *type, *help;
    void (*add)(const struct prometheus_view *view, struct page *page);
};

/* Bytes that are no text become '?'. */
static void add_escaped(struct str *to, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\\\"\n");
        str_add_printable(to, text, n);
        text += n;
        if (*text == '\0')
            return;
        str_add_char(to, '\\');
        str_add_char(to, *text == '\n' ? 'n' : *text);
        text++;
    }
}

static void label(struct page *page, const char *name, const char *value)
{
    struct str *labels = &page->labels;

    str_addf(labels, "%s%s=\"", labels->len ? "," : "", name);
    add_escaped(labels, value);
    str_add_char(labels, '"');
}

static void label_number(struct page *page, const char *name, int64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%lld", (long long)number);
    label(page, name, text);
}

static void add_value(struct str *to, double value)
{
    if (isnan(value))
        str_add(to, "NaN");
    else if (isinf(value))
        str_add(to, value > 0 ? "+Inf" : "-Inf");
    else
        str_add_double(to, value);
}

/* With the labels that were gathered; one that is there already is left out. */
static void sample(struct page *page, double value)
{
    struct str *labels = &page->labels;

    if (!map_text_find(&page->seen, labels->s)) {
        map_text_put(&page->seen, labels->s, page);
        str_add(page->to, page->family->name);
        if (labels->len)
            str_addf(page->to, "{%s}", labels->s);
        str_add_char(page->to, ' ');
        add_value(page->to, value);
        str_add_char(page->to, '\n');
    }
    str_cut(labels, 0);
}

/* ---- the engine ---- */

static void add_up(const struct prometheus_view *view UNUSED, struct page *page)
{
    sample(page, 1);
}

static void add_version(const struct prometheus_view *view, struct page *page)
{
    label(page, "version", view->version);
    sample(page, 1);
}

static void add_start(const struct prometheus_view *view, struct page *page)
{
    sample(page, (double)view->started_us / 1e6);
}

/* ---- experiments and trials ---- */

/* Names may come again; the number does not. */
static void label_experiment(struct page *page, const struct prometheus_experiment *experiment)
{
    label(page, "experiment", experiment->name);
    label_number(page, "id", experiment->id);
}

static void add_states(const struct prometheus_view *view, struct page *page)
{
    for (size_t i = 0; i < view->n_experiments; i++) {
        label_experiment(page, &view->experiments[i]);
        label(page, "state", experiment_state_name(view->experiments[i].state));
        sample(page, 1);
    }
}

static void add_trials(const struct prometheus_view *view, struct page *page)
{
    for (size_t i = 0; i < view->n_experiments; i++) {
        for (size_t state = 0; state < TRIAL_STATES; state++) {
            label_experiment(page, &view->experiments[i]);
            label(page, "state", trial_state_name((enum trial_state)state));
            sample(page, (double)view->experiments[i].trials[state]);
        }
    }
}

static void add_best(const struct prometheus_view *view, struct page *page)
{
    for (size_t i = 0; i < view->n_experiments; i++) {
        const struct prometheus_experiment *experiment = &view->experiments[i];
        if (!experiment->objective || isnan(experiment->best))
            continue;
        label_experiment(page, experiment);
        label(page, "metric", experiment->objective);
        sample(page, experiment->best);
    }
}

static void add_trial(const struct prometheus_experiment *experiment,
                      const struct prometheus_trial *trial, struct page *page)
{
    for (size_t i = 0; i < trial->n_metrics; i++) {
        label_experiment(page, experiment);
        label_number(page, "trial", trial->number);
        label(page, "metric", trial->metrics[i].name);
        sample(page, trial->metrics[i].value);
    }
}

static void add_metrics(const struct prometheus_view *view, struct page *page)
{
    for (size_t i = 0; i < view->n_experiments; i++)
        for (size_t trial = 0; trial < view->experiments[i].n_running; trial++)
            add_trial(&view->experiments[i], &view->experiments[i].running[trial], page);
}

/* ---- the machine ---- */

static void add_figures(const struct prometheus_view *view, struct page *page)
{
    static const char prefix[] = "system/";

    for (size_t i = 0; i < view->n_figures; i++) {
        const char *name = view->figures[i].name;
        label(page, "figure", str_starts(name, prefix) ? name + strlen(prefix) : name);
        sample(page, view->figures[i].value);
    }
}

/* ---- what comes from outside ---- */

#define INGEST(member)                                                                             \
    static void add_##member(const struct prometheus_view *view, struct page *page)                \
    {                                                                                              \
        if (view->ingest)                                                                          \
            sample(page, (double)view->ingest->member);                                            \
    }
INGEST(requests)
INGEST(lines)
INGEST(values)
INGEST(bytes)
INGEST(rejected)
INGEST(datagrams)
INGEST(dropped)
INGEST(cut)

/* ---- the page ---- */

static const struct family families[] = {
    {"hone_up", "gauge", "The engine runs.", add_up},
    {"hone_info", "gauge", "Which Hone this is.", add_version},
    {"hone_start_time_seconds", "gauge", "When the engine began, since 1970.", add_start},
    {"hone_experiment_state", "gauge", "1 for the state that each experiment is in.", add_states},
    {"hone_trials", "gauge", "Trials of each experiment by state.", add_trials},
    {"hone_best_value", "gauge", "Best value of the objective so far.", add_best},
    {"hone_metric", "gauge", "Last value of each metric of running trials.", add_metrics},
    {"hone_system", "gauge", "Figures of the machine, in the units of docs/system.md.",
     add_figures},
    {"hone_ingest_requests_total", "counter", "Writes over HTTP.", add_requests},
    {"hone_ingest_lines_total", "counter", "Lines taken in, over HTTP and UDP.", add_lines},
    {"hone_ingest_values_total", "counter", "Values taken in.", add_values},
    {"hone_ingest_bytes_total", "counter", "Bytes taken in, inflated.", add_bytes},
    {"hone_ingest_rejected_lines_total", "counter", "Lines that were not understood.",
     add_rejected},
    {"hone_udp_datagrams_total", "counter", "Datagrams taken in.", add_datagrams},
    {"hone_udp_dropped_datagrams_total", "counter",
     "Datagrams that the kernel dropped because its buffer was full.", add_dropped},
    {"hone_udp_cut_datagrams_total", "counter",
     "Datagrams longer than one may be, which were not taken in.", add_cut},
};

static void add_family(const struct prometheus_view *view, const struct family *family,
                       struct str *to)
{
    struct page page = {.family = family, .to = to, .labels = STR_INIT, .seen = MAP_TEXT_INIT};
    size_t before = to->len;

    str_addf(to, "# HELP %s %s\n# TYPE %s %s\n", family->name, family->help, family->name,
             family->type);
    size_t header = to->len;
    family->add(view, &page);
    if (to->len == header)
        str_cut(to, before);
    str_release(&page.labels);
    map_text_release(&page.seen);
}

void prometheus_text(const struct prometheus_view *view, struct str *to)
{
    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        add_family(view, &families[i], to);
}
