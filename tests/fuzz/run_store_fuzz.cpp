// The servo's store with any record in it, framed correctly, after one good run: the good one stays
// known, and whatever is read is whole. An input that begins with 'E' edits the file's bytes
// instead.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/loop.hpp"
#include "base/metrics.hpp"
#include "base/testing/temp_dir.hpp"
#include "servo/run_store.hpp"

namespace {

using namespace plim;
using namespace plim::servo;

loop::RunRecord good_run() {
  loop::RunRecord out;
  out.uid = "good";
  out.container = "main";
  out.app = "app";
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const testing::TempDir kDir{testing::memory_directory()};
  static const bool kQuiet = (log::configure({.level = log::Level::off}), true);
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const JournalFiles files = run_files(kDir.path());
  const RecordFile file = RecordFile::make(files.kind, files.version, 1);
  std::string bytes = encode_header(file);
  encode_record(bytes, file, bytes.size(), bytes.size(), encode_entry(RunEntry{good_run(), true}));
  const bool edits = kQuiet && input.starts_with('E');
  if (edits) {
    input.remove_prefix(1);
    for (; input.size() >= 2; input.remove_prefix(2))
      bytes[static_cast<unsigned char>(input[0]) * bytes.size() / 256] = input[1];
  } else {
    encode_record(bytes, file, bytes.size(), bytes.size(), input);
  }
  for (const std::uint64_t segment :
       list_segments(kDir.path()).value_or(std::vector<std::uint64_t>{}))
    PLIM_ASSERT(remove_file(files.path_of(segment)));
  PLIM_ASSERT(write_file(files.path_of(1), bytes, {.sync = false}));
  auto page = read_store(kDir.path(), {});
  if (page)
    for (const StoredRun& run : page->runs) PLIM_ASSERT(!run.run.key().empty());
  Loop loop;
  metrics::Registry registry;
  Metrics metrics(registry);
  auto store = RunStore::open(loop.executor(), {.directory = kDir.path()}, metrics, system_clock());
  PLIM_ASSERT(store || edits);
  if (!store) return 0;
  auto runs = run_to_end(loop, (*store)->of_pod("good"));
  PLIM_ASSERT(edits || (runs && !runs->empty()));
  run_to_end(loop, (*store)->stop());
  return 0;
}
