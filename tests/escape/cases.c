/* SPDX-License-Identifier: MIT */
/* cases - see cases.h. */
#include "cases.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASES_MAX  1024
#define GROUP_SIZE 16

typedef struct kept_text {
    struct kept_text *next;
    char text[];
} kept_text;

/* Never freed, nor what it points to: the tests need it until the end. */
static struct {
    test_case cases[CASES_MAX];
    size_t count;
    kept_text *texts;
} list;

typedef struct reader {
    uint32_t line;
    bool in_code;
    test_case defaults;
    test_case *now; /* NULL before the first case */
} reader;

__attribute__((format(printf, 2, 3))) static _Noreturn void die(const reader *r,
                                                                const char *format, ...)
{
    va_list args;

    (void)fprintf(stderr, "%s:%u: ", r->defaults.file, r->line);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
    exit(2);
}

static void *must(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

static const char *keep(const char *text)
{
    size_t size = strlen(text) + 1;
    kept_text *kept = must(malloc(sizeof *kept + size));

    memcpy(kept->text, text, size);
    kept->next = list.texts;
    list.texts = kept;
    return kept->text;
}

/* ---- values of headers ------------------------------------------------------ */

static uint32_t word_of(const reader *r, const char *value, const char *const *words,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (words[i] != NULL && strcmp(value, words[i]) == 0)
            return (uint32_t)i;
    die(r, "'%s' is not known", value);
}

static uint32_t code_of(const reader *r, const char *name)
{
    for (int code = 0; code <= GBX_CODE_VIOLATION; code++)
        if (strcmp(name, code == 0 ? "VALUE" : gbx_code_name((gbx_code)code)) == 0)
            return 1U << code;
    die(r, "'%s' is no code", name);
}

static uint32_t codes_of(const reader *r, const char *value)
{
    char *copy = must(strdup(value));
    uint32_t codes = 0;

    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
        codes |= code_of(r, word);
    free(copy);
    return codes;
}

static void take_memories(const reader *r, test_case *c, const char *value)
{
    char *end;

    memset(c->memories, 0, sizeof c->memories);
    for (size_t i = 0; *value != 0; i++, value = end + (*end == ' ')) {
        if (i == CASE_MEMORIES_MAX)
            die(r, "too many sizes");
        c->memories[i] = (uint32_t)strtoul(value, &end, 10);
        if (end == value)
            die(r, "'%s' is no size", value);
    }
}

static bool take_text(case_step *step, const char *key, const char *value)
{
    const struct {
        const char *key;
        const char **to;
    } texts[] = {
        {"why", &step->why},     {"input", &step->input}, {"bindings", &step->bindings},
        {"value", &step->value}, {"error", &step->error}, {"log", &step->log},
        {"lacks", &step->lacks}, {"next", &step->next},
    };

    for (size_t i = 0; i < GBX_COUNTOF(texts); i++)
        if (strcmp(key, texts[i].key) == 0) {
            *texts[i].to = keep(value);
            return true;
        }
    return false;
}

static bool take_number(case_step *step, const char *key, const char *value)
{
    const struct {
        const char *key;
        uint64_t *to;
        uint32_t flag;
    } numbers[] = {
        {"seed", &step->seed, GBX_CALL_SEEDED},
        {"now", &step->now_ms, GBX_CALL_FIXED_NOW},
        {"timeout", &step->timeout_ms, 0},
        {"output", &step->output_bytes, 0},
        {"log-bytes", &step->log_bytes, 0},
    };

    for (size_t i = 0; i < GBX_COUNTOF(numbers); i++)
        if (strcmp(key, numbers[i].key) == 0) {
            *numbers[i].to = strtoull(value, NULL, 10);
            step->flags |= numbers[i].flag;
            return true;
        }
    return false;
}

static void take_header(const reader *r, test_case *c, case_step *step, const char *key,
                        const char *value)
{
    static const char *const forms[] = {"function", "execute", "body", "script"};
    static const char *const worlds[] = {"standard", "minimal", "closed", "jit-off",
                                         "open"};

    if (take_text(step, key, value) || take_number(step, key, value))
        return;
    if (strcmp(key, "expect") == 0)
        step->codes = codes_of(r, value);
    else if (strcmp(key, "guard") == 0)
        step->guard_codes = codes_of(r, value);
    else if (strcmp(key, "form") == 0)
        step->form = word_of(r, value, forms, GBX_COUNTOF(forms));
    else if (strcmp(key, "bytes") == 0)
        step->has_bytes = strcmp(value, "on") == 0;
    else if (strcmp(key, "world") == 0)
        c->world = word_of(r, value, worlds, GBX_COUNTOF(worlds));
    else if (strcmp(key, "layer") == 0)
        c->layer = keep(value);
    else if (strcmp(key, "memory") == 0)
        take_memories(r, c, value);
    else
        die(r, "unknown header '%s'", key);
}

/* ---- code ------------------------------------------------------------------- */

/* "e2 80 a8" or "28 x 500", between at and end; returns the bytes written to *to. */
static size_t put_bytes(const reader *r, const char *at, const char *end, char **to,
                        size_t used)
{
    size_t from = used;
    char *next;

    while (at < end) {
        unsigned long byte = strtoul(at, &next, 16);
        unsigned long times = 1;

        if (next == at || byte > 255)
            die(r, "{{ }} holds hexadecimal bytes");
        if (strncmp(next, " x ", 3) == 0)
            times = strtoul(next + 3, &next, 10);
        *to = must(realloc(*to, used + times + 1));
        memset(*to + used, (int)byte, times);
        used += times;
        at = next;
    }
    return used - from;
}

static void expand(const reader *r, case_step *step)
{
    const char *end = step->code + step->code_len;
    char *to = must(malloc(1));
    size_t used = 0;

    for (const char *at = step->code; at < end;) {
        const char *open = strstr(at, "{{");
        const char *close = open != NULL ? strstr(open, "}}") : NULL;
        size_t plain = (size_t)((close != NULL ? open : end) - at);

        to = must(realloc(to, used + plain + 1));
        memcpy(to + used, at, plain);
        used += plain;
        if (close == NULL)
            break;
        used += put_bytes(r, open + 2, close, &to, used);
        at = close + 2;
    }
    to[used] = 0;
    free(step->code);
    step->code = to;
    step->code_len = used;
}

static void add_code(case_step *step, const char *line, size_t len)
{
    step->code = must(realloc(step->code, step->code_len + len + 2));
    memcpy(step->code + step->code_len, line, len);
    step->code[step->code_len + len] = '\n';
    step->code_len += len + 1;
    step->code[step->code_len] = 0;
}

/* What follows the last line that is not empty belongs to the reader of the file. */
static void end_step(const reader *r, case_step *step)
{
    while (step->code_len > 0 && step->code[step->code_len - 1] == '\n')
        step->code[--step->code_len] = 0;
    if (step->why == NULL)
        die(r, "the case before this line does not say why");
    if (step->code == NULL)
        step->code = must(strdup(""));
    if (step->has_bytes)
        expand(r, step);
}

/* ---- cases ------------------------------------------------------------------ */

static void end_case(const reader *r)
{
    if (r->now == NULL)
        return;
    end_step(r, &r->now->steps[r->now->step_count - 1]);
    if (r->now->layer == NULL)
        die(r, "the case before this line names no layer");
}

static void begin_case(reader *r, const char *name)
{
    end_case(r);
    for (size_t i = 0; i < list.count; i++)
        if (strcmp(list.cases[i].name, name) == 0)
            die(r, "there is another case '%s'", name);
    if (list.count == CASES_MAX)
        die(r, "too many cases");
    r->now = &list.cases[list.count++];
    *r->now = r->defaults;
    r->now->name = keep(name);
    r->now->step_count = 1;
    r->in_code = false;
}

static void begin_step(reader *r, const char *why)
{
    test_case *c = r->now;

    if (c == NULL || c->step_count == CASE_STEPS_MAX)
        die(r, "no room for a step here");
    end_step(r, &c->steps[c->step_count - 1]);
    c->steps[c->step_count] = r->defaults.steps[0];
    c->steps[c->step_count++].why = keep(why);
    r->in_code = false;
}

static void take_code(reader *r, const char *line)
{
    case_step *step = &r->now->steps[r->now->step_count - 1];

    if (!r->in_code)
        step->line = r->line;
    r->in_code = true;
    add_code(step, line, strlen(line));
}

static void take_key(reader *r, char *header)
{
    test_case *c = r->now != NULL ? r->now : &r->defaults;
    case_step *step = &c->steps[r->now != NULL ? c->step_count - 1 : 0];
    char *colon = strstr(header, ": ");

    if (colon == NULL)
        die(r, "a header is 'key: value'");
    *colon = 0;
    if (strcmp(header, "then") == 0)
        begin_step(r, colon + 2);
    else if (r->in_code)
        die(r, "a header inside code");
    else
        take_header(r, c, step, header, colon + 2);
}

static void take_line(reader *r, char *line)
{
    if (strncmp(line, "//// ", 5) == 0)
        begin_case(r, line + 5);
    else if (strncmp(line, "//: ", 4) == 0)
        take_key(r, line + 4);
    else if (r->now != NULL)
        take_code(r, line);
}

static void read_file(const char *folder, const char *name)
{
    reader r = {.line = 0};
    char path[1536];
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    FILE *f;

    (void)snprintf(r.defaults.file, sizeof r.defaults.file, "%.31s", name);
    r.defaults.steps[0].codes = 1U << GBX_CODE_VALUE;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "re");
    if (f == NULL)
        die(&r, "cannot be read");
    while ((len = getline(&line, &size, f)) >= 0) {
        r.line++;
        if (len > 0 && line[len - 1] == '\n')
            line[len - 1] = 0;
        take_line(&r, line);
    }
    free(line);
    (void)fclose(f);
    end_case(&r);
}

static int is_cases(const struct dirent *entry)
{
    const char *end = strrchr(entry->d_name, '.');

    return end != NULL && strcmp(end, ".cases") == 0;
}

static void read_folder(const char *name)
{
    char folder[1024];
    struct dirent **files;
    int count;

    (void)snprintf(folder, sizeof folder, "%s/%s", GBX_ESCAPE, name);
    count = scandir(folder, &files, is_cases, alphasort);
    if (count <= 0) {
        (void)fprintf(stderr, "no cases in '%s'\n", folder);
        exit(2);
    }
    for (int i = 0; i < count; i++) {
        read_file(folder, files[i]->d_name);
        free(files[i]);
    }
    free(files);
}

/* ---- shards ------------------------------------------------------------------ */

/* GLOVEBOX_SHARD=2/6 is every sixth test, beginning with the second; all without it. */
static bool is_in_shard(size_t i)
{
    const char *text = getenv("GLOVEBOX_SHARD");
    unsigned number = 1;
    unsigned count = 1;

    if (text != NULL &&
        (sscanf(text, "%u/%u", &number, &count) != 2 || number < 1 || number > count)) {
        (void)fprintf(stderr, "GLOVEBOX_SHARD is 1/N to N/N, not '%s'\n", text);
        exit(2);
    }
    return i % count == number - 1;
}

/* ---- public to the tests ---------------------------------------------------- */

int cases_run(const char *folder, CMUnitTestFunction fn, const struct CMUnitTest *own,
              size_t own_count, CMFixtureFunction start, CMFixtureFunction stop)
{
    struct CMUnitTest *tests;
    test_case *last = NULL;
    size_t count = 0;
    int failed;

    read_folder(folder);
    tests = must(calloc(own_count + list.count, sizeof *tests));
    for (size_t i = 0; i < own_count + list.count; i++) {
        test_case *c = i < own_count ? NULL : &list.cases[i - own_count];

        if (!is_in_shard(i))
            continue;
        if (c == NULL) {
            tests[count++] = own[i];
            continue;
        }
        tests[count++] =
            (struct CMUnitTest){.name = c->name, .test_func = fn, .initial_state = c};
        c->ends_group = count % GROUP_SIZE == 0;
        last = c;
    }
    if (last != NULL)
        last->ends_group = true;
    failed = _cmocka_run_group_tests(folder, tests, count, start, stop);
    free(tests);
    return failed;
}
