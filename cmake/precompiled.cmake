# All our targets share one precompiled header, built by a target that sees only what every module sees.

add_library(plim_precompiled STATIC ${PROJECT_SOURCE_DIR}/cmake/empty.cpp)
target_link_libraries(plim_precompiled PUBLIC plim_options)
target_precompile_headers(plim_precompiled PRIVATE ${PROJECT_SOURCE_DIR}/src/precompiled.hpp)

set(plim_pch CMakeFiles/plim_precompiled.dir/cmake_pch.hxx)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(plim_pch_file ${plim_pch}.pch)
  set(plim_pch_flags "SHELL:-Xclang -include-pch -Xclang ${plim_pch_file}")
else()
  set(plim_pch_file ${plim_pch}.gch)
  set(plim_pch_flags "SHELL:-include ${plim_pch}")
endif()

# REUSE_FROM would put the absolute path of the build tree on every command line, and the header's own bytes
# differ from clone to clone: ccache would never hit in another folder, CI's fresh clone among them. So ours is
# named relative to the build tree, where Ninja runs, and ccache compares this digest instead of the bytes.
if(CMAKE_GENERATOR MATCHES "Ninja")
  file(SHA256 ${PROJECT_SOURCE_DIR}/src/precompiled.hpp digest)
  string(SHA256 digest "${digest} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${Boost_VERSION} ${fmt_VERSION}")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${plim_pch_file}.sum CONTENT "${digest}\n")
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/precompiled.hpp)
endif()

function(plim_precompile target)
  if(CMAKE_GENERATOR MATCHES "Ninja")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${plim_pch_flags}>)
    set_property(SOURCE ${ARGN} APPEND PROPERTY OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/${plim_pch_file})
    add_dependencies(${target} plim_precompiled)  # unity files are not among the sources named
  else()
    target_precompile_headers(${target} REUSE_FROM plim_precompiled)
  endif()
endfunction()
