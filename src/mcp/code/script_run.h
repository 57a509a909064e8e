/* SPDX-License-Identifier: MIT */
/* script_run - one execution of code for one request, from its start to its reply. */
#ifndef GBX_MCP_CODE_SCRIPT_RUN_H
#define GBX_MCP_CODE_SCRIPT_RUN_H

#include "guard/guard.h"
#include "mcp/code/code.h"
#include "mcp/code/code_mode.h"
#include "mcp/code/digits.h"
#include "mcp/code/nested_call.h"
#include "mcp/code/script_reply.h"
#include "mcp/code/unawaited.h"

#define GBX_RUN_ARTIFACTS_MAX 1000
#define GBX_RUN_FAULTS_MAX    8
#define GBX_RUN_VALUE_MAX     GBX_MIB(512)
#define GBX_RUN_PRINTED_MAX   GBX_MIB(512)
#define GBX_RUN_WHY_SIZE      120 /* of why nothing was kept */
#define GBX_RUN_REMARKS_MAX   16

/* What servers.js says beyond the limit of what code may ask the host. */
#define GBX_RUN_ASKED_MAX "the limit on questions of one run is reached: ask less often"

/* What a refusal says for whose own words there is no memory. */
#define GBX_RUN_NO_MEMORY "the host is out of memory"

/* A ToolError that is no call's. */
typedef struct gbx_run_fault {
    char code[24];
    char *message;
} gbx_run_fault;

typedef struct gbx_keeping gbx_keeping;
typedef struct gbx_question gbx_question;

/* What an error means, by the code (explain_failure.c). */
typedef struct gbx_run_meaning {
    gbx_guard_advice advice; /* the position is that in the code that was run */
    bool is_unawaited;
    gbx_unawaited unawaited;
} gbx_run_meaning;

typedef struct gbx_code_run {
    gbx_mcp_code *code;
    gbx_mcp_request *request;
    char id[40]; /* as the gate's log has it */
    char *text;  /* as it was given */
    size_t text_len;
    gbx_view input;     /* of the request, or of input_text */
    gbx_buf input_text; /* with its digits kept */
    gbx_digits digits;  /* of integers that code cannot have as Numbers */
    char *remarks[GBX_RUN_REMARKS_MAX]; /* of ours, in the log */
    size_t remark_count;
    gbx_script script;
    gbx_parse_thread_job job; /* that makes the script, or finds the meaning */
    gbx_time_budget patience; /* with the code, in all */
    bool is_reading;          /* the job makes the script */
    bool is_stopped;          /* while it was read */
    gbx_box_run *box_run;     /* NULL: over, or not begun */
    uint32_t timeout_ms;
    int64_t start_ns;
    struct event *timer;
    double paused_ms; /* while a person was asked */
    double seen_ms;   /* when that was last looked at */
    bool is_late;
    gbx_nested_line *lines; /* for each server of the configuration */
    gbx_nested_call *calls; /* all of them, in their order */
    gbx_nested_call **calls_end;
    size_t call_count;
    size_t refused;          /* over the limit of calls; not in the list */
    size_t open;             /* calls that have not ended */
    gbx_keeping *keepings;   /* artifacts to be; the first is being looked through */
    gbx_question *questions; /* about tools that are known; the first is next */
    gbx_question **questions_end;
    struct event *turn; /* of the first */
    gbx_script_reply_artifact *artifacts;
    size_t artifact_count;
    size_t artifact_room;
    size_t unkept;                            /* artifacts that the code gave */
    char why_unkept[GBX_RUN_WHY_SIZE];        /* the first */
    gbx_run_fault faults[GBX_RUN_FAULTS_MAX]; /* the last ones, a ring */
    size_t fault_count;
    bool is_ending;     /* the box is through; its server has each call that is open */
    gbx_result *result; /* owned, then; NULL: nothing ran */
    gbx_error error;
    gbx_gate_sift *sift; /* of what leaves it, or NULL */
    gbx_buf value;       /* without secrets, once is_stripped */
    gbx_buf printed;     /* the same of its logs, one after the other */
    gbx_script_reply_log *logs;
    size_t log_count;
    bool is_stripped;
    bool is_value_lost;        /* for want of memory */
    gbx_run_meaning meaning;   /* of the result, if it is an error */
    unsigned holders;          /* questions and jobs that still know it */
    struct gbx_code_run *next; /* of open_runs */
    struct gbx_code_run **link;
} gbx_code_run;

/* Begin. text: the code, of at least one byte and without NUL at its end; input may be no
 * value. The run ends the request. */
void gbx_code_run_start(gbx_mcp_code *code, gbx_mcp_request *request,
                        const gbx_buf *text, gbx_view input, uint32_t timeout_ms);

/* It has taken too long, or nobody wants it any more: it ends soon, if not at once. */
void gbx_code_run_stop(gbx_code_run *run);

/* The time limit (deadline.c): when it is reached, the run is stopped and is_late set. */
bool gbx_code_run_watch(gbx_code_run *run);
void gbx_code_run_unwatch(gbx_code_run *run);
double gbx_code_run_left_ms(const gbx_code_run *run);

/* Code mode ends, and the loop with it: nothing is answered. What the gate still knows is
 * freed when it lets go. */
void gbx_code_run_abandon(gbx_code_run *run);

/* What raised holders lets go. */
void gbx_code_run_release(gbx_code_run *run);

/* A nested call of the run has ended. */
void gbx_code_run_settled(gbx_code_run *run);

/* Keep what was looked through for who reads the reply, and append its handle as JSON;
 * is_bytes: it is not read as text in any case. False: it is not kept, why says so in
 * words. */
bool gbx_code_run_try_keep(gbx_code_run *run, const char *name, const char *mime_type,
                           const void *data, size_t len, bool is_bytes, gbx_buf *handle,
                           char why[GBX_RUN_WHY_SIZE]);
/* The same of bytes that a tool has given, whose other parts are of use: a handle is appended in
 * any case, and says why there is nothing behind it. */
void gbx_code_run_keep(gbx_code_run *run, const char *name, const char *mime_type,
                       const void *data, size_t len, gbx_buf *handle);

/* Who has them, the first, and how many there are. */
#define GBX_RUN_FAR_INTEGERS                                                          \
    "%s integers beyond 2^53 - 1: they are texts in the code, to keep their digits: " \
    "%.*s (%zu in all); a tool whose schema wants an integer gets one"

/* A line of ours in the log of the code, as a warning; so many are taken. */
void gbx_code_run_remark(gbx_code_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A ToolError of that code was made, or will be; code is [A-Z_]. */
void gbx_code_run_fault(gbx_code_run *run, const char *code, const char *message);

/* Those that are not kept yet never will be (artifact_request.c). */
void gbx_code_run_drop_keepings(gbx_code_run *run);

/* Nobody waits for answers any more (guest_requests.c). */
void gbx_code_run_drop_questions(gbx_code_run *run);

/* What the box asks (guest_requests.c). */
void gbx_code_run_request(void *user, gbx_request request, gbx_view args);

/* Look through what leaves the run for secrets: false if that was done. Else the run is
 * held until it is (redact_result.c). */
bool gbx_code_run_redact(gbx_code_run *run);

/* Find the meaning of the result, then call gbx_code_run_release() (explain_failure.c). */
void gbx_code_run_explain(gbx_code_run *run);

/* Write the reply and end the request (script_result.c). */
void gbx_code_run_finish(gbx_code_run *run);
/* A reply of a run that never was: what is wrong with the arguments or the code. */
void gbx_code_run_refuse(gbx_mcp_code *code, gbx_mcp_request *request,
                         const gbx_script_reply_error *error);

#endif
