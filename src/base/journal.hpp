// An append-only log that survives kill -9: what was acknowledged is there after a restart.
//
// One thread writes: everything that waits when it is ready goes to disk in one write and one
// fdatasync. A record is acknowledged, on the loop and in order, only after that.
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
  os,     // acknowledged means handed to the kernel: survives our crash, not the machine's
  none,   // no files at all
};

Result<Durability> parse_durability(std::string_view text);  // "fsync", "os", "none"

struct JournalOptions {
  JournalFiles files;
  Durability durability = Durability::fsync;
  std::uint64_t segment_bytes = std::uint64_t{16} << 20;
  std::function<int(int fd)> sync =
      {};  // tests put their own fdatasync here: to fail, count, stall
};

// Belongs to one loop, which must outlive it. A write that fails (disk full, say) leaves no trace;
// everything appended before the loop hears of the failure fails with it, since it may build on
// what was lost, and what is appended from then on is tried anew.
class Journal {
 public:
  // Where the record begins, or the start of the new segment.
  using Done = std::function<void(Result<JournalPosition>)>;

  // Hands the records of the directory to `replay` and continues behind them. A torn end is cut off
  // and logged; damage anywhere else is an error that names file and offset. No two processes may
  // have the same directory open: see FileLock.
  static Result<std::unique_ptr<Journal>> open(Executor loop, JournalOptions options,
                                               const JournalVisitor& replay);
  // Writes what is queued; nobody is told any more.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void append(std::string record, Done done);
  // For what is good to know but costs nothing to lose with the machine: handed to the kernel at
  // once, so that it survives our own end, and on disk no later than the next record that is
  // acknowledged. `failed` hears only of a write that failed.
  void note(std::string record, std::function<void(const Error& error)> failed);
  // The same for coroutines. The record is queued by the call, not by the co_await, and is written
  // even if nobody waits any longer.
  Task<Result<JournalPosition>> write(std::string record);

  // Everything appended before is in lower segments than the one `done` names, everything after
  // not.
  void start_segment(Done done);
  // Deletes old segments in the background; what cannot be deleted is logged and left.
  void remove_before(std::uint64_t segment);

  std::uint64_t bytes() const;  // of all segments

 private:
  class Writer;
  struct Link;
  explicit Journal(Executor loop);

  std::shared_ptr<Link> link_;
  std::unique_ptr<Writer> writer_;  // none: Durability::none
};

}  // namespace plim
