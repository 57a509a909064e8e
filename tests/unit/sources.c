/* SPDX-License-Identifier: MIT */
/* sources - see sources.h. */
#include "sources.h"
#include "scratch.h"
#include "test.h"

#include "base/json.h"

place here;

const char *write_file(const char *name, const void *data, size_t len)
{
    scratch_put(name, data, len);
    (void)snprintf(here.path, sizeof here.path, "%s", scratch_path(name));
    (void)snprintf(here.spec, sizeof here.spec, "d=%s", here.path);
    return here.spec;
}

gbx_status read_spec(const char *text, gbx_source *ret, gbx_error *error)
{
    gbx_spec spec;
    gbx_status status = gbx_spec_parse(text, &spec, error);

    if (status != GBX_OK)
        return status;
    status = gbx_source_read(NULL, &spec, GBX_SOURCE_WHOLE, NULL, NULL, ret, error);
    gbx_spec_cleanup(&spec);
    return status;
}

void becomes(const char *spec, const char *json)
{
    gbx_source source;
    gbx_error error = {0};
    char *text;

    if (read_spec(spec, &source, &error) != GBX_OK)
        fail_msg("%s: %s", spec, error.message);
    text = strndup(gbx_source_text(&source).at, gbx_source_text(&source).len);
    assert_string_equal(text, json);
    assert_true(gbx_json_check(text, strlen(text), GBX_JSON_DEPTH_MAX, NULL));
    free(text);
    gbx_source_cleanup(&source);
}

void refused(const char *spec, gbx_status status, const char *message)
{
    gbx_source source;
    gbx_error error = {0};

    assert_int_equal(read_spec(spec, &source, &error), status);
    if (strstr(error.message, message) == NULL)
        fail_msg("%s: %s", spec, error.message);
}
