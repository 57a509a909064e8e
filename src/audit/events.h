/* SPDX-License-Identifier: MIT */
/*
 * events - the names of everything that an engine reports about itself.
 *
 * The names are a promise: programs look for them. Append only. test_audit_docs
 * compares this table with docs/internals/security-log.md, which has a section for
 * each.
 */
#ifndef GBX_AUDIT_EVENTS_H
#define GBX_AUDIT_EVENTS_H

#include <stdbool.h>

/* Where an event goes: the security log, the event callback, or both. The callback
 * gets what somebody should look at; what happens all the time is in the log alone. */
enum { GBX_AUDIT_LOG = 1, GBX_AUDIT_EVENT = 2, GBX_AUDIT_BOTH = 3 };

/* XX(NAME, "name", where it goes, "what has happened") */
#define GBX_AUDIT_MAP(XX)                                                            \
    XX(ENGINE_STARTED, "engine.started", LOG, "an engine serves")                    \
    XX(ENGINE_ENDED, "engine.ended", LOG, "the engine was freed: its last line")     \
    XX(CALL_STARTED, "call.started", LOG, "a call was made: its first line")         \
    XX(CALL_ENDED, "call.ended", LOG, "the call has its result: its last line")      \
    XX(HOST_CALL, "host.call", LOG, "code called a function of the host")            \
    XX(HOST_REFUSED, "host.refused", BOTH,                                           \
       "code asked the host for something that it does not get")                     \
    XX(GUARD_VIOLATION, "guard.violation", BOTH,                                     \
       "the guard refused code: nothing of it ran")                                  \
    XX(CALL_TIMEOUT, "call.timeout", BOTH, "a call ran past a time limit")           \
    XX(CALL_MEMORY, "call.memory", BOTH, "a call needed more memory than its limit") \
    XX(PROTOCOL_VIOLATION, "protocol.violation", BOTH,                               \
       "a worker said what no worker says, and was killed")                          \
    XX(SECCOMP_KILL, "seccomp.kill", BOTH,                                           \
       "a worker made a system call outside its table, and the kernel killed it")    \
    XX(WORKER_CRASHED, "worker.crashed", BOTH,                                       \
       "a worker died although no limit was reached")                                \
    XX(WORKER_KILLED, "worker.killed", EVENT,                                        \
       "the host ended a worker before its result: time, memory or an abort")        \
    XX(TEMPLATE_DIED, "template.died", BOTH,                                         \
       "a template ended by itself, its workers with it; another is started")        \
    XX(TEMPLATE_FAILED, "template.failed", BOTH, "a template could not be started")  \
    XX(SUSPICIOUS, "suspicious", BOTH, "refusals cluster: the mark of hostile code") \
    XX(LOG_DROPPED, "log.dropped", BOTH, "lines of a call that are not in this log") \
    XX(MCP_CALL, "mcp.call", LOG, "a tool of another MCP server was called, or refused")

typedef enum gbx_audit_event {
#define XX(name, text, who, what) GBX_AUDIT_##name,
    GBX_AUDIT_MAP(XX)
#undef XX
        GBX_AUDIT_EVENT_COUNT
} gbx_audit_event;

/* "host.call" and the like. */
const char *gbx_audit_name(gbx_audit_event event);

/* What it means, in a few words. */
const char *gbx_audit_text(gbx_audit_event event);

/* Does the event go to who (GBX_AUDIT_LOG or GBX_AUDIT_EVENT)? */
bool gbx_audit_is_for(gbx_audit_event event, unsigned who);

#endif
