#include "roles/webhook_pools.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <fmt/format.h>

#include "base/file_watch.hpp"
#include "base/log.hpp"
#include "pools/pool_config.hpp"

namespace plim::roles {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kPoolSettle{200};
constexpr std::chrono::seconds kMapsLimit{10};  // an unreachable server must not block the start

// Also includes each directory itself, because its time changes when files are added.
std::vector<std::string> watched_paths(const std::vector<std::string>& places) {
  std::vector<std::string> out;
  for (const std::string& place : places) {
    std::error_code error;
    if (!fs::is_directory(place, error)) {
      out.push_back(place);
      continue;
    }
    out.push_back(place + "/.");
    for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error))
      if (at->path().extension() == ".yaml") out.push_back(at->path().string());
  }
  return out;
}

}  // namespace

WebhookPools::WebhookPools(const Executor& loop, PoolPlaces places,
                           const std::shared_ptr<kube::Client>& client)
    : loop_(loop), places_(std::move(places)), changed_(loop), tasks_(loop) {
  if (places_.maps.empty()) return;
  auto on_change = [this] {
    changed_.notify();
    if (started_) reread();
  };
  maps_ = std::make_unique<pools::ConfigMaps>(loop, client, places_.maps, std::move(on_change),
                                              system_clock());
}

Task<Result<void>> WebhookPools::start() {
  if (maps_) {
    maps_->start();
    const SteadyTime deadline = system_clock().steady() + kMapsLimit;
    while (!maps_->synced()) {
      const bool told = co_await changed_.wait_until(system_clock(), deadline);
      if (!told) break;
    }
  }
  PLIM_CO_TRY(catalog_, read());
  started_ = true;
  tasks_.spawn("pool files", watch_files());
  co_return Result<void>();
}

Task<void> WebhookPools::stop() {
  co_await tasks_.stop();
  if (maps_) co_await maps_->stop();
}

void WebhookPools::reread() {
  auto catalog = read();
  if (catalog) {
    catalog_ = std::move(*catalog);
    log::info("webhook", "pools reread", {{"pools", catalog_.pools.size()}});
  } else {
    log::error("webhook", "cannot read the new pools; the old ones stay",
               {{"error", catalog.error()}});
  }
}

Result<pools::PoolCatalog> WebhookPools::read() const {
  PLIM_TRY(auto texts, pools::read_config_texts(places_.files));
  if (maps_) std::ranges::move(maps_->texts(), std::back_inserter(texts));
  pools::Problems problems;
  const pools::PoolConfig config = pools::parse_pool_config(texts, problems);
  for (const std::string& line : problems.warnings) log::warn("webhook", line);
  if (!problems.errors.empty())
    return fail(Code::invalid, fmt::format("{}", fmt::join(problems.errors, "; ")));
  if (config.files.empty())
    log::warn("webhook", "there are no pool files; the names of pools set their types",
              {{"places", fmt::format("{}", fmt::join(places_.files, ","))}});
  return pools::PoolCatalog::of(config);
}

// Opens a new watch after each change, because files may have been added.
Task<void> WebhookPools::watch_files() {
  FileWatch::Options options{.settle = kPoolSettle};
  for (;;) {
    auto watch = FileWatch::open(loop_, watched_paths(places_.files), options);
    if (!watch) {
      log::error("webhook", "cannot watch the pools; send SIGHUP to reread them",
                 {{"error", watch.error()}});
      co_return;
    }
    if (std::exchange(seen_change_, false)) reread();
    co_await (*watch)->next();
    seen_change_ = true;
  }
}

}  // namespace plim::roles
