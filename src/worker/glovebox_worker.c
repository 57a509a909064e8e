/* SPDX-License-Identifier: MIT */
/*
 * glovebox-worker - the untrusted half. The library starts it with a built environment
 * and one socket; started by hand it only prints what it is.
 */
#include "worker/worker.h"

#include <glovebox/version.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "--serve") == 0) {
        gbx_launch launch;

        gbx_stack_clear();
        gbx_launch_template(argv, argc, &launch);
        _exit(gbx_template_serve(&launch, NULL)); /* worker/worker.h explains _exit() */
    }
    if (argc >= 2 && strcmp(argv[1], "--zygote") == 0) {
        gbx_stack_clear();
        _exit(gbx_zygote_serve(argv, argc));
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        (void)printf("glovebox-worker " GBX_VERSION "\n");
        return 0;
    }
    (void)fprintf(stderr, "glovebox-worker: started by libglovebox, not by hand; "
                          "see glovebox(1)\n");
    return 64;
}
