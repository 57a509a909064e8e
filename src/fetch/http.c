/* SPDX-License-Identifier: MIT */
/* http - what requests and responses share: why one fails, and header fields. */
#include "fetch/internal.h"

#include <event2/util.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- faults ------------------------------------------------------------------ */

static const struct {
    const char *code;
    const char *error;
} faults[] = {{"", ""},
#define XX(name, code, error) {code, error},
              GBX_FAULT_MAP(XX)
#undef XX
};

bool gbx_fault_set(gbx_fault *fault, gbx_fault_code code, const char *format, ...)
{
    va_list args;

    if (fault == NULL || fault->code != GBX_FAULT_NONE)
        return false;
    fault->code = code;
    va_start(args, format);
    (void)vsnprintf(fault->message, sizeof fault->message, format, args);
    va_end(args);
    return false;
}

bool gbx_fault_no_memory(gbx_fault *fault)
{
    return gbx_fault_set(fault, GBX_FAULT_HOST, "fetch: the host is out of memory");
}

void gbx_fault_detail(gbx_fault *fault, const char *format, ...)
{
    va_list args;

    if (fault->detail[0] != '\0')
        return;
    va_start(args, format);
    (void)vsnprintf(fault->detail, sizeof fault->detail, format, args);
    va_end(args);
}

const char *gbx_fault_code_text(gbx_fault_code code)
{
    return faults[code].code;
}

const char *gbx_fault_error_name(gbx_fault_code code)
{
    return faults[code].error;
}

/* ---- header fields ----------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void free_field(gbx_field *field)
{
    gbx_wipe(field->value);
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

gbx_field_fault gbx_fields_add(gbx_fields *fields, const char *name, size_t name_len,
                               const char *value, size_t value_len, size_t max_count,
                               size_t max_bytes)
{
    gbx_field field = {0};
    gbx_field *room;

    while (value_len > 0 && is_blank(value[0])) {
        value++;
        value_len--;
    }
    while (value_len > 0 && is_blank(value[value_len - 1]))
        value_len--;
    if (!gbx_is_token(name, name_len))
        return GBX_FIELD_BAD_NAME;
    for (size_t i = 0; i < value_len; i++) {
        uint8_t c = (uint8_t)value[i];

        if ((c < 0x20 && c != '\t') || c == 0x7F)
            return GBX_FIELD_BAD_VALUE;
    }
    if (fields->count >= max_count || name_len + value_len > max_bytes - fields->bytes)
        return GBX_FIELD_TOO_MANY;
    room = gbx_list_room(&fields->items, fields->count, sizeof *room);
    field.name = strndup(name, name_len);
    field.value = strndup(value, value_len);
    if (room == NULL || field.name == NULL || field.value == NULL) {
        free_field(&field);
        return GBX_FIELD_NO_MEMORY;
    }
    *room = field;
    fields->count++;
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
