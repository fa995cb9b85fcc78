/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection is a thread, here or elsewhere, that makes one piece at a time: it is told a number and answers with the
 * number, a length and bytes. Threads of the leader's own process are connected by socket pairs and make the same
 * bytes, so that a result cannot depend on where it was made. A connection that ends with a piece in hand gives it
 * back.
 *
 * A process that is stopped or cut off without its connection ending would hold its last piece for good; where nothing
 * else is left to do, a piece that is out for a minute and four times as long as any before is handed out once more,
 * and the first answer counts.
 */
#include "io/crew.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/wire.h"

enum {
    TOKEN_BYTES = 32,
    HELLO_BYTES = TOKEN_BYTES + 1,
    TICK_MS = 50,
    ANSWER_HEAD = 16,
    PATIENCE_MS = 60000,
    PATIENCE_TIMES = 4,
    MEMBERS_MOST = 65536
};

#define CREW_NONE        UINT64_MAX
#define CREW_ANSWER_MOST (UINT64_C(1) << 30)

/* ---- where the leader is ---- */

bool crew_is_started_with_others(void)
{
    static const char *const counts[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const char *count = getenv(counts[i]);
        if (count != NULL && strtol(count, NULL, 10) > 1) {
            return true;
        }
    }
    return false;
}

static void crew_add_addresses(char *place, size_t room)
{
    struct ifaddrs *all = NULL;
    size_t used = strlen(place);
    if (getifaddrs(&all) != 0) {
        return;
    }
    for (const struct ifaddrs *one = all; one != NULL; one = one->ifa_next) {
        char text[INET_ADDRSTRLEN];
        struct sockaddr_in address;
        if (one->ifa_addr == NULL || one->ifa_addr->sa_family != AF_INET || (one->ifa_flags & IFF_UP) == 0) {
            continue;
        }
        memcpy(&address, one->ifa_addr, sizeof address);
        bool named = inet_ntop(AF_INET, &address.sin_addr, text, sizeof text) != NULL;
        if (named && used + strlen(text) + 2 < room) {
            used += (size_t)snprintf(place + used, room - used, " %s", text);
        }
    }
    freeifaddrs(all);
}

enum orr_status crew_listen(struct orr_cluster *cluster, struct orr_error *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    uint8_t secret[TOKEN_BYTES / 2];
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    cluster->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (cluster->listener < 0 || bind(cluster->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(cluster->listener, 1024) != 0 ||
        getsockname(cluster->listener, (struct sockaddr *)&address, &size) != 0 ||
        getrandom(secret, sizeof secret, 0) != (ssize_t)sizeof secret) {
        return error_system(err, errno, "workers cannot be listened for");
    }
    char *at = cluster->place;
    for (size_t i = 0; i < sizeof secret; i++) {
        at += snprintf(at, 3, "%02x", secret[i]);
    }
    (void)snprintf(at, CREW_PLACE_BYTES - TOKEN_BYTES, " %u", (unsigned)ntohs(address.sin_port));
    crew_add_addresses(cluster->place, sizeof cluster->place);
    return ORR_OK;
}

/* A machine that is switched off says nothing: after some forty seconds without a sign it is gone. */
static void crew_keep_alive(int fd)
{
    const int yes = 1;
    const int idle_s = 20;
    const int between_s = 5;
    const int times = 4;
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between_s, sizeof between_s);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
}

static bool crew_send(int fd, const void *bytes, size_t size)
{
    for (size_t sent = 0; sent < size;) {
        ssize_t part = send(fd, (const uint8_t *)bytes + sent, size - sent, MSG_NOSIGNAL);
        if (part < 0 && errno != EINTR) {
            return false;
        }
        sent += part > 0 ? (size_t)part : 0;
    }
    return true;
}

static bool crew_receive(int fd, void *bytes, size_t size)
{
    for (size_t got = 0; got < size;) {
        ssize_t part = recv(fd, (uint8_t *)bytes + got, size - got, 0);
        if (part == 0 || (part < 0 && errno != EINTR)) {
            return false;
        }
        got += part > 0 ? (size_t)part : 0;
    }
    return true;
}

/* A worker says the token and what the connection is for: pieces, or only to see the leader go. */
enum { HELLO_WORKS = 'w', HELLO_WATCHES = 's' };

/* -1: the leader is gone, or was never to be reached from here. */
static int crew_connect(const struct orr_cluster *cluster, char what)
{
    char hello[HELLO_BYTES];
    char place[CREW_PLACE_BYTES];
    char *rest = NULL;
    (void)snprintf(place, sizeof place, "%s", cluster->place);
    const char *port = strtok_r(place, " ", &rest) == NULL ? NULL : strtok_r(NULL, " ", &rest); /* behind the token */
    memcpy(hello, cluster->place, TOKEN_BYTES);
    hello[TOKEN_BYTES] = what;
    for (const char *name = port == NULL ? NULL : strtok_r(NULL, " ", &rest); name != NULL;
         name = strtok_r(NULL, " ", &rest)) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)strtoul(port, NULL, 10))};
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && inet_pton(AF_INET, name, &address.sin_addr) == 1 &&
            connect(fd, (struct sockaddr *)&address, sizeof address) == 0 && crew_send(fd, hello, HELLO_BYTES)) {
            crew_keep_alive(fd);
            return fd;
        }
        if (fd >= 0) {
            (void)close(fd);
        }
    }
    return -1;
}

/* ---- making ---- */

struct crew_thread {
    pthread_t thread;
    const struct crew_work *work;
    int fd;
};

static void *crew_make(void *argument)
{
    struct crew_thread *self = argument;
    struct mem mem = {0};
    struct etz_bytes bytes = {.mem = &mem};
    static const uint8_t room[ANSWER_HEAD];
    uint64_t piece = 0;
    while (crew_receive(self->fd, &piece, sizeof piece)) {
        bytes.size = 0;
        etz_bytes_put(&bytes, room, sizeof room);
        if (!self->work->make(self->work->context, le64toh(piece), &bytes) || bytes.refused) {
            break;
        }
        uint64_t head[2] = {piece, htole64(bytes.size - ANSWER_HEAD)};
        memcpy(bytes.at, head, sizeof head);
        if (!crew_send(self->fd, bytes.at, bytes.size)) {
            break;
        }
    }
    etz_bytes_free(&bytes);
    (void)shutdown(self->fd, SHUT_RDWR);
    return NULL;
}

/* Joins the first `count`. */
static void crew_join(struct crew_thread *threads, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        (void)pthread_join(threads[i].thread, NULL);
        (void)close(threads[i].fd);
    }
}

enum orr_status crew_serve(const struct orr_cluster *cluster, uint32_t threads, const struct crew_work *work,
                           struct orr_error *err)
{
    struct crew_thread *all = calloc(threads, sizeof *all);
    uint32_t count = 0;
    int watching = crew_connect(cluster, HELLO_WATCHES);
    if (all == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory for threads");
    }
    for (; watching >= 0 && count < threads; count++) {
        all[count] = (struct crew_thread){.work = work, .fd = crew_connect(cluster, HELLO_WORKS)};
        if (all[count].fd < 0 || pthread_create(&all[count].thread, NULL, crew_make, &all[count]) != 0) {
            break;
        }
    }
    if (count > 0) {
        uint8_t byte = 0;
        while (crew_receive(watching, &byte, 1)) {
        }
        work->stop(work->context);
        for (uint32_t i = 0; i < count; i++) {
            (void)shutdown(all[i].fd, SHUT_RDWR);
        }
    }
    crew_join(all, count);
    if (watching >= 0) {
        (void)close(watching);
    }
    free(all);
    return ORR_OK;
}

/* ---- leading ---- */

struct crew_member {
    int fd;
    bool known; /* has said the token */
    bool works; /* takes pieces */
    bool local;
    uint64_t at; /* the place in `pieces` of what it makes; CREW_NONE: nothing */
    uint64_t since_ms;
    struct etz_bytes bytes; /* of its answer, so far */
};

struct crew_leading {
    const struct orr_cluster *cluster;
    const struct crew_work *work;
    struct mem mem;
    struct crew_member *members;
    struct pollfd *polls;
    uint32_t count, capacity;
    uint8_t *taken;  /* by place */
    uint8_t *again;  /* handed out a second time */
    uint64_t *given; /* back: places to be handed out again */
    uint64_t given_count, next, taken_count;
    uint64_t longest_ms;
    bool stopped;
};

static bool crew_add_member(struct crew_leading *leading, int fd, bool local)
{
    if (leading->count == leading->capacity) {
        uint32_t wanted = leading->capacity == 0 ? 64 : 2 * leading->capacity;
        struct crew_member *members = realloc(leading->members, wanted * sizeof *members);
        leading->members = members != NULL ? members : leading->members;
        struct pollfd *polls = members == NULL ? NULL : realloc(leading->polls, (wanted + 1) * sizeof *polls);
        if (polls == NULL || wanted > MEMBERS_MOST) {
            leading->polls = polls != NULL ? polls : leading->polls;
            return false;
        }
        leading->polls = polls;
        leading->capacity = wanted;
    }
    leading->members[leading->count++] = (struct crew_member){
        .fd = fd, .known = local, .works = local, .local = local, .at = CREW_NONE, .bytes = {.mem = &leading->mem}};
    return true;
}

/* What it had goes back. */
static void crew_drop_member(struct crew_leading *leading, uint32_t i)
{
    struct crew_member *member = &leading->members[i];
    if (member->at != CREW_NONE && leading->taken[member->at] == 0) {
        leading->given[leading->given_count++] = member->at;
    }
    (void)close(member->fd);
    etz_bytes_free(&member->bytes);
    leading->members[i] = leading->members[--leading->count];
}

/* The next place for an idle member; CREW_NONE: there is none now. */
static uint64_t crew_next(struct crew_leading *leading)
{
    const struct crew_work *work = leading->work;
    while (leading->given_count > 0) {
        uint64_t at = leading->given[--leading->given_count];
        if (leading->taken[at] == 0) {
            return at;
        }
    }
    if (leading->next < work->count) {
        return leading->next++;
    }
    uint64_t now = clock_now_ms();
    for (uint32_t i = 0; i < leading->count; i++) {
        const struct crew_member *member = &leading->members[i];
        uint64_t out_ms = now - member->since_ms;
        if (member->at != CREW_NONE && leading->again[member->at] == 0 && out_ms > PATIENCE_MS &&
            out_ms > PATIENCE_TIMES * leading->longest_ms) {
            leading->again[member->at] = 1;
            return member->at;
        }
    }
    return CREW_NONE;
}

static void crew_hand_out(struct crew_leading *leading)
{
    for (uint32_t i = 0; i < leading->count && !leading->stopped;) {
        struct crew_member *member = &leading->members[i];
        uint64_t at = member->works && member->at == CREW_NONE ? crew_next(leading) : CREW_NONE;
        if (at == CREW_NONE) {
            i++;
            continue;
        }
        uint64_t piece = htole64(leading->work->pieces[at]);
        member->at = at;
        member->since_ms = clock_now_ms();
        if (crew_send(member->fd, &piece, sizeof piece)) {
            i++;
        } else {
            crew_drop_member(leading, i);
        }
    }
}

/* An answer that is whole. False: it is none. */
static bool crew_take(struct crew_leading *leading, struct crew_member *member)
{
    const struct crew_work *work = leading->work;
    uint64_t at = member->at;
    if (at == CREW_NONE || wire_fixed64(member->bytes.at) != work->pieces[at]) {
        return false;
    }
    uint64_t took_ms = clock_now_ms() - member->since_ms;
    leading->longest_ms = took_ms > leading->longest_ms ? took_ms : leading->longest_ms;
    member->at = CREW_NONE;
    if (leading->taken[at] == 0) {
        leading->taken[at] = 1;
        leading->taken_count++;
        bool more = work->take(work->context, work->pieces[at], member->bytes.at + ANSWER_HEAD,
                               member->bytes.size - ANSWER_HEAD);
        leading->stopped = leading->stopped || !more;
    }
    member->bytes.size = 0;
    return true;
}

/* What a member has sent. False: it is gone, or is none of ours. */
static bool crew_hear(struct crew_leading *leading, struct crew_member *member)
{
    uint8_t chunk[65536];
    size_t want = sizeof chunk;
    if (!member->known) {
        want = HELLO_BYTES - member->bytes.size;
    } else if (member->bytes.size < ANSWER_HEAD) {
        want = ANSWER_HEAD - member->bytes.size;
    } else {
        uint64_t left = ANSWER_HEAD + wire_fixed64(member->bytes.at + 8) - member->bytes.size;
        want = left < want ? (size_t)left : want;
    }
    ssize_t got = recv(member->fd, chunk, want, MSG_DONTWAIT);
    if (got <= 0) {
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    }
    etz_bytes_put(&member->bytes, chunk, (size_t)got);
    if (member->bytes.refused) {
        return false;
    }
    if (!member->known) {
        if (member->bytes.size == HELLO_BYTES) {
            member->known = memcmp(member->bytes.at, leading->cluster->place, TOKEN_BYTES) == 0;
            member->works = member->known && member->bytes.at[TOKEN_BYTES] == HELLO_WORKS;
            member->bytes.size = 0;
            return member->known;
        }
        return true;
    }
    if (member->bytes.size < ANSWER_HEAD) {
        return true;
    }
    uint64_t size = wire_fixed64(member->bytes.at + 8);
    return size <= CREW_ANSWER_MOST && (member->bytes.size < ANSWER_HEAD + size || crew_take(leading, member));
}

static void crew_accept(struct crew_leading *leading)
{
    int fd = accept4(leading->cluster->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0) {
        crew_keep_alive(fd);
        if (!crew_add_member(leading, fd, false)) {
            (void)close(fd);
        }
    }
}

static void crew_look(struct crew_leading *leading)
{
    nfds_t count = leading->count;
    for (uint32_t i = 0; i < leading->count; i++) {
        leading->polls[i] = (struct pollfd){.fd = leading->members[i].fd, .events = POLLIN};
    }
    leading->polls[count] = (struct pollfd){.fd = leading->cluster->listener, .events = POLLIN};
    if (poll(leading->polls, count + 1, TICK_MS) <= 0) {
        return;
    }
    bool knock = leading->polls[count].revents != 0;
    for (uint32_t i = (uint32_t)count; i-- > 0;) { /* from the back: one that goes is replaced by one looked at */
        if (leading->polls[i].revents != 0 && !crew_hear(leading, &leading->members[i])) {
            crew_drop_member(leading, i);
        }
    }
    if (knock) {
        crew_accept(leading);
    }
}

/* Whether pieces are out that this process makes itself. */
static bool crew_waits_for_own(const struct crew_leading *leading)
{
    for (uint32_t i = 0; i < leading->count; i++) {
        if (leading->members[i].local && leading->members[i].at != CREW_NONE) {
            return true;
        }
    }
    return false;
}

static enum orr_status crew_begin_own(struct crew_leading *leading, struct crew_thread *own, uint32_t threads,
                                      uint32_t *begun, struct orr_error *err)
{
    for (; *begun < threads; ++*begun) {
        int pair[2];
        struct crew_thread *thread = &own[*begun];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
            break;
        }
        *thread = (struct crew_thread){.work = leading->work, .fd = pair[1]};
        if (!crew_add_member(leading, pair[0], true)) {
            (void)close(pair[0]);
            (void)close(pair[1]);
            break;
        }
        if (pthread_create(&thread->thread, NULL, crew_make, thread) != 0) {
            (void)close(pair[1]); /* its member is dropped when it is heard of */
            break;
        }
    }
    return *begun > 0 ? ORR_OK : error_set(err, ORR_ENOMEM, "no thread to carry out a piece with");
}

static enum orr_status crew_carry_out(struct crew_leading *leading, struct orr_error *err)
{
    const struct crew_work *work = leading->work;
    while (leading->taken_count < work->count && (!leading->stopped || crew_waits_for_own(leading))) {
        crew_hand_out(leading);
        crew_look(leading);
        leading->stopped = !work->tick(work->context) || leading->stopped;
        if (leading->count == 0) { /* even the threads here have given up: there is no memory */
            return error_set(err, ORR_ENOMEM, "out of memory for the result of a piece of work");
        }
    }
    return ORR_OK;
}

enum orr_status crew_lead(struct orr_cluster *cluster, uint32_t threads, const struct crew_work *work,
                          struct orr_error *err)
{
    struct crew_leading leading = {.cluster = cluster, .work = work};
    struct crew_thread *own = calloc(threads, sizeof *own);
    uint32_t begun = 0;
    size_t room = (size_t)work->count + 1;
    leading.taken = calloc(room, 1);
    leading.again = calloc(room, 1);
    leading.given = calloc(2 * room, sizeof *leading.given); /* a place is out twice at most */
    bool made = own != NULL && leading.taken != NULL && leading.again != NULL && leading.given != NULL;
    enum orr_status status = made ? crew_begin_own(&leading, own, threads, &begun, err)
                                  : error_set(err, ORR_ENOMEM, "out of memory for a list of pieces");
    status = status == ORR_OK ? crew_carry_out(&leading, err) : status;
    while (leading.count > 0) {
        (void)shutdown(leading.members[leading.count - 1].fd, SHUT_RDWR);
        crew_drop_member(&leading, leading.count - 1);
    }
    crew_join(own, begun);
    free(own);
    free(leading.members);
    free(leading.polls);
    free(leading.taken);
    free(leading.again);
    free(leading.given);
    return status;
}
