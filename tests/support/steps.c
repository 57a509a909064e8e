/* SPDX-License-Identifier: MIT */
/* steps - see steps.h. */
#include "steps.h"
#include "test.h"

static const steps_program *program;
static const char *file;

long steps_number(char **rest)
{
    const char *word = table_word(rest, " ");
    char *end;
    long value = strtol(word, &end, 10);

    if (end == word || *end != '\0')
        fail_msg("'%s' is not a number", word);
    return value;
}

/* ---- words --------------------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool print_known(FILE *to, const char **at)
{
    for (size_t i = 0; program->words[i][0] != NULL; i++)
        if (begins(*at, program->words[i][0])) {
            *at += strlen(program->words[i][0]);
            (void)fputs(program->words[i][1], to);
            return true;
        }
    return program->word != NULL && program->word(to, at);
}

/* From behind "$REPEAT(". */
static const char *print_repeated(FILE *to, const char *at)
{
    const char *end = strchr(at, ')');
    char *rest;
    long first = strtol(at, &rest, 10);
    long last = strtol(rest + 1, &rest, 10);

    assert_non_null(end);
    assert_int_equal(*rest, ',');
    for (long i = first; i <= last; i++)
        for (const char *c = rest + 1; c < end; c++)
            (void)(*c == '#' ? fprintf(to, "%ld", i) : putc_unlocked(*c, to));
    return end + 1;
}

/* The line with its words replaced; the caller frees it. */
static char *expand(const char *line)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    assert_non_null(to);
    while (*line != '\0') {
        if (*line == '$' && print_known(to, &line))
            continue;
        if (begins(line, "$REPEAT(")) {
            line = print_repeated(to, line + 8);
        } else if (begins(line, "$NL")) {
            (void)putc_unlocked('\n', to);
            line += 3;
        } else {
            (void)putc_unlocked(*line++, to);
        }
    }
    assert_int_equal(fclose(to), 0);
    return text;
}

/* The text with each $N replaced; the caller frees it. */
static char *with_number(const char *text, long n)
{
    char *filled = NULL;
    size_t size;
    FILE *to = open_memstream(&filled, &size);

    assert_non_null(to);
    while (*text != '\0') {
        if (begins(text, "$N") && text[2] != 'L') {
            (void)fprintf(to, "%ld", n);
            text += 2;
        } else {
            (void)putc_unlocked(*text++, to);
        }
    }
    assert_int_equal(fclose(to), 0);
    return filled;
}

/* ---- lines --------------------------------------------------------------------- */

/* What follows the name in the line; NULL: it begins otherwise. */
static char *after(char *line, const char *name)
{
    size_t len = strlen(name);

    if (!begins(line, name) || (line[len] != ' ' && line[len] != '\0'))
        return NULL;
    return line + len + (line[len] == ' ');
}

static void run_line(const char *line)
{
    char *text = expand(line);
    char *denied = after(text, "no");
    const steps_verb *verb = program->verbs;
    char *rest = NULL;

    for (; verb->name != NULL; verb++)
        if ((rest = after(denied != NULL ? denied : text, verb->name)) != NULL)
            break;
    if (rest == NULL)
        fail_msg("no such verb: %s", line);
    else if (verb->holds == NULL)
        verb->run(rest);
    else if (verb->holds(rest) != (denied == NULL))
        fail_msg("it does not hold: %s", line);
    free(text);
}

static void run_for(char *rest)
{
    long first = steps_number(&rest);
    long last = steps_number(&rest);

    for (long i = first; i <= last; i++) {
        char *line = with_number(rest, i);

        run_line(line);
        free(line);
    }
}

static void run_case(char *lines)
{
    program->set_up();
    while (*lines != '\0') {
        char *line = table_word(&lines, "\n");
        char *rest = after(line, "for");

        if (rest != NULL)
            run_for(rest);
        else if (*line != '\0')
            run_line(line);
    }
    program->tear_down();
}

static bool check_case(char *claim, char *lines, size_t len)
{
    char *rest;

    print_message("%s\n", claim);
    assert_true(len > 0);
    if (!begins(lines, "each ")) {
        run_case(lines);
        return true;
    }
    rest = table_word(&lines, "\n") + strlen("each ");
    for (long i = steps_number(&rest), last = steps_number(&rest),
              step = strtol(rest, NULL, 10);
         i <= last; i += step) {
        char *numbered = with_number(lines, i);

        run_case(numbered);
        free(numbered);
    }
    return true;
}

TEST(cases__are_as_the_file_has_them)
{
    table_check(file, check_case, 1);
}

int steps_main(int argc, char **argv, const steps_program *of_program)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s FILE, below tests/\n", argv[0]);
        return 2;
    }
    program = of_program;
    file = argv[1];
    return tests_run(NULL, NULL);
}
