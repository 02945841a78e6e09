# Third-party libraries, all from Debian. Each is linked only by the module whose adapter includes it.

find_package(Boost 1.81 REQUIRED COMPONENTS json url)
find_package(OpenSSL 3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Protobuf REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(simdjson REQUIRED)  # its parser is laid out by a definition that comes with the target: who includes it links it
find_package(tl-expected REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(fyaml REQUIRED IMPORTED_TARGET libfyaml)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
set_target_properties(PkgConfig::re2 PROPERTIES INTERFACE_COMPILE_OPTIONS "")  # -pthread, which the precompiled headers are without
pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(nghttp2 REQUIRED IMPORTED_TARGET libnghttp2)
if(PLIM_JEMALLOC)
  pkg_check_modules(jemalloc REQUIRED IMPORTED_TARGET jemalloc)
endif()
if(PLIM_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  add_library(plim_test_libraries INTERFACE)
  target_link_libraries(plim_test_libraries INTERFACE GTest::gmock GTest::gtest_main rapidcheck rapidcheck_gtest)
endif()

# What the headers of every module may show.
target_link_libraries(plim_options INTERFACE Boost::headers Boost::json fmt::fmt tl::expected Threads::Threads)
