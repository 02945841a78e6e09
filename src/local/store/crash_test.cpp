// Kills a writing process repeatedly and compares what the store recovers with the ledger of
// acknowledged writes. PLIMSOLL_CRASH_ROUNDS sets the number of rounds, PLIMSOLL_CRASH_DIR the
// disk; the full run has 200 rounds on a real disk.
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/crc32c.hpp"
#include "base/fd.hpp"
#include "base/loop.hpp"
#include "base/random.hpp"
#include "base/testing/temp_dir.hpp"
#include "local/store/maintenance.hpp"
#include "local/store/testing/store_fixture.hpp"

namespace plim::local::store::testing {
namespace {

constexpr std::uint64_t kWriters = 8;

StoreOptions crash_options(const std::string& directory) {
  StoreOptions options{.directory = directory};
  // Small, so that kills also hit changes of segments and snapshots.
  options.segment_bytes = 20'000;
  options.min_log_bytes = 60'000;
  return options;
}

// One line of the ledger: an acknowledged write. It fits into one write to a pipe.
struct Acknowledged {
  std::uint64_t writer = 0;
  std::uint64_t number = 0;  // counted by the writer, never repeated
  Revision revision = 0;
};

// "12 34 <checksum> xxx…", with a length that varies.
std::string value_for(std::uint64_t writer, std::uint64_t number) {
  std::string text = fmt::format("{} {} ", writer, number);
  const std::string filler((number * 37) % 3000, 'x');
  return fmt::format("{}{:08x} {}", text, crc32c(text + filler), filler);
}

// Writes each number to two keys at once: recovery must find both or none.
Task<void> write_for_ever(Store& store, int ledger, std::uint64_t writer, std::uint64_t number) {
  for (;; ++number) {
    Txn txn = put(pod(fmt::format("{}-a", writer)), value_for(writer, number));
    txn.ops.push_back(Op::put(pod(fmt::format("{}-b", writer)), txn.ops[0].value));
    auto revision = co_await store.txn(txn);
    if (!revision) ::_exit(3);
    const Acknowledged line{.writer = writer, .number = number, .revision = *revision};
    if (::write(ledger, &line, sizeof line) != sizeof line) ::_exit(4);
  }
}

Task<int> run_writers(Store& store, TaskGroup& group, int ledger, std::uint64_t first_number) {
  for (std::uint64_t i = 0; i < kWriters; ++i)
    group.spawn("writer", write_for_ever(store, ledger, i, first_number));
  co_await group.join();
  co_return 0;
}

[[noreturn]] void write_until_killed(const std::string& directory, int ledger,
                                     std::uint64_t first_number) {
  Loop loop;
  auto store = Store::open(loop.executor(), system_clock(), crash_options(directory));
  if (!store) ::_exit(2);
  TaskGroup group(loop.executor());
  loop.run(run_writers(**store, group, ledger, first_number));
  ::_exit(0);
}

class Ledger {
 public:
  // Reads until there are `count` more lines or the writer is gone.
  void read(int pipe, std::size_t count) {
    for (Acknowledged line; count > 0; --count) {
      const ssize_t n = ::read(pipe, &line, sizeof line);
      if (n == 0) return;
      ASSERT_EQ(n, static_cast<ssize_t>(sizeof line));
      last_[line.writer] = line;
      revision_ = std::max(revision_, line.revision);
      ++lines_;
    }
  }

  // Everything in the ledger must exist, and no write may exist only in part.
  void check(const View& view) const {
    EXPECT_GE(view.revision(), revision_);
    for (const auto& [writer, line] : last_) {
      const EntryPtr a = view.get(pod(fmt::format("{}-a", writer)));
      const EntryPtr b = view.get(pod(fmt::format("{}-b", writer)));
      ASSERT_TRUE(a && b);
      const std::uint64_t number = std::stoull(a->value->substr(a->value->find(' ')));
      EXPECT_GE(number, line.number) << "LOST: an acknowledged write of writer " << writer;
      EXPECT_EQ(*a->value, value_for(writer, number));
      EXPECT_EQ(*b->value, *a->value);
      EXPECT_EQ(b->modified, a->modified);
      EXPECT_GE(a->modified, line.revision);
      EXPECT_LE(a->modified, view.revision());
    }
  }

  std::uint64_t lines() const { return lines_; }

 private:
  std::map<std::uint64_t, Acknowledged> last_;
  Revision revision_ = 0;
  std::uint64_t lines_ = 0;
};

int rounds() {
  const char* text = std::getenv("PLIMSOLL_CRASH_ROUNDS");
  return text != nullptr ? std::atoi(text) : 30;
}

std::filesystem::path disk() {
  const char* text = std::getenv("PLIMSOLL_CRASH_DIR");
  return text != nullptr ? std::filesystem::path(text) : plim::testing::memory_directory();
}

TEST(StoreCrash, no_acknowledged_write_is_lost_when_the_process_is_killed) {
  plim::testing::TempDir dir(disk());
  Ledger ledger;
  Revision before = 0;
  int torn = 0;
  for (int round = 0; round < rounds(); ++round) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const Fd from(ends[0]);
    Fd to(ends[1]);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(60);  // ends the orphan of an aborted test
      write_until_killed(dir / "store", to.get(), static_cast<std::uint64_t>(round) * 1'000'000);
    }
    to.reset();
    ledger.read(from.get(), 1 + system_random().below(200));
    ::kill(child, SIGKILL);
    ledger.read(from.get(), 1'000'000);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself: " << WEXITSTATUS(status);

    auto report = verify_store(dir / "store");
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_FALSE(report->log.damage) << report->log.damage->describe();
    if (report->log.torn) ++torn;
    Loop loop;
    auto store = Store::open(loop.executor(), system_clock(), crash_options(dir / "store"));
    ASSERT_TRUE(store) << store.error().message;
    ledger.check((*store)->view());
    EXPECT_GT((*store)->view().revision(), before);
    before = (*store)->view().revision();
    if (HasFailure()) return;
  }
  fmt::print("{} rounds, {} acknowledged writes, {} torn ends\n", rounds(), ledger.lines(), torn);
}

}  // namespace
}  // namespace plim::local::store::testing
