/* SPDX-License-Identifier: MIT */
/* attack_table - the texts of the table, for both sides, and the targets of attacks; no
 * attack code. */
#include "worker/attack_table.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS  120000
#define PAUSE_MS 20

static const gbx_attack_info infos[] = {
#define XX(id, topic, name, layers, note, run) {id, topic, name, layers, note},
    GBX_ATTACK_MAP(XX)
#undef XX
};

size_t gbx_attack_count(void)
{
    return GBX_COUNTOF(infos);
}

const gbx_attack_info *gbx_attack_info_get(size_t index)
{
    return index < GBX_COUNTOF(infos) ? &infos[index] : NULL;
}

uint32_t gbx_attack_companion(size_t layer)
{
    switch (layer) {
    /* Capabilities override limits and the marks of a process. */
    case GBX_LAYER_RLIMITS:
    case GBX_LAYER_NOT_DUMPABLE: return GBX_LAYER_BIT(GBX_LAYER_NO_CAPS);
    /* Ordinary users make these only inside a user namespace. */
    case GBX_LAYER_PID_NS:
    case GBX_LAYER_NET_NS:
    case GBX_LAYER_MOUNT_NS:
    case GBX_LAYER_IPC_NS:
    case GBX_LAYER_UTS_NS:
    case GBX_LAYER_CGROUP_NS:
        return geteuid() == 0 ? 0 : GBX_LAYER_BIT(GBX_LAYER_USER_NS);
    default: return 0;
    }
}

/* Another process may be attacking, and removes its victims when it has finished: wait
 * until its listener is closed, which it does last. */
static int open_listener(void)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * GBX_NS_PER_MS};
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    size_t len = strlen(GBX_ATTACK_VICTIM_NAME);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int left = WAIT_MS / PAUSE_MS;

    memcpy(at.sun_path + 1, GBX_ATTACK_VICTIM_NAME, len);
    while (fd >= 0 && bind(fd, (const struct sockaddr *)&at, size) < 0) {
        if (errno == EADDRINUSE && left-- > 0)
            (void)nanosleep(&pause, NULL);
        else
            gbx_fd_close(&fd);
    }
    if (fd >= 0 && listen(fd, 64) < 0)
        gbx_fd_close(&fd);
    return fd;
}

static int open_segment(void)
{
    int id = shmget(GBX_ATTACK_VICTIM_KEY, 4096, IPC_CREAT | IPC_EXCL | 0666);
    char *at;

    if (id < 0)
        return -1;
    at = shmat(id, NULL, 0);
    if (at == (char *)-1) /* NOLINT: what shmat returns for failure */
        return id;
    *at = 1;
    (void)shmdt(at);
    return id;
}

void gbx_attack_victims_open(gbx_attack_victims *ret)
{
    ret->listener = open_listener();
    ret->segment = open_segment();
    ret->queue = (int)syscall(SYS_mq_open, GBX_ATTACK_VICTIM_NAME,
                              O_CREAT | O_RDWR | O_CLOEXEC, 0666, NULL);
    /* Bypasses the umask, which belongs to the whole process. */
    if (ret->queue >= 0)
        (void)fchmod(ret->queue, 0666);
}

void gbx_attack_victims_close(gbx_attack_victims *victims)
{
    if (victims->segment >= 0)
        (void)shmctl(victims->segment, IPC_RMID, NULL);
    victims->segment = -1;
    if (victims->queue >= 0)
        (void)syscall(SYS_mq_unlink, GBX_ATTACK_VICTIM_NAME);
    gbx_fd_close(&victims->queue);
    gbx_fd_close(&victims->listener);
}
