#include "base/journal_files.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <limits>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "base/durable_directory.hpp"
#include "base/files.hpp"

namespace plim {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "journal-";
constexpr std::string_view kSuffix = ".log";

std::optional<std::uint64_t> segment_of(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return {};
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), out);
  if (error != std::errc{} || end != name.data() + name.size()) return {};
  return out;
}

Result<std::string> read_whole(const std::string& path) {
  return read_file(path, std::numeric_limits<std::uint32_t>::max());
}

}  // namespace

std::string JournalFiles::path_of(std::uint64_t segment) const {
  return fmt::format("{}/{}{:012}{}", directory, kPrefix, segment, kSuffix);
}

std::string JournalTrouble::describe() const {
  return fmt::format("{}, offset {}: {}", file, at.offset, what);
}

Result<std::vector<std::uint64_t>> list_segments(const std::string& directory) {
  std::vector<std::uint64_t> out;
  std::error_code error;
  fs::directory_iterator entries(directory, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    if (auto segment = segment_of(entries->path().filename().native())) out.push_back(*segment);
  }
  if (error) return fail_errno(error.value(), fmt::format("cannot list {}", directory));
  std::ranges::sort(out);
  return out;
}

Result<JournalScan> scan_journal(const JournalFiles& files, const JournalVisitor& visit) {
  PLIM_TRY(std::vector<std::uint64_t> segments, list_segments(files.directory));
  if (files.first_segment)
    std::erase_if(segments, [&](std::uint64_t s) { return s < *files.first_segment; });
  JournalScan out;
  std::uint64_t expected = files.first_segment.value_or(segments.empty() ? 1 : segments.front());
  out.end = {.segment = expected, .offset = 0};
  if (segments.empty() && expected > 1)
    out.damage = JournalTrouble{files.path_of(expected), out.end, "the segment is missing"};
  for (const std::uint64_t segment : segments) {
    const std::string path = files.path_of(segment);
    if (segment != expected) {
      out.end = {.segment = expected, .offset = 0};
      const std::string what = fmt::format("the segment is missing, but {} is there", segment);
      out.damage = JournalTrouble{files.path_of(expected), out.end, what};
      return out;
    }
    PLIM_TRY(const std::string bytes, read_whole(path));
    const RecordExpectation header{files.kind, files.version, segment};
    auto scan = scan_records(bytes, header, [&](std::uint64_t offset, std::string_view record) {
      return visit({.segment = segment, .offset = offset}, record);
    });
    if (!scan) return scan.error().with_context(path);
    ++out.segments;
    out.records += scan->records;
    out.bytes += scan->end;
    out.end = {.segment = segment, .offset = scan->end};
    out.last.reset();
    if (scan->end > 0) out.last = scan->file;
    if (scan->ending != Ending::clean) {
      // A segment is complete and on disk before the next one starts.
      const bool at_the_end = scan->ending == Ending::torn && segment == segments.back();
      (at_the_end ? out.torn : out.damage) = JournalTrouble{path, out.end, scan->trouble};
      return out;
    }
    ++expected;
  }
  return out;
}

Result<void> cut_journal(const JournalFiles& files, JournalPosition at) {
  PLIM_TRY(const std::vector<std::uint64_t> segments, list_segments(files.directory));
  const std::uint64_t first = files.first_segment.value_or(segments.empty() ? 1 : segments.front());
  bool is_boundary = at.offset == 0 && at.segment >= first;
  auto visit = [&](JournalPosition record, std::string_view payload) -> Result<void> {
    const std::uint64_t end = record.offset + kRecordHeader + payload.size();
    if (at.segment == record.segment && (at.offset == record.offset || at.offset == end))
      is_boundary = true;
    return {};
  };
  PLIM_TRY(const JournalScan scan, scan_journal(files, visit));
  if (at == scan.end) is_boundary = true;
  if (at > scan.end)
    return fail(Code::invalid, fmt::format("the journal is good only up to segment {}, offset {}",
                                           scan.end.segment, scan.end.offset));
  if (!is_boundary)
    return fail(Code::invalid,
                fmt::format("no record begins at segment {}, offset {}", at.segment, at.offset));

  // Starts with the last segment: if this is interrupted, the rest can be cut again.
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    if (*segment < at.segment) break;
    const std::string path = files.path_of(*segment);
    if (*segment == at.segment && at.offset > 0) {
      PLIM_TRY(const std::string bytes, read_whole(path));
      if (bytes.size() == at.offset) break;
      PLIM_CHECK(write_file(path + ".cut", std::string_view(bytes).substr(at.offset)));
      PLIM_CHECK(write_file(path, std::string_view(bytes).substr(0, at.offset)));
    } else if (::rename(path.c_str(), (path + ".cut").c_str()) != 0) {
      return fail_errno(errno, fmt::format("cannot rename {}", path));
    }
  }
  // The segment itself stays, empty: a missing segment would be damage again.
  if (at.offset == 0)
    return write_file(files.path_of(at.segment),
                      encode_header(RecordFile::make(files.kind, files.version, at.segment)));
  return sync_directory(files.directory);
}

Result<void> make_durable_directory(const std::string& path) {
  return make_durable_directories(path, 0700);
}

}  // namespace plim
