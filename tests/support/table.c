/* SPDX-License-Identifier: MIT */
/* table - see table.h. */
#include "table.h"
#include "test.h"

/* All that was read, for whoever looks for leaks at the end. */
static void *kept[64];

static void *keep(void *memory)
{
    size_t i = 0;

    assert_non_null(memory);
    while (kept[i] != NULL)
        i++;
    assert_true(i + 1 < sizeof kept / sizeof kept[0]);
    return kept[i] = memory;
}

static char *read_whole(const char *path)
{
    char whole_path[512];
    char *text = NULL;
    size_t size = 0;
    FILE *file;

    (void)snprintf(whole_path, sizeof whole_path, TESTS_FOLDER "/%s", path);
    file = fopen(whole_path, "re");
    if (file == NULL)
        fail_msg("%s: it cannot be read", whole_path);
    assert_true(getdelim(&text, &size, 0, file) > 0);
    (void)fclose(file);
    return keep(text);
}

/* How many lines begin a row at most. */
static size_t count_lines(const char *text)
{
    size_t count = 1;

    for (; (text = strchr(text, '\n')) != NULL; text++)
        count++;
    return count;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* ---- lines ------------------------------------------------------------------- */

static void unescape(char *cell)
{
    char *to = cell;
    unsigned byte;

    for (const char *at = cell; *at != 0; at++) {
        if (*at != '\\') {
            *to++ = *at;
            continue;
        }
        switch (*++at) {
        case 'n': *to++ = '\n'; break;
        case 'r': *to++ = '\r'; break;
        case 't': *to++ = '\t'; break;
        case '\\': *to++ = '\\'; break;
        case 'x':
            assert_int_equal(sscanf(at + 1, "%2x", &byte), 1);
            *to++ = (char)byte;
            at += 2;
            break;
        default: fail_msg("'%s': no such escape", cell);
        }
    }
    *to = 0;
}

static void split_line(char *text, bool has_escapes, table_line *line)
{
    size_t count = 0;

    for (char *cell; (cell = strsep(&text, "\t")) != NULL;) {
        if (*cell == 0)
            continue; /* cells stand below each other */
        if (begins(cell, "# "))
            break;
        assert_true(count < TABLE_CELLS);
        if (strcmp(cell, "\"\"") == 0)
            *cell = 0;
        if (has_escapes)
            unescape(cell);
        line->cell[count++] = cell;
    }
}

size_t table_lines(const char *path, const char *section, bool has_escapes,
                   const table_line **ret_lines)
{
    char *text = read_whole(path);
    table_line *lines = keep(calloc(count_lines(text), sizeof *lines));
    bool inside = false;
    unsigned number = 0;
    size_t count = 0;

    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        number++;
        if (begins(line, "== "))
            inside = strcmp(line + 3, section) == 0;
        else if (inside && !begins(line, "# ") && *line != 0) {
            lines[count].number = number;
            split_line(line, has_escapes, &lines[count++]);
        }
    }
    if (count == 0)
        fail_msg("%s: nothing in '%s'", path, section);
    *ret_lines = lines;
    return count;
}

/* ---- blocks ------------------------------------------------------------------ */

/* Cuts off what is before a line that begins so, and the line end before that; NULL: none. */
static char *cut_at(char *text, const char *mark)
{
    char between[16];
    char *at;

    (void)snprintf(between, sizeof between, "\n%s", mark);
    at = strstr(text, between);
    if (at == NULL)
        return NULL;
    *at = 0;
    return at + strlen(between);
}

/* The lines that begin with "-- ", without that; what follows them. */
static char *take_options(char *text, const char **ret_options)
{
    char *to = text;

    *ret_options = text;
    while (begins(text, "-- ")) {
        size_t len = strcspn(text, "\n") + 1 - 3;

        memmove(to, text + 3, len);
        to += len;
        text += len + 3;
    }
    if (to == text)
        *ret_options = "";
    else
        *to = 0;
    return text;
}

size_t table_blocks(const char *path, const table_block **ret_blocks)
{
    char *text = read_whole(path);
    table_block *blocks = keep(calloc(count_lines(text), sizeof *blocks));
    size_t count = 0;

    for (text = cut_at(text, "== "); text != NULL; count++) {
        char *next = cut_at(text, "== ");
        char *value = cut_at(text, "=> ");
        char *rest = strchr(text, '\n');
        size_t len;

        if (value == NULL || rest == NULL)
            fail_msg("%s: no '=>' in '%.60s'", path, text);
        *rest = 0;
        for (len = strlen(value); len > 0 && value[len - 1] == '\n'; len--)
            value[len - 1] = 0;
        blocks[count] = (table_block){.name = text, .value = value};
        blocks[count].text = take_options(rest + 1, &blocks[count].options);
        text = next;
    }
    assert_true(count > 0);
    *ret_blocks = blocks;
    return count;
}

unsigned long table_number(const table_block *block, const char *key,
                           unsigned long otherwise)
{
    for (const char *at = block->options; *at != 0; at += strcspn(at, "\n") + 1)
        if (begins(at, key) && at[strlen(key)] == '=')
            return strtoul(at + strlen(key) + 1, NULL, 10);
    return otherwise;
}

/* ---- cases ------------------------------------------------------------------- */

static bool end_case(char *head, char *text, unsigned line, table_check_fn check)
{
    size_t len = strlen(text);

    while (len > 0 && text[len - 1] == '\n')
        text[--len] = '\0';
    if (check(head, text, len))
        return true;
    print_error("    in the case that begins in line %u\n", line);
    return false;
}

void table_check(const char *path, table_check_fn check, size_t at_least)
{
    char *at = read_whole(path);
    char *head = NULL, *text = NULL; /* of the case */
    char *end = NULL;                /* of its text so far; NULL: it has none */
    unsigned number = 0, begun = 0;
    size_t count = 0, wrong = 0;

    for (char *line; (line = strsep(&at, "\n")) != NULL;) {
        number++;
        if (begins(line, "===")) {
            if (head != NULL)
                wrong += !end_case(head, text, begun, check);
            head = line + 3 + (line[3] == ' ');
            text = line + strlen(line);
            end = NULL;
            begun = number;
            count++;
        } else if (head != NULL && *line != '#') {
            size_t len = strlen(line);

            /* Behind what is there of the text; a comment may be between them. */
            if (end == NULL)
                text = end = line;
            else
                *end++ = '\n';
            memmove(end, line, len + 1);
            end += len;
        }
    }
    assert_non_null(head);
    wrong += !end_case(head, text, begun, check);
    assert_int_equal(wrong, 0);
    assert_true(count >= at_least);
}

char *table_word(char **at, const char *end)
{
    char *word = *at;
    char *stop = strstr(word, end);

    *at = stop != NULL ? stop + strlen(end) : word + strlen(word);
    if (stop != NULL)
        *stop = '\0';
    return word;
}
