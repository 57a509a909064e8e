/* SPDX-License-Identifier: MIT */
/* sources - see sources.h. */
#include "sources.h"
#include "test.h"

#include "base/json.h"

#include <unistd.h>

int enter_place(void **state)
{
    place *p = calloc(1, sizeof *p);

    strcpy(p->folder, "/tmp/gbx-data-XXXXXX");
    *state = p;
    return mkdtemp(p->folder) == NULL;
}

int leave_place(void **state)
{
    place *p = *state;
    char command[128];

    (void)snprintf(command, sizeof command, "rm -rf %s", p->folder);
    (void)!system(command);
    free(p);
    return 0;
}

const char *write_file(place *p, const char *name, const void *data, size_t len)
{
    FILE *file;

    (void)snprintf(p->path, sizeof p->path, "%s/%s", p->folder, name);
    file = fopen(p->path, "w");
    assert_int_equal(fwrite(data, 1, len, file), len);
    (void)fclose(file);
    (void)snprintf(p->spec, sizeof p->spec, "d=%s", p->path);
    return p->spec;
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
