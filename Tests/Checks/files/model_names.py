"""Words of others that may be names in a model."""

SQL_WORDS = [
    "select", "from", "where", "table", "index", "values", "rowid", "key", "null", "join", "limit", "case", "end",
    "primary", "trigger", "Z_PK", "pk", "z_ent", "opt", "fok_group"]
PREDICATE_WORDS = [
    "in", "like", "contains", "between", "matches", "nil", "true", "NOT", "or", "some", "first", "last", "size",
    "count", "sum", "FALSEPREDICATE", "cast", "now", "ENDSWITH", "null"]
# What every object of the library, or Python itself, calls something else.
TAKEN_NAMES = [
    "id", "context", "uri", "refresh", "is_deleted", "has_changes", "changed_values", "class", "def", "lambda", "None",
    "entity", "validate", "async", "import", "_hidden", "__init__", "objectID"]
