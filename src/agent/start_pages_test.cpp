#include "agent/start_pages.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/text.hpp"

namespace plim::agent {
namespace {

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

TEST(StartPages, are_those_of_files_that_nobody_changed) {
  const std::vector<FileMapping> wanted{{0x1000, 0x3000}, {0x8000, 0x9000}};
  EXPECT_EQ(unchanged_files(kSmaps), wanted);
}

TEST(StartPages, are_none_in_nonsense) {
  for (std::string_view text :
       {"", "\n\n", "x-y r-xp 0 0 0 /a\nAnonymous: 0 kB\n", "1-2", "1-2 r-xp"})
    EXPECT_TRUE(unchanged_files(text).empty()) << text;
}

std::uint64_t resident_pages() {
  const std::string text = read_file("/proc/self/statm").value_or("");
  return parse_int<std::uint64_t>(cut(cut(text, ' ').second, ' ').first).value_or(0);
}

TEST(StartPages, leave_memory_and_the_program_goes_on) {
  const std::uint64_t before = resident_pages();
  drop_start_pages();
  EXPECT_LT(resident_pages(), before);
  EXPECT_EQ(unchanged_files(kSmaps).size(), 2);
}

TEST(FreedMemory, goes_back_with_every_allocator) {
  return_freed_memory();
  std::vector<char> large(1 << 20, 'x');
  large = {};
  EXPECT_TRUE(large.empty());
}

}  // namespace
}  // namespace plim::agent
