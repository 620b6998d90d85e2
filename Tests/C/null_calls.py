#!/usr/bin/env python3
"""Writes the calls of null.c: every function of quire.abi, with one argument at a time made wrong.

    null_calls.py QUIRE.ABI OUTPUT
"""
import re
import sys

# An argument that makes a call succeed in the world of null.c, by the parameter's name or type; `w` is that world.
BY_FUNCTION = {
    ("quire_store_open", "path"): '":memory:"',
    ("quire_store_convert", "path"): "free_path()",
    ("quire_store_convert", "target"): "target_path()",
    ("quire_store_convert", "type"): "QUIRE_STORE_ANY",
    ("quire_migration_create", "path"): "migration_path()",
    ("quire_migration_create", "source"): "NULL",
    ("quire_migration_create", "target"): "shared_target",
    ("quire_migration_add_stage", "migration"): "w->open_migration",
    ("quire_migration_add_stage", "model"): "shared_target",
    ("quire_store_copy", "path"): "free_path()",
    ("quire_store_delete", "path"): "free_path()",
    ("quire_fetch_request_add_sort", "key_path"): '"pages"',
    ("quire_fetch_request_add_sort_with_options", "key_path"): '"title"',
    ("quire_fetch_request_add_property", "key_path"): '"pages"',
    ("quire_fetch_request_add_group", "key_path"): '"pages"',
    ("quire_fetch_request_add_expression", "name"): '"column"',
    ("quire_fetch_request_add_prefetch", "key_path"): '"author"',
    ("quire_model_add_entity", "name"): '"Fresh"',
    ("quire_model_add_attribute", "name"): '"fresh"',
    ("quire_model_add_relationship", "name"): '"fresh"',
    ("quire_model_add_fetch_index", "name"): '"fresh"',
    ("quire_model_add_attribute", "model"): "w->open_model",
    ("quire_model_add_entity", "model"): "w->open_model",
    ("quire_model_add_relationship", "model"): "w->open_model",
    ("quire_model_add_fetch_index", "model"): "w->open_model",
    ("quire_model_add_fetch_index_with_options", "name"): '"fresh"',
    ("quire_model_add_fetch_index_with_options", "model"): "w->open_model",
    ("quire_model_set_user_info", "model"): "w->open_model",
    ("quire_model_set_user_info", "value"): '"a value"',
    ("quire_model_add_configuration", "model"): "w->open_model",
    ("quire_model_add_configuration", "entities"): "w->entities",
    ("quire_model_add_version_identifier", "model"): "w->open_model",
    ("quire_model_add_uniqueness_constraint", "model"): "w->open_model",
    ("quire_model_add_fetch_template", "model"): "w->open_model",
    ("quire_model_add_fetched_property", "model"): "w->open_model",
    ("quire_model_add_fetched_property", "name"): '"fresh"',
    ("quire_model_fetch_template", "name"): '"long"',
    ("quire_model_freeze", "model"): "w->open_model",
    ("quire_object_set_values", "keys"): "w->keys",
    ("quire_object_get_object", "key"): '"author"',
    ("quire_object_get_objects", "key"): '"tags"',
    ("quire_object_get_fetched", "key"): '"longer"',
    ("quire_object_add", "key"): '"tags"',
    ("quire_object_remove", "key"): '"tags"',
    ("quire_status_name", "status"): "QUIRE_OK",
    ("quire_expression_parse", "format"): '"pages + %@"',
    ("quire_predicate_equal", "other"): "w->predicate",
    ("quire_expression_equal", "other"): "w->expression",
    ("quire_function_unregister", "name"): '"registered"',
    ("quire_object_changed_keys", "out_keys"): "NULL",
    ("quire_object_get_committed_objects", "key"): '"tags"',
    ("quire_context_object", "id"): "quire_object_id(w->object)",
    ("quire_model_add_validation_rule", "model"): "w->open_model",
    ("quire_error_object", "error"): "w->broken",
    ("quire_changes_plan", "order"): "QUIRE_PLAN_RANGES",
    ("quire_snapshot_equal", "other"): "w->snapshot",
    ("quire_moment_equal", "other"): "w->moment",
    ("quire_composite_add", "composite"): "w->open_composite",
    ("quire_composite_set_delegate", "delegate"): "&w->composite_delegate",
    ("quire_results_set_request", "section_key_path"): '"title"',
    ("quire_results_set_request_async", "section_key_path"): '"title"',
    ("quire_results_set_request_async", "section_rule"): "NULL",
    ("quire_section_rule_create", "key_path"): '"title"',
    ("quire_results_add_aggregate", "results"): "w->open_results",
    ("quire_results_fetch_async", "results"): "w->open_results",
    ("quire_results_add_aggregate", "expression"): "w->total",
    ("quire_results_aggregate", "name"): '"total"',
    ("quire_object_get_integer", "key"): '"pages"',
    ("quire_object_get_number", "key"): '"pages"',
    ("quire_object_get_date", "object"): "w->everything",
    ("quire_object_get_date", "key"): '"moment"',
    ("quire_context_find", "value"): "&w->known",
    ("quire_model_composite_element", "model"): "composite_model()",
    ("quire_model_composite_element", "entity"): '"Item"',
    ("quire_model_composite_element", "property"): '"place"',
    ("quire_model_load", "path"): "model_folder()",
    ("quire_model_load", "version"): "NULL",
    ("quire_model_load", "version_size"): "0",
    ("quire_model_save", "path"): "model_folder()",
    ("quire_metadata_read", "path"): "free_path()",
    ("quire_store_set_metadata", "key"): '"program"',
    ("quire_archive_decode", "data"): "archive",
    ("quire_history_fetch", "token_size"): "sizeof w->token",
    ("quire_history_purge", "token_size"): "sizeof w->token",
    ("quire_archive_decode", "size"): "sizeof archive",
}
BY_NAME = {
    "entity": '"Book"',
    "destination": '"Author"',
    "key": '"title"',
    "uri": "w->uri",
    "format": '"pages > %@"',
    "name": '"Fresh"',
    "arguments": "&w->number",
    "argument_count": "1",
    "value": "&w->text",
    "values": "w->values",
    "keys": "w->keys",
    "key_paths": "w->keys",
    "key_path_count": "2",
    "columns": "w->columns",
    "column": "-1",
    "batch_rows": "1",
    "column_count": "2",
    "row_count": "1",
    "properties": "w->properties",
    "property": '"title"',
    "identifier": '"2"',
    "place": "0",
    "elements": "&w->element",
    "count": "1",
    "type": "QUIRE_TYPE_STRING",
    "pending": "QUIRE_PENDING_INSERTED",
    "result_type": "QUIRE_RESULT_IDS",
    "flags": "0",
    "limit": "5",
    "offset": "0",
    "batch_size": "10",
    "first": "0",
    "after": "0",
    "section": "0",
    "child": "0",
    "row": "0",
    "title_index": "0",
    "index": "0",
    "ids": "w->ids",
    "rows": "w->ids",
    "old_rows": "w->ids",
    "other": "w->other",
    "subject": "&w->subject",
    "variables": "&w->entry",
    "variable_count": "1",
    "delegate": "&w->delegate",
    "function": "&w->function",
    "callback": "&w->callback",
    "progress": "&w->progress",
    "hooks": "&w->hooks",
    "callbacks": "&w->migration_callbacks",
    "message": '"A message."',
    "author": '"editor"',
    "token": "w->token",
    "transaction": "0",
    "change": "0",
    "seconds_since_1970": "0",
    "reason": '"A reason."',
    "policy": "QUIRE_MERGE_STORE_WINS",
    "handler": "&w->merge_handler",
    "version": "QUIRE_CONFLICT_VERSION_CURRENT",
    "capacity": "0",
    "levels": "5",
    "user_data": "NULL",
    "destroy": "NULL",
    "log": "&w->log",
    "left": "&w->text",
    "right": "&w->text",
}
# What has to come before a call.
BEFORE = {
    "quire_store_convert":
        "unlink(free_path()); unlink(target_path()); quire_store_copy(w->store, free_path(), QUIRE_NUL, NULL);",
    "quire_store_copy": "unlink(free_path());",
    "quire_store_delete": "unlink(free_path()); quire_store_copy(w->store, free_path(), QUIRE_NUL, NULL);",
    "quire_metadata_read": "unlink(free_path()); quire_store_copy(w->store, free_path(), QUIRE_NUL, NULL);",
    # They need the context of the conflict at the newest commit.
    "quire_store_checkpoint": "merge_conflicting_context(w);",
    "quire_store_compact": "merge_conflicting_context(w);",
    "quire_context_end_undo_group": "quire_context_begin_undo_group(w->context, NULL, 0, NULL);",
    "quire_results_resume": "quire_results_suspend(w->results, NULL);",
    "quire_context_begin_transaction": "quire_context_rollback(w->context, NULL);",
    "quire_context_commit_transaction":
        "quire_context_rollback(w->context, NULL); quire_context_begin_transaction(w->context, NULL);",
    "quire_context_rollback_transaction":
        "quire_context_rollback(w->context, NULL); quire_context_begin_transaction(w->context, NULL);",
}
# They answer for NULL too.
ANSWER_NULL = {"quire_error_status", "quire_error_offset", "quire_error_row"}
# Only a callback of the library can call them with success.
ONLY_IN_CALLBACKS = {"quire_object_refuse", "quire_results_delegate_failed", "quire_composite_delegate_failed"}
# They change nothing although their handle is one that things are changed through.
READS = re.compile(
    r"quire_(composite|list|object|results|snapshot|context)_(child_of_section|child_start|count|create|create_child|"
    r"find|get|get_\w+|changed_keys|ids|index_path|index_titles|object|object_for_uri|page|positions|section|"
    r"section_of|sections|section_for_index_title|aggregate|snapshot|validate|validate_value)|"
    r"quire_context_(fetch|fetch_page|pending|descriptor)|quire_error_object|quire_fetch_request_explain|"
    r"quire_model_(version_hash|entity|property|property_count|fetch_index|fetch_index_element|uniqueness_constraint|"
    r"validation_rule|user_info|configuration)|quire_predicate_matches|quire_store_open")
# Calls with one of these need a context or a store.
OF_STORES = {"store", "context", "object", "list", "results", "composite"}
ARRAYS = {"out_keys", "out_ids", "out_rows", "out_sections", "out_hash", "out_token"}
EXTREMES = {
    "size_t": ["SIZE_MAX", "(SIZE_MAX >> 1)", "(SIZE_MAX >> 1) + 1", "SIZE_MAX - 7"],
    "int64_t": ["INT64_MAX", "INT64_MIN", "-1"],
    "uint64_t": ["UINT64_MAX", "(UINT64_MAX >> 1) + 1"],
    "uint32_t": ["UINT32_MAX", "4711"],
    "quire_status": ["(quire_status)4711"],
}


def has_size(type):
    """Whether an argument is a struct to be filled, which begins with its size."""
    return type in ("quire_section *", "quire_migration_step *") or type.endswith("_info *")


class Parameter:
    def __init__(self, text):
        self.is_nullable = text.endswith("?")
        self.type, self.name = re.fullmatch(r"(.*?[ *])(\w+)\??", text).groups()
        self.type = self.type.strip()

    @property
    def is_pointer(self):
        return self.type.endswith("*")

    @property
    def handle(self):
        """The name of its handle type, if it is a handle."""
        match = re.fullmatch(r"(?:const )?quire_(\w+) \*", self.type)
        return match[1] if match and match[1] in HANDLES else None

    @property
    def is_out(self):
        return self.name.startswith("out_")


class Function:
    def __init__(self, line):
        match = re.fullmatch(r"function (.*?[ *])(quire_\w+)\((.*)\)", line)
        self.result, self.name = match[1].strip(), match[2]
        self.is_variadic = "..." in match[3]
        texts = [] if match[3] == "void" else [text for text in match[3].split(", ") if text != "..."]
        self.parameters = [Parameter(text) for text in texts]

    def sample(self, parameter):
        """The argument that makes the call succeed."""
        special = BY_FUNCTION.get((self.name, parameter.name))
        if special:
            return special
        if parameter.name == "out_error":
            return "&failure"
        if parameter.name in ARRAYS:
            return "w->out_bytes" if parameter.name in ("out_hash", "out_token") else "w->out_numbers"
        if parameter.is_out:
            return f"&{parameter.name}"
        if parameter.name.endswith("_size") and parameter.type == "size_t":
            return "QUIRE_NUL"
        if parameter.name == "options":
            return "NULL"
        if parameter.name in BY_NAME:
            return BY_NAME[parameter.name]
        if parameter.handle:
            return f"w->{parameter.handle}"
        if parameter.type == "_Bool":
            return "true"
        raise SystemExit(f"null_calls.py knows no argument for {parameter.type} {parameter.name} of {self.name}.")

    @property
    def only_reads(self):
        """Whether the world is afterwards as it was, when the call succeeds too."""
        if self.name in BEFORE or self.name.startswith("quire_function_"):
            return False
        if self.result != "quire_status":
            return self.result != "void" or self.name.endswith("_release")
        changeable = [p for p in self.parameters if p.handle and not p.type.startswith("const")]
        return not changeable or READS.fullmatch(self.name) is not None

    @property
    def needs_store(self):
        return self.name == "quire_store_delete" or any(
            p.handle in OF_STORES or p.name == "out_store" for p in self.parameters)

    def variants(self):
        """(what is wrong, the parameter or None, its argument, whether the call must fail)."""
        yield "nothing", None, None, False
        for parameter in self.parameters:
            if parameter.is_pointer:
                yield f"NULL as {parameter.name}", parameter, "NULL", not parameter.is_nullable
            if parameter.handle:
                other = "w->store" if parameter.handle != "store" else "w->context"
                yield f"another handle as {parameter.name}", parameter, f"(void *){other}", True
            if parameter.type == "const char *":
                yield f"bad UTF-8 as {parameter.name}", parameter, '"\\xFF\\xC0x"', True
            if parameter.type == "const char *const*":
                yield f"NULL inside {parameter.name}", parameter, "w->null_keys", True
                yield f"bad UTF-8 inside {parameter.name}", parameter, "w->invalid_keys", True
            if parameter.type == "const quire_value *const*":
                yield f"NULL inside {parameter.name}", parameter, "w->null_columns", True
            for extreme in EXTREMES.get(parameter.type, []):
                if extreme != "SIZE_MAX" or not parameter.name.endswith("_size"):
                    yield f"{extreme} as {parameter.name}", parameter, extreme, False

    def lines(self, first):
        """The C function that makes variant number `variant`, counted from `first`."""
        variants = list(self.variants())
        yield f"static outcome call_{self.name}(world *w, int variant) {{"
        yield "    quire_error *failure = NULL;"
        outs = [p for p in self.parameters if p.is_out and p.name not in ARRAYS and p.name != "out_error"]
        for out in outs:
            yield f"    {out.type[:-1].strip()} {out.name};"
            yield f"    memset(&{out.name}, 0x5A, sizeof {out.name});"
            if has_size(out.type):
                yield f"    {out.name}.struct_size = sizeof {out.name};"
        yield "    (void)w, (void)failure;"
        if self.name in BEFORE:
            yield f"    {BEFORE[self.name]}"
        yield "    outcome outcome = {QUIRE_OK, true, false};"
        yield "    switch (variant) {"
        for number, (wrong, changed, argument, _) in enumerate(variants):
            arguments = [argument if p is changed else self.sample(p) for p in self.parameters]
            if self.is_variadic:
                arguments.append("&w->number")
            call = f"{self.name}({', '.join(arguments)})"
            yield f"    case {first + number}: /* {wrong} */"
            yield from ("        " + line for line in self.call(call, changed, outs))
            yield "        break;"
        yield "    }"
        yield "    return outcome;"
        yield "}"

    def call(self, call, changed, outs):
        has_error = any(p.name == "out_error" for p in self.parameters)
        if self.result == "quire_status":
            yield f"outcome.status = {call};"
            if has_error and not (changed and changed.name == "out_error"):
                yield "check_error(outcome.status, &failure);"
            for out in outs:
                if out is changed:
                    continue
                inner = out.type[:-1].strip()
                handle = re.fullmatch(r"quire_(\w+) \*", inner)
                yield "if (outcome.status != QUIRE_OK)"
                if has_size(out.type):
                    # All but the size, which is the caller's.
                    name, size = out.name, f"sizeof {out.name}.struct_size"
                    yield f"    outcome.outs_are_zero &= is_zero((char *)&{name} + {size}, sizeof {name} - {size});"
                else:
                    yield f"    outcome.outs_are_zero &= is_zero(&{out.name}, sizeof {out.name});"
                if handle and handle[1] in HANDLES:
                    yield f"else quire_{handle[1]}_release({out.name});"
                elif inner.startswith("struct Arrow"):
                    yield f"else {out.name}.release(&{out.name});"
        elif self.name.endswith("_retain"):
            kind = self.parameters[0].handle
            yield f"outcome.gave_something = {call} != NULL;"
            yield f"if (variant == {self.first}) quire_{kind}_release(w->{kind});"
        elif self.name.endswith("_release"):
            # A reference to give back, so that the world keeps its own.
            kind = self.parameters[0].handle
            yield f"if (variant == {self.first}) quire_{kind}_retain(w->{kind});"
            yield f"{call};"
        elif re.fullmatch(r"quire_\w+_create", self.name):
            yield f"{self.name.replace('_create', '_release')}({call});"
        elif self.result == "quire_string":
            yield f"outcome.gave_something = {call}.data != NULL;"
        elif self.result.endswith("_array"):
            yield f"outcome.gave_something = {call}.first != NULL;"
        elif self.result.endswith("*"):
            yield f"outcome.gave_something = {call} != NULL;"
        elif self.result == "void":
            yield f"{call};"
        else:
            yield f"outcome.gave_something = {call} != 0;"


def main():
    global HANDLES
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = file.read().splitlines()
    HANDLES = {line.split("quire_")[1] for line in lines if line.startswith("handle ")}
    functions = [Function(line) for line in lines if line.startswith("function ")]

    out, table, number = ["/* Written by null_calls.py. */"], [], 0
    for function in functions:
        function.first = number
        out += function.lines(number)
        for wrong, changed, _, must_fail in function.variants():
            gives_status = function.result == "quire_status" and function.name not in ANSWER_NULL
            # Retaining another handle may give it back; all else has nothing to give.
            is_retained = function.name.endswith("_retain") and "another" in wrong
            must_give_nothing = must_fail and not gives_status and not is_retained
            must_give_nothing &= function.name not in ANSWER_NULL and changed is not None and changed.handle is not None
            must_succeed = changed is None and gives_status and function.name not in ONLY_IN_CALLBACKS
            spoils = function.name in BEFORE, not function.only_reads
            needs_store = changed is None and gives_status and function.needs_store
            expectations = must_fail and gives_status, must_give_nothing, must_succeed, *spoils, needs_store
            flags = ", ".join(str(int(expectation)) for expectation in expectations)
            table.append(f'    {{"{function.name}", "{wrong}", call_{function.name}, {number}, {flags}}},')
            number += 1
    out += ["", "static const variant variants[] = {", *table, "};"]
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
