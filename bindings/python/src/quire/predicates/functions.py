"""Functions of the program that predicates call."""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any, Optional, TypeVar, overload

from .._c import _ffi, _values
from .._c._load import library
from ..errors import InvalidArgument, WrongType, failure, remember
from . import _evaluation

__all__ = ["register_function", "unregister_function"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_CFunction: type = ctypes.CFUNCTYPE(None).__mro__[1]
_NEEDS_THE_INTERPRETER = 4

_numbers = itertools.count(1)
_kept: dict[int, Any] = {}
"""What the library refers to, by the number that it knows it by."""

_PLAIN: dict[Any, int] = {
    ctypes.c_bool: _ffi.QUIRE_NATIVE_BOOL,
    ctypes.c_float: _ffi.QUIRE_NATIVE_FLOAT,
    ctypes.c_double: _ffi.QUIRE_NATIVE_DOUBLE,
    ctypes.c_char_p: _ffi.QUIRE_NATIVE_OPTIONAL_TEXT,
}
_SIGNED = {
    1: _ffi.QUIRE_NATIVE_INT8, 2: _ffi.QUIRE_NATIVE_INT16, 4: _ffi.QUIRE_NATIVE_INT32, 8: _ffi.QUIRE_NATIVE_INT64}
_UNSIGNED = {
    1: _ffi.QUIRE_NATIVE_UINT8, 2: _ffi.QUIRE_NATIVE_UINT16, 4: _ffi.QUIRE_NATIVE_UINT32, 8: _ffi.QUIRE_NATIVE_UINT64}
_PLAIN.update((kind, _SIGNED[ctypes.sizeof(kind)]) for kind in (
    ctypes.c_int8, ctypes.c_int16, ctypes.c_int32, ctypes.c_int64, ctypes.c_short, ctypes.c_int, ctypes.c_long,
    ctypes.c_longlong, ctypes.c_ssize_t))
_PLAIN.update((kind, _UNSIGNED[ctypes.sizeof(kind)]) for kind in (
    ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_ushort, ctypes.c_uint, ctypes.c_ulong,
    ctypes.c_ulonglong, ctypes.c_size_t))


@overload
def register_function(name: str, *, deterministic: bool = ...) -> Callable[[_Function], _Function]: ...
@overload
def register_function(
    name: str, function: Callable[..., Any], *, arguments: Optional[Sequence[Any]] = ..., result: Any = ...,
    deterministic: bool = ...
) -> None: ...
def register_function(
    name: str,
    function: Optional[Callable[..., Any]] = None,
    *,
    arguments: Optional[Sequence[Any]] = None,
    result: Any = None,
    deterministic: bool = True,
) -> Optional[Callable[[_Function], _Function]]:
    """Registers a function that predicates call by its name: `distance(latitude, longitude, 52.5, 13.4) < 10`.

    Without a function it decorates one: `@quire.register_function("distance")`.

    `FUNCTION(latitude, 'distance', longitude, 52.5, 13.4)`, Core Data's order, is the same call: the target is the
    first argument. The name may be a selector, colons included: `FUNCTION(title, 'replace:with:', 'a', 'b')` calls what
    is registered as `replace:with:` with three arguments.

    `function` is a function of ctypes or anything callable. One of ctypes is called with its own signature, without
    Python between: the types are its `argtypes` and `restype`, or `arguments` and `result`, each a type of ctypes for
    integers, floats, `c_bool` or `c_char_p` (UTF-8; nil is NULL). A numeric argument that is nil makes the result nil.
    What is raised in a callback that ctypes made of a Python function is lost: register the Python function itself.

    Any other callable is given None, int, float, bool, str, datetime, Decimal, UUID or bytes as the attribute has them,
    lists of these for the keys of many objects, dictionaries for those of an evaluation without a store, and the ids of
    objects. It gives a single value back. What it raises is the `__cause__` of the `FunctionError` of the fetch.

    With `deterministic=False` a call is repeated even if its arguments are constants. The name consists of ASCII
    letters, digits and underscores, in a selector with a colon behind each word, and is not one of the predicate
    language's own; registering it twice raises `InvalidState`. Register it before the first predicate that names it is
    made. It may be called by any thread that uses such a predicate, and must not use contexts, objects or stores. Any
    thread.
    """
    _name(name)
    if function is None:
        def register(body: _Function) -> _Function:
            register_function(name, body, arguments=arguments, result=result, deterministic=deterministic)
            return body

        return register
    if isinstance(function, _CFunction):
        _register_native(name, function, arguments, result, deterministic)
        return None
    if not callable(function):
        raise WrongType(f"{name}: a function is needed, not {type(function).__name__}")
    if result is not None:
        raise WrongType(f"{name}: the type of the result is given for functions of ctypes only")
    _register_callable(name, function, None if arguments is None else _count(name, arguments), deterministic)
    return None


def unregister_function(name: str) -> None:
    """Removes a registered function. Predicates that name it raise `Unsupported` from then on. Any thread."""
    error = ctypes.c_void_p()
    encoded = _name(name)
    status = library.quire_function_unregister(encoded, len(encoded), ctypes.byref(error))
    if status:
        raise failure(status, error)


def _name(name: object) -> bytes:
    return _values.name(name, "the name of a function")


def _register_native(
    name: str, function: Any, arguments: Optional[Sequence[Any]], result: Any, deterministic: bool
) -> None:
    arguments = function.argtypes if arguments is None else arguments
    result = function.restype if result is None else result
    if function._flags_ & _NEEDS_THE_INTERPRETER:
        raise InvalidArgument(
            f"{name}: a function of the interpreter itself cannot be called without it; wrap it in a Python function.")
    if arguments is None:
        raise InvalidArgument(
            f"{name}: the types of the arguments are not known; set argtypes, or give arguments=[...].")
    _count(name, arguments)
    types = [_native_type(name, f"argument {place}", kind) for place, kind in enumerate(arguments, 1)]
    kind = _native_type(name, "the result", result)
    if kind == _ffi.QUIRE_NATIVE_OPTIONAL_TEXT:
        kind = _ffi.QUIRE_NATIVE_TEXT
    described = _ffi.quire_native_function(
        struct_size=ctypes.sizeof(_ffi.quire_native_function), result_type=kind, argument_count=len(types),
        argument_types=(ctypes.c_uint32 * max(len(types), 1))(*types), is_volatile=not deterministic,
        function=ctypes.cast(function, _ffi.quire_native_function_function),
        destroy=ctypes.cast(_forget_native, _ffi.quire_native_function_destroy))
    _register(library.quire_function_register, name, described, function)


def _count(name: str, arguments: object) -> int:
    if not isinstance(arguments, Sequence) or isinstance(arguments, (str, bytes)):
        raise WrongType(f"{name}: the arguments are a list of their types, not {type(arguments).__name__}")
    return len(arguments)


def _native_type(name: str, place: str, kind: Any) -> int:
    number = _PLAIN.get(kind)
    if number is None:
        raise InvalidArgument(
            f"{name}: {place} is of the type {getattr(kind, '__name__', kind)}, which cannot be passed; use integers, "
            "c_float, c_double, c_bool or c_char_p of ctypes.")
    return number


def _register_callable(
    name: str, function: Callable[..., Any], count: Optional[int], deterministic: bool
) -> None:
    if count is None:
        count = _argument_count(function)
    described = _ffi.quire_function_callback(
        struct_size=ctypes.sizeof(_ffi.quire_function_callback), is_volatile=not deterministic,
        argument_count=_ffi.QUIRE_ANY_NUMBER if count is None else count, call=_call,
        destroy=ctypes.cast(_forget, _ffi.quire_function_callback_destroy))
    _register(library.quire_function_register_callback, name, described, function)


def _register(call: Callable[..., int], name: str, described: Any, function: Any) -> None:
    number = next(_numbers)
    described.user_data = number
    _kept[number] = function
    error = ctypes.c_void_p()
    try:
        encoded = _values.encoded(name)
        status = call(encoded, len(encoded), ctypes.byref(described), ctypes.byref(error))
    except BaseException:
        del _kept[number]
        raise
    if status:
        del _kept[number]
        raise failure(status, error)


def _argument_count(function: Callable[..., Any]) -> Optional[int]:
    """How many arguments it takes, or None when that is open."""
    # Loaded by nothing else here, and slowly.
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    positional = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    is_open = len(positional) < len(parameters) and any(each.kind == each.VAR_POSITIONAL for each in parameters)
    if is_open or any(each.default is not each.empty for each in positional):
        return None
    return len(positional)


# MARK: called by the library

_results = threading.local()
"""`last`: what the library copies the result of the last call of this thread from."""


def _give(packed: _values.Packed, target: Any) -> None:
    values = _values.Values([packed])
    _results.last = values
    ctypes.memmove(target, values.array, ctypes.sizeof(_ffi.quire_value))


def _call_function(number: int, arguments: Any, count: int, target: Any) -> bool:
    # An exception that left here would be printed and lost.
    try:
        answer = _kept[number](*[_evaluation.python_value(arguments[place], None) for place in range(count)])
        _give(_values.any_value(answer), target)
        return True
    except BaseException as exception:
        reason = remember(exception).encode(errors="replace")
        _give(_values.data(reason, _ffi.QUIRE_VALUE_TEXT), target)
        return False


def _drop(number: int) -> None:
    _kept.pop(number, None)


_call = _ffi.quire_function_callback_call(_call_function)
_forget = _ffi.quire_function_callback_destroy(_drop)
_forget_native = _ffi.quire_native_function_destroy(_drop)
