// Version and build of this program. CMake sets them: the same source gives the same binary.
#pragma once

#include <string_view>

namespace plim::cli {

struct BuildInfo {
  std::string_view version;            // "0.2.0"
  std::string_view build;              // "v0.2.0-12-gb28ebd7", or "source" outside of a repository
  std::string_view compiler;           // "clang 19.1.7"
  std::string_view tested_kubernetes;  // "1.37.1": the tests in tests/real run against it
};

const BuildInfo& build_info();

}  // namespace plim::cli
