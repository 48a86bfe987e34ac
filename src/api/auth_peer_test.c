/* SPDX-License-Identifier: MIT */
/*
 * auth_peer_test.c — the kernel says whose program asks, or it is not believed.
 */
#include "api/auth_peer.h"
#include "tests/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <unistd.h>

static struct auth_ends ends_at(const char *peer, const char *local)
{
    struct auth_ends ends = {.peer = {.ss_family = AF_UNSPEC}};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(1000)};

    inet_pton(AF_INET, peer, &v4.sin_addr);
    memcpy(&ends.peer, &v4, sizeof(v4));
    inet_pton(AF_INET, local, &v4.sin_addr);
    memcpy(&ends.local, &v4, sizeof(v4));
    return ends;
}

static int connected(int family, struct auth_ends *ret_ours, int *ret_client, int *ret_server)
{
    int listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_storage address = {.ss_family = (sa_family_t)family};
    socklen_t size = sizeof(address);

    if (family == AF_INET)
        ((struct sockaddr_in *)&address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        ((struct sockaddr_in6 *)&address)->sin6_addr = in6addr_loopback;
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        listen(listener, 1) < 0 || getsockname(listener, (struct sockaddr *)&address, &size) < 0)
        return -errno;
    *ret_client = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(*ret_client, (struct sockaddr *)&address, size), 0);
    *ret_server = accept(listener, NULL, NULL);
    assert_true(*ret_server >= 0);
    close(listener);
    *ret_ours = (struct auth_ends){.peer = {.ss_family = AF_UNSPEC}};
    size = sizeof(ret_ours->peer);
    assert_int_equal(getpeername(*ret_server, (struct sockaddr *)&ret_ours->peer, &size), 0);
    size = sizeof(ret_ours->local);
    assert_int_equal(getsockname(*ret_server, (struct sockaddr *)&ret_ours->local, &size), 0);
    return 0;
}

static void check_kernel(int family)
{
    struct auth_ends ends;
    int client = -1, server = -1, netlink = -1;
    uid_t user = (uid_t)-1;
    autorelease(err) struct err err = ERR_INIT;

    if (connected(family, &ends, &client, &server) < 0)
        return; /* no IPv6 here */
    assert_ok(ends_user(&ends, &netlink, &user, &err), &err);
    assert_int_equal(user, geteuid());
    assert_ok(ends_user(&ends, &netlink, &user, &err), &err); /* the same question once more */
    close(client);                                            /* now nobody holds it */
    assert_int_equal(ends_user(&ends, &netlink, &user, &err), -EACCES);
    assert_int_equal(netlink, -1);
    close(server);
}

TEST(the_kernel_says_whose_the_other_end_is)
{
    check_kernel(AF_INET);
    check_kernel(AF_INET6);
}

TEST(ends_of_other_machines_are_not_asked_for)
{
    struct auth_ends ends = ends_at("10.0.0.1", "127.0.0.1");
    int netlink = -1;
    uid_t user;

    assert_false(ends_local(&ends));
    assert_int_equal(ends_user(&ends, &netlink, &user, NULL), -EACCES);
    ends = ends_at("127.0.0.1", "10.0.0.1");
    assert_false(ends_local(&ends));
    ends.peer.ss_family = AF_UNSPEC;
    assert_false(ends_local(&ends));
}

TEST_MAIN
