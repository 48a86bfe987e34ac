/* SPDX-License-Identifier: MIT */
/*
 * nothing.c — answers MLflow's clients at once and keeps nothing: what is left is their own time.
 *
 *     nothing
 *
 * Prints its port. Each connection has a thread, which reads a request whole and answers it: a run
 * to who creates or gets one, else {}. It knows no more of HTTP than these clients say.
 */
#include "base/str.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUEST_MAX 65536
#define RUN                                                                                        \
    "{\"run\":{\"info\":{\"run_id\":\"00000000000000000000000000000000\",\"run_uuid\":"            \
    "\"00000000000000000000000000000000\",\"experiment_id\":\"0\",\"status\":\"RUNNING\","         \
    "\"start_time\":1,\"lifecycle_stage\":\"active\"},\"data\":{}}}"

/* Bytes of the request that begins here; 0: it is not whole yet. */
static size_t size_of(const char *bytes, size_t n)
{
    const char *end = memmem(bytes, n, "\r\n\r\n", 4);
    const char *length = strcasestr(bytes, "\r\nContent-Length:");

    if (!end)
        return 0;
    size_t size = (size_t)(end - bytes) + 4;
    if (length && length < end)
        size += strtoul(length + strlen("\r\nContent-Length:"), NULL, 10);
    return size <= n ? size : 0;
}

static bool answer(int fd, const char *request)
{
    const char *line_end = strstr(request, "\r\n"), *runs = strstr(request, "/mlflow/runs/create");
    const char *get = strstr(request, "/mlflow/runs/get?");
    bool run = (runs && runs < line_end) || (get && get < line_end);
    const char *body = run ? RUN : "{}";
    char text[1024];
    int n = snprintf(text, sizeof(text),
                     "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
                     "%zu\r\n\r\n%s",
                     strlen(body), body);

    return send(fd, text, (size_t)n, MSG_NOSIGNAL) == n;
}

static void *serve(void *arg)
{
    int fd = (int)(intptr_t)arg, yes = 1;
    char *bytes = xmalloc(REQUEST_MAX + 1);
    size_t have = 0, size;
    ssize_t n;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    while (have < REQUEST_MAX && (n = recv(fd, bytes + have, REQUEST_MAX - have, 0)) > 0) {
        have += (size_t)n;
        bytes[have] = '\0';
        size = size_of(bytes, have);
        if (!size)
            continue;
        if (!answer(fd, bytes))
            break;
        have -= size;
        memmove(bytes, bytes + size, have);
    }
    close(fd);
    free(bytes);
    return NULL;
}

int main(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM, 0), one;
    pthread_t thread;

    if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) < 0 || listen(fd, 64) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &size) < 0) {
        perror("nothing");
        return 1;
    }
    printf("%d\n", ntohs(at.sin_port));
    fflush(stdout);
    while ((one = accept(fd, NULL, NULL)) >= 0)
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)one) == 0)
            pthread_detach(thread);
        else
            close(one);
    return 0;
}
