// A store in a directory of its own, for tests.
#pragma once

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"
#include "local/store/store.hpp"

namespace plim::local::store::testing {

inline Bytes bytes(std::string text) {
  return std::make_shared<std::string>(std::move(text));
}

inline std::string pod(const std::string& name, const std::string& ns = "default") {
  return "/registry/core/pods/" + ns + "/" + name;
}

inline Txn put(std::string key, std::string value) {
  return {.ops = {Op::put(std::move(key), bytes(std::move(value)))}};
}

inline Txn del(std::string key) {
  return {.ops = {Op::del(std::move(key))}};
}

// A simulated disk: syncs wait while it is closed and fail while it is broken.
class Disk {
 public:
  int sync(int fd) {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return !closed_; });
    if (broken_) return errno = EIO, -1;
    return ::fdatasync(fd);
  }

  void set_closed(bool closed) {
    {
      const std::scoped_lock guard(mutex_);
      closed_ = closed;
    }
    changed_.notify_all();
  }

  void set_broken(bool broken) {
    const std::scoped_lock guard(mutex_);
    broken_ = broken;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  bool broken_ = false;
};

// Runs transactions at once and keeps their results. Their coroutines may resume in any order, so
// results are kept in the order of the calls.
class Crowd {
 public:
  explicit Crowd(const Executor& loop) : group_(loop) {}

  void add(Task<Result<Revision>> txn) {
    group_.spawn("txn", note(std::move(txn), results_.emplace_back()));
  }

  void join(Loop& loop) { run_to_end(loop, group_.join()); }

  std::size_t done() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(results_, [](const auto& result) { return result.has_value(); }));
  }

  const Result<Revision>& operator[](std::size_t i) const { return *results_[i]; }

 private:
  using Slot = std::optional<Result<Revision>>;

  static Task<void> note(Task<Result<Revision>> txn, Slot& slot) {
    auto result = co_await std::move(txn);
    slot.emplace(std::move(result));
  }

  std::deque<Slot> results_;  // a deque keeps the addresses of slots stable
  TaskGroup group_;
};

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() {
    options.directory = dir / "store";
    options.sync = [this](int fd) { return disk.sync(fd); };
  }

  ~StoreTest() override {
    disk.set_closed(false);
    store.reset();
  }

  void open() {
    store.reset();
    auto opened = Store::open(loop.executor(), clock, options);
    ASSERT_TRUE(opened) << opened.error().message;
    store = std::move(*opened);
  }

  Result<Revision> run(const Txn& txn) { return run_to_end(loop, store->txn(txn)); }

  std::string value_of(const std::string& key) const {
    const EntryPtr found = store->get(key);
    return found ? *found->value : "(nothing)";
  }

  plim::testing::TempDir dir{plim::testing::memory_directory()};
  Disk disk;
  Loop loop;
  FakeClock clock;
  StoreOptions options;
  std::unique_ptr<Store> store;
};

}  // namespace plim::local::store::testing
