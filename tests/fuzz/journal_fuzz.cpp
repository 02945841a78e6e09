// Any bytes as a journal's segments: reading them never crashes, and what was cut opens again.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/journal_files.hpp"
#include "base/testing/temp_dir.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  static const testing::TempDir dir(testing::memory_directory());
  const JournalFiles files{.directory = dir.path(), .kind = record_kind("TEST"), .version = 1};
  // The first byte says where the input is divided into two segments.
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.empty()) return 0;
  const std::size_t half = data[0] * (size - 1) / 256;
  const WriteOptions quick{.sync = false};
  PLIM_ASSERT(write_file(files.path_of(1), input.substr(1, half), quick));
  PLIM_ASSERT(write_file(files.path_of(2), input.substr(1 + half), quick));

  std::uint64_t records = 0;
  auto visit = [&](JournalPosition, std::string_view record) {
    PLIM_ASSERT(record.size() <= size);
    ++records;
    return Result<void>();
  };
  auto scan = scan_journal(files, visit);
  if (!scan) return 0;
  PLIM_ASSERT(scan->records == records);
  if (scan->damage && cut_journal(files, scan->damage->at)) {
    auto again = scan_journal(files, [](auto, auto) { return Result<void>(); });
    PLIM_ASSERT(again && !again->damage && again->records == records);
  }
  return 0;
}
