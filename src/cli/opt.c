/* SPDX-License-Identifier: MIT */
/* opt - see cli.h. Every message names the option as the user must write it. */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/edit_distance.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAMES_MAX 64 /* options of one command */

#define HELP_COLUMN 24
#define HELP_WIDTH  80

/* The row of an option, and the field that it fills. */
typedef struct target {
    const gbx_opt *row;
    char *field;
} target;

static target find(const gbx_opt_group *groups, void *into, const char *name,
                   size_t name_len)
{
    for (; groups->rows != NULL; groups++)
        for (const gbx_opt *row = groups->rows; row->name != NULL; row++)
            if (strlen(row->name) == name_len && memcmp(row->name, name, name_len) == 0)
                return (target){.row = row,
                                .field = (char *)into + groups->offset + row->offset};
    return (target){0};
}

static gbx_status unknown(const gbx_opt_group *groups, const char *arg, size_t name_len,
                          gbx_error *reterr)
{
    const char *names[NAMES_MAX];
    const char *nearest = NULL;
    char word[GBX_NEAREST_WORD_MAX + 1];
    size_t count = 0;

    for (; groups->rows != NULL; groups++)
        for (const gbx_opt *row = groups->rows; row->name != NULL; row++)
            if (count < NAMES_MAX)
                names[count++] = row->name;
    if (name_len > 0 && name_len <= GBX_NEAREST_WORD_MAX) {
        memcpy(word, arg + 2, name_len);
        word[name_len] = '\0';
        nearest = gbx_nearest(word, names, count);
    }
    if (nearest != NULL)
        return gbx_fail(reterr, GBX_E_USAGE,
                        "unknown option '--%s': did you mean '--%s'?", word, nearest);
    return gbx_fail(reterr, GBX_E_USAGE, "unknown option '%.80s'", arg);
}

static gbx_status set_number(target to, const char *value, gbx_error *reterr)
{
    const gbx_opt *row = to.row;
    unsigned long long number = 0;
    char *end = NULL;

    errno = 0;
    if (value[0] >= '0' && value[0] <= '9')
        number = strtoull(value, &end, 10);
    if (end == NULL || *end != '\0' || errno != 0)
        return gbx_fail(reterr, GBX_E_USAGE, "'--%s' needs a whole number, not '%.80s'",
                        row->name, value);
    if (number < row->min || number > row->max)
        return gbx_fail(reterr, GBX_E_USAGE, "'--%s' is from %llu to %llu, not %llu",
                        row->name, (unsigned long long)row->min,
                        (unsigned long long)row->max, number);
    if (row->size == sizeof(uint32_t))
        *(uint32_t *)(void *)to.field = (uint32_t)(number * row->unit);
    else
        *(uint64_t *)(void *)to.field = number * row->unit;
    return GBX_OK;
}

static gbx_status set_choice(target to, const char *value, gbx_error *reterr)
{
    const char *const *choices = to.row->choices;
    char list[160] = "";
    size_t used = 0;

    for (int i = 0; choices[i] != NULL; i++) {
        if (strcmp(choices[i], value) == 0) {
            *(int *)(void *)to.field = (int)to.row->min + i;
            return GBX_OK;
        }
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                     i == 0 ? "" : ", ", choices[i]);
    }
    return gbx_fail(reterr, GBX_E_USAGE, "'--%s' is one of %s, not '%.80s'",
                    to.row->name, list, value);
}

static gbx_status set(target to, const char *value, gbx_error *reterr)
{
    switch (to.row->kind) {
    case GBX_OPT_FLAG: *(bool *)(void *)to.field = true; return GBX_OK;
    case GBX_OPT_TEXT: *(const char **)(void *)to.field = value; return GBX_OK;
    case GBX_OPT_NUMBER: return set_number(to, value, reterr);
    case GBX_OPT_CHOICE: return set_choice(to, value, reterr);
    case GBX_OPT_LIST: {
        gbx_opt_list *list = (gbx_opt_list *)(void *)to.field;

        if (list->count == GBX_OPT_LIST_MAX)
            return gbx_fail(reterr, GBX_E_USAGE, "'--%s' is given more than %d times",
                            to.row->name, GBX_OPT_LIST_MAX);
        list->item[list->count++] = value;
        return GBX_OK;
    }
    default: assert(!"an option of no kind"); return GBX_E_USAGE;
    }
}

/* Parse the option at argv[*at]; *at moves to the last argument that it uses. */
static gbx_status one(const gbx_opt_group *groups, void *into, int argc, char **argv,
                      int *at, gbx_error *reterr)
{
    const char *arg = argv[*at];
    const char *name = arg + 2;
    const char *equals;
    const char *value = NULL;
    size_t name_len;
    target to;

    if (arg[1] != '-') {
        if (strcmp(arg, "-h") != 0)
            return gbx_fail(reterr, GBX_E_USAGE,
                            "unknown option '%.80s': write '--' before an argument "
                            "that begins with '-'",
                            arg);
        name = "help";
    }
    equals = strchr(name, '=');
    name_len = equals != NULL ? (size_t)(equals - name) : strlen(name);
    to = find(groups, into, name, name_len);
    if (to.row == NULL)
        return unknown(groups, arg, name_len, reterr);
    if (to.row->kind == GBX_OPT_FLAG) {
        if (equals != NULL)
            return gbx_fail(reterr, GBX_E_USAGE, "'--%s' takes no value", to.row->name);
    } else if (equals != NULL) {
        value = equals + 1;
    } else if (*at + 1 < argc) {
        value = argv[++*at];
    } else {
        return gbx_fail(reterr, GBX_E_USAGE, "'--%s' needs a value: --%s %s",
                        to.row->name, to.row->name, to.row->value);
    }
    return set(to, value, reterr);
}

/* Print one paragraph; its first line begins at HELP_COLUMN already. */
static void print_wrapped(FILE *to, const char *text)
{
    int column = HELP_COLUMN;

    while (*text != '\0') {
        int len = (int)strcspn(text, " ");

        if (column > HELP_COLUMN && column + 1 + len > HELP_WIDTH) {
            (void)fprintf(to, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        } else if (column > HELP_COLUMN) {
            (void)fputc(' ', to);
            column++;
        }
        (void)fprintf(to, "%.*s", len, text);
        column += len;
        text += len + (text[len] == ' ' ? 1 : 0);
    }
    (void)fputc('\n', to);
}

gbx_status gbx_opt_parse(const gbx_opt_group *groups, void *into, int argc, char **argv,
                         int *ret_count, gbx_error *reterr)
{
    bool ended = false;
    int count = 0;

    for (int i = 0; i < argc; i++) {
        if (ended || argv[i][0] != '-' || argv[i][1] == '\0') {
            argv[count++] = argv[i];
        } else if (strcmp(argv[i], "--") == 0) {
            ended = true;
        } else {
            gbx_status status = one(groups, into, argc, argv, &i, reterr);

            if (status != GBX_OK)
                return status;
        }
    }
    *ret_count = count;
    return GBX_OK;
}

void gbx_opt_print(FILE *to, const gbx_opt_group *groups)
{
    for (; groups->rows != NULL; groups++) {
        (void)fprintf(to, "\n%s:\n", groups->title);
        for (const gbx_opt *row = groups->rows; row->name != NULL; row++) {
            int width = fprintf(to, "  --%s%s%s", row->name, row->value ? " " : "",
                                row->value ? row->value : "");

            (void)fprintf(to, "%*s", width < HELP_COLUMN ? HELP_COLUMN - width : 1, "");
            print_wrapped(to, row->help);
        }
    }
}

/* ---- moments --------------------------------------------------------------------- */

/* The last millisecond of JavaScript's dates. */
#define MS_MAX INT64_C(8640000000000000)

/* A date, with or without a time of day, a fraction of a second and an offset. */
static bool iso(const char *text, int64_t *ret_ms)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
                                        "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d"};
    const char *at = NULL;
    struct tm zone = {0};
    struct tm t;
    int64_t ms = 0;
    size_t form = 0;
    int day;

    for (; form < GBX_COUNTOF(forms) && at == NULL; form++) {
        t = (struct tm){0};
        at = strptime(text, forms[form], &t);
    }
    if (at != NULL && *at == '.' && form <= 2) { /* it has seconds */
        for (int64_t unit = 100; *++at >= '0' && *at <= '9'; unit /= 10)
            ms += unit * (*at - '0');
        if (at[-1] == '.')
            return false;
    }
    if (at != NULL && *at != '\0')
        at = strptime(at, "%z", &zone);
    if (at == NULL || *at != '\0')
        return false;
    day = t.tm_mday;
    *ret_ms = (int64_t)(timegm(&t) - zone.tm_gmtoff) * 1000 + ms;
    return t.tm_mday == day; /* the 30th of February becomes a day of March */
}

bool gbx_moment_parse(const char *text, int64_t *ret_ms)
{
    bool is_negative = *text == '-';
    char *end = NULL;
    long long ms;

    if (text[is_negative] < '0' || text[is_negative] > '9')
        return false;
    errno = 0;
    ms = strtoll(text, &end, 10);
    if (*end != '\0')
        return !is_negative && iso(text, ret_ms);
    *ret_ms = ms;
    return errno == 0 && ms >= -MS_MAX && ms <= MS_MAX;
}
