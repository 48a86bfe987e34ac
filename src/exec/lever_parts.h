/* SPDX-License-Identifier: MIT */
/*
 * lever_parts.h — what the files of lever share.
 */
#ifndef HONE_LEVER_PARTS_H
#define HONE_LEVER_PARTS_H

#include "exec/lever.h"

struct lever {
    char *dir;    /* NULL: the machine's */
    pid_t keeper; /* we ourselves, for the machine's */
    uint64_t keeper_start;
    enum cgroup_kind kind;
    char *tree;         /* the folder that holds the attempt; NULL: none, or the machine's */
    char *home;         /* the folder above; NULL: none */
    char *memory;       /* v1 folder of its memory limit; NULL: none */
    char *name;         /* "hone-HOME.ATTEMPT": its v1 folders; NULL: none are made */
    bool limits_memory; /* machine: an attempt with a limit will have a cgroup for it */
    char *cgroup_root, *cpu_root;
};

/* One kind of lever. `want` was asked for; `notes` gets what is otherwise than asked. */
struct lever_ops {
    const char *name;
    bool (*possible)(const struct lever *lever, struct str *how);
    int (*apply)(const struct lever *lever, const struct lever_values *want, struct str *notes,
                 struct err *err);
    int (*read)(const struct lever *lever, struct lever_values *ret); /* 0, or it is not known */
};
extern const struct lever_ops lever_ops_cpus, lever_ops_quota, lever_ops_memory, lever_ops_nice,
    lever_ops_frequency;

/* Small files of the kernel. Any of them may be missing; text and numbers are capped. */
int folder_put(const char *folder, const char *name, const char *text);
int folder_get(const char *folder, const char *name, struct str *to);
int folder_get_number(const char *folder, const char *name, int64_t *ret);
bool folder_has(const char *folder, const char *name);
/* Is `word` in the file, between spaces or line ends? */
bool folder_names(const char *folder, const char *name, const char *word);

/* --- lever_tree.c: the processes and threads below the keeper. */
struct tree_thread {
    pid_t pid, tid;
};
struct tree_threads {
    VEC(struct tree_thread) list;
};
void tree_threads_find(const struct lever *lever, struct tree_threads *ret);
void tree_threads_release(struct tree_threads *threads);
/* Bring a thread to what is wanted: 1 if it had to be changed, 0 if not, or -errno. */
typedef int tree_act_fn(const struct tree_thread *thread, void *arg);
/* Act on all, until passes over the whole tree find nobody whom it would change. 0, -ESRCH if
 * there is none, -EAGAIN if it does not come to rest, or what `act` said (not -ESRCH). */
int tree_each(const struct lever *lever, tree_act_fn *act, void *arg);

/* --- lever_cgroup.c: the folder by which a controller acts on the attempt. */
struct controller {
    const char *name;     /* "cpu" */
    const char *v2_file;  /* that proves it: "cpu.max" */
    const char *v1_file;  /* "cpu.cfs_quota_us" */
    int version;          /* 2, 1; 0: none */
    char *folder, *above; /* it may not exist yet; what is above it exists */
    char *why;            /* version 0: what is missing and what would help */
};
/* Fill in version and the rest; changes nothing. False if there is none. */
bool controller_find(const struct lever *lever, struct controller *controller);
void controller_release(struct controller *controller);
/* Make the folder ready to be written to. */
int controller_begin(const struct lever *lever, struct controller *controller, struct err *err);
/* The one of processor time, to be found. */
struct controller cpu_controller(void);
/* Get the whole tree into it (v2: it is there already). */
int controller_enter(const struct lever *lever, struct controller *controller, struct err *err);

/* --- lever_frequency.c: dir/levers, what is to be taken back when the attempt has ended. */
int levers_note_folder(const char *dir, const char *folder, struct err *err);
/* What the cpus' highest frequency was before we changed it; cpu, kHz. */
struct frequency_note {
    size_t cpu;
    uint64_t khz;
};
struct levers_notes {
    VEC(char *) folders;
    VEC(struct frequency_note) frequencies;
};
int levers_notes_load(const char *dir, struct levers_notes *ret, struct err *err);
int levers_notes_save(const char *dir, const struct levers_notes *notes, struct err *err);
void levers_notes_release(struct levers_notes *notes);
/* Write them back; those that cannot be written are gone with their processor. */
void frequencies_restore(const char *cpu_root, struct levers_notes *notes);
/* Make the tree's cgroup of processor time, if it has one, as nice as the program is. */
void nice_follow(const struct lever *lever);
/* Cap the processors that the tree may use now as those before were. */
int frequency_follow(const struct lever *lever, struct str *notes, struct err *err);

#endif
