/* SPDX-License-Identifier: MIT */
/*
 * template_main - the process that has everything a call needs but the call: it forks
 * workers and reports their ends. It never sees a call's code. One thread, checked.
 */
#ifndef GBX_WORKER_TEMPLATE_MAIN_H
#define GBX_WORKER_TEMPLATE_MAIN_H

#include "worker/launch.h"
#include "worker/zygote_main.h"

/* Serve the control socket until it closes; the exit status of the program. What is
 * prepared is taken, and completed. */
int gbx_template_serve(const gbx_launch *launch, const gbx_prepared *prepared);

#endif
