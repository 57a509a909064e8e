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
#define GBX_RUN_WHY_SIZE      120 /* for the reason why nothing was kept */
#define GBX_RUN_REMARKS_MAX   16

/* servers.js says this beyond the limit of requests to the host. */
#define GBX_RUN_ASKED_MAX "the limit on questions of one run is reached: ask less often"

/* The text of a refusal when memory for its own text is out. */
#define GBX_RUN_NO_MEMORY "the host is out of memory"

/* A ToolError that no nested call caused. */
typedef struct gbx_run_fault {
    char code[24];
    char *message;
} gbx_run_fault;

typedef struct gbx_keeping gbx_keeping;
typedef struct gbx_question gbx_question;

/* What the code reveals about an error (explain_failure.c). */
typedef struct gbx_run_meaning {
    gbx_guard_advice advice; /* positions refer to the code that ran */
    bool is_unawaited;
    gbx_unawaited unawaited;
} gbx_run_meaning;

typedef struct gbx_code_run {
    gbx_mcp_code *code;
    gbx_mcp_request *request;
    char id[40]; /* as in the gate's log */
    char *text;  /* as received */
    size_t text_len;
    gbx_view input;                     /* of the request, or of input_text */
    gbx_buf input_text;                 /* the input with all digits kept */
    gbx_digits digits;                  /* integers too large for Numbers in code */
    char *remarks[GBX_RUN_REMARKS_MAX]; /* our own lines in the log */
    size_t remark_count;
    gbx_script script;
    gbx_parse_thread_job job; /* makes the script, or finds the meaning */
    gbx_time_budget patience; /* time for parsing the code, in total */
    bool is_reading;          /* the job makes the script */
    bool is_stopped;          /* while the script was made */
    gbx_box_run *box_run;     /* NULL: ended, or not begun */
    uint32_t timeout_ms;
    int64_t start_ns;
    struct event *timer;
    double paused_ms; /* while waiting for a person */
    double seen_ms;   /* time of the last check */
    bool is_late;
    gbx_nested_line *lines; /* one per server of the configuration */
    gbx_nested_call *calls; /* all of them, in call order */
    gbx_nested_call **calls_end;
    size_t call_count;
    size_t refused;          /* beyond the limit of calls; not in the list */
    size_t open;             /* calls that have not ended */
    gbx_keeping *keepings;   /* future artifacts; the first is being redacted */
    gbx_question *questions; /* about known tools; the first is next */
    gbx_question **questions_end;
    struct event *turn; /* of the first question */
    gbx_script_reply_artifact *artifacts;
    size_t artifact_count;
    size_t artifact_room;
    size_t unkept;                            /* artifacts that were not kept */
    char why_unkept[GBX_RUN_WHY_SIZE];        /* the reason for the first */
    gbx_run_fault faults[GBX_RUN_FAULTS_MAX]; /* the last ones, as a ring */
    size_t fault_count;
    bool is_ending;     /* the worker has finished; open calls are with their servers */
    gbx_result *result; /* owned while is_ending; NULL: nothing ran */
    gbx_error error;
    gbx_gate_sift *sift; /* redacts its output, or NULL */
    gbx_buf value;       /* redacted, once is_stripped */
    gbx_buf printed;     /* the same for its logs, concatenated */
    gbx_script_reply_log *logs;
    size_t log_count;
    bool is_stripped;
    bool is_value_lost;        /* memory was out */
    gbx_run_meaning meaning;   /* of the result, if it is an error */
    unsigned holders;          /* questions and jobs that refer to the run */
    struct gbx_code_run *next; /* in open_runs */
    struct gbx_code_run **link;
} gbx_code_run;

/* Start a run, which ends the request. text: the code, at least one byte, without a
 * final NUL; input may be a missing value. */
void gbx_code_run_start(gbx_mcp_code *code, gbx_mcp_request *request,
                        const gbx_buf *text, gbx_view input, uint32_t timeout_ms);

/* Stop the run after a timeout or a cancellation: it ends soon, perhaps not at once. */
void gbx_code_run_stop(gbx_code_run *run);

/* The time limit (deadline.c): at its end the run is stopped and is_late set. */
bool gbx_code_run_watch(gbx_code_run *run);
void gbx_code_run_unwatch(gbx_code_run *run);
double gbx_code_run_left_ms(const gbx_code_run *run);

/* Code mode and the loop end: nothing is answered. What the gate still holds is freed
 * when it lets go. */
void gbx_code_run_abandon(gbx_code_run *run);

/* Undo one increment of holders. */
void gbx_code_run_release(gbx_code_run *run);

/* A nested call of the run has ended. */
void gbx_code_run_settled(gbx_code_run *run);

/* Keep a redacted value for readers of the reply, and append its handle as JSON.
 * is_bytes: never read it as text. False: not kept, and why has the reason in words. */
bool gbx_code_run_try_keep(gbx_code_run *run, const char *name, const char *mime_type,
                           const void *data, size_t len, bool is_bytes, gbx_buf *handle,
                           char why[GBX_RUN_WHY_SIZE]);
/* The same for bytes of a tool's result whose other parts are still useful: a handle is
 * always appended; if nothing was kept, it says why. */
void gbx_code_run_keep(gbx_code_run *run, const char *name, const char *mime_type,
                       const void *data, size_t len, gbx_buf *handle);

/* Arguments: what has them, the first one, and how many there are. */
#define GBX_RUN_FAR_INTEGERS                                                          \
    "%s integers beyond 2^53 - 1: they are texts in the code, to keep their digits: " \
    "%.*s (%zu in all); a tool whose schema wants an integer gets one"

/* Add our own line to the code's log, as a warning, up to GBX_RUN_REMARKS_MAX. */
void gbx_code_run_remark(gbx_code_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Record that a ToolError of that code was or will be made; code is [A-Z_]. */
void gbx_code_run_fault(gbx_code_run *run, const char *code, const char *message);

/* Drop artifacts that are not kept yet (artifact_request.c). */
void gbx_code_run_drop_keepings(gbx_code_run *run);

/* Drop questions whose answers nobody awaits any more (guest_requests.c). */
void gbx_code_run_drop_questions(gbx_code_run *run);

/* Handle a request of the code (guest_requests.c). */
void gbx_code_run_request(void *user, gbx_request request, gbx_view args);

/* Redact secrets in the run's output (redact_result.c). False: done. True: the run is
 * held until it is done. */
bool gbx_code_run_redact(gbx_code_run *run);

/* Explain the result, then call gbx_code_run_release() (explain_failure.c). */
void gbx_code_run_explain(gbx_code_run *run);

/* Write the reply and end the request (script_result.c). */
void gbx_code_run_finish(gbx_code_run *run);
/* Reply for a run that never started: what is wrong with the arguments or the code. */
void gbx_code_run_refuse(gbx_mcp_code *code, gbx_mcp_request *request,
                         const gbx_script_reply_error *error);

#endif
