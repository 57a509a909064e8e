/* SPDX-License-Identifier: MIT */
/*
 * addon - the functions for JavaScript. It holds no state: each thread that loads the
 * addon gets its own functions, bound to its own gbx_node_env.
 */
#include "addon.h"

/* (boolean): keep the process alive, while something is awaited, or no longer. */
napi_value gbx_node_hold(napi_env env, napi_callback_info info)
{
    size_t argc = 1;
    napi_value argv[1];
    void *data = NULL;
    bool on = false;
    gbx_node_env *e;

    if (napi_get_cb_info(env, info, &argc, argv, NULL, &data) != napi_ok ||
        napi_get_value_bool(env, argv[0], &on) != napi_ok)
        return NULL;
    e = data;
    if (on)
        (void)napi_ref_threadsafe_function(env, e->wake);
    else
        (void)napi_unref_threadsafe_function(env, e->wake);
    return NULL;
}

static bool set_function(napi_env env, napi_value to, const char *name,
                         napi_callback function, void *data)
{
    napi_value value;

    return napi_create_function(env, name, NAPI_AUTO_LENGTH, function, data, &value) ==
               napi_ok &&
           napi_set_named_property(env, to, name, value) == napi_ok;
}

/* The names of all codes, in the order of their numbers. */
static napi_value code_names(napi_env env)
{
    static const char *const names[] = {
#define XX(name, number, exit, text) #name,
        GBX_CODE_MAP(XX)
#undef XX
    };
    napi_value list = NULL;
    napi_value name;

    if (napi_create_array(env, &list) != napi_ok)
        return gbx_node_undefined(env);
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (napi_create_string_latin1(env, names[i], NAPI_AUTO_LENGTH, &name) ==
            napi_ok)
            (void)napi_set_element(env, list, i, name);
    return list;
}

/* start(dispatch) -> all other functions */
static napi_value start(napi_env env, napi_callback_info info)
{
    size_t argc = 1;
    napi_value argv[1];
    napi_value all;
    napi_value figures;
    napi_valuetype type;
    gbx_node_env *e;

    if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok)
        return NULL;
    if (napi_typeof(env, argv[0], &type) != napi_ok || type != napi_function) {
        (void)napi_throw_type_error(env, NULL, "a dispatcher was expected");
        return NULL;
    }
    e = gbx_node_env_new(env, argv[0]);
    if (e == NULL || napi_create_object(env, &all) != napi_ok)
        return NULL;
#define XX(name, function)                                     \
    if (!set_function(env, all, name, gbx_node_##function, e)) \
        return NULL;
    GBX_NODE_FUNCTION_MAP(XX)
#undef XX
    if (napi_get_reference_value(env, e->figures_ref, &figures) != napi_ok ||
        napi_set_named_property(env, all, "figures", figures) != napi_ok ||
        napi_set_named_property(env, all, "codes", code_names(env)) != napi_ok ||
        napi_set_named_property(env, all, "version",
                                gbx_node_utf8(env, gbx_version(), NAPI_AUTO_LENGTH)) !=
            napi_ok)
        return NULL;
    return all;
}

NAPI_MODULE_INIT()
{
    return set_function(env, exports, "start", start, NULL) ? exports : NULL;
}
