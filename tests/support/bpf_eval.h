/* SPDX-License-Identifier: MIT */
/*
 * bpf_eval - run a seccomp filter in user space, and remember which of its instructions
 * have run. Written from the kernel's description of classic BPF, not from the library
 * that makes the filters: a second opinion.
 */
#ifndef GBX_TESTS_BPF_EVAL_H
#define GBX_TESTS_BPF_EVAL_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gbx_bpf {
    const struct sock_filter *code;
    size_t len;
    bool *visited; /* len of them, owned by the caller */
} gbx_bpf;

/* The filter's verdict (SECCOMP_RET_*), or UINT32_MAX if it is no valid program. */
uint32_t gbx_bpf_run(gbx_bpf *bpf, const struct seccomp_data *data);

#endif
