#include "local/store/store_snapshot.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <memory>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/files.hpp"
#include "base/journal_files.hpp"
#include "base/record_file.hpp"
#include "base/wire.hpp"

namespace plim::local::store {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kKind = record_kind("SNAP");
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kWriteSize = std::size_t{1} << 20;
constexpr std::string_view kPrefix = "snapshot-";
constexpr std::string_view kSuffix = ".snap";
constexpr std::string_view kUnfinished = ".snap.tmp";

// The first record has the position in the log and the number of entries; one record each follows.
std::string encode_start(const View& view, std::uint64_t next_segment) {
  std::string out;
  put_number(out, view.revision());
  put_number(out, next_segment);
  put_number(out, static_cast<std::uint64_t>(view.tree().size()));
  return out;
}

void encode_entry(std::string& out, const Entry& entry) {
  put_number(out, entry.created);
  put_number(out, entry.modified);
  put_number(out, entry.version);
  put_bytes(out, entry.key);
  put_bytes(out, *entry.value);
}

Result<EntryPtr> decode_entry(std::string_view record) {
  WireReader in(record);
  auto out = std::make_shared<Entry>();
  out->created = in.number<Revision>();
  out->modified = in.number<Revision>();
  out->version = in.number<std::uint64_t>();
  out->key = in.bytes();
  out->value = std::make_shared<std::string>(in.bytes());
  if (!in.at_end()) return fail(Code::invalid, "malformed entry");
  return out;
}

// Writes a file of records from start to end.
class RecordWriter {
 public:
  RecordWriter(Fd fd, std::string path, const RecordFile& file)
      : fd_(std::move(fd)), path_(std::move(path)), file_(file), buffer_(encode_header(file)) {}

  Result<void> add(std::string_view payload) {
    encode_record(buffer_, file_, written_ + buffer_.size(), kRecordFileHeader, payload);
    return buffer_.size() < kWriteSize ? Result<void>() : flush();
  }

  Result<std::uint64_t> finish() {
    PLIM_CHECK(flush());
    if (::fsync(fd_.get()) != 0) return fail_errno(errno, fmt::format("cannot sync {}", path_));
    return written_;
  }

 private:
  Result<void> flush() {
    std::string_view rest = buffer_;
    while (!rest.empty()) {
      const ssize_t n = ::write(fd_.get(), rest.data(), rest.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return fail_errno(errno, fmt::format("cannot write {}", path_));
      rest.remove_prefix(static_cast<std::size_t>(n));
    }
    written_ += buffer_.size();
    buffer_.clear();
    return {};
  }

  Fd fd_;
  std::string path_;
  RecordFile file_;
  std::string buffer_;
  std::uint64_t written_ = 0;
};

Result<std::uint64_t> write_entries(const std::string& path, const View& view,
                                    std::uint64_t next_segment) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) return fail_errno(errno, fmt::format("cannot create {}", path));
  RecordWriter out(std::move(fd), path, RecordFile::make(kKind, kVersion, view.revision()));
  PLIM_CHECK(out.add(encode_start(view, next_segment)));
  Result<void> added;
  std::string record;
  view.tree().scan({}, [&](const EntryPtr& entry) {
    record.clear();
    encode_entry(record, *entry);
    added = out.add(record);
    return added.has_value();
  });
  PLIM_CHECK(std::move(added));
  return out.finish();
}

Result<std::vector<std::string>> list_names(const std::string& directory) {
  std::vector<std::string> out;
  std::error_code error;
  fs::directory_iterator entries(directory, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error))
    out.push_back(entries->path().filename().native());
  if (error) return fail_errno(error.value(), fmt::format("cannot list {}", directory));
  return out;
}

}  // namespace

std::string snapshot_path(const std::string& directory, Revision revision) {
  return fmt::format("{}/{}{:020}{}", directory, kPrefix, revision, kSuffix);
}

Result<std::uint64_t> write_snapshot(const std::string& directory, const View& view,
                                     std::uint64_t next_segment) {
  const std::string path = snapshot_path(directory, view.revision());
  const std::string unfinished = path + ".tmp";
  auto size = write_entries(unfinished, view, next_segment);
  if (size && ::rename(unfinished.c_str(), path.c_str()) != 0)
    size = fail_errno(errno, fmt::format("cannot rename {}", unfinished));
  if (!size) {
    ::unlink(unfinished.c_str());
    return size;
  }
  PLIM_CHECK(sync_directory(directory));
  return size;
}

Result<Snapshot> read_snapshot(const std::string& path) {
  PLIM_TRY(const std::string bytes, read_file(path, std::numeric_limits<std::int64_t>::max()));
  Snapshot out;
  Revision revision = 0;
  std::uint64_t count = 0;
  std::vector<EntryPtr> entries;
  bool started = false;
  auto visit = [&](std::uint64_t offset, std::string_view record) -> Result<void> {
    if (!started) {
      WireReader in(record);
      revision = in.number<Revision>();
      out.next_segment = in.number<std::uint64_t>();
      count = in.number<std::uint64_t>();
      started = true;
      return in.at_end() ? Result<void>() : fail(Code::internal, "malformed start");
    }
    PLIM_TRY(EntryPtr entry, decode_entry(record));
    if (entry->modified > revision || (!entries.empty() && entries.back()->key >= entry->key))
      return fail(Code::internal, fmt::format("entry out of order at offset {}", offset));
    out.live_bytes += entry->footprint();
    entries.push_back(std::move(entry));
    return {};
  };
  auto scan = scan_records(bytes, {.kind = kKind, .version = kVersion}, visit);
  if (!scan) return scan.error().with_context(path);
  if (scan->ending != Ending::clean)
    return fail(Code::internal, fmt::format("{}, offset {}: {}", path, scan->end, scan->trouble));
  if (!started || entries.size() != count || scan->file.number != revision)
    return fail(Code::internal,
                fmt::format("{}: has {} of {} entries", path, entries.size(), count));
  out.view = View(revision, Tree::from_sorted(entries));
  return out;
}

Result<std::vector<Revision>> list_snapshots(const std::string& directory) {
  PLIM_TRY(const std::vector<std::string> names, list_names(directory));
  std::vector<Revision> out;
  for (std::string_view name : names) {
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    name.remove_prefix(kPrefix.size());
    name.remove_suffix(kSuffix.size());
    Revision revision = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), revision);
    if (error == std::errc{} && end == name.data() + name.size()) out.push_back(revision);
  }
  std::ranges::sort(out);
  return out;
}

Result<Snapshot> read_newest_snapshot(const std::string& directory) {
  PLIM_TRY(const std::vector<Revision> revisions, list_snapshots(directory));
  if (revisions.empty()) return Snapshot{};
  return read_snapshot(snapshot_path(directory, revisions.back()));
}

Result<void> remove_old_snapshots(const std::string& directory, Revision revision) {
  PLIM_TRY(const std::vector<std::string> names, list_names(directory));
  for (const std::string& name : names) {
    if (name.starts_with(kPrefix) && name.ends_with(kUnfinished))
      PLIM_CHECK(remove_file(directory + "/" + name));
  }
  PLIM_TRY(const std::vector<Revision> revisions, list_snapshots(directory));
  for (const Revision old : revisions) {
    if (old < revision) PLIM_CHECK(remove_file(snapshot_path(directory, old)));
  }
  return {};
}

}  // namespace plim::local::store
