/* SPDX-License-Identifier: MIT */
/*
 * attack_victims - what the host puts out for attacks to reach for: an abstract socket
 * that listens, a System V segment, a message queue. Each world-accessible and empty
 * of anything worth having. Without them a namespace that was not made would look like
 * one that was, since there would be nothing to find.
 */
#ifndef GBX_WORKER_ATTACK_VICTIMS_H
#define GBX_WORKER_ATTACK_VICTIMS_H

typedef struct gbx_attack_victims {
    int listener;
    int segment;
    int queue;
} gbx_attack_victims;

/* What cannot be made (no such feature; another run has it) is -1: not a failure. */
void gbx_attack_victims_open(gbx_attack_victims *ret);
void gbx_attack_victims_close(gbx_attack_victims *victims);

#endif
