/* SPDX-License-Identifier: MIT */
/* run_input - see cli.h. */
#include "cli/cli.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

/* Far above any code limit: the guard reports the code's length and the limit. */
#define CODE_FILE_MAX GBX_MIB(16)
/* More than any machine's template can hold. */
#define DATASET_FILE_MAX (GBX_MIB(4096) - 2)
#define PRELOAD_FILE_MAX GBX_MIB(16)
#define PRELOAD_NAME_MAX 128 /* the library's limit */
#define MEMORY_DEFAULT   GBX_MIB(128)
#define TABLE_NAME       "data"

/* The arguments, the destination of what is read, and the failure. */
typedef struct reading {
    const gbx_run_args *args;
    gbx_run_input *input;
    gbx_trouble *trouble;
} reading;

static bool read_code(const reading *r)
{
    gbx_error *err = &r->trouble->err;

    if (r->args->file == NULL) {
        r->input->code = gbx_file_text_borrow(r->args->common.words[0], "the code");
    } else {
        gbx_status status =
            gbx_file_text_read(r->args->file, CODE_FILE_MAX, &r->input->code, err);

        if (status == GBX_E_DATA)
            return gbx_trouble_code(r->trouble, GBX_CODE_INVALID_CODE, NULL);
        if (!gbx_trouble_input(r->trouble, status))
            return false;
    }
    if (gbx_file_text_check_utf8(&r->input->code, err) != GBX_OK)
        return gbx_trouble_code(r->trouble, GBX_CODE_INVALID_CODE, r->args->file);
    return true;
}

static bool read_spec(const reading *r, const char *name, size_t len,
                      const char *source, gbx_spec *ret)
{
    gbx_status status = gbx_spec_of(name, len, source, ret, &r->trouble->err);

    return gbx_trouble_input(r->trouble, status);
}

/* Read a file. The library reads a database, by a query. */
static bool read_dataset(const reading *r, const gbx_spec *spec, gbx_file_text *ret)
{
    gbx_status status = GBX_OK;

    if (spec->format != GBX_SPEC_SQLITE)
        status =
            gbx_file_text_read(spec->path, DATASET_FILE_MAX, ret, &r->trouble->err);
    return gbx_trouble_input(r->trouble, status);
}

/* A call's input is JSON: a table or a database becomes a dataset. */
static bool read_table(const reading *r)
{
    for (size_t i = 0; i < r->args->datasets.count; i++)
        if (strncmp(r->args->datasets.item[i], TABLE_NAME "=", sizeof TABLE_NAME) == 0)
            return gbx_trouble_input(
                r->trouble, gbx_fail(&r->trouble->err, GBX_E_USAGE,
                                     "the table of '--data' is the dataset '%s': "
                                     "give the other one another name",
                                     TABLE_NAME));
    r->input->dataset = TABLE_NAME;
    return read_dataset(r, &r->input->data_spec, &r->input->data);
}

static bool read_data(const reading *r)
{
    uint64_t memory = r->args->common.options.limits.memory_bytes;
    const gbx_spec *spec = &r->input->data_spec;
    gbx_error *err = &r->trouble->err;
    gbx_status status;

    if (r->args->data == NULL)
        return true;
    if (!read_spec(r, TABLE_NAME, strlen(TABLE_NAME), r->args->data,
                   &r->input->data_spec))
        return false;
    if (spec->format > GBX_SPEC_NDJSON)
        return read_table(r);
    /* Parsed JSON is larger than its text: a text above the limit cannot fit. */
    status = gbx_file_text_read(spec->path, memory != 0 ? memory : MEMORY_DEFAULT,
                                &r->input->data, err);
    if (status == GBX_E_DATA) {
        r->trouble->hint = "raise --memory, or give it as a --dataset";
        return gbx_trouble_code(r->trouble, GBX_CODE_MEMORY, NULL);
    }
    if (!gbx_trouble_input(r->trouble, status))
        return false;
    if (spec->format == GBX_SPEC_NDJSON) {
        status = gbx_file_text_from_lines(&r->input->data, err);
        if (status == GBX_E_DATA)
            return gbx_trouble_code(r->trouble, GBX_CODE_INVALID_DATA,
                                    r->input->data.name);
    }
    return gbx_trouble_input(r->trouble, status);
}

/* --params becomes the binding "params". */
static bool make_bindings(const reading *r)
{
    const char *params = r->args->params;
    gbx_file_text text = {.len = 0};

    if (params == NULL)
        return true;
    text = (gbx_file_text){.len = strlen(params), .name = "--params"};
    memcpy(&text.data, &params, sizeof params); /* only read */
    if (gbx_file_text_check_json(&text, &r->trouble->err) != GBX_OK)
        return gbx_trouble_code(r->trouble, GBX_CODE_INVALID_DATA, text.name);
    gbx_buf_init(&r->input->bindings, text.len + 64);
    (void)gbx_buf_printf(&r->input->bindings, "{\"params\":%s}", params);
    (void)gbx_need(r->input->bindings.data);
    return true;
}

/* Read all NAME=FILE before the engine starts: a bad file costs no process. */
static bool read_datasets(const reading *r)
{
    const gbx_opt_list *list = &r->args->datasets;
    gbx_run_input *input = r->input;

    for (size_t i = 0; i < list->count; i++) {
        const char *equals = strchr(list->item[i], '=');

        if (equals == NULL || equals == list->item[i])
            return gbx_trouble_input(
                r->trouble,
                gbx_fail(&r->trouble->err, GBX_E_USAGE,
                         "'--dataset' needs NAME=FILE, not '%.80s'", list->item[i]));
        if (!read_spec(r, list->item[i], (size_t)(equals - list->item[i]), equals + 1,
                       &input->specs[i]) ||
            !read_dataset(r, &input->specs[i], &input->datasets[i]))
            return false;
    }
    return true;
}

/* argument: NAME, or NAME=FILE. */
static bool load_dataset(gbx_engine *engine, const char *argument, const gbx_spec *spec,
                         gbx_file_text *text, gbx_trouble *trouble)
{
    size_t name_len = strcspn(argument, "=");
    gbx_error *err = &trouble->err;
    char name[80]; /* the library's limit is 64 */
    gbx_status status;

    (void)snprintf(name, sizeof name, "%.*s", (int)name_len, argument);
    if (name_len >= sizeof name) {
        status = gbx_fail(err, GBX_E_USAGE, "the dataset's name is too long");
    } else if (spec->format == GBX_SPEC_SQLITE) {
        status = gbx_engine_load_sqlite(engine, name, spec->path, spec->query, err);
        err->line = err->column = 0; /* of the query; the message has it */
    } else {
        status = gbx_engine_load(engine, name, text->data, text->len,
                                 gbx_spec_data_format(spec->format, spec->how), err);
        if (status == GBX_E_DATA)
            trouble->file = text->name;
        gbx_file_text_cleanup(text);
    }
    return gbx_trouble_host(trouble, status);
}

/* ---- preloads ----------------------------------------------------------------- */

/* The text is checked later, by the library and by the template that runs it. */
bool gbx_preloads_read(const gbx_opt_list *list, gbx_file_text *texts,
                       gbx_trouble *trouble)
{
    for (size_t i = 0; i < list->count; i++) {
        gbx_status status = gbx_file_text_read(list->item[i], PRELOAD_FILE_MAX,
                                               &texts[i], &trouble->err);

        if (!gbx_trouble_input(trouble, status))
            return false;
    }
    return true;
}

size_t gbx_preloads_of(const gbx_opt_list *list, const gbx_file_text *texts,
                       gbx_preload ret[GBX_OPT_LIST_MAX])
{
    for (size_t i = 0; i < list->count; i++) {
        size_t len = strlen(texts[i].name);
        size_t from = len > PRELOAD_NAME_MAX ? len - PRELOAD_NAME_MAX : 0;

        ret[i] = (gbx_preload){.name = texts[i].name + from,
                               .source = texts[i].data,
                               .source_len = texts[i].len};
    }
    return list->count;
}

void gbx_preloads_cleanup(gbx_file_text *texts)
{
    for (size_t i = 0; i < GBX_OPT_LIST_MAX; i++)
        gbx_file_text_cleanup(&texts[i]);
}

/* ---- the whole input ------------------------------------------------------------ */

bool gbx_run_input_read_data(const gbx_run_args *args, gbx_run_input *input,
                             gbx_trouble *trouble)
{
    const reading r = {.args = args, .input = input, .trouble = trouble};

    return read_data(&r) && read_datasets(&r) &&
           gbx_preloads_read(&args->preloads, input->preloads, trouble);
}

bool gbx_run_input_read(const gbx_run_args *args, gbx_run_input *input,
                        gbx_trouble *trouble)
{
    const reading r = {.args = args, .input = input, .trouble = trouble};

    return read_code(&r) && gbx_run_input_read_data(args, input, trouble) &&
           make_bindings(&r);
}

bool gbx_run_input_load(const gbx_run_args *args, gbx_run_input *input,
                        gbx_engine *engine, gbx_trouble *trouble)
{
    const gbx_opt_list *list = &args->datasets;

    if (input->dataset != NULL &&
        !load_dataset(engine, input->dataset, &input->data_spec, &input->data, trouble))
        return false;
    for (size_t i = 0; i < list->count; i++)
        if (!load_dataset(engine, list->item[i], &input->specs[i], &input->datasets[i],
                          trouble))
            return false;
    return true;
}

void gbx_run_input_cleanup(gbx_run_input *input)
{
    gbx_file_text_cleanup(&input->code);
    gbx_file_text_cleanup(&input->data);
    gbx_spec_cleanup(&input->data_spec);
    for (size_t i = 0; i < GBX_COUNTOF(input->datasets); i++) {
        gbx_file_text_cleanup(&input->datasets[i]);
        gbx_spec_cleanup(&input->specs[i]);
    }
    gbx_preloads_cleanup(input->preloads);
    gbx_buf_cleanup(&input->bindings);
}
