"""History tables as the framework makes them, with changes of objects."""

from __future__ import annotations

import random
import sqlite3

from layout import Layout

TABLES = [
    "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, "
    "ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB )",
    "CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, "
    "ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, "
    "ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )",
    "CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
    "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
    "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)"]
NAMES = {16001: "CHANGE", 16002: "TRANSACTION", 16003: "TRANSACTIONSTRING"}


def add(connection: sqlite3.Connection, layout: Layout, dice: random.Random) -> None:
    for each in TABLES:
        connection.execute(each)
    changes = 0
    for number, name in layout.names.items():
        if layout.model.entities[name].abstract:
            continue
        for _ in range(dice.randint(0, 4)):
            changes += 1
            connection.execute("INSERT INTO ACHANGE VALUES (?, 16001, 1, ?, ?, ?, ?, ?)", (
                changes, dice.choice([0, 1, 2]), number, dice.randint(1, 9), changes % 3 + 1,
                dice.choice([None, b"\x80"])))
    for number in range(1, 4):
        connection.execute(
            "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZAUTHORTS, ZTIMESTAMP) VALUES (?, 16002, 1, 1, ?)",
            (number, 700000000.5 + number))
    connection.execute("INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, 1, 'author')")
    for number, name in NAMES.items():
        last = {16001: changes, 16002: 3, 16003: 1}[number]
        connection.execute("INSERT INTO Z_PRIMARYKEY VALUES (?, ?, 0, ?)", (number, name, last))
