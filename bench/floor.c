/* SPDX-License-Identifier: MIT */
/*
 * floor.c — the least that running programs can cost: a bare loop of fork, exec and wait.
 *
 *     floor COUNT SIDE PROGRAM [ARGUMENT...]
 *
 * Runs PROGRAM COUNT times, SIDE of them at a time, and records nothing. What any other runner
 * takes is told as a multiple of this one. Each run gets --i=N behind its arguments, as the trials
 * that it is compared with do. Exits with 1 if one of them failed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void start(char **argv, char *number, size_t size, long i)
{
    snprintf(number, size, "--i=%ld", i);
    pid_t pid = fork();
    if (pid < 0) {
        perror("floor: fork");
        exit(2);
    }
    if (pid > 0)
        return;
    execv(argv[0], argv);
    _exit(127);
}

static int wait_one(void)
{
    int status = 0;
    return wait(&status) > 0 && status == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    char number[32];
    int failed = 0;

    if (argc < 4) {
        fputs("usage: floor COUNT SIDE PROGRAM [ARGUMENT...]\n", stderr);
        return 2;
    }
    long count = strtol(argv[1], NULL, 10), side = strtol(argv[2], NULL, 10), running = 0;
    char **command = calloc((size_t)argc, sizeof(*command));
    if (!command)
        return 2;
    for (int i = 3; i < argc; i++)
        command[i - 3] = argv[i];
    command[argc - 3] = number;
    for (long i = 0; i < count; i++) {
        if (running == side) {
            failed |= wait_one();
            running--;
        }
        start(command, number, sizeof(number), i);
        running++;
    }
    for (; running; running--)
        failed |= wait_one();
    free(command);
    return failed;
}
