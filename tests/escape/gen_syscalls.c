/* SPDX-License-Identifier: MIT */
/* gen_syscalls - write docs/internals/syscalls.md from a live run. */
#include "escape/sweep.h"

int main(int argc, char **argv)
{
    static gbx_swept swept[GBX_SWEEP_COUNT];
    gbx_attack_session *session = NULL;
    gbx_error error = {0};
    FILE *to;

    if (argc != 2) {
        (void)fputs("usage: gen_syscalls FILE\n", stderr);
        return 64;
    }
    if (gbx_attack_open(NULL, GBX_JIT_FULL, 0, &session, &error) != GBX_OK) {
        (void)fprintf(stderr, "gen_syscalls: %s\n", error.message);
        return 69;
    }
    for (unsigned number = 0; number < GBX_SWEEP_COUNT; number++)
        swept[number] = gbx_sweep_one(session, number);
    gbx_attack_close(session);
    to = fopen(argv[1], "we");
    if (to == NULL || !gbx_sweep_print(to, swept) || fclose(to) != 0) {
        (void)fprintf(stderr, "gen_syscalls: cannot write '%s'\n", argv[1]);
        return 74;
    }
    return 0;
}
