/* SPDX-License-Identifier: MIT */
/*
 * power_test.c — the energy of attempts: estimated, by a made-up powercap tree, and by a made-up
 * power meter that answers over HTTP from this file.
 */
#include "agent/fixture.h"
#include "agent/pdu.h"

#include "base/log.h"
#include <math.h>

#define BURN "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"

static void forget_meters(void)
{
    unsetenv("HONE_POWERCAP");
    unsetenv("HONE_PDU");
    unsetenv("HONE_PDU_PATH");
    w.cpus = 0;
}

static void end_meters(void)
{
    end();
    forget_meters();
}

TEST(without_a_meter_energy_is_above_zero_and_estimated)
{
    setenv("HONE_POWERCAP", "/nonexistent", 1);
    w.cpus = 1;
    begin();
    start_shell(1, BURN);
    send_command(COMMAND_START, 2, (const char *[]){"no-such-program", NULL}, 0);
    adopt(3);
    for (int i = 1; i <= 3; i++)
        wait_for(&w.seen[i].ended, 1);
    struct energy energy = w.seen[1].ending.energy;
    double seconds = (double)w.seen[1].ending.run_us / 1e6;
    assert_true(energy.joules > 0 && energy.joules < 100 * seconds);
    assert_false(energy.measured);
    assert_string_equal(energy.source, "model");
    for (int i = 2; i <= 3; i++) { /* never began, and lost */
        assert_true(isnan(w.seen[i].ending.energy.joules));
        assert_string_equal(w.seen[i].ending.energy.source, "none");
    }
    end_meters();
}

static void begin_rapl(void)
{
    snprintf(w.home, sizeof(w.home), "/tmp/hone-power-XXXXXX");
    assert_non_null(mkdtemp(w.home));
    setenv("HONE_POWERCAP", w.home, 1);
    put_file("intel-rapl:0/name", "package-0\n");
    put_file("intel-rapl:0/energy_uj", "1000000\n");
    put_file("intel-rapl:0/max_energy_range_uj", "262143328850\n");
    begin();
    hurry();
}

static void put_joules(int joules)
{
    autofree(mem) char *path = xasprintf("%s/intel-rapl:0/energy_uj", getenv("HONE_POWERCAP"));
    autofree(mem) char *text = xasprintf("%d000000\n", joules);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void end_rapl(void)
{
    fs_remove_tree(getenv("HONE_POWERCAP"), NULL);
    end_meters();
}

TEST(a_powercap_tree_gives_measured_energy_apportioned_by_cpu_time)
{
    begin_rapl();
    start_shell(1, "echo x: 1;" BURN "; echo x: 2; while [ ! -e go ]; do sleep 0.01; done");
    wait_for_samples(1, 2);
    put_joules(51);
    put_file("go", "");
    wait_for(&w.seen[1].ended, 1);
    struct energy energy = w.seen[1].ending.energy;
    assert_true(energy.joules > 0 && energy.joules <= 50);
    assert_true(energy.measured && energy.apportioned);
    assert_string_equal(energy.source, "rapl");
    end_rapl();
}

TEST(what_another_agent_began_is_estimated_whatever_can_be_measured)
{
    begin_rapl();
    start_shell(1, "echo x: 1; while [ ! -e go ]; do sleep 0.01; done");
    wait_for_samples(1, 1);
    pid_t pid = w.seen[1].pid;
    agent_end();
    agent_begin();
    hurry();
    w.cpus = 1;
    adopt(1);
    start_shell(2, "true"); /* too short to be measured */
    ((struct local *)w.agent)->pace.meter_us = 60 * US_PER_S;
    put_file("go", "");
    for (int i = 1; i <= 2; i++) {
        wait_for(&w.seen[i].ended, 1);
        assert_true(w.seen[i].ending.energy.joules > 0);
        assert_false(w.seen[i].ending.energy.measured);
    }
    end_rapl();
    waitpid(pid, NULL, WNOHANG);
}

TEST(devices_that_nobody_can_measure_make_the_energy_unknown)
{
    setenv("HONE_POWERCAP", "/nonexistent", 1);
    setenv("HONE_NVML", "/nonexistent", 1);
    begin();
    w.extra = "CUDA_VISIBLE_DEVICES=GPU-1,GPU-2";
    start_shell(1, "true");
    w.extra = "CUDA_VISIBLE_DEVICES=-1";
    start_shell(2, "true");
    w.extra = NULL;
    wait_for(&w.seen[1].ended, 1);
    wait_for(&w.seen[2].ended, 1);
    assert_true(isnan(w.seen[1].ending.energy.joules));
    assert_true(w.seen[2].ending.energy.joules >= 0);
    end_meters();
    unsetenv("HONE_NVML");
}

/* ---- a power meter ---- */

static struct meter {
    uv_loop_t loop; /* of its own thread, as if it were elsewhere */
    uv_thread_t thread;
    uv_tcp_t listener;
    uv_async_t leave;
    int port;
    const char *_Atomic answer; /* NULL: hangs up */
    _Atomic int n_asked;
} m;

struct guest {
    uv_tcp_t tcp;
    uv_write_t write;
    char room[1024];
};

static void on_guest_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void on_answered(uv_write_t *write, int status UNUSED)
{
    struct guest *guest = write->data;
    uv_close((uv_handle_t *)&guest->tcp, on_guest_closed);
}

static void on_guest_room(uv_handle_t *handle, size_t n UNUSED, uv_buf_t *ret)
{
    struct guest *guest = handle->data;
    *ret = uv_buf_init(guest->room, sizeof(guest->room));
}

/* A question fits into one packet. */
static void on_question(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
    struct guest *guest = stream->data;
    const char *answer = m.answer;

    uv_read_stop(stream);
    if (n <= 0 || !answer || strncmp(bytes->base, "GET /status HTTP/1.0\r\n", 22) != 0) {
        m.n_asked++;
        uv_close((uv_handle_t *)stream, on_guest_closed);
        return;
    }
    uv_buf_t text = uv_buf_init((char *)answer, (unsigned)strlen(answer));
    uv_write(&guest->write, stream, &text, 1, on_answered);
    m.n_asked++;
}

static void on_guest(uv_stream_t *listener, int status UNUSED)
{
    struct guest *guest = xcalloc(1, sizeof(*guest));

    uv_tcp_init(listener->loop, &guest->tcp);
    guest->tcp.data = guest->write.data = guest;
    assert_int_equal(uv_accept(listener, (uv_stream_t *)&guest->tcp), 0);
    uv_read_start((uv_stream_t *)&guest->tcp, on_guest_room, on_question);
}

static void close_all(uv_handle_t *handle, void *arg UNUSED)
{
    if (!uv_is_closing(handle))
        uv_close(handle, handle->data ? on_guest_closed : NULL);
}

static void on_leave(uv_async_t *leave)
{
    uv_walk(leave->loop, close_all, NULL);
}

static void meter_run(void *unused UNUSED)
{
    uv_run(&m.loop, UV_RUN_DEFAULT);
}

static void meter_open(const char *answer)
{
    struct sockaddr_in address;
    int size = sizeof(address);

    m.answer = answer;
    m.n_asked = 0;
    assert_int_equal(uv_loop_init(&m.loop), 0);
    uv_async_init(&m.loop, &m.leave, on_leave);
    uv_tcp_init(&m.loop, &m.listener);
    m.leave.data = m.listener.data = NULL;
    uv_ip4_addr("127.0.0.1", 0, &address);
    assert_int_equal(uv_tcp_bind(&m.listener, (struct sockaddr *)&address, 0), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&m.listener, 8, on_guest), 0);
    uv_tcp_getsockname(&m.listener, (struct sockaddr *)&address, &size);
    m.port = ntohs(address.sin_port);
    autofree(mem) char *url = xasprintf("http://127.0.0.1:%d/status", m.port);
    setenv("HONE_PDU", url, 1);
    setenv("HONE_PDU_PATH", "outlets.0.power_w", 1);
    setenv("HONE_POWERCAP", "/nonexistent", 1);
    assert_int_equal(uv_thread_create(&m.thread, meter_run, NULL), 0);
}

static void meter_close(void)
{
    uv_async_send(&m.leave);
    uv_thread_join(&m.thread);
    assert_int_equal(uv_loop_close(&m.loop), 0);
}

static int n_warnings;
static void on_log(enum log_level level, const char *line UNUSED, void *arg UNUSED)
{
    n_warnings += level == LOG_WARN;
}

#define GOOD  "HTTP/1.0 200 OK\r\n\r\n{\"outlets\": [{\"power_w\": \"150\"}]}"
#define WHOLE "HTTP/1.1 200 OK\r\ncontent-length: 33\r\n\r\n{\"outlets\": [{\"power_w\": 150.5}]}"

TEST(a_power_meter_is_asked_over_http_and_gives_measured_energy)
{
    meter_open(GOOD);
    begin();
    const struct local *local = hurry();
    int64_t start_us = clock_mono_us();
    start_shell(1, BURN "; while [ ! -e go ]; do sleep 0.01; done");
    WAIT(local->outlet_us);
    int64_t first_us = clock_mono_us();
    WAIT(local->outlet_us - first_us > 3 * (first_us - start_us) + 50000);
    put_file("go", "");
    wait_for(&w.seen[1].ended, 1);
    struct energy energy = w.seen[1].ending.energy;
    double seconds = (double)(clock_mono_us() - start_us) / 1e6;
    assert_true(energy.joules > 0 && energy.joules <= 151 * seconds);
    assert_true(energy.measured && energy.apportioned);
    assert_string_equal(energy.source, "pdu");
    uv_run(&w.loop, UV_RUN_DEFAULT); /* comes to rest: nobody is asked any more */
    end_meters();
    meter_close();
}

TEST(a_power_meter_that_is_asked_once_gives_its_watts_or_a_reason)
{
    autorelease(err) struct err err = ERR_INIT;
    double watts = 0;

    log_set_sink(on_log, NULL);
    n_warnings = 0;
    meter_open(GOOD);
    assert_int_equal(pdu_probe(getenv("HONE_PDU"), "outlets.0.power_w", &watts, &err), 0);
    assert_true(watts == 150);
    m.answer = "HTTP/1.0 404 Not Found\r\n\r\n";
    assert_int_equal(pdu_probe(getenv("HONE_PDU"), "", &watts, &err), -EIO);
    assert_string_equal(err_text(&err), "it answers with status 404");
    assert_int_equal(n_warnings, 0);
    meter_close();
    log_set_sink(NULL, NULL);
    forget_meters();
}

TEST(a_power_meter_that_does_not_help_is_complained_of_once_and_does_no_harm)
{
    static const char *const answers[] = {
        "HTTP/1.0 404 Not Found\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\n{\"outlets\": []}",
        "HTTP/1.0 200 OK\r\n\r\nrubbish",
        "SSH-2.0-OpenSSH\r\n",
        NULL,
    };
    log_set_sink(on_log, NULL);
    n_warnings = 0;
    meter_open(answers[0]);
    begin();
    const struct local *local = hurry();
    start_shell(1, "while [ ! -e go ]; do sleep 0.01; done");
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        m.answer = answers[i];
        int asked = m.n_asked;
        WAIT(m.n_asked >= asked + 3);
    }
    assert_int_equal(n_warnings, 1);
    assert_int_equal(local->outlet_us, 0);
    m.answer = WHOLE;
    WAIT(local->outlet_us);
    m.answer = NULL;
    WAIT(n_warnings == 2);
    put_file("go", "");
    wait_for(&w.seen[1].ended, 1);
    assert_string_equal(w.seen[1].ending.energy.source, "model");
    end_meters();
    meter_close();
    log_set_sink(NULL, NULL);
}

TEST(a_power_meter_that_is_not_there_or_has_no_address_does_no_harm)
{
    static const char *const urls[] = {"http://127.0.0.1:1/x", "ftp://meter/x",   "http://",
                                       "http://[::1",          "http://meter:x/", "http://[::1]:1"};
    setenv("HONE_POWERCAP", "/nonexistent", 1);
    log_set_sink(on_log, NULL);
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        n_warnings = 0;
        setenv("HONE_PDU", urls[i], 1);
        begin();
        hurry();
        start_shell(1, "while [ ! -e go ]; do sleep 0.01; done");
        WAIT(n_warnings == 1);
        agent_end(); /* in the middle of it */
        agent_begin();
        hurry();
        adopt(1);
        put_file("go", "");
        wait_for(&w.seen[1].ended, 1);
        end();
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
    }
    log_set_sink(NULL, NULL);
    forget_meters();
}

TEST_MAIN
