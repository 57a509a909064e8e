/* SPDX-License-Identifier: MIT */
/*
 * response - checks lengths and encodings when their line arrives, so that a body that
 * will be refused is neither awaited nor decompressed.
 */
#include "fetch/internal.h"

#include "base/json.h"
#include "base/utf8.h"

#include <event2/util.h>
#include <string.h>

static bool refuse(gbx_fault *fault, const char *why)
{
    return gbx_fault_set(fault, GBX_FAULT_RESPONSE, "fetch: the server's answer %s",
                         why);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool word_is(const char *text, size_t len, const char *word)
{
    return len == strlen(word) && evutil_ascii_strncasecmp(text, word, len) == 0;
}

/* "HTTP/1.1 200 OK" */
static bool read_status(gbx_head *head, const char *line, size_t len)
{
    gbx_response *response = head->response;
    size_t text_len;
    const char *code = line + 9;

    if (len < 12 || memcmp(line, "HTTP/1.", 7) != 0 || !is_digit(line[7]) ||
        line[8] != ' ' || code[0] < '1' || code[0] > '5' || !is_digit(code[1]) ||
        !is_digit(code[2]) || (len > 12 && line[12] != ' '))
        return refuse(head->fault, "has a malformed first line");
    response->status =
        (uint16_t)((code[0] - '0') * 100 + (code[1] - '0') * 10 + (code[2] - '0'));
    if (response->status == 101)
        return refuse(head->fault, "changes the protocol, which nobody asked for");
    if (response->status < 200 && ++head->interim_count > GBX_RESPONSE_INTERIM_MAX)
        return refuse(head->fault, "has too many interim responses");
    text_len = len > 13 ? len - 13 : 0;
    if (text_len > GBX_STATUS_TEXT_MAX)
        text_len = GBX_STATUS_TEXT_MAX;
    memcpy(response->status_text, line + 13, text_len);
    response->status_text[text_len] = '\0';
    for (size_t i = 0; i < text_len; i++)
        if ((uint8_t)response->status_text[i] < 0x20 &&
            response->status_text[i] != '\t')
            return refuse(head->fault, "has a malformed first line");
    head->state = GBX_HEAD_FIELDS;
    return true;
}

/* At most one of the requested encodings: each further one makes a bomb larger. */
static bool check_encoding(gbx_head *head, const char *value)
{
    const char *known = head->encodings_taken;
    size_t len = strlen(value);

    if (word_is(value, len, "identity") || len == 0)
        return true;
    if (++head->encodings > 1 || strchr(value, ',') != NULL)
        return refuse(head->fault, "is compressed more than once");
    if (word_is(value, len, "x-gzip"))
        return true;
    for (const char *at = known; *at != '\0';) {
        size_t word = strcspn(at, ", ");

        if (word == len && evutil_ascii_strncasecmp(at, value, len) == 0)
            return true;
        at += word;
        at += strspn(at, ", ");
    }
    return refuse(head->fault, "is compressed in a way that was not asked for");
}

/* Parsers that disagree about a body's end can be shown different responses. */
static bool check_length(gbx_head *head, const char *value)
{
    uint64_t length = 0;
    size_t len = strlen(value);

    if (len == 0 || len > 18 || strspn(value, "0123456789") != len)
        return refuse(head->fault, "has an invalid Content-Length");
    for (size_t i = 0; i < len; i++)
        length = length * 10 + (uint64_t)(value[i] - '0');
    if (head->has_length && head->length != length)
        return refuse(head->fault, "has two lengths");
    head->has_length = true;
    head->length = length;
    return true;
}

static bool read_field(gbx_head *head, const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len);
    gbx_fields *headers = &head->response->headers;
    size_t name_len;
    const gbx_field *field;

    if (colon == NULL || line[0] == ' ' || line[0] == '\t')
        return refuse(head->fault, "has a malformed header line");
    name_len = (size_t)(colon - line);
    if (!gbx_response_add_header(head->response, line, name_len, colon + 1,
                                 len - name_len - 1, head->fault))
        return false;
    field = &headers->items[headers->count - 1];
    if (evutil_ascii_strcasecmp(field->name, "Content-Length") == 0)
        return check_length(head, field->value);
    if (evutil_ascii_strcasecmp(field->name, "Content-Encoding") == 0)
        return check_encoding(head, field->value);
    if (evutil_ascii_strcasecmp(field->name, "Transfer-Encoding") != 0)
        return true;
    if (head->is_chunked || !word_is(field->value, strlen(field->value), "chunked"))
        return refuse(head->fault, "has a Transfer-Encoding other than chunked");
    head->is_chunked = true;
    return true;
}

/* A head is complete: an interim one is dropped. */
static bool end_head(gbx_head *head)
{
    const gbx_response *response = head->response;

    if (response->status < 200) {
        gbx_fields_cleanup(&head->response->headers);
        head->is_chunked = false;
        head->has_length = false;
        head->encodings = 0;
        head->state = GBX_HEAD_STATUS;
        return true;
    }
    if (head->is_chunked && head->has_length)
        return refuse(head->fault, "has a length and is chunked too");
    head->state = GBX_HEAD_DONE;
    return true;
}

void gbx_response_init(gbx_response *response, size_t max_bytes)
{
    *response = (gbx_response){0};
    /* A server may echo the secrets that it was sent. */
    gbx_buf_init_secret(&response->body, max_bytes);
}

void gbx_response_cleanup(gbx_response *response)
{
    gbx_fields_cleanup(&response->headers);
    gbx_buf_cleanup(&response->body);
    *response = (gbx_response){0};
}

void gbx_head_init(gbx_head *head, gbx_response *response, const char *encodings_taken,
                   gbx_fault *fault)
{
    *head = (gbx_head){.response = response,
                       .fault = fault,
                       .encodings_taken = encodings_taken};
}

bool gbx_head_line(gbx_head *head, const char *line, size_t len)
{
    head->bytes += len;
    if (head->bytes > GBX_RESPONSE_HEADER_BYTES_MAX)
        return refuse(head->fault, "has more than 64 KiB of headers");
    if (len > 0 && line[len - 1] == '\n')
        len--;
    if (len > 0 && line[len - 1] == '\r')
        len--;
    switch (head->state) {
    case GBX_HEAD_STATUS: return read_status(head, line, len);
    case GBX_HEAD_FIELDS:
        return len == 0 ? end_head(head) : read_field(head, line, len);
    case GBX_HEAD_DONE: break;
    }
    return true;
}

bool gbx_response_too_large(const gbx_response *response, gbx_fault *fault)
{
    return gbx_fault_set(fault, GBX_FAULT_TOO_LARGE,
                         "fetch: the response is larger than the limit of %zu bytes",
                         response->body.ceiling);
}

bool gbx_response_append(gbx_response *response, const void *data, size_t len,
                         gbx_fault *fault)
{
    if (gbx_buf_append(&response->body, data, len))
        return true;
    if (len <= response->body.ceiling - response->body.len)
        return gbx_fault_no_memory(fault);
    return gbx_response_too_large(response, fault);
}

bool gbx_response_add_header(gbx_response *response, const char *name, size_t name_len,
                             const char *value, size_t value_len, gbx_fault *fault)
{
    switch (gbx_fields_add(&response->headers, name, name_len, value, value_len,
                           GBX_RESPONSE_HEADERS_MAX, GBX_RESPONSE_HEADER_BYTES_MAX)) {
    case GBX_FIELD_FINE: return true;
    case GBX_FIELD_BAD_NAME:
    case GBX_FIELD_BAD_VALUE: return refuse(fault, "has a malformed header line");
    case GBX_FIELD_TOO_MANY: return refuse(fault, "has more than 256 headers");
    case GBX_FIELD_NO_MEMORY: break;
    }
    return gbx_fault_no_memory(fault);
}

/* Bytes become the characters U+0000 to U+00FF: the standard decodes headers so. */
static void write_bytes(gbx_buf *to, const char *bytes)
{
    gbx_buf text = {.ceiling = strlen(bytes) * 2, .is_secret = true};

    for (; *bytes != '\0'; bytes++) {
        uint8_t point[4];

        (void)gbx_buf_append(&text, point, gbx_utf8_encode((uint8_t)*bytes, point));
    }
    (void)gbx_json_append_string(to, text.data, text.len);
    to->failed = to->failed || text.failed;
    gbx_buf_cleanup(&text);
}

/* Names in lower case, as the standard returns them. */
static void write_name(gbx_buf *to, const char *name)
{
    (void)gbx_buf_puts(to, "\"");
    for (; *name != '\0'; name++) {
        char c = (char)(*name >= 'A' && *name <= 'Z' ? *name + 32 : *name);

        (void)gbx_buf_append(to, &c, 1);
    }
    (void)gbx_buf_puts(to, "\"");
}

bool gbx_response_write(const gbx_response *response, const char *url, bool redirected,
                        gbx_buf *to)
{
    gbx_json_put_open(to, NULL, '{');
    gbx_json_put_integer(to, "status", response->status);
    gbx_json_put_key(to, "statusText");
    write_bytes(to, response->status_text);
    gbx_json_put_text(to, "url", url);
    gbx_json_put_open(to, "headers", '[');
    for (size_t i = 0; i < response->headers.count; i++) {
        gbx_json_put_open(to, NULL, '[');
        write_name(to, response->headers.items[i].name);
        (void)gbx_buf_puts(to, ",");
        write_bytes(to, response->headers.items[i].value);
        (void)gbx_buf_puts(to, "]");
    }
    (void)gbx_buf_puts(to, "]");
    gbx_json_put_bool(to, "redirected", redirected);
    return gbx_buf_puts(to, "}");
}
