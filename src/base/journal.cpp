#include "base/journal.hpp"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/event.hpp"
#include "base/fd.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/loop.hpp"

namespace plim {
namespace {

// The file that records are appended to. Only the writer thread uses it.
class Segment {
 public:
  // When this returns, the header and the name are on disk.
  static Result<Segment> create(const JournalOptions& options, std::uint64_t number) {
    const JournalFiles& files = options.files;
    auto file = RecordFile::make(files.kind, files.version, number);
    Segment out(files.path_of(number), file);
    PLIM_CHECK(out.open(O_CREAT | O_TRUNC));
    auto made = out.append(options, encode_header(file));
    if (made && options.durability == Durability::fsync) made = sync_directory(files.directory);
    if (!made) {
      ::unlink(out.path_.c_str());
      return std::move(made).error();
    }
    return out;
  }

  // Continues after the last good record and cuts off a torn end.
  static Result<Segment> reopen(const JournalOptions& options, const RecordFile& file,
                                std::uint64_t end) {
    Segment out(options.files.path_of(file.number), file);
    PLIM_CHECK(out.open(0));
    out.end_ = out.durable_ = end;
    out.dirty_ = true;
    PLIM_CHECK(out.clean(options));
    return out;
  }

  enum class Until { written, synced };

  // On failure the file is restored, at the latest before the next write.
  Result<void> append(const JournalOptions& options, std::string_view bytes,
                      Until until = Until::synced) {
    PLIM_CHECK(clean(options));
    auto written = write_at_end(options, bytes, until);
    if (written) {
      end_ += bytes.size();
      if (until == Until::synced) durable_ = end_;
      return {};
    }
    dirty_ = true;
    if (auto cleaned = clean(options); !cleaned)
      log::error("journal", "cannot undo a failed write yet", {{"error", cleaned.error()}});
    return written;
  }

  Result<void> sync(const JournalOptions& options) {
    const int failed = options.sync ? options.sync(fd_.get()) : ::fdatasync(fd_.get());
    if (failed != 0) return fail_errno(errno, fmt::format("cannot sync {}", path_));
    return {};
  }

  const RecordFile& file() const { return file_; }

  std::uint64_t end() const { return end_; }

  std::uint64_t durable() const { return durable_; }

 private:
  Segment(std::string path, RecordFile file) : path_(std::move(path)), file_(file) {}

  Result<void> open(int flags) {
    fd_.reset(::open(path_.c_str(), O_WRONLY | O_CLOEXEC | flags, 0600));
    if (!fd_) return fail_errno(errno, fmt::format("cannot open {}", path_));
    return {};
  }

  Result<void> write_at_end(const JournalOptions& options, std::string_view bytes, Until until) {
    for (std::uint64_t at = end_; !bytes.empty();) {
      const ssize_t n = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return fail_errno(errno, fmt::format("cannot write {}", path_));
      bytes.remove_prefix(static_cast<std::size_t>(n));
      at += static_cast<std::uint64_t>(n);
    }
    if (options.durability == Durability::fsync && until == Until::synced) return sync(options);
    return {};
  }

  // Removes what a failed write may have left. The bytes before it were synced earlier or are
  // notes, so even if the sync failed, only the part that is given up is in doubt.
  Result<void> clean(const JournalOptions& options) {
    if (!dirty_) return {};
    if (::ftruncate(fd_.get(), static_cast<off_t>(end_)) != 0)
      return fail_errno(errno, fmt::format("cannot truncate {}", path_));
    if (options.durability == Durability::fsync) PLIM_CHECK(sync(options));
    dirty_ = false;
    return {};
  }

  std::string path_;
  RecordFile file_;
  Fd fd_;
  std::uint64_t end_ = 0;      // everything before is written
  std::uint64_t durable_ = 0;  // everything before is acknowledged
  bool dirty_ = false;         // there may be bytes after the end
};

struct Item {
  enum class Kind { record, start_segment, remove_before };
  Kind kind = Kind::record;
  std::string record = {};
  std::uint64_t segment = 0;  // of remove_before
  Journal::Done done = {};
  std::uint64_t round = 0;
  bool is_note = false;
};

struct Outcome {
  Journal::Done done;
  Result<JournalPosition> result;
};

}  // namespace

// Shared by the loop side of a journal and its pending notifications. Only used on the loop.
struct Journal::Link {
  explicit Link(Executor executor) : loop(std::move(executor)) {}

  void deliver(std::vector<Outcome>& outcomes, std::uint64_t failed_round) {
    round = std::max(round, failed_round + 1);
    for (Outcome& outcome : outcomes) {
      if (closed) return;
      if (outcome.done) outcome.done(std::move(outcome.result));
    }
  }

  Executor loop;
  // A failure ends a round: records appended in it, or earlier, are not written any more.
  std::uint64_t round = 1;
  bool closed = false;
};

class Journal::Writer {
 public:
  Writer(std::shared_ptr<Link> link, JournalOptions options, Segment segment, std::uint64_t bytes)
      : link_(std::move(link)),
        options_(std::move(options)),
        segment_(std::move(segment)),
        bytes_(bytes),
        thread_([this] { run(); }) {}

  ~Writer() {
    {
      const std::scoped_lock guard(mutex_);
      stopping_ = true;
    }
    queued_.notify_one();
    thread_.join();
  }

  void push(Item item) {
    {
      const std::scoped_lock guard(mutex_);
      queue_.push_back(std::move(item));
    }
    queued_.notify_one();
  }

  std::uint64_t bytes() const { return bytes_; }

 private:
  void run() {
    for (;;) {
      std::vector<Item> items;
      {
        std::unique_lock guard(mutex_);
        queued_.wait(guard, [this] { return stopping_ || !queue_.empty(); });
        if (queue_.empty()) return;
        items.swap(queue_);
      }
      work_on(items);
      report();
    }
  }

  void work_on(std::vector<Item>& items) {
    for (std::size_t i = 0; i < items.size();) {
      Item& item = items[i];
      if (item.kind == Item::Kind::remove_before) {
        remove_segments(item.segment);
        ++i;
      } else if (item.round <= failed_round_) {
        finish(item, Error(failure_));
        ++i;
      } else if (item.kind == Item::Kind::start_segment) {
        start_segment(item);
        ++i;
      } else {
        i = write_records(items, i);
      }
    }
  }

  // Writes the records from items[first] on at once and returns the index after them.
  std::size_t write_records(std::vector<Item>& items, std::size_t first) {
    if (segment_.end() >= options_.segment_bytes) {
      if (auto next = next_segment(); !next) {
        failed(items[first], next.error());
        return first + 1;
      }
    }
    const std::uint64_t start = segment_.end();
    std::vector<JournalPosition> places;
    std::string bytes;
    std::size_t last = first;
    auto until = Segment::Until::written;
    // Checks the size before each record, which keeps segments near their size even in a large
    // batch.
    for (; last < items.size() && items[last].kind == Item::Kind::record &&
           items[last].round > failed_round_ &&
           (last == first || start + bytes.size() < options_.segment_bytes);
         ++last) {
      const std::uint64_t offset = start + bytes.size();
      encode_record(bytes, segment_.file(), offset, segment_.durable(), items[last].record);
      places.push_back({.segment = segment_.file().number, .offset = offset});
      if (!items[last].is_note) until = Segment::Until::synced;
    }
    auto written = segment_.append(options_, bytes, until);
    if (written) bytes_ += bytes.size();
    for (std::size_t i = first; i < last; ++i) {
      if (written)
        finish(items[i], places[i - first]);
      else
        failed(items[i], written.error());
    }
    return last;
  }

  void start_segment(Item& item) {
    if (auto next = next_segment(); !next) {
      finish(item, next.error());  // no record is lost: the old segment continues
      return;
    }
    finish(item, JournalPosition{.segment = segment_.file().number, .offset = segment_.end()});
  }

  Result<void> next_segment() {
    // Recovery requires this: only the last segment may have a torn end.
    const bool is_behind = segment_.durable() < segment_.end();
    if (options_.durability == Durability::os || is_behind) PLIM_CHECK(segment_.sync(options_));
    PLIM_TRY(Segment next, Segment::create(options_, segment_.file().number + 1));
    segment_ = std::move(next);
    bytes_ += segment_.end();
    return {};
  }

  void remove_segments(std::uint64_t before) {
    auto segments = list_segments(options_.files.directory);
    if (!segments) {
      log::warn("journal", "cannot remove old segments", {{"error", segments.error()}});
      return;
    }
    // Oldest first and never the current one: after a crash the rest has no gaps.
    for (const std::uint64_t number : *segments) {
      if (number >= std::min(before, segment_.file().number)) break;
      const std::string path = options_.files.path_of(number);
      std::error_code error;
      const std::uint64_t size = std::filesystem::file_size(path, error);
      if (auto removed = remove_file(path); !removed) {
        log::warn("journal", "cannot remove an old segment", {{"error", removed.error()}});
        return;
      }
      bytes_ -= error ? 0 : std::min<std::uint64_t>(size, bytes_);
    }
  }

  void failed(Item& item, const Error& error) {
    failed_round_ = item.round;
    failure_ = error;
    finish(item, Error(error));
  }

  void finish(Item& item, Result<JournalPosition> result) {
    if (item.is_note && result) return;
    outcomes_.push_back({.done = std::move(item.done), .result = std::move(result)});
  }

  void report() {
    if (outcomes_.empty()) return;
    auto outcomes = std::make_shared<std::vector<Outcome>>(std::exchange(outcomes_, {}));
    post_to(link_->loop, [link = link_, outcomes, failed_round = failed_round_] {
      link->deliver(*outcomes, failed_round);
    });
  }

  std::shared_ptr<Link> link_;
  const JournalOptions options_;

  // Used by the writer thread.
  Segment segment_;
  std::vector<Outcome> outcomes_;
  std::uint64_t failed_round_ = 0;
  Error failure_;

  std::atomic<std::uint64_t> bytes_;

  std::mutex mutex_;  // guards queue_ and stopping_
  std::condition_variable queued_;
  std::vector<Item> queue_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all others
};

namespace {

// The segment to continue after `scan`.
Result<Segment> last_segment(const JournalOptions& options, const JournalScan& scan) {
  if (!scan.last) return Segment::create(options, scan.end.segment);
  return Segment::reopen(options, *scan.last, scan.end.offset);
}

Result<void> remove_left_overs(const JournalFiles& files) {
  if (!files.first_segment) return {};
  PLIM_TRY(const std::vector<std::uint64_t> segments, list_segments(files.directory));
  for (const std::uint64_t segment : segments) {
    if (segment < *files.first_segment) PLIM_CHECK(remove_file(files.path_of(segment)));
  }
  return {};
}

}  // namespace

Result<Durability> parse_durability(std::string_view text) {
  if (text == "fsync") return Durability::fsync;
  if (text == "os") return Durability::os;
  if (text == "none") return Durability::none;
  return fail(Code::invalid, fmt::format("durability is fsync, os or none, not \"{}\"", text));
}

Journal::Journal(Executor loop) : link_(std::make_shared<Link>(std::move(loop))) {}

Result<std::unique_ptr<Journal>> Journal::open(Executor loop, JournalOptions options,
                                               const JournalVisitor& replay) {
  std::unique_ptr<Journal> out(new Journal(std::move(loop)));
  if (options.durability == Durability::none) return out;
  PLIM_CHECK(make_durable_directory(options.files.directory));
  PLIM_TRY(const JournalScan scan, scan_journal(options.files, replay));
  if (scan.damage) return fail(Code::internal, scan.damage->describe());
  if (scan.torn)
    log::warn("journal", "cut off a write that was never acknowledged",
              {{"file", scan.torn->file}, {"offset", scan.torn->at.offset}});
  PLIM_CHECK(remove_left_overs(options.files));
  PLIM_TRY(Segment segment, last_segment(options, scan));
  const std::uint64_t bytes = scan.bytes + (scan.last ? 0 : segment.end());
  out->writer_ =
      std::make_unique<Writer>(out->link_, std::move(options), std::move(segment), bytes);
  return out;
}

Journal::~Journal() {
  link_->closed = true;
}

void Journal::append(std::string record, Done done) {
  if (writer_) {
    writer_->push({.record = std::move(record), .done = std::move(done), .round = link_->round});
    return;
  }
  post_to(link_->loop, [link = link_, done = std::move(done)] {
    if (!link->closed && done) done(JournalPosition{});
  });
}

void Journal::note(std::string record, std::function<void(const Error& error)> failed) {
  if (!writer_) return;
  auto done = [failed = std::move(failed)](Result<JournalPosition> result) {
    if (!result && failed) failed(result.error());
  };
  writer_->push({.record = std::move(record),
                 .done = std::move(done),
                 .round = link_->round,
                 .is_note = true});
}

Task<Result<JournalPosition>> Journal::write(std::string record) {
  struct Waiting {
    explicit Waiting(const Executor& loop) : changed(loop) {}

    Event changed;
    std::optional<Result<JournalPosition>> result;
  };

  auto wait = [](std::shared_ptr<Waiting> waiting) -> Task<Result<JournalPosition>> {
    while (!waiting->result) co_await waiting->changed.wait();
    co_return std::move(*waiting->result);
  };
  auto waiting = std::make_shared<Waiting>(link_->loop);
  append(std::move(record), [waiting](Result<JournalPosition> result) {
    waiting->result.emplace(std::move(result));
    waiting->changed.notify();
  });
  return wait(std::move(waiting));
}

void Journal::start_segment(Done done) {
  if (writer_) {
    writer_->push(
        {.kind = Item::Kind::start_segment, .done = std::move(done), .round = link_->round});
    return;
  }
  append({}, std::move(done));
}

void Journal::remove_before(std::uint64_t segment) {
  if (writer_) writer_->push({.kind = Item::Kind::remove_before, .segment = segment});
}

std::uint64_t Journal::bytes() const {
  return writer_ ? writer_->bytes() : 0;
}

}  // namespace plim
