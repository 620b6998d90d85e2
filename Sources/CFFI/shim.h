// libffi's types are global variables that any code may write, and Swift does not read such. These are functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ffi.h>

typedef void (*quire_ffi_function)(void);

static inline ffi_type *quire_ffi_type_of_integer(int bits, bool is_signed) {
  switch (bits) {
    case 8: return is_signed ? &ffi_type_sint8 : &ffi_type_uint8;
    case 16: return is_signed ? &ffi_type_sint16 : &ffi_type_uint16;
    case 32: return is_signed ? &ffi_type_sint32 : &ffi_type_uint32;
    default: return is_signed ? &ffi_type_sint64 : &ffi_type_uint64;
  }
}

static inline ffi_type *quire_ffi_type_of_float(void) { return &ffi_type_float; }
static inline ffi_type *quire_ffi_type_of_double(void) { return &ffi_type_double; }
static inline ffi_type *quire_ffi_type_of_pointer(void) { return &ffi_type_pointer; }

static inline bool quire_ffi_prepare(ffi_cif *call, uint32_t count, ffi_type *result, ffi_type **arguments) {
  return ffi_prep_cif(call, FFI_DEFAULT_ABI, count, result, arguments) == FFI_OK;
}

// `result` has room for an ffi_arg, to which libffi widens a smaller integer.
static inline void quire_ffi_call(ffi_cif *call, quire_ffi_function function, void *result, void **arguments) {
  ffi_call(call, function, result, arguments);
}
