/* SPDX-License-Identifier: MIT */
/* The known values of tests/unit/crypto once more, through the script of the realm. */
#include "support/realm_call.h"
#include "support/vectors.h"
#include "test.h"

#include "base/buf.h"

#include <glovebox/glovebox.h>

/* What went wrong, as [algorithm, input] each. */
static const char hash_code[] =
    "(rows) => {\n"
    "  const wrong = [];\n"
    "  for (const [name, shown, value] of rows) {\n"
    "    const [text, times] = shown.split('x');\n"
    "    const bytes = Uint8Array.from({ length: +shown || 0 }, (_, i) => i * 131 + 7);\n"
    "    const data = times ? text.repeat(+times) : bytes;\n"
    "    const half = data.length >> 1, outputLength = value.length / 2;\n"
    "    const all = [\n"
    "      crypto.createHash(name, { outputLength }).update(data).digest('hex'),\n"
    "      crypto.createHash(name.toUpperCase(), { outputLength }).update(data.slice(0, half))\n"
    "        .copy().update(data.slice(half)).digest().toString('hex'),\n"
    "      crypto.hash(name, data, { outputLength }),\n"
    "    ];\n"
    "    if (!times)\n"
    "      all.push(crypto.createHash(name, { outputLength })\n"
    "        .update(String.fromCharCode(...bytes), 'latin1').digest('hex'));\n"
    "    if (all.some((v) => v !== value)) wrong.push([name, shown, ...all]);\n"
    "  }\n"
    "  return [rows.length, wrong];\n"
    "}\n";

static const char mac_code[] =
    "(rows) => {\n"
    "  const wrong = [];\n"
    "  const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (h) => parseInt(h, 16));\n"
    "  for (const [name, key, data, value] of rows) {\n"
    "    const all = [\n"
    "      crypto.createHmac(name, bytesOf(key)).update(bytesOf(data)).digest('hex'),\n"
    "      crypto.createHmac(name, key, { encoding: 'hex' }).update(data, 'hex').digest('hex'),\n"
    "    ];\n"
    "    if (all.some((v) => v !== value)) wrong.push([name, key, data, ...all]);\n"
    "  }\n"
    "  return [rows.length, wrong];\n"
    "}\n";

static void add_text(gbx_buf *json, const char *before, const char *text,
                     const char *after)
{
    assert_true(gbx_buf_puts(json, before));
    assert_true(gbx_buf_puts(json, text));
    assert_true(gbx_buf_puts(json, after));
}

static void add_bytes(gbx_buf *json, const uint8_t *data, size_t len)
{
    char *hex = malloc(2 * len + 1);

    assert_non_null(hex);
    to_hex(data, len, hex);
    add_text(json, "\"", hex, "\",");
    free(hex);
}

static void add_hash(void *user, const vector *v)
{
    gbx_buf *json = user;

    add_text(json, json->len > 1 ? ",[\"" : "[\"", v->name, "\",");
    add_text(json, "\"", v->data_text, "\",");
    add_text(json, "\"", v->value, "\"]");
}

static void add_mac(void *user, const vector *v)
{
    gbx_buf *json = user;

    add_text(json, json->len > 1 ? ",[\"" : "[\"", v->name, "\",");
    add_bytes(json, v->key, v->key_len);
    add_bytes(json, v->data, v->data_len);
    add_text(json, "\"", v->value, "\"]");
}

static void expect(const char *code, gbx_buf *rows, const char *outcome)
{
    realm_call call = REALM_CALL_INIT;
    char *input, *text;

    assert_true(gbx_buf_puts(rows, "]"));
    input = gbx_buf_take_string(rows, NULL);
    assert_non_null(input);
    call.capabilities = GBX_CAP_CRYPTO;
    call.code = code;
    call.code_len = strlen(code);
    call.input = input;
    text = realm_outcome(&call, 60000);
    assert_string_equal(text, outcome);
    free(text);
    free(input);
}

TEST(hash__has_the_known_value_of_every_input)
{
    gbx_buf rows;

    gbx_buf_init(&rows, GBX_MIB(1));
    assert_true(gbx_buf_puts(&rows, "["));
    (void)each_hash(add_hash, &rows);
    expect(hash_code, &rows, "[250,[]]");
}

TEST(mac__has_the_known_value_of_every_key)
{
    gbx_buf rows;

    gbx_buf_init(&rows, GBX_MIB(1));
    assert_true(gbx_buf_puts(&rows, "["));
    (void)each_mac(add_mac, &rows);
    expect(mac_code, &rows, "[210,[]]");
}

int main(int argc, char **argv)
{
    realm_environment(argv);
    return tests_run(NULL, NULL);
}
