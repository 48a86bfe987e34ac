/* SPDX-License-Identifier: MIT */
/*
 * openapi_test.c — docs/openapi.yaml tells of every route under /v1, and of no other.
 */
#include "api/web_internal.h"
#include "base/fs.h"
#include "base/yaml.h"
#include "tests/test.h"

#include <ctype.h>

struct document {
    struct arena arena;
    struct str text;
    struct yaml_node *paths;
};

static void load(struct document *document)
{
    autorelease(err) struct err err = ERR_INIT;
    struct yaml_node *root = NULL;

    *document = (struct document){ARENA_INIT, STR_INIT, NULL};
    assert_int_equal(fs_read("docs/openapi.yaml", 4u << 20, &document->text, &err), 0);
    if (yaml_parse(document->text.s, document->text.len, "docs/openapi.yaml", &document->arena,
                   &root, &err) < 0)
        fail_msg("%s", err_text(&err));
    document->paths = yaml_find(root, "paths");
    assert_non_null(document->paths);
}

static void unload(struct document *document)
{
    str_release(&document->text);
    arena_release(&document->arena);
}

/* "/v1/trials/{trial}/files/{path}" is "/v1/trials/" star "/files/" star, or two stars at its end.
 */
static bool same_path(const char *route, const char *documented)
{
    while (*route && *documented) {
        if (*route == '*' && *documented == '{') {
            route += strspn(route, "*");
            documented += strcspn(documented, "}") + 1;
        } else if (*route++ != *documented++) {
            return false;
        }
    }
    return *route == *documented;
}

static bool has_method(const struct web_route *route, const char *method)
{
    autofree(mem) char *upper = xstrdup(method);
    for (char *s = upper; *s; s++)
        *s = (char)toupper(*s);
    const char *found = strstr(route->methods, upper);
    return found != NULL;
}

static const struct yaml_node *documented(const struct document *document, const char *path)
{
    for (size_t i = 0; i < document->paths->n; i++)
        if (same_path(path, document->paths->keys[i]->text))
            return document->paths->items[i];
    return NULL;
}

TEST(every_route_of_ours_is_documented_with_its_methods)
{
    static const char *const methods[] = {"get", "post", "put", "delete", "patch"};
    struct document document;
    const struct web_route *route;

    load(&document);
    for (size_t i = 0; (route = web_route_at(i)); i++) {
        if (strncmp(route->path, "/v1/", 4) != 0)
            continue;
        const struct yaml_node *path = documented(&document, route->path);
        if (!path)
            fail_msg("%s is not in docs/openapi.yaml", route->path);
        for (size_t k = 0; k < ARRAY_LEN(methods); k++)
            if (has_method(route, methods[k]) && !yaml_find(path, methods[k]))
                fail_msg("%s of %s is not in docs/openapi.yaml", methods[k], route->path);
    }
    unload(&document);
}

static bool served(const char *path, const char *method)
{
    const struct web_route *route;

    for (size_t i = 0; (route = web_route_at(i)); i++)
        if (same_path(route->path, path) && has_method(route, method))
            return true;
    return false;
}

TEST(nothing_is_documented_that_is_not_served)
{
    struct document document;

    load(&document);
    for (size_t i = 0; i < document.paths->n; i++) {
        const struct yaml_node *path = document.paths->items[i];
        for (size_t k = 0; k < path->n; k++) {
            const char *method = path->keys[k]->text;
            if (!str_eq(method, "parameters") && !served(document.paths->keys[i]->text, method))
                fail_msg("%s of %s is documented, but not served", method,
                         document.paths->keys[i]->text);
        }
    }
    unload(&document);
}

TEST(every_route_has_a_sentence)
{
    const struct web_route *route;

    for (size_t i = 0; (route = web_route_at(i)); i++)
        assert_true(route->help && strlen(route->help) > 5);
}

TEST_MAIN
