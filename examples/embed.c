/* SPDX-License-Identifier: MIT */
/* embed - run somebody's code over our data, from C. */
#include <glovebox/glovebox.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    const char *code =
        "(orders) => orders.filter((o) => o.risk > 0.7).map((o) => o.id)";
    const char *data = "[{\"id\":\"A1\",\"risk\":0.9},{\"id\":\"A2\",\"risk\":0.2}]";
    gbx_engine *engine = NULL;
    gbx_result *result = NULL;
    gbx_call call = GBX_CALL_INIT;
    gbx_error err;
    int failed;

    call.code = code;
    call.code_len = strlen(code);
    call.input = data;
    call.input_len = strlen(data);
    if (gbx_engine_new(NULL, &engine, &err) == GBX_OK &&
        gbx_execute(engine, &call, &result, &err) == GBX_OK)
        printf("%s %s\n", gbx_code_name(gbx_result_code(result)),
               gbx_result_value(result, NULL)); /* OK ["A1"] */
    else
        fprintf(stderr, "%s\n", err.message);
    failed = result == NULL;
    gbx_result_free(result);
    gbx_engine_free(engine);
    return failed;
}
