/* SPDX-License-Identifier: MIT */
/*
 * doctor.c — hone doctor: what this machine allows, and what Hone does about what is missing. Each
 * check is a row; it may say ok, missing (Hone gets along without) or wrong (it does not work).
 */
#include "agent/agent.h"
#include "agent/counters.h"
#include "agent/energy_meter.h"
#include "agent/pdu.h"
#include "base/fs.h"
#include "cli/doctor.h"
#include "cli/output.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#define DISK_LOW (1ULL << 30)

enum verdict { VERDICT_OK, VERDICT_MISSING, VERDICT_WRONG };
static const char *const verdict_names[] = {"ok", "missing", "wrong"};
static const enum colour verdict_colours[] = {GREEN, YELLOW, RED};

/* What is checked, and by the checks alone. */
struct patient {
    const char *home;
    char *folder; /* of the home, or the nearest one above it that exists */
    struct machine machine;
};

/* Look; write what was found and, if not ok, what Hone does about it. */
typedef enum verdict check_fn(const struct patient *patient, struct str *found);

/* ---- the home ---- */

static char *existing_folder(const char *path)
{
    char *folder = xstrdup(path);
    while (!fs_is_dir(folder)) {
        char *slash = strrchr(folder, '/');
        if (!slash || slash == folder)
            break;
        *slash = '\0';
    }
    return folder;
}

static enum verdict check_home(const struct patient *patient, struct str *found)
{
    if (access(patient->folder, W_OK) < 0) {
        str_addf(found, "%s: %s; choose another with --home or HONE_HOME", patient->home,
                 strerror(errno));
        return VERDICT_WRONG;
    }
    str_addf(found, "%s%s", patient->home,
             str_eq(patient->home, patient->folder) ? "" : " (made by the first run)");
    return VERDICT_OK;
}

static enum verdict check_database(const struct patient *patient, struct str *found)
{
    autofree(store) struct store *store = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int r = store_open_read(patient->home, &store, &err);

    if (r == -ENOENT) {
        str_add(found, "none yet");
        return VERDICT_OK;
    }
    if (r == 0)
        r = store_check(store, &err);
    str_add(found, r < 0 ? err_text(&err) : "whole");
    return r < 0 ? VERDICT_WRONG : VERDICT_OK;
}

static enum verdict check_file_system(const struct patient *patient, struct str *found)
{
    if (!fs_is_network(patient->folder)) {
        str_add(found, "local");
        return VERDICT_OK;
    }
    str_add(found, "the home is on a network file system: only one machine may use it at a time; "
                   "a local --home is faster");
    return VERDICT_MISSING;
}

static enum verdict check_disk(const struct patient *patient, struct str *found)
{
    uint64_t free_bytes = fs_free_bytes(patient->folder);

    str_add_size(found, free_bytes);
    str_add(found, " free");
    if (free_bytes >= DISK_LOW)
        return VERDICT_OK;
    str_add(found, "; trials wait when the disk is full, 'hone gc' frees some");
    return VERDICT_MISSING;
}

static enum verdict check_engine(const struct patient *patient, struct str *found)
{
    str_add(found,
            home_has_engine(patient->home) ? "running; 'hone run' joins it" : "none is running");
    return VERDICT_OK;
}

/* ---- the machine ---- */

static enum verdict check_cpus(const struct patient *patient, struct str *found)
{
    str_add_number(found, patient->machine.cpus);
    str_add(found, " for trials");
    return VERDICT_OK;
}

static enum verdict check_memory(const struct patient *patient, struct str *found)
{
    str_add_size(found, patient->machine.mem_bytes);
    return VERDICT_OK;
}

static enum verdict check_cgroups(const struct patient *patient UNUSED, struct str *found)
{
    struct cgroup_plan plan;
    cgroup_plan_init(&plan, "/sys/fs/cgroup");
    enum verdict verdict = plan.kind == CGROUP_NONE ? VERDICT_MISSING : VERDICT_OK;

    str_add(found, plan.why ? plan.why : "none");
    if (verdict == VERDICT_MISSING)
        str_add(found, "; trees of processes are followed by their environment, memory is summed "
                       "by the keeper");
    else if (!plan.limits_memory)
        str_add(found, "; memory limits are kept by the keeper");
    cgroup_plan_release(&plan);
    return verdict;
}

static enum verdict check_counters(const struct patient *patient UNUSED, struct str *found)
{
    autofree(counters) struct counters *counters = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct counters_options options = {.pid = getpid()};
    struct counts counts;

    if (counters_open(&options, &counters, &err) < 0) {
        str_add(found, err_text(&err));
        return VERDICT_MISSING;
    }
    counters_read(counters, 0, &counts);
    str_add(found, counters_explain(counters));
    if (!isnan(counts.values[COUNTER_CYCLES]))
        return VERDICT_OK;
    str_add(found, "; workloads are told apart by how they respond");
    return VERDICT_MISSING;
}

/* "; the power meter at http://… says 150 W" */
static enum verdict check_power_meter(const char *url, struct str *found)
{
    const char *path = getenv("HONE_PDU_PATH");
    autorelease(err) struct err err = ERR_INIT;
    double watts;

    str_addf(found, "; the power meter at %s ", url);
    if (pdu_probe(url, path ? path : "", &watts, &err) < 0) {
        str_addf(found, "does not help: %s", err_text(&err));
        return VERDICT_MISSING;
    }
    str_add(found, "says ");
    str_add_number(found, watts);
    str_add(found, " W");
    return VERDICT_OK;
}

static enum verdict check_energy(const struct patient *patient, struct str *found)
{
    struct energy_meter_options options = {.powercap = getenv("HONE_POWERCAP"),
                                           .model = energy_model_default(patient->machine.cpus)};
    autofree(energy_meter) struct energy_meter *meter = energy_meter_new(&options, 0);
    const char *url = getenv("HONE_PDU");

    str_add(found, energy_meter_explain(meter));
    if (url && *url)
        return check_power_meter(url, found);
    return energy_meter_host(meter).measured ? VERDICT_OK : VERDICT_MISSING;
}

static enum verdict check_gpus(const struct patient *patient, struct str *found)
{
    if (patient->machine.n_gpus > 0) {
        str_addf(found, "%d", patient->machine.n_gpus);
        return VERDICT_OK;
    }
    str_add(found, "none by NVML; trials with gpus: 0 run, others are refused");
    return VERDICT_MISSING;
}

/* ---- programs ---- */

static char *in_path(const char *program)
{
    autofree(mem) char *path = xstrdup(getenv("PATH") ? getenv("PATH") : "");

    for (char *rest = path, *folder; (folder = strsep(&rest, ":"));) {
        autofree(mem) char *full = xasprintf("%s/%s", folder, program);
        if (*folder && access(full, X_OK) == 0)
            return TAKE(full);
    }
    return NULL;
}

static enum verdict check_program(const char *program, const char *otherwise, struct str *found)
{
    autofree(mem) char *path = in_path(program);
    str_add(found, path ? path : otherwise);
    return path ? VERDICT_OK : VERDICT_MISSING;
}

static enum verdict check_git(const struct patient *patient UNUSED, struct str *found)
{
    return check_program("git", "not installed; the code is recorded without commit and branch",
                         found);
}

static enum verdict check_python(const struct patient *patient UNUSED, struct str *found)
{
    return check_program("python3", "not installed; only needed by programs written in it", found);
}

static enum verdict check_systemd(const struct patient *patient UNUSED, struct str *found)
{
    if (fs_is_dir("/run/systemd/system")) {
        str_add(found, "running");
        return VERDICT_OK;
    }
    str_add(found, "not running; a plain user gets no delegated cgroup");
    return VERDICT_MISSING;
}

static const struct {
    const char *name;
    check_fn *check;
} checks[] = {
    {"home", check_home},     {"database", check_database}, {"file system", check_file_system},
    {"disk", check_disk},     {"engine", check_engine},     {"cpus", check_cpus},
    {"memory", check_memory}, {"cgroups", check_cgroups},   {"counters", check_counters},
    {"energy", check_energy}, {"gpus", check_gpus},         {"git", check_git},
    {"python", check_python}, {"systemd", check_systemd},
};

static void put_row(struct json_out *out, const char *name, enum verdict verdict, const char *found)
{
    json_begin_object(out);
    json_put_text(out, "check", name);
    json_put_text(out, "verdict", verdict_names[verdict]);
    json_put_text(out, "found", found);
    json_end_object(out);
}

static void add_row(struct table *table, struct json_out *out, const char *name,
                    enum verdict verdict, const char *found)
{
    put_row(out, name, verdict, found);
    table_add(table, PLAIN, name);
    table_add(table, verdict_colours[verdict], verdict_names[verdict]);
    table_add(table, PLAIN, found);
}

/* What Hone can change about a running trial from outside, and how. */
static void examine_levers(struct table *table, struct json_out *out)
{
    struct cgroup_plan plan;
    cgroup_plan_init(&plan, "/sys/fs/cgroup");
    autofree(lever) struct lever *lever = lever_open_machine(&plan, NULL);

    for (size_t i = 0; i < LEVER_KINDS; i++) {
        autorelease(str) struct str how = STR_INIT;
        autofree(mem) char *name = xasprintf("lever %s", lever_name((enum lever_kind)i));
        bool possible = lever_possible(lever, (enum lever_kind)i, &how);
        add_row(table, out, name, possible ? VERDICT_OK : VERDICT_MISSING, how.s);
    }
    cgroup_plan_release(&plan);
}

static enum verdict examine(const struct patient *patient, struct table *table,
                            struct json_out *out)
{
    enum verdict worst = VERDICT_OK;

    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        autorelease(str) struct str found = STR_INIT;
        enum verdict verdict = checks[i].check(patient, &found);
        worst = MAX(worst, verdict);
        add_row(table, out, checks[i].name, verdict, found.s);
    }
    examine_levers(table, out);
    return worst;
}

static const struct cmd_option options[] = {
    {"store", 0, NULL, "read every byte of what is kept, and name what is wrong"},
    {NULL, 0, NULL, NULL},
};

static int run(struct cmd_call *call)
{
    if (cmd_flag(call, "store"))
        return doctor_store(call);
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = JSON_OUT(&json);
    struct table table = TABLE_INIT;
    struct patient patient = {.home = call->home, .folder = existing_folder(call->home)};

    machine_probe(&patient.machine);
    for (int i = 0; i < 3; i++)
        table_column(&table, "", COLUMN_LEFT);
    json_begin_array(&out);
    enum verdict worst = examine(&patient, &table, &out);
    json_end_array(&out);
    if (call->json)
        output_line(&json);
    else
        table_print(&table, stdout, call->colour, 0);
    table_release(&table);
    machine_release(&patient.machine);
    free(patient.folder);
    return worst == VERDICT_WRONG ? CMD_FAILED : CMD_OK;
}

const struct cmd cmd_doctor = {
    .name = "doctor",
    .args = "",
    .help = "what this machine allows, and what is done about the rest",
    .details =
        "ok: it is there. missing: Hone gets along without it, the line says how. wrong: it does "
        "not work like this; the exit code is then 1. --store looks at the home instead.",
    .options = options,
    .run = run,
};
