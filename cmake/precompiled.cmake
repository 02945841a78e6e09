# Precompiled headers: one for all modules, one for all tests, each built by a target that sees only what
# its users see.
#
# CMake's REUSE_FROM would put the absolute path of the build tree on every command line, and the header's own
# bytes differ from clone to clone: ccache would never hit in another folder, CI's fresh clone among them. So
# with Ninja they are named relative to the build tree, where it runs, and ccache compares a digest of what goes
# into them instead of the bytes.

function(plim_precompiled_header name header)
  add_library(${name} STATIC ${PROJECT_SOURCE_DIR}/cmake/empty.cpp)
  target_link_libraries(${name} PUBLIC plim_options ${ARGN})
  target_precompile_headers(${name} PRIVATE ${header})
  if(CMAKE_GENERATOR MATCHES "Ninja")
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
    file(SHA256 ${header} digest)
    string(SHA256 digest "${digest} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${Boost_VERSION} ${fmt_VERSION}")
    plim_precompiled_file(${name} file)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${file}.sum CONTENT "${digest}\n")
    # Ninja lets objects wait for custom targets, not for libraries; unity files have no other way to wait.
    add_custom_target(${name}_built DEPENDS ${CMAKE_BINARY_DIR}/${file})
  endif()
endfunction()

function(plim_precompiled_file name out)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    set(${out} CMakeFiles/${name}.dir/cmake_pch.hxx.pch PARENT_SCOPE)
  else()
    set(${out} CMakeFiles/${name}.dir/cmake_pch.hxx.gch PARENT_SCOPE)
  endif()
endfunction()

function(plim_use_precompiled target name)
  if(NOT CMAKE_GENERATOR MATCHES "Ninja")
    target_precompile_headers(${target} REUSE_FROM ${name})
    return()
  endif()
  plim_precompiled_file(${name} file)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    set(flags "SHELL:-Xclang -include-pch -Xclang ${file}")
  else()
    set(flags "SHELL:-include CMakeFiles/${name}.dir/cmake_pch.hxx")
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${flags}>)
  set_property(SOURCE ${ARGN} APPEND PROPERTY OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/${file})
  add_dependencies(${target} ${name}_built)
endfunction()

# plim_precompile(TARGET sources…), and the same for a test program.
macro(plim_precompile target)
  plim_use_precompiled(${target} plim_precompiled ${ARGN})
endmacro()

macro(plim_precompile_test target)
  plim_use_precompiled(${target} plim_precompiled_test ${ARGN})
endmacro()

plim_precompiled_header(plim_precompiled ${PROJECT_SOURCE_DIR}/src/precompiled.hpp)
if(PLIM_TESTS)
  plim_precompiled_header(plim_precompiled_test ${PROJECT_SOURCE_DIR}/src/precompiled_test.hpp
    plim_test_libraries)
endif()
