/* SPDX-License-Identifier: MIT */
/*
 * c_test.c — sdk/c against files made here: what it reads of parameters and control page, what it
 * writes. Every program under test is a child of its own, since the SDK looks at its environment
 * once.
 */
#include "tests/test.h"

#include "base/fs.h"
#include "exec/state_file.h"
#include "hone.h"
#include "hone_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

_Static_assert(sizeof(struct hone_page) == sizeof(struct control_page), "one layout");
_Static_assert(offsetof(struct hone_page, json) == offsetof(struct control_page, json),
               "one layout");

static char dir[64];
static struct control_page *page;

static char *path_of(const char *name)
{
    return xasprintf("%s/%s", dir, name);
}

static void put_file(const char *name, const char *text)
{
    autofree(mem) char *path = path_of(name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    autofree(mem) char *variable = xasprintf("HONE_%s", name);
    setenv(variable, path, 1);
}

/* As the agent writes it: odd, text, even. */
static void put_page(uint64_t generation, const char *json)
{
    __atomic_store_n(&page->generation, generation - 1, __ATOMIC_RELEASE);
    memcpy(page->json, json, strlen(json));
    page->length = strlen(json);
    __atomic_store_n(&page->generation, generation, __ATOMIC_RELEASE);
}

static void begin(void)
{
    snprintf(dir, sizeof(dir), "/tmp/hone-sdk-XXXXXX");
    assert_non_null(mkdtemp(dir));
    unsetenv("HONE_PARAMS");
    unsetenv("HONE_METRICS");
    unsetenv("HONE_CONTROL");
    unsetenv("HONE_SYSTEM");
    unsetenv("HONE_CHECKPOINT");
    unsetenv("HONE_CHECKPOINT_DIR");
    unsetenv("HONE_ATTEMPT");
}

static void begin_with_hone(void)
{
    begin();
    put_file("CONTROL", "");
    autofree(mem) char *control = path_of("CONTROL"), *metrics = path_of("METRICS");
    assert_int_equal(truncate(control, STATE_FILE_SIZE), 0);
    autoclose int fd = open(control, O_RDWR | O_CLOEXEC);
    page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(page != MAP_FAILED);
    page->version = 1;
    put_page(2, "{}");
    setenv("HONE_METRICS", metrics, 1);
}

static void end(void)
{
    if (page)
        munmap(page, sizeof(*page));
    page = NULL;
    fs_remove_tree(dir, NULL);
}

/* Run it as a program of its own; its standard output goes to the file OUT. */
static int run(void (*program)(void))
{
    autofree(mem) char *out = path_of("OUT");
    int status;
    fflush(stdout);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (!freopen(out, "w", stdout))
            _exit(99);
        program();
        fflush(stdout);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static char *read_back(const char *name)
{
    autofree(mem) char *path = path_of(name);
    struct str text = STR_INIT;
    fs_read(path, 1 << 20, &text, NULL);
    return str_take(&text);
}

/* The lines without their timestamps, which must be there. */
static char *lines_of(char *text)
{
    struct str to = STR_INIT;
    for (char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        size_t keep = n;
        while (keep > 0 && line[keep - 1] != ' ')
            keep--;
        assert_true(n - keep == 19);
        str_add_n(&to, line, keep - 1);
        str_add(&to, "\n");
        line += n + (line[n] == '\n');
    }
    free(text);
    return str_take(&to);
}

#define NEED(truth)                                                                                \
    do {                                                                                           \
        if (!(truth)) {                                                                            \
            fprintf(stderr, "# %d: %s\n", __LINE__, #truth);                                       \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void reads_params(void)
{
    NEED(hone_param_double("lr", 9) == 1e-3);
    NEED(hone_param_double("big", 9) == INFINITY);
    NEED(hone_param_int("batch", 9) == 32);
    NEED(hone_param_int("float", 9) == 1000);
    NEED(hone_param_int("half", 9) == 9);
    NEED(hone_param_int("exact", 9) == 9007199254740993);
    NEED(hone_param_double("batch", 9) == 32);
    NEED(hone_param_bool("on", false) && !hone_param_bool("off", true));
    NEED(str_eq(hone_param_text("name", ""), "a\"b/\xc3\xa4\xf0\x9f\x98\x80\n"));
    NEED(str_eq(hone_param_text("lr", ""), "1e-3"));
    NEED(hone_param_double("none", 9) == 9 && hone_param_double("missing", 7) == 7);
    NEED(hone_param_int("after", 0) == 5);
}

TEST(parameters_are_read_with_their_kinds)
{
    begin();
    put_file("PARAMS", "{\"lr\": 1e-3, \"batch\":32, \"big\":\"inf\",\"float\":1e3 , \"half\":0.5,"
                       "\"exact\":9007199254740993, \"on\":true,\"off\":false,\"none\":null,"
                       "\"name\":\"a\\\"b\\/\\u00e4\\ud83d\\ude00\\n\","
                       "\"nested\":{\"lr\":[1,\"]\"]},\"after\":5}\n");
    assert_int_equal(run(reads_params), 0);
    end();
}

static void goes_on_alone(void)
{
    NEED(hone_param_double("lr", 0.1) == 0.1);
    NEED(str_eq(hone_param_text("act", "relu"), "relu"));
    int n = 0;
    hone_epochs(epoch, 2)
    {
        NEED(hone_log(epoch, {"loss", 0.41}, {"acc", n++}) == 0);
        NEED(!hone_should_stop());
    }
    NEED(n == 2 && hone_checkpoint() == NULL);
    NEED(hone_log(HONE_STEP_NOW, {"done", 1}) == 0);
}

TEST(without_hone_a_program_prints_and_goes_on)
{
    begin();
    assert_int_equal(run(goes_on_alone), 0);
    autofree(mem) char *out = read_back("OUT");
    assert_string_equal(out, "step 0 loss 0.41 acc 0\nstep 1 loss 0.41 acc 1\nstep 1 done 1\n");
    end();
}

static void logs(void)
{
    setlocale(LC_ALL, "");
    NEED(hone_log(HONE_STEP_NOW, {"early", 1.5}) == 0);
    NEED(hone_log(3, {"loss", 0.1}, {"third", 1.0 / 3}, {"a b,c=d", -2}) == 0);
    NEED(hone_log(4, {"x", NAN}, {"y", INFINITY}, {"z", -INFINITY}, {"", 1}, {NULL, 1}) == 0);
    NEED(hone_log(5, {"bad\\\"\n", 5e-324}) == 0);
}

TEST(logged_doubles_arrive_exactly_one_line_a_call)
{
    begin_with_hone();
    assert_int_equal(run(logs), 0);
    autofree(mem) char *lines = lines_of(read_back("METRICS"));
    assert_string_equal(lines, "hone generation=2i\n"
                               "train early=1.5\n"
                               "train loss=0.1,third=0.3333333333333333,a\\ b\\,c\\=d=-2,step=3i\n"
                               "train x=nan,y=inf,z=-inf,step=4i\n"
                               "train bad___=4.94066e-324,step=5i\n");
    end();
}

static void logs_many(void)
{
    struct hone_metric metrics[2000];
    char names[2000][24];
    for (int i = 0; i < 2000; i++) {
        snprintf(names[i], sizeof(names[i]), "metric%d", i);
        metrics[i] = (struct hone_metric){names[i], i};
    }
    NEED(hone_log_n(1, metrics, 2000) == 0);
}

TEST(many_metrics_go_into_several_lines_of_one_step)
{
    begin_with_hone();
    unsetenv("HONE_CONTROL");
    assert_int_equal(run(logs_many), 0);
    autofree(mem) char *lines = lines_of(read_back("METRICS"));
    size_t values = 0, steps = 0;
    for (char *p = lines; (p = strstr(p, "metric")); p++)
        values++;
    for (char *p = lines; (p = strstr(p, ",step=1i\n")); p++)
        steps++;
    assert_int_equal(values, 2000);
    assert_true(steps > 1);
    end();
}

static void asks_each_step(void)
{
    NEED(hone_step(1) && !hone_checkpoint_asked());
    put_page(4, "{\"configuration\":{\"stop\":true},\"checkpoint\":true}");
    NEED(hone_step(2) && hone_step(3));
    NEED(hone_checkpoint_asked() && !hone_checkpoint_asked());
    page->generation = 5; /* being written: not to be read */
    NEED(hone_step(4));
    put_page(6, "{\"stop\": true}");
    NEED(hone_log(7, {"loss", 1}) == 0); /* logging tells the program nothing, so answers nothing */
    NEED(!hone_step(8) && hone_should_stop());
    put_page(8, "{\"stop\": false}");
    NEED(!hone_should_stop());
}

TEST(a_generation_is_answered_once_and_only_when_the_program_was_told)
{
    begin_with_hone();
    assert_int_equal(run(asks_each_step), 0);
    autofree(mem) char *lines = lines_of(read_back("METRICS"));
    assert_string_equal(lines, "hone generation=2i,step=1i\n"
                               "hone generation=4i,step=2i\n"
                               "train loss=1,step=7i\n"
                               "hone generation=6i,step=8i\n"
                               "hone generation=8i,step=8i\n");
    end();
}

static void follows_the_system(void)
{
    NEED(hone_system_int("threads", 9) == 3 && hone_system_int("interop", 9) == 9);
    put_page(
        4,
        "{\"system\": {\"threads\": 2, \"odd\": [{\"threads\": 7}, \"}\\\"\"], \"share\": 0.25}, "
        "\"checkpoint\": true }");
    NEED(hone_step(1) && hone_checkpoint_asked());
    NEED(hone_system_int("threads", 9) == 2 && hone_system_double("share", 9) == 0.25);
    NEED(hone_system_int("share", 9) == 9 && hone_system_double("odd", 9) == 9);
    put_page(6, "{\"stop\": true}"); /* silent about the system: it stays */
    NEED(!hone_step(2) && hone_system_int("threads", 9) == 2);
    put_page(8, "{\"system\": {\"threads\": 1}}"); /* no step between: asking hears it too */
    NEED(hone_system_int("threads", 9) == 1 && hone_system_double("share", 9) == 9);
    put_page(10, "{\"system\": [1, 2]}");
    NEED(hone_step(3) && hone_system_int("threads", 9) == 1);
    put_page(12, "{\"system\": {\"threads\": 4");
    NEED(hone_step(4) && hone_system_int("threads", 9) == 1);
}

TEST(the_machines_settings_follow_the_page_and_are_answered)
{
    begin_with_hone();
    setenv("HONE_SYSTEM", "{\"threads\": 3}", 1);
    assert_int_equal(run(follows_the_system), 0);
    autofree(mem) char *lines = lines_of(read_back("METRICS"));
    assert_string_equal(lines, "hone generation=2i\n"
                               "hone generation=4i,step=1i\n"
                               "hone generation=6i,step=2i\n"
                               "hone generation=8i,step=2i\n"
                               "hone generation=10i,step=3i\n"
                               "hone generation=12i,step=4i\n");
    end();
}

static void reads_the_first_settings(void)
{
    NEED(hone_system_int("threads", 9) == 2 && hone_system_double("nice", 9) == -1.5);
    NEED(hone_step(1) && hone_system_int("threads", 9) == 2);
}

static void has_no_settings(void)
{
    NEED(hone_system_int("threads", 9) == 9 && hone_system_double("threads", 0.5) == 0.5);
}

TEST(without_a_page_the_machines_settings_are_those_of_the_start)
{
    begin();
    assert_int_equal(run(has_no_settings), 0);
    setenv("HONE_SYSTEM", "{\"threads\":2,\"nice\":-1.5}", 1);
    assert_int_equal(run(reads_the_first_settings), 0);
    setenv("HONE_SYSTEM", "2 threads, please", 1);
    assert_int_equal(run(has_no_settings), 0);
    end();
}

static void *change_the_page(void *arg)
{
    (void)arg;
    for (uint64_t i = 2; i < 2000; i++) {
        autofree(mem) char *json =
            xasprintf("{\"system\":{\"a\":%d,\"b\":%d}}", (int)i % 9, (int)i % 9);
        put_page(2 * i, json);
    }
    return NULL;
}

static void *ask_all_the_time(void *done)
{
    while (!atomic_load((atomic_bool *)done)) {
        int64_t a = hone_system_int("a", 0);
        NEED(a >= 0 && a < 9);
    }
    return NULL;
}

static void asks_from_threads(void)
{
    atomic_bool done = false;
    pthread_t writer, readers[3];
    for (int i = 0; i < 3; i++)
        NEED(pthread_create(&readers[i], NULL, ask_all_the_time, &done) == 0);
    NEED(pthread_create(&writer, NULL, change_the_page, NULL) == 0);
    pthread_join(writer, NULL);
    atomic_store(&done, true);
    for (int i = 0; i < 3; i++)
        pthread_join(readers[i], NULL);
    NEED(hone_system_int("b", -1) == 1999 % 9);
}

TEST(threads_ask_for_settings_while_they_change)
{
    begin_with_hone();
    assert_int_equal(run(asks_from_threads), 0);
    end();
}

static void stops_in_loop(void)
{
    int64_t last = -1;
    hone_epochs(epoch, 100)
    {
        last = epoch;
        if (epoch == 4)
            put_page(4, "{\"stop\":true}");
    }
    NEED(last == 4);
}

TEST(the_loop_ends_when_told_to_stop)
{
    begin_with_hone();
    assert_int_equal(run(stops_in_loop), 0);
    end();
}

TEST(a_page_that_changes_under_the_reader_is_never_half_read)
{
    static struct hone_page mine;
    struct hone_asked asked = {0};
    mine.generation = 3;
    assert_false(hone_page_read(&mine, &asked));
    mine.generation = 4;
    mine.length = sizeof(mine.json) + 1;
    assert_false(hone_page_read(&mine, &asked));
    mine.length = sizeof(mine.json);
    memset(mine.json, '{', sizeof(mine.json));
    assert_true(hone_page_read(&mine, &asked));
    assert_false(asked.stop);
}

static void saves(void)
{
    const char *path = hone_checkpoint_begin(120);
    NEED(path);
    FILE *f = fopen(path, "w");
    NEED(f && fputs("weights", f) >= 0 && fclose(f) == 0);
    NEED(hone_checkpoint_commit() == 0);
    path = hone_checkpoint_begin(130); /* a folder */
    NEED(path && mkdir(path, 0755) == 0 && hone_checkpoint_commit() == 0);
    NEED(hone_checkpoint_begin(140) && hone_checkpoint_commit() == -ENOENT);
    NEED(str_eq(hone_checkpoint(), "/somewhere/2-110"));
}

TEST(a_checkpoint_gets_its_name_when_it_is_complete)
{
    begin_with_hone();
    autofree(mem) char *to = path_of("checkpoints"), *file = path_of("checkpoints/3-120");
    autofree(mem) char *folder = path_of("checkpoints/3-130"), *none = path_of("checkpoints/3-140");
    setenv("HONE_CHECKPOINT_DIR", to, 1);
    setenv("HONE_CHECKPOINT", "/somewhere/2-110", 1);
    setenv("HONE_ATTEMPT", "3", 1);
    assert_int_equal(run(saves), 0);
    assert_true(fs_exists(file) && fs_is_dir(folder) && !fs_exists(none));
    end();
}

/* Fill the file up to its limit in the middle of a line, then lift the limit. */
static void logs_over_a_full_disk(void)
{
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {.rlim_cur = 50, .rlim_max = RLIM_INFINITY};
    NEED(hone_log(1, {"a", 1}) == 0);
    NEED(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    NEED(hone_log(2, {"a", 2}) < 0);
    NEED(hone_log(3, {"a", 3}) < 0);
    limit.rlim_cur = RLIM_INFINITY;
    NEED(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    NEED(hone_log(4, {"a", 4}) == 0);
}

TEST(after_a_full_disk_the_next_line_stands_alone)
{
    begin_with_hone();
    unsetenv("HONE_CONTROL");
    assert_int_equal(run(logs_over_a_full_disk), 0);
    autofree(mem) char *text = read_back("METRICS");
    assert_non_null(strstr(text, "\ntrain a=4,step=4i "));
    end();
}

static void *log_from_a_thread(void *arg)
{
    for (int i = 0; i < 200; i++)
        hone_log(i, {arg, i});
    return NULL;
}

static void logs_from_threads(void)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        NEED(pthread_create(&threads[i], NULL, log_from_a_thread, (void *)names[i]) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

TEST(threads_log_whole_lines)
{
    begin_with_hone();
    assert_int_equal(run(logs_from_threads), 0);
    autofree(mem) char *lines = lines_of(read_back("METRICS"));
    size_t n = 0;
    for (char *p = lines; (p = strstr(p, "train ")); p++)
        n++;
    assert_int_equal(n, 800);
    end();
}

TEST_MAIN
