"""Versions of the libraries below."""

from ._load import quick

sqlite_version: str = quick.quire_sqlite_version().decode()
"""The version of the SQLite that the library runs with, such as "3.40.1"."""

icu_version: str = quick.quire_icu_version().decode()
"""The version of the ICU that the library runs with, such as "72.1"."""
