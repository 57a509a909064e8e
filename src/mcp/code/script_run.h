/* SPDX-License-Identifier: MIT */
/*
 * script_run - one execution of code for one request, from its start to its reply, and the
 * calls of tools that it makes.
 *
 * script_run.c drives a run. It uses the other files, which call it back by may_end.
 */
#ifndef GBX_MCP_CODE_SCRIPT_RUN_H
#define GBX_MCP_CODE_SCRIPT_RUN_H

#include "guard/guard.h"
#include "mcp/code/code_mode.h"

#define GBX_RUN_FAULTS_MAX  8
#define GBX_RUN_WHY_SIZE    120 /* for the reason why nothing was kept */
#define GBX_RUN_REMARKS_MAX 16

/* servers.js says this beyond the limit of requests to the host. */
#define GBX_RUN_ASKED_MAX "the limit on questions of one run is reached: ask less often"

/* The text of a refusal when memory for its own text is out. */
#define GBX_RUN_NO_MEMORY "the host is out of memory"

/* ---- tool_call.c --------------------------------------------------------- */

/* The code of a call that was given up before it was sent to its server. */
#define GBX_TOOL_CALL_NOT_SENT "NOT_SENT"

/* The gate has the states between: listing, asking, sent. */
typedef enum gbx_tool_call_state {
    GBX_TOOL_CALL_QUEUED, /* waits for one of its run's places for that server */
    GBX_TOOL_CALL_PASSING,
    GBX_TOOL_CALL_OVER,
} gbx_tool_call_state;

/* The calls of one run to one server. A server that does not answer, or a person who
 * takes time, delays only the calls queued behind it here. upstream limits the calls of
 * all runs to a server. */
typedef struct gbx_tool_queue {
    uint32_t flying; /* no longer queued: with the gate */
    TAILQ_HEAD(, gbx_tool_call) waiting;
} gbx_tool_queue;

typedef struct gbx_tool_call {
    gbx_mcp_code *code;
    const gbx_mcp_upstream_config *server;
    char *tool;
    char *args;
    size_t args_len;
    uint32_t timeout_ms;
    gbx_mcp_request *client;  /* on whose behalf */
    gbx_gate_call *gate_call; /* NULL: queued, or ended */
    gbx_tool_call_state state;
    bool is_abandoned; /* code mode has ended: freed when the gate lets go of it */
    int64_t start_ns;
    LIST_ENTRY(gbx_tool_call) in_code; /* of the tool `call` */

    /* Of a call that code makes; it is kept until its run has reported it. */
    struct gbx_code_run *run;   /* NULL: the tool `call` */
    gbx_request request;        /* of the worker */
    struct gbx_tool_call *next; /* of the run, in the order of the calls */
    gbx_tool_queue *queue;      /* of the run */
    TAILQ_ENTRY(gbx_tool_call) in_queue;
    uint32_t line; /* in the code, as it says */
    bool raw;
    bool was_open; /* when the code had ended: its result is reported, not answered */
    unsigned remarks; /* that were made about its result */
    gbx_gate_fate fate;
    const char *failed; /* code of the error, a constant; or NULL */
    char *message;      /* of the error */
    double ms;
    size_t bytes;
    char gave[GBX_VALUE_SKETCH_SIZE]; /* or "" */
} gbx_tool_call;

/* Start a call that is in the list of its run. May answer the worker at once. */
void gbx_tool_call_start(gbx_tool_call *call);

/* Was it sent to its server? Then it may take effect, even if nobody waits for it. */
bool gbx_tool_call_is_sent(const gbx_tool_call *call);

/* End it without an answer: at once if queued, else when the gate has ended it. */
void gbx_tool_call_cancel(gbx_tool_call *call);

/* Code mode ends: free it, or leave it to the gate. */
void gbx_tool_call_abandon(gbx_tool_call *call);
void gbx_tool_call_free(gbx_tool_call *call);

/* Answer a request of the worker with an error; message is text. */
void gbx_code_answer_error(gbx_mcp_code *code, gbx_request request,
                           const char *error_code, const char *message, size_t len,
                           bool retryable);

/* ---- a run --------------------------------------------------------------- */

/* A ToolError that no call of a tool caused. */
typedef struct gbx_run_fault {
    char code[24];
    char *message;
} gbx_run_fault;

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
    gbx_time_budget patience; /* time for parsing the code, in total */
    gbx_box_run *box_run;     /* NULL: ended, or not begun */
    uint32_t timeout_ms;
    int64_t start_ns;
    struct event *timer;
    double paused_ms; /* while waiting for a person */
    double seen_ms;   /* time of the last check */
    bool is_late;
    gbx_tool_queue *queues; /* one per server of the configuration */
    gbx_tool_call *calls;   /* all of them, in call order */
    gbx_tool_call **calls_end;
    size_t call_count;
    size_t open; /* calls that have not ended */
    STAILQ_HEAD(, gbx_keeping)
    keepings; /* future artifacts; the first is being redacted */
    STAILQ_HEAD(, gbx_question) questions; /* about known tools; the first is next */
    struct event *turn;                    /* of the first question */
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
    bool is_value_lost; /* memory was out */
    unsigned holders;   /* questions and jobs that refer to the run */
    /* A call, question or job of the run has ended: finish the run if it was the last;
     * that frees it. */
    void (*may_end)(struct gbx_code_run *run);
    LIST_ENTRY(gbx_code_run) in_code;
} gbx_code_run;

/* Undo one increment of holders. */
static inline void gbx_code_run_release(gbx_code_run *run)
{
    run->holders--;
    run->may_end(run);
}

/* ---- script_run.c -------------------------------------------------------- */

/* Start a run, which ends the request. text: the code, at least one byte, without a
 * final NUL; input may be a missing value. */
void gbx_code_run_start(gbx_mcp_code *code, gbx_mcp_request *request,
                        const gbx_buf *text, gbx_view input, uint32_t timeout_ms);

/* Code mode and the loop end: nothing is answered. What the gate still holds is freed
 * when it lets go. */
void gbx_code_run_abandon(gbx_code_run *run);

/* ---- run_output.c -------------------------------------------------------- */

/* All that leaves a run is redacted. */

/* Pass on a log line, as it is printed; user is the run. */
void gbx_code_run_log(void *user, gbx_log_level level, const char *text, size_t len);

/* Arguments: what has them, the first one, and how many there are. */
#define GBX_RUN_FAR_INTEGERS                                                          \
    "%s integers beyond 2^53 - 1: they are texts in the code, to keep their digits: " \
    "%.*s (%zu in all); a tool whose schema wants an integer gets one"

/* Add our own line to the code's log, as a warning, up to GBX_RUN_REMARKS_MAX. */
void gbx_code_run_remark(gbx_code_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Record that a ToolError of that code was or will be made; code is [A-Z_]. */
void gbx_code_run_fault(gbx_code_run *run, const char *code, const char *message);

/* Keep a redacted value for readers of the reply, and append its handle as JSON.
 * is_bytes: never read it as text. False: not kept, and why has the reason in words. */
bool gbx_code_run_try_keep(gbx_code_run *run, const char *name, const char *mime_type,
                           const void *data, size_t len, bool is_bytes, gbx_buf *handle,
                           char why[GBX_RUN_WHY_SIZE]);
/* The same for bytes of a tool's result whose other parts are still useful: a handle is
 * always appended; if nothing was kept, it says why. */
void gbx_code_run_keep(gbx_code_run *run, const char *name, const char *mime_type,
                       const void *data, size_t len, gbx_buf *handle);

/* Redact the run's value and log. False: done. True: the run is held until it is
 * done. */
bool gbx_code_run_redact(gbx_code_run *run);

/* ---- guest_requests.c ---------------------------------------------------- */

/* Handle a request of the code; user is the run. */
void gbx_code_run_request(void *user, gbx_request request, gbx_view args);

/* Drop questions whose answers nobody awaits any more. */
void gbx_code_run_drop_questions(gbx_code_run *run);

/* Drop artifacts that are not kept yet. */
void gbx_code_run_drop_keepings(gbx_code_run *run);

/* ---- script_result.c ----------------------------------------------------- */

/* Write the reply and end the request. ms_left: of the run's time. */
void gbx_code_run_finish(gbx_code_run *run, double ms_left);
/* Reply for a run that never started: what is wrong with the arguments or the code. */
void gbx_code_run_refuse(gbx_mcp_code *code, gbx_mcp_request *request,
                         const gbx_script_reply_error *error);

/* ---- hints.c ------------------------------------------------------------- */

/* Map habits that models bring from other hosts to what works here: what to write
 * instead, to be freed, or NULL. message: the engine's, of the error that ended a run;
 * line: the line of code that failed. */
char *gbx_code_message_hint(const gbx_code_run *run, const char *message,
                            const char *line, size_t line_len);

#endif
