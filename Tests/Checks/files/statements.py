"""The text of the statements that the framework makes a new store with, from a description."""

from __future__ import annotations

from typing import Any, Optional

from description import (
    BINARY, BOOLEAN, DATE, DECIMAL, DOUBLE, FLOAT, INTEGERS, RTREE_INDEX, STRING, TRANSFORMABLE, URI, UUID,
    Attribute, Index, IndexElement, Model, Relationship)
from layout import Column, Layout

GROUPS = ({DATE, DOUBLE, FLOAT}, {DECIMAL}, {STRING}, {URI}, {UUID}, {TRANSFORMABLE}, {BINARY})
BOOKKEEPING = [
    "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
    "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
    "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)"]
LOCATION = "_NSLocationAttributeDerivedComponents"
OPERATORS = {"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def statements(layout: Layout) -> list[str]:
    """Bookkeeping, tables, join tables and indexes. History and triggers of derived attributes are not among them."""
    found = list(BOOKKEEPING)
    for root in layout.model.children(None):
        found += of_table(layout, root)
    for entity in layout.numbers:
        found += of_indexes(layout, entity)
    return found + of_joins(layout)


def of_table(layout: Layout, root: str) -> list[str]:
    table = layout.table(root)
    columns = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
    columns += [f"{each.name} {each.sql_type}" for each in in_order(layout, root)]
    found = [f"CREATE TABLE {table} ( {', '.join(columns)} )"]
    if layout.model.children(root):
        found.append(f"CREATE INDEX {table}_Z_ENT_INDEX ON {table} (Z_ENT)")
    found += [
        f"CREATE INDEX {table}_{each.name}_INDEX ON {table} ({each.name})"
        for each in layout.columns[table] if each.role in ("key", "owner")]
    return found


def in_order(layout: Layout, root: str) -> list[Column]:
    """The columns of a table as a new store has them: by what they hold, then by entity."""
    columns = layout.columns[layout.table(root)]

    def kind(each: Column) -> Optional[int]:
        found = layout.model.entities[each.entity].properties[each.property]
        return found.type if isinstance(found, Attribute) else None

    whole = [each for each in columns if kind(each) in INTEGERS | {BOOLEAN} or each.role in ("key", "entity", "owner")]
    orders = [each for each in columns if each.role in ("order", "owner order")]
    grouped = [[each for each in columns if kind(each) in group] for group in GROUPS]
    return [*whole, *orders, *(each for group in grouped for each in group)]


def of_joins(layout: Layout) -> list[str]:
    found: dict[str, list[str]] = {}
    for entity, each, inverse in layout.many_to_many():
        join = layout.join(entity, each.name)
        other = layout.join(each.destination, inverse.name)
        # The side that names the table comes first.
        if join.table != f"Z_{layout.numbers[entity]}{each.name.upper()}" or join.table in found:
            continue
        orders = [other.order, join.order] if not join.reflexive else [join.order]
        columns = [f"{join.owner} INTEGER", f"{join.member} INTEGER", *(f"{name} INTEGER" for name in orders if name)]
        found[join.table] = [
            f"CREATE TABLE {join.table} ( {', '.join(columns)}, PRIMARY KEY ({join.owner}, {join.member}) )",
            f"CREATE INDEX {join.table}_{join.member}_INDEX ON {join.table} ({join.member}, {join.owner})"]
    return [each for two in found.values() for each in two]


# Indexes that the model declares.


def of_indexes(layout: Layout, entity: str) -> list[str]:
    model = layout.model
    table = layout.table(entity)
    found: list[str] = []
    for names in unique_constraints(model, entity):
        columns = ", ".join(f"{layout_column(layout, entity, name)} COLLATE BINARY ASC" for name in names)
        found.append(f"CREATE UNIQUE INDEX Z_{entity}_UNIQUE_{'_'.join(names)} ON {table} ({columns})")
    for index in model.entities[entity].indexes:
        found += of_index(layout, entity, index)
    for each in model.entities[entity].properties.values():
        # A transient attribute that names its components in a list has an R-Tree. With a text it has none.
        components = each.user_info.get(LOCATION)
        if isinstance(components, list):
            found += of_rtree(
                table, f"Z_RT_{entity}_{each.name}", [layout_column(layout, entity, str(name)) for name in components])
    return found


def unique_constraints(model: Model, entity: str) -> list[list[str]]:
    above = [each for name in model.lineage(entity)[1:] for each in model.entities[name].constraints]
    return [each for each in model.entities[entity].constraints if each not in above]


def layout_column(layout: Layout, entity: str, name: str) -> str:
    found = layout.model.properties(entity)[name]
    return layout.column(entity, name, "key" if isinstance(found, Relationship) else "value")


def element_column(layout: Layout, entity: str, element: IndexElement) -> Optional[str]:
    """The column of an element of an index. None for what has no column of its own."""
    if element.property is None:
        return {"self": "Z_PK", "entity": "Z_ENT"}.get(expression_name(element.expression or {}))
    found = layout.model.properties(entity).get(element.property)
    if found is None or found.transient or isinstance(found, Relationship) and found.many:
        return None
    return layout_column(layout, entity, element.property)


def expression_name(expression: dict[str, Any]) -> str:
    return "self" if expression.get("self") else str(expression.get("key"))


def of_index(layout: Layout, entity: str, index: Index) -> list[str]:
    model, table, name = layout.model, layout.table(entity), f"Z_{entity}_{index.name}"
    columns = [element_column(layout, entity, each) for each in index.elements]
    if not columns or None in columns:
        return []
    present = [each for each in columns if each is not None]
    if any(each.type == RTREE_INDEX for each in index.elements):
        return of_rtree(table, f"Z_RT_{entity}_{index.name}", present)
    names = [each.property for each in index.elements]
    properties = model.properties(entity)
    # These are indexed without being declared.
    if len(names) == 1 and names[0] is not None and isinstance(properties[names[0]], Relationship):
        return []
    if any(names == each for one in model.lineage(entity) for each in model.entities[one].constraints):
        return []
    parts = ", ".join(
        f"{column} COLLATE BINARY {'ASC' if each.ascending else 'DESC'}"
        for column, each in zip(present, index.elements))
    condition = ""
    if index.condition is not None:
        condition = f" WHERE {condition_text(layout, entity, index.condition)}"
    return [f"CREATE INDEX {name} ON {table} ({parts}){condition}"]


def condition_text(layout: Layout, entity: str, condition: dict[str, Any]) -> str:
    for word in ("and", "or"):
        if word in condition:
            inner = f" {word.upper()} ".join(condition_text(layout, entity, each) for each in condition[word])
            return f"({inner})"
    column = layout_column(layout, entity, str(condition["left"]["key"]))
    value = condition["right"].get("value")
    if value is None:
        return f"{column} IS {'NOT ' if condition['compare'] == '!=' else ''}NULL"
    return f"{column} {OPERATORS[str(condition['compare'])]} {int(value) if isinstance(value, bool) else value}"


def of_rtree(table: str, name: str, columns: list[str]) -> list[str]:
    bounds = [f"{each}_{end}" for each in columns for end in ("MIN", "MAX")]
    declared = ", ".join(f"{each} FLOAT" for each in bounds)
    # The blank is where the framework has one.
    values = " ,".join([f"NEW.{columns[0]}"] * 2) + "".join(f", NEW.{each}, NEW.{each}" for each in columns[1:])
    insert = f"INTO {name} (Z_PK, {', '.join(bounds)}) VALUES (NEW.Z_PK, {values}) ; END"
    head = f"CREATE TRIGGER {name}"
    return [
        f"CREATE VIRTUAL TABLE {name} USING RTREE (Z_PK INTEGER PRIMARY KEY, {declared})",
        f"{head}_INSERT AFTER INSERT ON {table} FOR EACH ROW BEGIN INSERT OR REPLACE {insert}",
        f"{head}_UPDATE AFTER UPDATE ON {table} FOR EACH ROW BEGIN DELETE FROM {name} WHERE Z_PK = NEW.Z_PK ; "
        f"INSERT {insert}",
        f"{head}_DELETE AFTER DELETE ON {table} FOR EACH ROW BEGIN DELETE FROM {name} WHERE Z_PK = OLD.Z_PK ; END"]


def tombstones(model: Model) -> int:
    """How many columns a history has for the values of deleted objects."""
    return max((sum(each.preserved for each in model.attributes(name)) for name in model.entities), default=0)
