"""How a context takes over what others have saved."""

from __future__ import annotations

from ctypes import byref, c_int, c_void_p

from .._c._load import library
from ..errors import check
from ._telling import Telling


class Merging(Telling):
    """The part of a context that merges."""

    def merge(self) -> None:
        """Takes over what other contexts of the store have saved, or the parent has changed, since this one last did.

        Objects show the new values, deleted ones are gone, and live lists move. Unsaved changes stay on top of the new
        values; of two changes of one attribute this context's is then the later. See `merges_automatically` for having
        it done, and `fileno` for when.
        """
        self._settle()
        error = c_void_p()
        self._after(library.quire_context_merge(self._raw, byref(error)), error)

    @property
    def merges_automatically(self) -> bool:
        """Whether `process` and every query begin with `merge`. False unless set; a save never does, so that what
        others have changed in the same objects is a conflict."""
        return self._merges_automatically

    @merges_automatically.setter
    def merges_automatically(self, merges: bool) -> None:
        error = c_void_p()
        check(library.quire_context_set_merges_automatically(self._raw, bool(merges), byref(error)), error)
        self._merges_automatically = bool(merges)

    def _check_entry(self) -> None:
        """Raises what the library says to any call of this thread now, if it refuses all calls."""
        error = c_void_p()
        check(
            library.quire_context_set_merges_automatically(self._raw, self._merges_automatically, byref(error)), error)

    def fileno(self) -> int:
        """A descriptor that polls readable as long as there is something to `merge`, so that event loops can wait for
        it: `loop.add_reader(context, context.merge)`. Only poll it. It ends with the context."""
        error, made = c_void_p(), c_int()
        check(library.quire_context_descriptor(self._raw, byref(made), byref(error)), error)
        return made.value
