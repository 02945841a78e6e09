// Any bytes as a file: slices of any size give the records that one slice of everything gives.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/testing/temp_dir.hpp"
#include "flow/ops.hpp"

namespace {

using namespace plim;

std::vector<std::string> read_all(const std::string& path, std::int64_t size, const char* format) {
  flow::Problems problems;
  json::object given{{"path", path}, {"size", size}, {"format", format}};
  auto options = flow::check_options(flow::find_op("file_reader")->options, given, "op", problems);
  auto slicer = flow::make_file_slicer({.options = options, .last_operation = options});
  auto fetcher = flow::make_file_fetcher(options);
  PLIM_ASSERT(slicer && fetcher);
  std::vector<std::string> out;
  flow::Batch batch;
  flow::SliceContext context(system_clock());
  while (true) {
    auto request = (*slicer)->next();
    PLIM_ASSERT(request);
    if (!*request) return out;
    batch.clear();
    auto stored = parse_json(to_json(json::value(std::move(**request))));
    PLIM_ASSERT((*fetcher)->fetch(*stored, context, batch));
    for (flow::Record record : batch.records) out.emplace_back(record);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const testing::TempDir dir(testing::memory_directory());
  if (size < 1) return 0;
  const std::string path = dir / "in";
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  PLIM_ASSERT(write_file(path, text, {.sync = false}));
  const std::int64_t slice = 1 + data[0];
  for (const char* format : {"raw", "csv"}) {
    auto whole = read_all(path, 1 << 20, format);
    PLIM_ASSERT(read_all(path, slice, format) == whole);
    if (format[0] != 'c') continue;
    for (const std::string& record : whole) PLIM_ASSERT(parse_json(record));
  }
  return 0;
}
