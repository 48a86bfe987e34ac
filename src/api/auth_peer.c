/* SPDX-License-Identifier: MIT */
/*
 * auth_peer.c — ask the kernel for the one socket whose two ends are ours, swapped.
 *
 * The answer must name exactly the ends that were asked for: where there is no such connection the
 * kernel answers with a socket that listens there. An inode of 0 belongs to nobody: its process is
 * gone. The user 65534 also stands for all users whom this namespace does not know.
 */
#include "api/auth_peer.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#define USER_UNKNOWN 65534

/* An end as IPv4 where it is one. */
struct end {
    int family;
    uint32_t address[4]; /* network order; IPv4: the first */
    uint16_t port;       /* network order */
};

static struct end end_of(const struct sockaddr_storage *from)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)from;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)from;
    struct end end = {.family = AF_UNSPEC};

    if (from->ss_family == AF_INET) {
        end = (struct end){AF_INET, {v4->sin_addr.s_addr}, v4->sin_port};
    } else if (from->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
        end = (struct end){AF_INET, {v6->sin6_addr.s6_addr32[3]}, v6->sin6_port};
    } else if (from->ss_family == AF_INET6) {
        end = (struct end){.family = AF_INET6, .port = v6->sin6_port};
        memcpy(end.address, &v6->sin6_addr, sizeof(end.address));
    }
    return end;
}

static bool is_loopback(const struct end *end)
{
    if (end->family == AF_INET)
        return ntohl(end->address[0]) >> 24 == 127;
    return end->family == AF_INET6 &&
           memcmp(end->address, &in6addr_loopback, sizeof(end->address)) == 0;
}

bool ends_local(const struct auth_ends *ends)
{
    struct end peer = end_of(&ends->peer), local = end_of(&ends->local);
    return peer.family == local.family && is_loopback(&peer) && is_loopback(&local);
}

/* The kernel's words for an end: addresses of IPv4 sockets may come as IPv6. */
static bool same_end(const struct end *end, int family, const __be32 address[4], __be16 port)
{
    struct sockaddr_storage as = {.ss_family = (sa_family_t)family};

    if (family == AF_INET6) {
        struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&as;
        memcpy(&v6->sin6_addr, address, sizeof(v6->sin6_addr));
        v6->sin6_port = port;
    } else {
        struct sockaddr_in *v4 = (struct sockaddr_in *)&as;
        v4->sin_addr.s_addr = address[0];
        v4->sin_port = port;
    }
    struct end other = end_of(&as);
    return other.family == end->family && other.port == end->port &&
           memcmp(other.address, end->address, sizeof(other.address)) == 0;
}

struct question {
    struct nlmsghdr header;
    struct inet_diag_req_v2 request;
};

/* Its own end is our peer. */
static int ask(int fd, const struct end *peer, const struct end *local)
{
    struct question question = {
        .header = {.nlmsg_len = sizeof(question),
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST,
                   .nlmsg_seq = 1},
        .request = {.sdiag_family = (__u8)peer->family,
                    .sdiag_protocol = IPPROTO_TCP,
                    .idiag_states = 1u << TCP_ESTABLISHED,
                    .id = {.idiag_sport = peer->port,
                           .idiag_dport = local->port,
                           .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
    };
    memcpy(question.request.id.idiag_src, peer->address, sizeof(peer->address));
    memcpy(question.request.id.idiag_dst, local->address, sizeof(local->address));
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t n =
        sendto(fd, &question, sizeof(question), 0, (struct sockaddr *)&kernel, sizeof(kernel));
    return n == (ssize_t)sizeof(question) ? 0 : -EIO;
}

static int hear(int fd, struct inet_diag_msg *ret)
{
    union {
        struct nlmsghdr header;
        char bytes[8192];
    } answer;
    struct sockaddr_nl from = {.nl_pid = 1};
    socklen_t size = sizeof(from);
    /* The kernel has answered by the time the question is sent: nothing to wait for. */
    ssize_t n =
        recvfrom(fd, &answer, sizeof(answer), MSG_DONTWAIT, (struct sockaddr *)&from, &size);

    if (n < (ssize_t)sizeof(answer.header) || size != sizeof(from) || from.nl_pid != 0)
        return -EIO;
    if (answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
        answer.header.nlmsg_len < NLMSG_LENGTH(sizeof(*ret)) || answer.header.nlmsg_len > (size_t)n)
        return -ESRCH;
    memcpy(ret, NLMSG_DATA(&answer.header), sizeof(*ret));
    return 0;
}

static int ask_once(int fd, const struct end *peer, const struct end *local, uid_t *ret)
{
    struct inet_diag_msg socket;
    int r = ask(fd, peer, local);

    if (r == 0)
        r = hear(fd, &socket);
    if (r < 0)
        return r;
    if (socket.idiag_state != TCP_ESTABLISHED || !socket.idiag_inode ||
        socket.idiag_uid == USER_UNKNOWN ||
        !same_end(peer, socket.idiag_family, socket.id.idiag_src, socket.id.idiag_sport) ||
        !same_end(local, socket.idiag_family, socket.id.idiag_dst, socket.id.idiag_dport))
        return -ESRCH;
    *ret = socket.idiag_uid;
    return 0;
}

int ends_user(const struct auth_ends *ends, int *fd, uid_t *ret, struct err *err)
{
    struct end peer = end_of(&ends->peer), local = end_of(&ends->local);

    if (!ends_local(ends))
        return err_set(err, EACCES, "it does not come from this machine");
    if (*fd < 0)
        *fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (*fd < 0)
        return err_errno(err, errno, "the kernel cannot be asked who sends it");
    int r = ask_once(*fd, &peer, &local, ret);
    if (r < 0) { /* a late answer must not be taken for that of the next question */
        close(*fd);
        *fd = -1;
        return err_set(err, EACCES, "the kernel does not say who sends it");
    }
    return 0;
}
