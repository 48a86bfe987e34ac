/* SPDX-License-Identifier: MIT */
/*
 * control_test.c — the control page: readers never see half a text, generations go on.
 */
#include "exec/fixture.h"

#include "exec/state.h"
#include <pthread.h>
#include <sys/mman.h>

static const struct control_page *page_map(const struct fixture *f)
{
    autofree(mem) char *path = xasprintf("%s/state", f->dir);
    autoclose int fd = open(path, O_RDONLY);
    void *page = mmap(NULL, STATE_CONTROL_SIZE, PROT_READ, MAP_SHARED, fd, 0);

    assert_ptr_not_equal(page, MAP_FAILED);
    return page;
}

/* As a program reads it. Returns the generation, 0 if it changed meanwhile. */
static uint64_t page_read(const struct control_page *page, char *to, size_t *ret_n)
{
    uint64_t before = __atomic_load_n(&page->generation, __ATOMIC_ACQUIRE);
    size_t n = __atomic_load_n(&page->length, __ATOMIC_RELAXED);

    if (before & 1 || n > sizeof(page->json))
        return 0;
    memcpy(to, page->json, n);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    *ret_n = n;
    return __atomic_load_n(&page->generation, __ATOMIC_RELAXED) == before ? before : 0;
}

TEST(generations_continue_from_what_is_found)
{
    struct fixture f;
    struct err err = ERR_INIT;
    uint64_t generation = 0;

    fixture_init(&f, "");
    assert_ok(state_prepare(&f.launch, &err), &err);
    const struct control_page *page = page_map(&f);
    assert_int_equal(page->generation, 2);
    assert_ok(exec_control(f.dir, "{\"a\":1}", &generation, &err), &err);
    assert_int_equal(generation, 4);
    assert_ok(state_prepare(&f.launch, &err), &err); /* a second start changes nothing */
    assert_int_equal(page->generation, 4);
    assert_int_equal(page->length, 7);
    assert_memory_equal(page->json, "{\"a\":1}", 7);
    munmap((void *)page, STATE_CONTROL_SIZE);
    fixture_release(&f);
}

TEST(a_writer_that_died_in_the_middle_is_continued)
{
    struct fixture f;
    struct err err = ERR_INIT;
    uint64_t generation = 5;

    fixture_init(&f, "");
    assert_ok(state_prepare(&f.launch, &err), &err);
    autofree(mem) char *path = xasprintf("%s/state", f.dir);
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, &generation, 8, offsetof(struct control_page, generation)), 8);
    close(fd);
    assert_ok(exec_control(f.dir, "{}", &generation, &err), &err);
    assert_int_equal(generation, 6);
    fixture_release(&f);
}

TEST(a_text_that_does_not_fit_is_refused_and_the_page_stays)
{
    struct fixture f;
    struct err err = ERR_INIT;
    uint64_t generation = 0;
    size_t room = sizeof(((struct control_page *)0)->json);
    autofree(mem) char *json = xcalloc(1, room + 2);

    fixture_init(&f, "");
    assert_ok(state_prepare(&f.launch, &err), &err);
    memset(json, 'x', room + 1);
    assert_int_equal(exec_control(f.dir, json, &generation, &err), -EMSGSIZE);
    err_release(&err);
    json[room] = '\0';
    assert_ok(exec_control(f.dir, json, &generation, &err), &err);
    assert_int_equal(generation, 4);
    fixture_release(&f);
}

TEST(a_control_page_without_a_folder_is_an_error)
{
    struct err err = ERR_INIT;
    uint64_t generation;

    assert_int_equal(exec_control("/no/such/attempt", "{}", &generation, &err), -ENOENT);
    err_release(&err);
}

struct reader {
    const struct control_page *page;
    uint64_t last, torn, whole;
};

/* Every text is one letter repeated, the length fixed by the letter. */
static void *read_until_end(void *arg)
{
    struct reader *reader = arg;
    char text[STATE_CONTROL_SIZE];
    size_t n = 0;

    for (;;) {
        uint64_t generation = page_read(reader->page, text, &n);
        if (!generation || generation == reader->last)
            continue;
        bool backwards = generation < reader->last;
        reader->last = generation;
        reader->whole++;
        for (size_t i = 0; i < n; i++)
            reader->torn += text[i] != text[0] || backwards;
        if (n == 1 && text[0] == '!')
            return NULL;
        reader->torn += generation > 2 && n != (size_t)(text[0] - 'a' + 1) * 300;
    }
}

TEST(readers_never_see_half_a_text)
{
    struct fixture f;
    struct err err = ERR_INIT;
    uint64_t generation = 0;
    pthread_t threads[2];
    struct reader readers[2];
    char text[8000];

    fixture_init(&f, "");
    f.launch.control_json = "";
    assert_ok(state_prepare(&f.launch, &err), &err);
    for (int i = 0; i < 2; i++) {
        readers[i] = (struct reader){.page = page_map(&f)};
        assert_int_equal(pthread_create(&threads[i], NULL, read_until_end, &readers[i]), 0);
    }
    for (int i = 0; i < 3000; i++) {
        size_t n = (size_t)(i % 26 + 1) * 300;
        memset(text, 'a' + i % 26, n);
        text[n] = '\0';
        assert_ok(exec_control(f.dir, text, &generation, &err), &err);
    }
    assert_ok(exec_control(f.dir, "!", &generation, &err), &err);
    assert_int_equal(generation, 2 + 2 * 3001);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(readers[i].torn, 0);
        assert_true(readers[i].whole > 0);
        munmap((void *)readers[i].page, STATE_CONTROL_SIZE);
    }
    fixture_release(&f);
}

TEST_MAIN
