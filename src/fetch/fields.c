/* SPDX-License-Identifier: MIT */
/* fields - see internal.h. */
#include "fetch/internal.h"

#include <event2/util.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool is_token_character(uint8_t c)
{
    if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))
        return true;
    return c != 0 && strchr("!#$%&'*+-.^_`|~", c) != NULL;
}

static bool is_value(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        uint8_t c = (uint8_t)text[i];

        if ((c < 0x20 && c != '\t') || c == 0x7F)
            return false;
    }
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void free_field(gbx_field *field)
{
    if (field->value != NULL)
        explicit_bzero(field->value, strlen(field->value));
    free(field->value);
    free(field->name);
}

/* Remove field i; the later ones move up. */
static void remove_at(gbx_fields *fields, size_t i)
{
    free_field(&fields->items[i]);
    fields->count--;
    memmove(&fields->items[i], &fields->items[i + 1],
            (fields->count - i) * sizeof fields->items[0]);
}

/* ---- public to other modules -------------------------------------------- */

gbx_field_fault gbx_fields_add(gbx_fields *fields, const char *name, size_t name_len,
                               const char *value, size_t value_len, size_t max_count,
                               size_t max_bytes)
{
    gbx_field field = {0};
    gbx_field *grown;

    while (value_len > 0 && is_blank(value[0])) {
        value++;
        value_len--;
    }
    while (value_len > 0 && is_blank(value[value_len - 1]))
        value_len--;
    if (!gbx_is_token(name, name_len))
        return GBX_FIELD_BAD_NAME;
    if (!is_value(value, value_len))
        return GBX_FIELD_BAD_VALUE;
    if (fields->count >= max_count || name_len + value_len > max_bytes - fields->bytes)
        return GBX_FIELD_TOO_MANY;
    grown = realloc(fields->items, (fields->count + 1) * sizeof *grown);
    if (grown == NULL)
        return GBX_FIELD_NO_MEMORY;
    fields->items = grown;
    field.name = strndup(name, name_len);
    field.value = strndup(value, value_len);
    if (field.name == NULL || field.value == NULL) {
        free_field(&field);
        return GBX_FIELD_NO_MEMORY;
    }
    fields->items[fields->count++] = field;
    fields->bytes += name_len + value_len;
    return GBX_FIELD_FINE;
}

const char *gbx_fields_get(const gbx_fields *fields, const char *name)
{
    for (size_t i = 0; i < fields->count; i++)
        if (evutil_ascii_strcasecmp(fields->items[i].name, name) == 0)
            return fields->items[i].value;
    return NULL;
}

void gbx_fields_remove(gbx_fields *fields, const char *name)
{
    for (size_t i = fields->count; i > 0; i--)
        if (evutil_ascii_strcasecmp(fields->items[i - 1].name, name) == 0)
            remove_at(fields, i - 1);
}

void gbx_fields_remove_secret(gbx_fields *fields)
{
    for (size_t i = fields->count; i > 0; i--)
        if (fields->items[i - 1].is_secret)
            remove_at(fields, i - 1);
}

void gbx_fields_cleanup(gbx_fields *fields)
{
    for (size_t i = 0; i < fields->count; i++)
        free_field(&fields->items[i]);
    free(fields->items);
    *fields = (gbx_fields){0};
}

bool gbx_is_token(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!is_token_character((uint8_t)text[i]))
            return false;
    return len > 0;
}
