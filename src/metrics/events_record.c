/* SPDX-License-Identifier: MIT */
/*
 * events_record.c — from the payload of a record to values and settings.
 *
 * A scalar is a simple_value (torch, tensorboardX, TensorFlow 1) or a tensor without dimensions
 * (TensorFlow 2), in any type of number. Pictures, histograms and texts are passed over. Settings
 * come with a value of the hparams plugin, whose content is a message of its own.
 *
 * Field numbers: event.proto, summary.proto, tensor.proto of TensorFlow; plugin_data.proto of the
 * hparams plugin; struct.proto of protobuf.
 */
#include "metrics/events_record.h"

#include <math.h>

/* ---- tensors ---- */

struct tensor {
    uint64_t type;
    bool scalar;            /* no dimension */
    const uint8_t *content; /* bytes of the number; NULL: in a list */
    size_t n_content;
    struct proto_field first; /* the first list that has something */
};

/* How a type of number stands in tensor_content (so many bytes) and in a list (which field, of
 * which kind). */
enum number_as { AS_FLOAT, AS_DOUBLE, AS_SIGNED, AS_UNSIGNED, AS_HALF, AS_BFLOAT16 };
static const struct number_type {
    uint64_t type;
    enum number_as as;
    size_t bytes;
    uint32_t field;
    enum proto_wire wire;
} number_types[] = {
    {1, AS_FLOAT, 4, 5, PROTO_32},          {2, AS_DOUBLE, 8, 6, PROTO_64},
    {3, AS_SIGNED, 4, 7, PROTO_VARINT},     {4, AS_UNSIGNED, 1, 7, PROTO_VARINT},
    {5, AS_SIGNED, 2, 7, PROTO_VARINT},     {6, AS_SIGNED, 1, 7, PROTO_VARINT},
    {9, AS_SIGNED, 8, 10, PROTO_VARINT},    {10, AS_UNSIGNED, 1, 11, PROTO_VARINT},
    {14, AS_BFLOAT16, 2, 13, PROTO_VARINT}, {17, AS_UNSIGNED, 2, 7, PROTO_VARINT},
    {19, AS_HALF, 2, 13, PROTO_VARINT},     {22, AS_UNSIGNED, 4, 16, PROTO_VARINT},
    {23, AS_UNSIGNED, 8, 17, PROTO_VARINT},
};

static const struct number_type *number_type_find(uint64_t type)
{
    for (size_t i = 0; i < ARRAY_LEN(number_types); i++)
        if (number_types[i].type == type)
            return &number_types[i];
    return NULL;
}

static double number_of(const struct number_type *type, uint64_t bits)
{
    switch (type->as) {
    case AS_FLOAT:
        return proto_float(bits);
    case AS_DOUBLE:
        return proto_double(bits);
    case AS_SIGNED: {
        unsigned unused = 64 - 8 * (unsigned)type->bytes;
        return (double)((int64_t)(bits << unused) >> unused);
    }
    case AS_UNSIGNED:
        return (double)bits;
    case AS_HALF:
        return proto_half(bits);
    case AS_BFLOAT16:
        return proto_bfloat16(bits);
    }
    return NAN;
}

static bool shape_is_scalar(struct proto in)
{
    struct proto_field field;
    bool scalar = true;

    while (proto_next(&in, &field))
        if (field.number == 2 || (proto_is(&field, 3, PROTO_VARINT) && field.value))
            scalar = false;
    return scalar && !in.bad;
}

static void read_tensor_field(const struct proto_field *field, struct tensor *tensor)
{
    const struct number_type *type = number_type_find(tensor->type);

    if (proto_is(field, 1, PROTO_VARINT)) {
        tensor->type = field->value;
    } else if (proto_is(field, 2, PROTO_BYTES)) {
        tensor->scalar = tensor->scalar && shape_is_scalar(proto_inside(field));
    } else if (proto_is(field, 4, PROTO_BYTES) && field->n) {
        tensor->content = field->at;
        tensor->n_content = field->n;
    } else if (type && field->number == type->field && !tensor->first.number) {
        tensor->first = *field; /* the type stands before its list in all writers */
    }
}

/* False: no single number. A list that is left out is a 0, as in TensorFlow. */
static bool read_tensor(struct proto in, double *ret)
{
    struct tensor tensor = {.scalar = true};
    struct proto_field field;
    uint64_t bits = 0;

    while (proto_next(&in, &field))
        read_tensor_field(&field, &tensor);
    const struct number_type *type = number_type_find(tensor.type);
    if (in.bad || !type || !tensor.scalar)
        return false;
    if (tensor.content) {
        if (tensor.n_content != type->bytes)
            return false;
        for (size_t i = 0; i < type->bytes; i++)
            bits |= (uint64_t)tensor.content[i] << (8 * i);
    } else if (tensor.first.number && !proto_first(&tensor.first, type->wire, &bits)) {
        return false;
    }
    *ret = number_of(type, bits);
    return true;
}

/* ---- the hparams plugin ---- */

static size_t keep_text(struct events_record *record, const uint8_t *bytes, size_t n)
{
    size_t at = record->texts.len;

    str_add_printable(&record->texts, (const char *)bytes, n);
    str_add_char(&record->texts, '\0');
    return at;
}

/* google.protobuf.Value: null, number, text or truth; lists and objects are no settings. */
static bool read_setting_value(struct proto in, struct events_record *record,
                               struct events_setting *ret)
{
    struct proto_field field;
    bool found = false;

    while (proto_next(&in, &field)) {
        if (proto_is(&field, 2, PROTO_64)) {
            ret->param.kind = EVENTS_NUMBER;
            ret->param.number = proto_double(field.value);
            found = true;
        } else if (proto_is(&field, 3, PROTO_BYTES)) {
            ret->param.kind = EVENTS_TEXT;
            ret->text = keep_text(record, field.at, field.n);
            found = true;
        } else if (proto_is(&field, 4, PROTO_VARINT)) {
            ret->param.kind = EVENTS_BOOL;
            ret->param.number = field.value != 0;
            found = true;
        }
    }
    return found && !in.bad;
}

static void read_setting(struct proto in, struct events_record *record)
{
    struct events_setting setting = {.param = {.name = NULL}};
    struct proto_field field;
    bool named = false, valued = false;

    while (proto_next(&in, &field)) {
        if (proto_is(&field, 1, PROTO_BYTES) && field.n) {
            setting.name = keep_text(record, field.at, field.n);
            named = true;
        } else if (proto_is(&field, 2, PROTO_BYTES)) {
            valued = read_setting_value(proto_inside(&field), record, &setting);
        }
    }
    if (named && valued && !in.bad)
        vec_push(&record->settings, setting);
}

static void read_hparams(struct proto in, struct events_record *record)
{
    struct proto_field field, inner;

    while (proto_next(&in, &field)) {
        bool start = proto_is(&field, 3, PROTO_BYTES), end = proto_is(&field, 4, PROTO_BYTES);
        if (!start && !end)
            continue;
        struct proto inside = proto_inside(&field);
        while (proto_next(&inside, &inner)) {
            if (start && proto_is(&inner, 1, PROTO_BYTES))
                read_setting(proto_inside(&inner), record);
            if (end && proto_is(&inner, 1, PROTO_VARINT))
                record->outcome = inner.value == 1   ? EVENTS_SUCCESS
                                  : inner.value == 2 ? EVENTS_FAILURE
                                                     : EVENTS_UNKNOWN;
        }
    }
}

/* ---- values ---- */

struct plugin {
    const uint8_t *name;
    size_t n;
    struct proto_field content;
};

static bool plugin_is(const struct plugin *plugin, const char *name)
{
    return plugin->n == strlen(name) && memcmp(plugin->name, name, plugin->n) == 0;
}

static bool read_metadata(struct proto in, struct plugin *ret)
{
    struct proto_field field, inner;

    while (proto_next(&in, &field)) {
        if (!proto_is(&field, 1, PROTO_BYTES))
            continue;
        struct proto data = proto_inside(&field);
        while (proto_next(&data, &inner)) {
            if (proto_is(&inner, 1, PROTO_BYTES)) {
                ret->name = inner.at;
                ret->n = inner.n;
            } else if (proto_is(&inner, 2, PROTO_BYTES)) {
                ret->content = inner;
            }
        }
        if (data.bad)
            return false;
    }
    return !in.bad;
}

static bool read_value(struct proto in, struct events_record *record)
{
    struct events_value value = {.value = NAN};
    struct proto_field field, tensor = {0};
    struct plugin plugin = {.name = (const uint8_t *)""};
    bool found = false, good = true;

    while (good && proto_next(&in, &field)) {
        if (proto_is(&field, 1, PROTO_BYTES)) {
            value.tag = field.at;
            value.n = field.n;
        } else if (proto_is(&field, 2, PROTO_32)) {
            value.value = proto_float(field.value);
            found = true;
        } else if (proto_is(&field, 8, PROTO_BYTES)) {
            tensor = field;
        } else if (proto_is(&field, 9, PROTO_BYTES)) {
            good = read_metadata(proto_inside(&field), &plugin);
        }
    }
    if (plugin_is(&plugin, "hparams") && plugin.content.number)
        read_hparams(proto_inside(&plugin.content), record);
    else if (!found && tensor.number && (!plugin.n || plugin_is(&plugin, "scalars")))
        found = read_tensor(proto_inside(&tensor), &value.value);
    if (found && good && !in.bad)
        vec_push(&record->values, value);
    return good && !in.bad;
}

static bool read_summary(struct proto in, struct events_record *record)
{
    struct proto_field field;

    while (proto_next(&in, &field))
        if (proto_is(&field, 1, PROTO_BYTES) && !read_value(proto_inside(&field), record))
            return false;
    return !in.bad;
}

bool events_record_read(const uint8_t *payload, size_t n, struct events_record *ret)
{
    struct proto in = {.p = payload, .end = payload + n};
    struct proto_field field;

    ret->wall_s = 0;
    ret->step = 0;
    ret->values.len = ret->settings.len = 0;
    ret->outcome = EVENTS_UNKNOWN;
    str_cut(&ret->texts, 0);
    while (proto_next(&in, &field)) {
        if (proto_is(&field, 1, PROTO_64))
            ret->wall_s = proto_double(field.value);
        else if (proto_is(&field, 2, PROTO_VARINT))
            ret->step = (int64_t)field.value;
        else if (proto_is(&field, 5, PROTO_BYTES) && !read_summary(proto_inside(&field), ret))
            return false;
    }
    return !in.bad;
}

void events_record_release(struct events_record *record)
{
    vec_release(&record->values);
    vec_release(&record->settings);
    str_release(&record->texts);
}
