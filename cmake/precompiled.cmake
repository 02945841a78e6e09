# Precompiled headers: one for the modules below kube, one for kube and all above, and the same two again for their
# tests; each built by a target that sees only what its users see. A build without tests has kube's alone: it is made
# once, not again and again while kube's headers change.
#
# CMake's REUSE_FROM would put the absolute path of the build tree on every command line, and the header's own
# bytes differ from clone to clone: ccache would never hit in another folder, CI's fresh clone among them. So
# with Ninja they are named relative to the build tree, where it runs, and ccache compares a digest of what goes
# into them instead of the bytes.

# The header and ours that it includes, each once. `out` holds those found so far.
function(plim_headers_within header out)
  set(found ${${out}} ${header})
  file(STRINGS ${header} lines REGEX "^#include \"")
  foreach(line ${lines})
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "${PROJECT_SOURCE_DIR}/src/\\1" inner "${line}")
    if(NOT inner IN_LIST found)
      plim_headers_within(${inner} found)
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

function(plim_precompiled_header name header)
  add_library(${name} STATIC ${PROJECT_SOURCE_DIR}/cmake/empty.cpp)
  target_link_libraries(${name} PUBLIC plim_options ${ARGN})
  target_precompile_headers(${name} PRIVATE ${header})
  if(CMAKE_GENERATOR MATCHES "Ninja")
    plim_headers_within(${header} ours)
    if(PLIM_PRECOMPILE_CODE)
      cmake_path(GET header STEM stem)
      string(REPLACE precompiled instantiated stem ${stem})
      string(REPLACE _test "" stem ${stem})
      set(instantiated ${PROJECT_SOURCE_DIR}/src/${stem}.hpp)
      target_precompile_headers(${name} PRIVATE ${instantiated})
      plim_headers_within(${instantiated} ours)
    endif()
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ours})
    set(digest "${PLIM_PRECOMPILE_CODE} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${Boost_VERSION} ${fmt_VERSION}")
    foreach(one ${ours})
      file(SHA256 ${one} digest_of_one)
      string(SHA256 digest "${digest} ${digest_of_one}")
    endforeach()
    plim_precompiled_file(${name} file)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${file}.sum CONTENT "${digest}\n")
    if(PLIM_PRECOMPILE_LATER)
      # The compiler that would say what it has read does not run, so the digest stands for that; and nobody needs the library.
      set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON
        CXX_COMPILER_LAUNCHER "${PROJECT_SOURCE_DIR}/cmake/precompile-later;${CMAKE_CXX_COMPILER_LAUNCHER}")
    endif()
    set_source_files_properties(${CMAKE_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.cxx PROPERTIES
      OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/${file}.sum)
    # Ninja lets objects wait for custom targets, not for libraries; generated sources have no other way to wait.
    add_custom_target(${name}_built DEPENDS ${CMAKE_BINARY_DIR}/${file})
    if(PLIM_PRECOMPILE_CODE)
      plim_precompiled_object(${name} ${file})
    endif()
  endif()
endfunction()

# clang leaves the inline functions and instantiations of the header out of all other objects if they are compiled
# once, into an object that is linked to its users (plim_link_precompiled). That object also has functions that
# nobody calls and that call what is nowhere; so each is a section, and the linker drops what is not used.
# Not -fpch-debuginfo as well: with it clang 19 forgets the virtual tables of our classes.
function(plim_precompiled_object name file)
  target_compile_options(${name} PRIVATE -fpch-codegen)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/cmake/empty.cpp PROPERTIES
    COMPILE_OPTIONS -Wno-unused-command-line-argument)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  separate_arguments(options NATIVE_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
  add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/${file}.o
    COMMAND ${CMAKE_CXX_COMPILER} ${options} -fno-omit-frame-pointer -ffunction-sections -c ${file} -o ${file}.o
    DEPENDS ${CMAKE_BINARY_DIR}/${file}
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
    COMMENT "Compiling the inline functions of ${name}")
  add_custom_target(${name}_object DEPENDS ${CMAKE_BINARY_DIR}/${file}.o)
endfunction()

# Makes that object part of a target: of the library that everybody links who uses the header, or of a program.
function(plim_link_precompiled target name)
  if(TARGET ${name}_object)
    plim_precompiled_file(${name} file)
    target_sources(${target} PRIVATE ${CMAKE_BINARY_DIR}/${file}.o)
    set_source_files_properties(${CMAKE_BINARY_DIR}/${file}.o PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    add_dependencies(${target} ${name}_object)
    target_link_options(${target} PUBLIC -Wl,--gc-sections)
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

if(PLIM_PRECOMPILE_LATER OR NOT PLIM_LLD OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR NOT CMAKE_GENERATOR MATCHES "Ninja")
  set(PLIM_PRECOMPILE_CODE OFF)
endif()
# CMake would call them system headers, in which compilers are silent; some of these are ours.
set(CMAKE_PCH_PROLOGUE "")
if(PLIM_TESTS)
  plim_precompiled_header(plim_precompiled ${PROJECT_SOURCE_DIR}/src/precompiled.hpp)
endif()
plim_precompiled_header(plim_precompiled_kube ${PROJECT_SOURCE_DIR}/src/precompiled_kube.hpp)
if(PLIM_TESTS)
  plim_precompiled_header(plim_precompiled_test ${PROJECT_SOURCE_DIR}/src/precompiled_test.hpp
    plim_test_libraries)
  plim_precompiled_header(plim_precompiled_kube_test ${PROJECT_SOURCE_DIR}/src/precompiled_kube_test.hpp
    plim_test_libraries)
endif()
