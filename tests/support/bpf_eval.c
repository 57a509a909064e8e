/* SPDX-License-Identifier: MIT */
/* bpf_eval - see bpf_eval.h. */
#include "support/bpf_eval.h"

#include <string.h>

#define INVALID UINT32_MAX

static bool jumps(uint16_t code, uint32_t a, uint32_t k)
{
    switch (BPF_OP(code)) {
    case BPF_JEQ: return a == k;
    case BPF_JGT: return a > k;
    case BPF_JGE: return a >= k;
    case BPF_JSET: return (a & k) != 0;
    default: return false;
    }
}

/* ---- to the tests ----------------------------------------------------------- */

uint32_t gbx_bpf_run(gbx_bpf *bpf, const struct seccomp_data *data)
{
    uint32_t memory[BPF_MEMWORDS] = {0};
    uint32_t a = 0;

    for (size_t pc = 0; pc < bpf->len; pc++) {
        const struct sock_filter *i = &bpf->code[pc];

        bpf->visited[pc] = true;
        switch (i->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            if (i->k % 4 != 0 || i->k > sizeof *data - 4)
                return INVALID;
            memcpy(&a, (const char *)data + i->k, sizeof a);
            break;
        case BPF_LD | BPF_MEM: a = memory[i->k % BPF_MEMWORDS]; break;
        case BPF_ST: memory[i->k % BPF_MEMWORDS] = a; break;
        case BPF_ALU | BPF_AND | BPF_K: a &= i->k; break;
        case BPF_JMP | BPF_JA: pc += i->k; break;
        case BPF_JMP | BPF_JEQ | BPF_K:
        case BPF_JMP | BPF_JGT | BPF_K:
        case BPF_JMP | BPF_JGE | BPF_K:
        case BPF_JMP | BPF_JSET | BPF_K:
            pc += jumps(i->code, a, i->k) ? i->jt : i->jf;
            break;
        case BPF_RET | BPF_K: return i->k;
        default: return INVALID;
        }
    }
    return INVALID;
}
