# Flags that every target of ours shares: warnings, sanitizers, linker, ccache.

add_library(plim_options INTERFACE)
target_include_directories(plim_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(plim_options INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)
target_compile_options(plim_options INTERFACE -fno-omit-frame-pointer)
# An index or iterator that is out of bounds ends the process, in what is shipped too.
target_compile_definitions(plim_options INTERFACE _GLIBCXX_ASSERTIONS)
if(PLIM_HARDEN)
  target_compile_options(plim_options INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection)
  add_compile_options(-fPIE)
  add_link_options(-pie -Wl,-z,relro,-z,now)
endif()
if(PLIM_WARNINGS)
  target_compile_options(plim_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wconversion>)
endif()
if(PLIM_WERROR)
  target_compile_options(plim_options INTERFACE -Werror)
endif()

# Tests are compiled far more often than they run: -O0 halves the compiler's work, with sanitizers too. The flags of the
# build type Release, which `./dev up` builds, are in CMakePresets.json.
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 takes Asio's recycled coroutine frames for mismatched or dangling memory, and files compiled in groups for headers.
  target_compile_options(plim_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-mismatched-new-delete -Wno-maybe-uninitialized -Wno-dangling-pointer -Wno-free-nonheap-object
    -Wno-subobject-linkage>)
endif()

if(PLIM_SANITIZE)
  target_compile_options(plim_options INTERFACE -fsanitize=${PLIM_SANITIZE})
  target_link_options(plim_options INTERFACE -fsanitize=${PLIM_SANITIZE})
  if(PLIM_SANITIZE MATCHES "undefined")
    target_compile_options(plim_options INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()
if(PLIM_FUZZERS)
  target_compile_options(plim_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(PLIM_LLD NAMES ld.lld-19 ld.lld)
if(PLIM_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_link_options(--ld-path=${PLIM_LLD})
  if(CMAKE_INTERPROCEDURAL_OPTIMIZATION)
    # ccache keeps what compiling made. What linking made of it is kept here, for all clones, so that a small change links in seconds.
    set(cache "$ENV{XDG_CACHE_HOME}")
    if(NOT cache)
      set(cache "$ENV{HOME}/.cache")
    endif()
    add_link_options(-Wl,--thinlto-cache-dir=${cache}/plimsoll/lto -Wl,--thinlto-cache-policy=cache_size_bytes=1g)
  endif()
endif()

find_program(PLIM_CCACHE ccache)
if(NOT PLIM_CCACHE OR NOT CMAKE_GENERATOR MATCHES "Ninja")
  set(PLIM_PRECOMPILE_LATER OFF)
endif()
if(PLIM_CCACHE)
  # base_dir and no hash_dir: clones in other folders share the cache. The sloppiness is what ccache asks
  # for with precompiled headers; clang must also leave the time stamp out of them.
  set(launcher env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime)
  if(PLIM_PRECOMPILE_LATER)
    list(APPEND launcher CCACHE_PREFIX=${PROJECT_SOURCE_DIR}/cmake/precompile-now
         CCACHE_PREFIX_CPP=${PROJECT_SOURCE_DIR}/cmake/precompile-now)
  endif()
  list(APPEND launcher ${PLIM_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Xclang$<SEMICOLON>-fno-pch-timestamp>)
  endif()
endif()
