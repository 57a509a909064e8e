/* SPDX-License-Identifier: MIT */
/* attack_names - the texts of the table, for both sides; no attack code. */
#include "base/cleanup.h"
#include "worker/attack_table.h"

#include <unistd.h>

static const gbx_attack_info infos[] = {
#define XX(function, id, topic, name, layers, note) {id, topic, name, layers, note},
    GBX_ATTACK_MAP(XX)
#undef XX
};

/* ---- public to other modules -------------------------------------------- */

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
