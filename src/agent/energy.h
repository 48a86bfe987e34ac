/* SPDX-License-Identifier: MIT */
/*
 * energy.h — joules: from RAPL, NVML and a power meter where they can be read, otherwise estimated
 * from CPU time by a stated model. Every figure says which.
 *
 *     source   covers                          files
 *     rapl     processors and their memory     energy_rapl.c
 *     nvml     the devices, each alone         energy_nvml.c
 *     pdu      all that hangs on the outlet    energy.c; the caller fetches the text
 *     model    processors, estimated           energy.c
 *
 * Meters count from their opening: a window, trial or experiment is the difference of two figures.
 * rapl and nvml may be added; pdu has both in it. energy_meter.h takes the best of them. Not
 * thread-safe; no function blocks for long.
 */
#ifndef HONE_AGENT_ENERGY_H
#define HONE_AGENT_ENERGY_H

#include "base/err.h"
#include "base/str.h"

/* ---- a figure ---- */

struct energy {
    double joules;      /* NaN: not known */
    bool measured;      /* false: estimated */
    bool apportioned;   /* a part of the machine's, by CPU time */
    const char *source; /* static: "rapl", "nvml", "pdu", "model", "rapl+nvml" and the like */
};
/* Not known, from nowhere. */
#define ENERGY_UNKNOWN                                                                             \
    {                                                                                              \
        __builtin_nan(""), false, false, "none"                                                    \
    }

/* Both together; measured only if both are. */
struct energy energy_add(struct energy a, struct energy b);
/* From `before` to `after` of one meter; unknown if it went backwards. */
struct energy energy_since(struct energy after, struct energy before);
/* The part of one program: its CPU seconds of all CPU seconds in the same time. Unknown if there
 * were none at all. */
struct energy energy_share(struct energy all, double cpu_s, double all_cpu_s);
/* "12.4 kJ measured (rapl, apportioned by CPU time)", "not known". */
void energy_format(struct energy energy, struct str *to);

/* ---- power samples ---- */

/* Watts at moments; energy between two moments is the area below the line that joins them. */
struct power_sample {
    int64_t at_us;
    double watts;
};
struct power_log {
    VEC(struct power_sample) samples; /* rising in time */
};
void power_log_release(struct power_log *log);
/* -EINVAL (and nothing is kept) unless watts is finite and not below 0 and at_us after the last. */
int power_log_add(struct power_log *log, int64_t at_us, double watts);
/* Joules of [from_us, to_us], interpolated at both ends; NaN where samples do not reach. */
double power_log_joules(const struct power_log *log, int64_t from_us, int64_t to_us);
/* Forget what is not needed for windows that begin at or after from_us. */
void power_log_trim(struct power_log *log, int64_t from_us);
/* The same as a measured figure of a meter at an outlet. */
struct energy power_log_energy(const struct power_log *log, int64_t from_us, int64_t to_us);

/* Watts in a power meter's JSON at a path: names and indices between dots ("outlets.0.power_w"). A
 * number, or a text that is one. -EINVAL with a sentence that names the step that is not there. */
int energy_pdu_watts(const char *text, size_t n, const char *path, double *ret_watts,
                     struct err *err);

/* ---- RAPL ---- */

enum rapl_kind {
    RAPL_PACKAGE, /* a processor with all in it */
    RAPL_DRAM,    /* memory, beside the package */
    RAPL_PART,    /* core, uncore: inside a package, never added */
    RAPL_PSYS,    /* the whole board: has the others in it, never added */
};
struct rapl_domain {
    char *zone, *name; /* "intel-rapl:0:1", "dram" */
    enum rapl_kind kind;
    uint64_t range_uj; /* it begins again at 0 there; 0: not told */
    uint64_t last_uj;
    uint64_t total_uj; /* since the opening */
    bool missing;      /* could not be read last time */
    char *path;        /* of energy_uj */
};
struct rapl {
    VEC(struct rapl_domain) domains; /* sorted by zone */
    bool complete;                   /* nothing counted was ever missed: the sums are whole */
};

/* The domains below `root` ("/sys/class/powercap"). -ENOENT: there is no RAPL here; -EACCES: there
 * is, but its counters may not be read; the sentence has the remedy. */
int rapl_open(const char *root, struct rapl **ret, struct err *err);
void rapl_free(struct rapl *rapl);
DEFINE_AUTOFREE(rapl);
/* Look at all counters. Must be done more than once per wrap: see rapl_interval_s. A domain that
 * cannot be read, or has no range and fell, loses that time; -EIO and a sentence name the first. */
int rapl_read(struct rapl *rapl, struct err *err);
/* Packages and memory, each once, in µJ since the opening; psys apart (0 if there is none). */
uint64_t rapl_total_uj(const struct rapl *rapl);
uint64_t rapl_psys_uj(const struct rapl *rapl);
bool rapl_has_psys(const struct rapl *rapl);
/* rapl_total_uj as a figure; unknown once a counted domain was missed. */
struct energy rapl_energy(const struct rapl *rapl);
/* Seconds within which the next read must come if a domain draws at most `watts`: half of the
 * smallest range. Infinity if no range is told. */
double rapl_interval_s(const struct rapl *rapl, double watts);

/* ---- NVML ---- */

struct gpu_meter;

/* The devices that the driver's library shows; `library` NULL: $HONE_NVML or libnvidia-ml.so.1.
 * -ENOENT with a sentence if there is no library or no device. */
int gpu_meter_open(const char *library, struct gpu_meter **ret, struct err *err);
void gpu_meter_free(struct gpu_meter *meter);
DEFINE_AUTOFREE(gpu_meter);
/* Look at every device: its energy counter (mJ) where it has one, else its power, whose samples are
 * joined by lines. now_us: monotonic. */
void gpu_meter_read(struct gpu_meter *meter, int64_t now_us);
size_t gpu_meter_count(const struct gpu_meter *meter);
/* "GPU-5a1b…" or its index. */
const char *gpu_meter_id(const struct gpu_meter *meter, size_t i);
/* Of one device since the opening; unknown if it can tell neither or was missed once. */
struct energy gpu_meter_energy(const struct gpu_meter *meter, size_t i);

/* What one device does at this moment, asked of it now. NaN: it does not tell. */
struct gpu_state {
    double busy_percent; /* of the time in which something ran on it */
    double memory_bytes; /* used */
    double watts, celsius;
};
void gpu_meter_state(const struct gpu_meter *meter, size_t i, struct gpu_state *ret);

/* ---- the model ---- */

/* joules = idle_watts · seconds · share + joules_per_cpu_s · CPU seconds. */
struct energy_model {
    double idle_watts;       /* of the machine when nothing runs */
    double joules_per_cpu_s; /* of a busy processor, above idle */
};
struct energy_row {
    double seconds, cpu_s, joules; /* all above 0, cpu_s may be 0 */
};

/* For a machine of which nothing is known: 0.74 W per processor idle, 3.5 W busy, the averages for
 * cloud servers of the Cloud Carbon Footprint method. */
struct energy_model energy_model_default(double cpus);
/* Least squares of the relative error over measured rows; neither term below 0. -EINVAL if there
 * are fewer than two rows or one is not a measurement. Rows that cannot tell the terms apart (CPU
 * seconds in proportion to seconds) give an idle power only. */
int energy_model_fit(const struct energy_row *rows, size_t n, struct energy_model *ret,
                     struct err *err);
/* Always estimated. `share`: part of the idle power that is this program's, 0 to 1. */
struct energy energy_model_predict(const struct energy_model *model, double seconds, double cpu_s,
                                   double share);

#endif
