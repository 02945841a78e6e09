// An append-only log that survives kill -9: acknowledged records exist after a restart.
//
// One thread writes: it writes everything that is queued with one write and one fdatasync. Only
// then are the records acknowledged, on the loop and in order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/journal_files.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace plim {

enum class Durability {
  fsync,  // acknowledged means on disk
  os,     // acknowledged means passed to the kernel: survives our crash, not the machine's
  none,   // no files at all
};

Result<Durability> parse_durability(std::string_view text);  // "fsync", "os", "none"

struct JournalOptions {
  JournalFiles files;
  Durability durability = Durability::fsync;
  std::uint64_t segment_bytes = std::uint64_t{16} << 20;
  std::function<int(int fd)> sync = {};  // tests replace fdatasync to fail, count or stall
};

// Belongs to one loop, which must outlive it. A write that fails (for example, disk full) leaves no
// trace. Everything that was appended before the loop is notified fails too, since it may depend on
// the lost record; later appends are tried again.
class Journal {
 public:
  // Gets the position of the record, or the start of the new segment.
  using Done = std::function<void(Result<JournalPosition>)>;

  // Passes the records in the directory to `replay` and continues after them. A torn end is cut off
  // and logged; any other damage is an error with file and offset. Two processes must not open the
  // same directory: see FileLock.
  static Result<std::unique_ptr<Journal>> open(Executor loop, JournalOptions options,
                                               const JournalVisitor& replay);
  // Writes what is queued; calls no callbacks any more.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void append(std::string record, Done done);
  // For records that may be lost if the machine crashes: passed to the kernel at once, so that they
  // survive our own end, and on disk no later than the next acknowledged record. `failed` is called
  // only if the write failed.
  void note(std::string record, std::function<void(const Error& error)> failed);
  // The same for coroutines. The call queues the record, not the co_await; the record is written
  // even if the caller stops waiting.
  Task<Result<JournalPosition>> write(std::string record);

  // Everything appended before is in segments below the one that `done` gets, everything after is
  // not.
  void start_segment(Done done);
  // Deletes old segments in the background; logs and keeps those that cannot be deleted.
  void remove_before(std::uint64_t segment);

  std::uint64_t bytes() const;  // of all segments

 private:
  class Writer;
  struct Link;
  explicit Journal(Executor loop);

  std::shared_ptr<Link> link_;
  std::unique_ptr<Writer> writer_;  // null: Durability::none
};

}  // namespace plim
