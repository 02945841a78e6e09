#include "base/resident.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/text.hpp"

namespace plim {
namespace {

// Kilobytes of mapped files that are in memory.
std::int64_t resident_files() {
  const std::string status = *read_file("/proc/self/status");
  const auto at = status.find("RssFile:") + 8;
  return parse_int<std::int64_t>(trim(status.substr(at, status.find("kB", at) - at))).value_or(0);
}

TEST(Resident, code_that_is_not_used_goes_and_all_still_works) {
  const std::int64_t before = resident_files();
  forget_code_of_start();
  EXPECT_LT(resident_files(), before);
}

}  // namespace
}  // namespace plim
