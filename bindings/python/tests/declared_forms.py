"""Forms of declarations and calls of constructors, which must run exactly where type checkers let them."""

PREAMBLE = """\
from typing import Optional
import quire
class Other(quire.Model):
    name: quire.Attr[str]
"""

FORMS = {
    "Bare": "quire.Attr[str]",
    "BareOptional": "quire.Attr[Optional[str]]",
    "Default": 'quire.Attr[str] = quire.attr(default="x")',
    "DefaultNone": "quire.Attr[Optional[str]] = quire.attr(default=None)",
    "Searchable": "quire.Attr[str] = quire.attr(searchable=True)",
    "SearchableOptional": "quire.Attr[Optional[str]] = quire.attr(searchable=True)",
    "SearchableNone": "quire.Attr[Optional[str]] = quire.attr(default=None, searchable=True)",
    "Passing": "quire.Attr[Optional[str]] = quire.attr(transient=True)",
    "PassingNone": "quire.Attr[Optional[str]] = quire.attr(transient=True, default=None)",
    "Derived": 'quire.Attr[Optional[str]] = quire.derived("uppercase:(name)")',
    "Whole": "quire.Attr[int]",
    "Real": "quire.Attr[float] = quire.attr(default=0)",
    "One": "quire.ToOne[Other]",
    "OneOptional": "quire.ToOne[Optional[Other]]",
    "OneRelated": 'quire.ToOne[Other] = quire.relation(name="other")',
    "OneRelatedOptional": "quire.ToOne[Optional[Other]] = quire.relation()",
    "Many": "quire.ToMany[Other]",
    "ManyRelated": "quire.ToMany[Other] = quire.relation(ordered=True)",
    "Found": 'quire.Fetched[Other] = quire.fetched("name != nil")',
}

CALLS = [
    "FORM()",
    'FORM(it="text")',
    "FORM(it=5)",
    "FORM(it=0.5)",
    "FORM(it=None)",
    'FORM(it=Other(name="x"))',
    'FORM(it=[Other(name="x")])',
    "FORM(it=[None])",
    'FORM(that="text")',
    'FORM("text")',
]

DECLARATIONS = {
    'quire.Attr[str] = quire.attr(default="x")': True,
    "quire.Attr[Optional[str]] = quire.attr(default=None)": True,
    'quire.Attr[Optional[str]] = quire.attr(default="x", max_length=3)': True,
    "quire.Attr[float] = quire.attr(default=1)": True,
    "quire.Attr[int] = quire.attr(type=quire.Integer16, default=1)": True,
    "quire.Attr[str] = quire.attr(default=5)": False,
    "quire.Attr[str] = quire.attr(default=None)": False,
    "quire.Attr[int] = quire.attr(default=0.5)": False,
    'quire.Attr[str] = "x"': False,
    "quire.Attr[Optional[str]] = None": False,
}
"""What stands behind the name, and whether it may."""
