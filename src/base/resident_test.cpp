#include "base/resident.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/loop.hpp"
#include "base/testing/sanitized.hpp"
#include "base/text.hpp"

namespace plim {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kSmaps =
    "1000-3000 r-xp 00000000 fe:00 12    /usr/bin/with a name\n"
    "Size:                  8 kB\nRss:                   8 kB\nAnonymous:             0 kB\n"
    "3000-4000 r--p 00002000 fe:00 12    /usr/bin/relocated\n"
    "Rss:                   4 kB\nAnonymous:             4 kB\nVmFlags: rd mr\n"
    "4000-5000 rw-p 00003000 fe:00 12    /usr/bin/data\nAnonymous:             0 kB\n"
    "5000-6000 r--s 00003000 fe:00 12    /shared\nAnonymous:             0 kB\n"
    "6000-7000 r-xp 00000000 00:00 0     [vdso]\nAnonymous:             0 kB\n"
    "7000-8000 r--p 00000000 00:00 0 \nAnonymous:             0 kB\n"
    "8000-9000 r--p 00000000 fe:00 13    /usr/lib/x.so\nAnonymous:             0 kB\n";

TEST(Resident, unchanged_files_are_found) {
  const std::vector<FileMapping> wanted{{0x1000, 0x3000}, {0x8000, 0x9000}};
  EXPECT_EQ(unchanged_files(kSmaps), wanted);
}

TEST(Resident, nothing_is_found_in_nonsense) {
  for (std::string_view text :
       {"", "\n\n", "x-y r-xp 0 0 0 /a\nAnonymous: 0 kB\n", "1-2", "1-2 r-xp"})
    EXPECT_TRUE(unchanged_files(text).empty()) << text;
}

// Kilobytes in memory: "RssFile:" of mapped files, "RssAnon:" of the heap and the like.
std::int64_t resident(std::string_view what) {
  const std::string status = *read_file("/proc/self/status");
  const auto at = status.find(what) + what.size();
  return parse_int<std::int64_t>(trim(status.substr(at, status.find("kB", at) - at))).value_or(0);
}

TEST(Resident, unused_code_is_dropped_and_everything_still_works) {
  const std::int64_t before = resident("RssFile:");
  forget_code_of_start();
  EXPECT_LT(resident("RssFile:"), before);
  EXPECT_EQ(unchanged_files(kSmaps).size(), 2u);
}

TEST(Resident, freed_memory_is_returned_with_every_allocator) {
  return_memory_when_freed();
  return_freed_memory();  // or the pieces would fill what earlier tests have freed
  const std::int64_t before = resident("RssAnon:");
  // Pieces that are too small for mappings of their own; the last one stays.
  std::vector<std::unique_ptr<std::string>> pieces;
  for (int i = 0; i < 32'000; ++i) pieces.push_back(std::make_unique<std::string>(1'000, 'x'));
  EXPECT_GT(resident("RssAnon:"), before + 30'000);
  pieces.erase(pieces.begin(), pieces.end() - 1);
  return_freed_memory();
  const std::int64_t kept = testing::kSanitized ? 0 : resident("RssAnon:");
  EXPECT_LT(kept, before + 10'000);
}

class MemoryTidyTest : public ::testing::Test {
 protected:
  // A second in which the process uses this much CPU time.
  void pass(Nanos used) {
    used_ += used;
    clock_.advance(1s);
    loop_.run_ready();
  }

  Loop loop_;
  FakeClock clock_;
  Nanos used_{};
  int tidied_ = 0;
  MemoryTidy tidy_{loop_.executor(),
                   clock_,
                   {.cpu_time = [this] { return used_; }, .tidy = [this] { ++tidied_; }}};
};

TEST_F(MemoryTidyTest, reduces_memory_after_the_start_and_after_work) {
  tidy_.start();
  EXPECT_EQ(tidied_, 1);
  loop_.run_ready();
  pass(300ms);
  EXPECT_EQ(tidied_, 1);
  pass(1ms);
  EXPECT_EQ(tidied_, 2);
  for (int i = 0; i < 5; ++i) pass(1ms);
  EXPECT_EQ(tidied_, 2);
  pass(500ms);
  pass(400ms);
  EXPECT_EQ(tidied_, 2);
  pass(0ms);
  EXPECT_EQ(tidied_, 3);
  run_to_end(loop_, tidy_.stop());
}

}  // namespace
}  // namespace plim
