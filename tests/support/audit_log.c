/* SPDX-License-Identifier: MIT */
/* audit_log - callbacks only keep; what asserts runs on the test's own thread. */
#include "audit_log.h"

#include "proc.h"
#include "test.h"

static void on_line(void *user, const char *line, size_t len)
{
    audit_log *log = user;
    char *copy = malloc(len + 1);

    if (copy == NULL)
        abort();
    memcpy(copy, line, len + 1);
    (void)pthread_mutex_lock(&log->lock);
    if (log->count == log->capacity) {
        log->capacity = log->capacity == 0 ? 64 : log->capacity * 2;
        log->lines = realloc(log->lines, log->capacity * sizeof *log->lines);
        if (log->lines == NULL)
            abort();
    }
    log->lines[log->count++] = copy;
    (void)pthread_mutex_unlock(&log->lock);
}

static void on_event(void *user, const gbx_event *event)
{
    audit_log *log = user;

    (void)pthread_mutex_lock(&log->lock);
    if (log->event_count < AUDIT_EVENTS_MAX) {
        size_t i = log->event_count;

        (void)snprintf(log->events[i].name, sizeof log->events[i].name, "%s",
                       event->name);
        (void)snprintf(log->events[i].detail, sizeof log->events[i].detail, "%s",
                       event->detail);
        (void)snprintf(log->events[i].call_id, sizeof log->events[i].call_id, "%s",
                       event->call_id);
        log->events[i].call = event->call;
    }
    log->event_count++;
    (void)pthread_mutex_unlock(&log->lock);
}

void audit_log_init(audit_log *log)
{
    memset(log, 0, sizeof *log);
    (void)pthread_mutex_init(&log->lock, NULL);
}

void audit_log_cleanup(audit_log *log)
{
    for (size_t i = 0; i < log->count; i++)
        free(log->lines[i]);
    free(log->lines);
    json_decref(log->parsed);
    (void)pthread_mutex_destroy(&log->lock);
}

void audit_log_hear(audit_log *log, gbx_options *options)
{
    options->on_audit = on_line;
    options->audit_user = log;
    options->on_event = on_event;
    options->event_user = log;
}

static int by_seq(const void *a, const void *b)
{
    const json_int_t *x = a;
    const json_int_t *y = b;

    return (*x > *y) - (*x < *y);
}

/* From 1, one by one: no line is lost and none was said twice. */
static void check_numbers(json_t *lines)
{
    size_t count = json_array_size(lines);
    json_int_t *numbers = calloc(count + 1, sizeof *numbers);
    json_t *line;
    size_t i;

    assert_non_null(numbers);
    json_array_foreach(lines, i, line) numbers[i] =
        json_integer_value(json_object_get(line, "seq"));
    qsort(numbers, count, sizeof *numbers, by_seq);
    for (i = 0; i < count; i++)
        assert_int_equal(numbers[i], i + 1);
    free(numbers);
}

json_t *audit_log_lines(audit_log *log)
{
    size_t count;
    char **lines;

    json_decref(log->parsed);
    log->parsed = json_array();
    assert_non_null(log->parsed);
    (void)pthread_mutex_lock(&log->lock);
    count = log->count;
    lines = calloc(count + 1, sizeof *lines);
    if (lines != NULL && count > 0)
        memcpy(lines, log->lines, count * sizeof *lines);
    (void)pthread_mutex_unlock(&log->lock);
    assert_non_null(lines);
    for (size_t i = 0; i < count; i++)
        (void)json_array_append_new(log->parsed,
                                    audit_text_parse(lines[i], strlen(lines[i])));
    free(lines);
    check_numbers(log->parsed);
    return log->parsed;
}

json_t *audit_log_get(json_t *lines, const char *event, size_t index)
{
    json_t *line;
    size_t i;

    json_array_foreach(lines, i,
                       line) if (strcmp(audit_log_text(line, "event"), event) == 0 &&
                                 index-- == 0) return line;
    return NULL;
}

size_t audit_log_count(json_t *lines, const char *event)
{
    size_t count = 0;

    while (audit_log_get(lines, event, count) != NULL)
        count++;
    return count;
}

const char *audit_log_text(json_t *line, const char *field)
{
    const char *text = json_string_value(json_object_get(line, field));

    return text != NULL ? text : "";
}

double audit_log_number(json_t *line, const char *field)
{
    json_t *value = json_object_get(line, field);

    return json_is_number(value) ? json_number_value(value) : -1;
}

size_t audit_log_heard(audit_log *log, const char *event)
{
    size_t count = 0;

    (void)pthread_mutex_lock(&log->lock);
    for (size_t i = 0; i < log->event_count && i < AUDIT_EVENTS_MAX; i++)
        count += strcmp(log->events[i].name, event) == 0;
    (void)pthread_mutex_unlock(&log->lock);
    return count;
}

audit_log heard;

int audit_log_before(void **state)
{
    audit_log_init(&heard);
    return 0;
}

int audit_log_after(void **state)
{
    audit_log_cleanup(&heard);
    return proc_descendants() == 0 ? 0 : -1;
}
