# plim_module(NAME [APART] USES other modules… LIBS third-party libraries…)
# APART: no unity build; for a module of many folders, whose files have short private names of their own.
# One static library per folder of src/, one test program per module from its *_test.cpp files.
# What a module may use is decided in STYLE; tools/check-includes holds the includes to it.

function(plim_module name)
  cmake_parse_arguments(M "APART" "" "USES;LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|/main\\.cpp$|/testing/")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$|/testing/")

  set(precompiled plim_precompiled)
  if("kube" IN_LIST M_USES OR name STREQUAL "kube")
    set(precompiled plim_precompiled_kube)
  endif()

  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC plim_options ${M_USES} PRIVATE ${M_LIBS})
  plim_use_precompiled(${name} ${precompiled} ${sources})
  if(PLIM_UNITY AND NOT M_APART)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()

  if(PLIM_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE ${name} ${M_LIBS} plim_test_libraries)
    plim_use_precompiled(${name}_test ${precompiled}_test ${tests})
    plim_link_precompiled(${name}_test ${precompiled}_test)
    add_test(NAME ${name} COMMAND ${name}_test)
  endif()
endfunction()
