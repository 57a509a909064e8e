/* SPDX-License-Identifier: MIT */
/* host-functions - let somebody's code ask our database, and nothing else. */
#include <glovebox/host.h>
#include <glovebox/policy.h>

#include <stdio.h>
#include <string.h>

/* args is a JSON array that the code wrote: look at it as at any stranger's input. */
static void find_price(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    gbx_status status;

    (void)user;
    if (strcmp(call->args, "[\"tea\"]") == 0)
        status = gbx_answer(engine, call->request, "{\"price\":4.5}", 13, NULL);
    else
        status = gbx_answer_error(engine, call->request, "RangeError",
                                  "no such article", "ENOENT", NULL);
    (void)status; /* nobody waits any more: the call has ended */
}

int main(void)
{
    const char *code = "async () => { const { price } = await shop.find('tea');"
                       " try { await shop.find('gold') } catch (e) {"
                       " return [price, e.code] } }";
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = NULL;
    gbx_result *result = NULL;
    gbx_call call = GBX_CALL_INIT;
    gbx_error err = {0};
    int failed;

    call.code = code;
    call.code_len = strlen(code);
    options.policy = gbx_policy_new();
    if (options.policy != NULL &&
        gbx_policy_allow(options.policy, "functions=shop.*", &err) == GBX_OK &&
        gbx_engine_new(&options, &engine, &err) == GBX_OK &&
        gbx_engine_expose(engine, "shop.find", find_price, NULL, &err) == GBX_OK &&
        gbx_execute(engine, &call, &result, &err) == GBX_OK)
        printf("%s %s\n", gbx_code_name(gbx_result_code(result)),
               gbx_result_value(result, NULL)); /* OK [4.5,"ENOENT"] */
    else
        fprintf(stderr, "%s\n", err.message);
    failed = result == NULL;
    gbx_result_free(result);
    gbx_engine_free(engine);
    gbx_policy_free(options.policy);
    return failed;
}
