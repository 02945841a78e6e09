// What the store can do on this machine: writes by group size, lists, fan-out, recovery.
//   store_bench [DIRECTORY]     on the disk to be measured; a temporary directory by default
#include "local/store/store.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/crc32c.hpp"
#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"

namespace {

using namespace plim;
using namespace plim::local::store;
using Stopwatch = std::chrono::steady_clock;

double seconds_since(Stopwatch::time_point start) {
  return std::chrono::duration<double>(Stopwatch::now() - start).count();
}

const Bytes kPod = std::make_shared<std::string>(std::string(1500, 'p'));

std::string key(std::size_t i) {
  return fmt::format("/registry/core/pods/default/pod-{:06}", i);
}

Txn put_pod(std::size_t i) {
  Txn txn;
  txn.ops.push_back(Op::put(key(i), kPod));
  return txn;
}

struct Load {
  Stopwatch::time_point until;
  std::size_t keys = 3'000;
  std::size_t writes = 0;
  std::vector<double> seconds = {};  // of each write
};

Task<void> write_until(Store& store, Load& load) {
  while (Stopwatch::now() < load.until) {
    const auto start = Stopwatch::now();
    auto done = co_await store.txn(put_pod(load.writes++ % load.keys));
    if (!done) fmt::print("write failed: {}\n", done.error().message);
    load.seconds.push_back(seconds_since(start));
  }
}

class Bench {
 public:
  explicit Bench(std::string directory) : directory_(std::move(directory)) {}

  void open(Durability durability) {
    close();
    StoreOptions options{.directory = fmt::format("{}/{}", directory_, count_++),
                         .durability = durability};
    store_ = std::move(*Store::open(loop_.executor(), system_clock(), options));
    group_.emplace(loop_.executor());
  }

  void reopen() {
    close();
    --count_;
    open(Durability::fsync);
  }

  void close() {
    if (store_) run_to_end(loop_, store_->close());
    store_.reset();
  }

  void writes(std::string_view name, Durability durability, int writers) {
    open(durability);
    Load load{.until = Stopwatch::now() + std::chrono::seconds(2)};
    const auto start = Stopwatch::now();
    for (int i = 0; i < writers; ++i) group_->spawn("writer", write_until(*store_, load));
    run_to_end(loop_, group_->join());
    const double took = seconds_since(start);
    std::ranges::sort(load.seconds);
    fmt::print("writes, {}, {:3} writers: {:7.0f}/s, median {:6.0f} us, p99 {:6.0f} us\n", name,
               writers, static_cast<double>(load.writes) / took,
               1e6 * load.seconds[load.seconds.size() / 2],
               1e6 * load.seconds[load.seconds.size() * 99 / 100]);
  }

  void fill(std::size_t keys) {
    for (std::size_t i = 0; i < keys; i += 100) {
      Txn txn;
      for (std::size_t j = i; j < i + 100; ++j) txn.ops.push_back(Op::put(key(j), kPod));
      (void)run_to_end(loop_, store_->txn(txn));
    }
  }

  void lists() {
    open(Durability::none);
    fill(3'000);
    const auto start = Stopwatch::now();
    constexpr int kRounds = 500;
    std::size_t seen = 0;
    for (int i = 0; i < kRounds; ++i)
      seen += store_->view().list("/registry/core/pods/").entries.size();
    fmt::print("list of {} objects: {:.0f} us\n", seen / kRounds,
               1e6 * seconds_since(start) / kRounds);
  }

  void fan_out(std::size_t watchers) {
    open(Durability::none);
    std::size_t delivered = 0;
    constexpr std::size_t kChanges = 200;
    for (std::size_t i = 0; i < watchers; ++i)
      group_->spawn("watcher", follow(*store_, kChanges, delivered));
    loop_.run_ready();
    const auto start = Stopwatch::now();
    for (std::size_t i = 0; i < kChanges; ++i) (void)run_to_end(loop_, store_->txn(put_pod(i)));
    run_to_end(loop_, group_->join());
    fmt::print("fan-out to {} watchers: {:.2f} us each, {:.0f} deliveries/s\n", watchers,
               1e6 * seconds_since(start) / static_cast<double>(delivered),
               static_cast<double>(delivered) / seconds_since(start));
  }

  void recovery() {
    open(Durability::os);
    fill(30'000);
    auto start = Stopwatch::now();
    reopen();
    fmt::print("recovery of 30000 objects from the log: {:.0f} ms\n", 1e3 * seconds_since(start));
    start = Stopwatch::now();
    (void)run_to_end(loop_, store_->compact());
    fmt::print("snapshot of 30000 objects: {:.0f} ms\n", 1e3 * seconds_since(start));
    start = Stopwatch::now();
    reopen();
    fmt::print("recovery of 30000 objects from a snapshot: {:.0f} ms\n",
               1e3 * seconds_since(start));
    close();
  }

 private:
  static Task<void> follow(Store& store, std::size_t changes, std::size_t& delivered) {
    auto watcher = store.watch("/registry/core/pods/", store.view().revision());
    for (std::size_t seen = 0; seen < changes;) {
      auto got = co_await (*watcher)->next();
      if (!got) co_return;
      seen += got->size();
      delivered += got->size();
    }
  }

  std::string directory_;
  int count_ = 0;
  Loop loop_;
  std::optional<TaskGroup> group_;
  std::unique_ptr<Store> store_;
};

void checksums() {
  const std::string data(1 << 20, 'x');
  for (auto [name, sum] :
       {std::pair("instruction", &crc32c), std::pair("table", &crc32c_by_table)}) {
    const auto start = Stopwatch::now();
    std::uint32_t all = 0;
    for (int i = 0; i < 200; ++i) all ^= sum(data, all);
    fmt::print("CRC-32C by {}: {:.1f} GB/s ({:08x})\n", name, 0.2 * 1.048576 / seconds_since(start),
               all);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const testing::TempDir temporary;
  Bench bench(argc > 1 ? argv[1] : temporary.path());
  checksums();
  for (int writers : {1, 8, 64}) bench.writes("fsync", Durability::fsync, writers);
  bench.writes("os", Durability::os, 64);
  bench.writes("none", Durability::none, 64);
  bench.lists();
  bench.fan_out(100);
  bench.fan_out(1'000);
  bench.recovery();
  return 0;
}
