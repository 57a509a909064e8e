/* SPDX-License-Identifier: MIT */
/*
 * compile - runs at build time: stores this machine's zones for use.c. Without zones it
 * makes an empty file.
 */
#include "zones/zones.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    FILE *f = argc == 2 ? fopen(argv[1], "we") : NULL;
    gbx_zones zones;
    gbx_buf buf = {.ceiling = GBX_ZONES_SIZE};
    bool ok = f != NULL;

    if (ok && gbx_zones_read(GBX_ZONES_DIR, &zones))
        ok = gbx_buf_append(&buf, zones.version, sizeof zones.version) &&
             gbx_zones_write(&zones, &buf) &&
             fwrite(buf.data, 1, buf.len, f) == buf.len;
    if (f != NULL && fclose(f) != 0)
        ok = false;
    if (!ok)
        (void)fprintf(stderr,
                      "gbx-zones: cannot write the zones of " GBX_ZONES_DIR "\n");
    return ok ? 0 : 1;
}
