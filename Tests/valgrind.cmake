# C under valgrind. It translates the library once for each process, in some five seconds, so tests share a few programs.

# How many of them.
set(valgrind_groups 8)

set(together "${CMAKE_CURRENT_BINARY_DIR}/together")
set(c_tests_together ${c_tests})
list(REMOVE_ITEM c_tests_together ${c_tests_apart})
set(declarations "")
set(entries "")
set(objects "")
foreach(name ${c_tests_together})
  string(APPEND declarations "int main_of_${name}(int, char **);\n")
  string(APPEND entries "    {\"${name}\", main_of_${name}},\n")
  add_custom_command(OUTPUT "${together}/${name}.o"
    COMMAND "${CMAKE_OBJCOPY}" --redefine-sym "main=main_of_${name}" $<TARGET_OBJECTS:${name}.objects> "${together}/${name}.o"
    DEPENDS ${name}.objects $<TARGET_OBJECTS:${name}.objects> JOB_POOL compilers VERBATIM)
  list(APPEND objects "${together}/${name}.o")
endforeach()
file(CONFIGURE OUTPUT "${together}/main.c" @ONLY CONTENT [[
/* together NAME...: runs these tests one after the other, in one process, until one of them fails. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

@declarations@
static const struct { const char *name; int (*run)(int, char **); } tests[] = {
@entries@};

int main(int count, char **names) {
    if (count < 2) return fprintf(stderr, "usage: %s TEST...\n", names[0]), 2;
    for (int i = 1; i < count; i++) {
        size_t place = 0;
        while (place < sizeof tests / sizeof tests[0] && strcmp(tests[place].name, names[i]) != 0) place++;
        if (place == sizeof tests / sizeof tests[0]) return fprintf(stderr, "There is no test '%s'.\n", names[i]), 2;
        printf("%s\n", names[i]);
        /* The same test by itself lies beside this program. */
        char path[4096];
        const char *const end = strrchr(names[0], '/');
        snprintf(path, sizeof path, "%.*s%s", end ? (int)(end + 1 - names[0]) : 0, names[0], names[i]);
        char *arguments[] = {path, NULL};
        const int status = tests[place].run(1, arguments);
        if (status) return status;
        /* The next test has the signals of a new process. */
        alarm(0);
        signal(SIGALRM, SIG_DFL);
    }
    return 0;
}
]])
file(MAKE_DIRECTORY "${together}")
add_executable(together "${together}/main.c" ${objects})
target_link_libraries(together PRIVATE quire::quire Threads::Threads m)
set_target_properties(together PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")

math(EXPR last "${valgrind_groups} - 1")
foreach(group RANGE ${last})
  set(names "")
  set(place 0)
  foreach(name ${c_tests_together})
    math(EXPR its_group "${place} % ${valgrind_groups}")
    if(its_group EQUAL group)
      list(APPEND names ${name})
    endif()
    math(EXPR place "${place} + 1")
  endforeach()
  add_test(NAME valgrind.together_${group} COMMAND ${VALGRIND_RUN} $<TARGET_FILE:together> ${names})
  set_tests_properties(valgrind.together_${group} PROPERTIES LABELS "valgrind;full" TIMEOUT 1800 COST 50
    ENVIRONMENT "QUIRE_SLOW=1;QUIRE_TEST_ONE_PROCESS=1")
endforeach()

# The programs that have changed at a commit. tiers.py names them.
add_test(NAME valgrind.changed COMMAND
  sh -c "test -n \"$QUIRE_CHANGED_TESTS\" || exit 77; exec \"$@\" $QUIRE_CHANGED_TESTS" sh ${VALGRIND_RUN}
  $<TARGET_FILE:together>)
set_tests_properties(valgrind.changed PROPERTIES LABELS "valgrind;full" TIMEOUT 1800 COST 50 SKIP_RETURN_CODE 77
  ENVIRONMENT "QUIRE_SLOW=1;QUIRE_TEST_ONE_PROCESS=1")
