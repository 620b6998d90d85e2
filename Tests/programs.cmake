# Programs in C: natively, and with the checked library.

set(checked_scratch "${CMAKE_BINARY_DIR}/checked")
set(checked_library "${checked_scratch}/release/libquire.so")
# Compilers of C leave room for both builds of Swift, which take longest and would begin last.
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
if(cores GREATER 1)
  math(EXPR cores "${cores} - 1")
endif()
set_property(GLOBAL PROPERTY JOB_POOLS compilers=${cores})
set(CMAKE_JOB_POOL_COMPILE compilers)
set(program_options ${warnings} -Wno-unused-function -Wno-nonnull) # To pass NULL where it is not allowed is a test.

# The checked library is optimized, has assertions and costly checks, and is compiled with the address sanitizer. Swift's
# tests are built with it: optimized code takes an eighth of the time that a debug build takes for them.
if(NOT QUIRE_SANITIZE)
  add_custom_target(checked_library
    COMMAND "${SWIFT_EXECUTABLE}" build --package-path "${source}" --scratch-path "${checked_scratch}" -c release
      --build-tests --sanitize=address -Xswiftc -enable-testing ${swift_checks} -Xswiftc -use-ld=lld
    COMMENT "Building the checked library and Swift's tests with SwiftPM"
    VERBATIM)
  add_custom_target(checked_programs)
  add_custom_target(checked DEPENDS checked_library checked_programs)
endif()
# Leaks are looked for when a program ends. Where a block was allocated is kept in a few frames: all of them take as long
# as the tests.
set(checked_environment "ASAN_OPTIONS=malloc_context_size=4:detect_stack_use_after_return=0:quarantine_size_mb=64")

# quire_program(NAME SOURCES file... [INCLUDES folder...] [LIBRARIES name...] [EXPORTS] [CHECKED])
#
# EXPORTS: what the program defines replaces the same of libraries. CHECKED: it is built with the checked library, too.
function(quire_program name)
  cmake_parse_arguments(PARSE_ARGV 1 given "EXPORTS;CHECKED" "" "SOURCES;INCLUDES;LIBRARIES")
  # Objects need the headers alone: they are compiled while the library is.
  add_library(${name}.objects OBJECT ${given_SOURCES})
  target_compile_options(${name}.objects PRIVATE ${program_options})
  target_compile_definitions(${name}.objects PRIVATE _GNU_SOURCE)
  target_include_directories(${name}.objects PRIVATE "${source}/include" ${given_INCLUDES})
  set_target_properties(${name}.objects PROPERTIES C_STANDARD 11)
  add_executable(${name} $<TARGET_OBJECTS:${name}.objects>)
  target_link_libraries(${name} PRIVATE quire::quire Threads::Threads ${given_LIBRARIES})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests"
    ENABLE_EXPORTS "${given_EXPORTS}")
  if(given_CHECKED AND NOT QUIRE_SANITIZE)
    quire_checked_program(${name})
  endif()
endfunction()

# With the toolchain's clang: only its sanitizer fits that of Swift.
function(quire_checked_program name)
  set(folder "${checked_scratch}/objects/${name}")
  set(flags -std=gnu11 -D_GNU_SOURCE -g -O1 -fsanitize=address -fno-omit-frame-pointer)
  list(TRANSFORM given_INCLUDES PREPEND "-I" OUTPUT_VARIABLE includes)
  list(TRANSFORM given_LIBRARIES PREPEND "-l" OUTPUT_VARIABLE libraries)
  if(given_EXPORTS)
    list(APPEND libraries -rdynamic)
  endif()
  set(objects "")
  set(generated ${given_SOURCES})
  list(FILTER generated EXCLUDE REGEX "\\.c$")
  foreach(file ${given_SOURCES})
    if(file MATCHES "\\.c$")
      cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
      cmake_path(GET file STEM stem)
      set(object "${folder}/${stem}.o")
      add_custom_command(OUTPUT "${object}"
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}"
        COMMAND "${swift_toolchain}/bin/clang" ${flags} ${program_options} "-I${source}/include" ${includes} -MD -MF "${object}.d"
          -c "${file}" -o "${object}"
        DEPENDS "${file}" ${generated} DEPFILE "${object}.d" JOB_POOL compilers
        COMMENT "Compiling ${name} for the checked library" VERBATIM)
      list(APPEND objects "${object}")
    endif()
  endforeach()
  add_custom_target(checked_${name}.objects DEPENDS ${objects})
  add_custom_target(checked_${name}
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${checked_scratch}/tests"
    COMMAND "${swift_toolchain}/bin/clang" -fsanitize=address -fuse-ld=lld ${objects} -o "${checked_scratch}/tests/${name}"
      "${checked_library}" "-Wl,-rpath,${checked_scratch}/release" "-Wl,-rpath,${swift_runtime}" ${libraries} -pthread
    COMMENT "Linking ${name} with the checked library"
    VERBATIM)
  add_dependencies(checked_${name} checked_${name}.objects checked_library)
  add_dependencies(checked_programs checked_${name})
endfunction()

# quire_checked_test(PROGRAM NAME ARGUMENT...): a test of the program with the checked library.
function(quire_checked_test program name)
  if(NOT QUIRE_SANITIZE)
    add_test(NAME ${name} COMMAND "${checked_scratch}/tests/${program}" ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS checked TIMEOUT 900 ENVIRONMENT "${checked_environment}")
  endif()
endfunction()
