/* SPDX-License-Identifier: MIT */
/* worker_uid - see engine.h. */
#include "engine/engine.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

/* systemd's range for services without a user of their own; systemd applies the same
 * test: no name. */
#define UID_FIRST 61184u
#define UID_LAST  65519u
#define TRIES     64

#define NOBODY 65534u

static bool has_name(uint32_t id)
{
    char text[4096];
    struct passwd user;
    struct passwd *named = NULL;
    struct group group;
    struct group *grouped = NULL;

    return getpwuid_r((uid_t)id, &user, text, sizeof text, &named) == ERANGE ||
           named != NULL ||
           getgrgid_r((gid_t)id, &group, text, sizeof text, &grouped) == ERANGE ||
           grouped != NULL;
}

/* As far as this process can see. */
static bool has_process(uint32_t uid)
{
    errno = 0;
    (void)getpriority(PRIO_USER, (id_t)uid);
    return errno != ESRCH;
}

static uint32_t find_free(void)
{
    uint32_t count = UID_LAST - UID_FIRST + 1;
    uint32_t at = 0;

    (void)!getrandom(&at, sizeof at, GRND_NONBLOCK);
    for (uint32_t i = 0; i < TRIES; i++) {
        uint32_t uid = UID_FIRST + (at + i) % count;

        if (!has_process(uid) && !has_name(uid))
            return uid;
    }
    return 0;
}

/* ---- public to other modules -------------------------------------------- */

void gbx_worker_uid_choose(uint32_t asked, char to[GBX_WORKER_UIDS_SIZE])
{
    const size_t size = GBX_WORKER_UIDS_SIZE;
    uint32_t found;

    to[0] = 0;
    if (geteuid() != 0)
        return;
    if (asked != 0) {
        (void)snprintf(to, size, "%u", asked);
        return;
    }
    found = find_free();
    if (found != 0)
        (void)snprintf(to, size, "%u,%u", found, NOBODY);
    else
        (void)snprintf(to, size, "%u,%u", NOBODY, NOBODY);
}
