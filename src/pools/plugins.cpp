#include "pools/plugins.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/files.hpp"
#include "pools/device_list.hpp"
#include "pools/directory_watch.hpp"

namespace plim::pools {
namespace {

namespace fs = std::filesystem;

void remove_old_sockets(const std::string& directory) {
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with("cpudp_") && name.ends_with(".sock"))
      (void)remove_file(at->path().string());
  }
}

}  // namespace

Plugins::Plugins(const Executor& loop, Clock& clock, PoolState& state, PluginsOptions options,
                 EndpointHooks hooks)
    : loop_(loop),
      clock_(clock),
      state_(state),
      options_(std::move(options)),
      hooks_(std::move(hooks)),
      tasks_(loop),
      ending_(loop) {}

void Plugins::start() {
  remove_old_sockets(options_.directory);
  started_ = true;
  sync();
  tasks_.spawn("device plugin directory", watch());
}

Task<void> Plugins::stop() {
  started_ = false;
  co_await tasks_.stop();
  co_await ending_.join();
  co_await ending_.stop();
  for (auto& [pool, endpoint] : endpoints_) co_await endpoint->stop();
  endpoints_.clear();
}

void Plugins::sync() {
  if (!started_) return;
  std::vector<std::string> wanted;
  for (const std::string& pool : endpoints_of(state_))
    wanted.push_back(state_.base_names().resource_of(pool));
  for (auto at = endpoints_.begin(); at != endpoints_.end();) {
    if (std::ranges::find(wanted, at->first) != wanted.end()) {
      at->second->devices_changed();
      ++at;
      continue;
    }
    ending_.spawn("end of an endpoint", end(std::move(at->second)));
    at = endpoints_.erase(at);
  }
  for (const std::string& resource : wanted) {
    auto& endpoint = endpoints_[resource];
    if (endpoint) continue;
    EndpointOptions options{.directory = options_.directory,
                            .resource = resource,
                            .socket = free_socket(bare_name(resource)),
                            .format = options_.format,
                            .starter = options_.starter};
    endpoint = std::make_unique<Endpoint>(loop_, clock_, state_, std::move(options), hooks_);
    endpoint->start();
  }
}

// A pool has two resources while its base name changes: the kubelet keeps one socket for each.
std::string Plugins::free_socket(std::string_view pool) {
  std::string out = fmt::format("cpudp_{}.sock", pool);
  for (int i = 2; !sockets_.insert(out).second; ++i) out = fmt::format("cpudp_{}.{}.sock", pool, i);
  return out;
}

Task<void> Plugins::end(std::unique_ptr<Endpoint> endpoint) {
  co_await endpoint->stop();
  sockets_.erase(endpoint->socket_name());
}

bool Plugins::ready() const {
  return started_ &&
         std::ranges::all_of(endpoints_, [](const auto& item) { return item.second->watched(); });
}

// Watches the directory, not the sockets: a starting kubelet removes every socket in it, and a user
// may remove only ours. The parent directory shows when the directory is created again.
Task<void> Plugins::watch() {
  auto watch = DirectoryWatch::open(loop_);
  if (!watch) co_return;  // endpoints also check periodically
  const std::vector<std::string> places{fs::path(options_.directory).parent_path().string(),
                                        options_.directory};
  for (;;) {
    (*watch)->set(places);
    for (auto& [pool, endpoint] : endpoints_) endpoint->look();
    co_await (*watch)->next();
  }
}

}  // namespace plim::pools
