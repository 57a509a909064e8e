/* SPDX-License-Identifier: MIT */
#ifndef GLOVEBOX_STATUS_H
#define GLOVEBOX_STATUS_H

/**
 * @file status.h
 * The two tables of everything that can go wrong: what the host could not do
 * (gbx_status) and how a call ended (gbx_code). Enums, names, exit statuses and the
 * tables in the manual are generated from them. Append only; numbers are ABI.
 */

/*
 * Host-side failures: the call was never judged.
 *
 * XX(name, number, cli_exit, jsonrpc_code, text)
 */
#define GBX_STATUS_MAP(XX)                                                     \
    XX(OK, 0, 0, 0, "success")                                                 \
    XX(E_USAGE, -1, 64, -32602, "a parameter is outside its documented range") \
    XX(E_NOMEM, -2, 71, -32603, "the host is out of memory")                   \
    XX(E_OS, -3, 71, -32603, "a system call failed")                           \
    XX(E_UNSUPPORTED, -4, 69, -32001,                                          \
       "this machine lacks a required layer of the seal")                      \
    XX(E_PROTOCOL, -5, 76, -32603, "the worker program broke the protocol")    \
    XX(E_DATA, -6, 65, -32602,                                                 \
       "a dataset is not valid JSON or does not fit, or a preload failed")     \
    XX(E_CLOSED, -7, 69, -32603, "the engine is shutting down")                \
    XX(E_POLICY, -8, 78, -32602, "a policy cannot be read, or allows what none may")

/*
 * How a call ended. The parent decides the code from what it saw: the guard's verdict,
 * the clock, the signal that ended the worker, and its resource usage.
 *
 * XX(name, number, cli_exit, text)
 */
#define GBX_CODE_MAP(XX)                                                              \
    XX(VALUE, 0, 0, "the code returned a value")                                      \
    XX(TIMEOUT, 1, 10, "the code ran past its time limit and was killed")             \
    XX(MEMORY, 2, 11, "the code needed more memory than its limit")                   \
    XX(SYNTAX, 3, 12, "the code is not valid JavaScript")                             \
    XX(RUNTIME, 4, 13, "the code threw an error, or its value cannot be a result")    \
    XX(OUTPUT_TOO_LARGE, 5, 14, "the result is larger than the output limit")         \
    XX(INVALID_CODE, 6, 15,                                                           \
       "the code is not of the form asked for, or uses what is off")                  \
    XX(UNAVAILABLE, 7, 16, "no worker could be had, or the queue is full")            \
    XX(ABORTED, 8, 17, "the caller aborted the call")                                 \
    XX(INVALID_DATA, 9, 18, "the input is not JSON")                                  \
    XX(CRASHED, 10, 19, "the worker died although no limit was reached")              \
    XX(VIOLATION, 11, 20, "the worker broke the seal or the protocol and was killed") \
    XX(DIVERGED, 12, 21, "the replayed call did not do what its recording says")      \
    XX(LOST, 13, 22, "its machine is gone: the call may have run")

/** What the host could not do. */
typedef enum gbx_status {
#define XX(name, number, exit, rpc, text) GBX_##name = number,
    GBX_STATUS_MAP(XX)
#undef XX
} gbx_status;

/** How a call ended; GBX_CODE_VALUE is success, all others are failures. */
typedef enum gbx_code {
#define XX(name, number, exit, text) GBX_CODE_##name = number,
    GBX_CODE_MAP(XX)
#undef XX
} gbx_code;

#endif
