/* SPDX-License-Identifier: MIT */
/*
 * width.c — `parallel: auto` on the simulated machine against the best fixed width, which is found
 * by running all of them.
 *
 *     width [SEEDS]       a line of a table for each scene; worst over the seeds
 */
#include "linalg/linalg.h"
#include "tests/sim/machine_width.h"

#include <err.h>
#include <math.h>

#define GOAL 0.95

int main(int argc, char **argv)
{
    uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 5;
    struct err err = ERR_INIT;
    bool reached = true;

    if (linalg_open(&err) < 0)
        errx(1, "%s", err_text(&err));
    printf("| machine | program | best fixed | its runs an hour | auto | of the best | changes | "
           "seconds over the memory |\n|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < width_scene_count; i++) {
        const struct width_scene *scene = &width_scenes[i];
        struct width_outcome ours = {0}, fixed = {0};
        double least = INFINITY;
        size_t best = 0, over = 0;
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            best = width_scene_best(scene, seed, &fixed);
            ours = width_scene_run(scene, 0, seed);
            least = fmin(least, ours.runs_an_hour / fixed.runs_an_hour);
            over += ours.over;
        }
        printf("| %s | %s | %zu | %.0f | %zu | %.1f %% | %zu | %zu |\n", scene->name,
               scene->program.name, best, fixed.runs_an_hour, ours.last, 100 * least, ours.changes,
               over);
        reached &= least >= GOAL && over == 0;
    }
    printf("\nLeast of %llu seeds; goal ≥ 95 %% and never over the memory: %s.\n",
           (unsigned long long)seeds, reached ? "yes" : "**no**");
    return 0;
}
