// The device plugin of one pool: its socket and its registration with the kubelet.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <sys/types.h>
#include <tuple>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "net/rpc.hpp"
#include "pools/grants.hpp"
#include "pools/pool_state.hpp"

namespace plim::pools {

struct EndpointHooks {
  std::function<void(const std::string& pool, bool good)> on_registration = {};
  std::function<void(const std::string& pool, Nanos took, bool good)> on_allocate = {};
};

struct EndpointOptions {
  std::string directory;  // the kubelet's directory device-plugins
  std::string resource;
  std::string socket;  // its name in the directory
  CpuListFormat format = CpuListFormat::list;
  std::string starter = {};  // program on the host to mount into containers; "": none
};

// Listens, then registers with the kubelet. Registers again after the kubelet has restarted,
// removed the socket or closed its stream. Belongs to one loop; co_await stop() before destroying
// it. The state must outlive it.
class Endpoint {
 public:
  Endpoint(const Executor& loop, Clock& clock, PoolState& state, EndpointOptions options,
           EndpointHooks hooks);

  void start();
  Task<void> stop();

  // The pool's devices may have changed.
  void devices_changed() { changed_.notify(); }

  // Call after a change in the directory.
  void look() { wake_.notify(); }

  bool watched() const { return watchers_ > 0; }

  const std::string& socket() const { return socket_; }

  const std::string& socket_name() const { return options_.socket; }

 private:
  using FileId = std::tuple<dev_t, ino_t, time_t, long>;
  static FileId file_id(const std::string& path);

  // In the state: the whole resource once its base name is no longer the current one.
  std::string pool() const { return state_.base_names().pool_of(options_.resource); }

  bool is_good() const;
  Task<void> keep();
  Task<Result<void>> establish();
  Result<void> listen();
  Task<net::RpcStatus> list_and_watch(net::RpcCall& call);
  Result<std::vector<node::DeviceGrants>> grant(const std::string& body, SteadyTime now);
  net::RpcReply allocate(const std::string& body);
  net::RpcReply prefer(const std::string& body) const;
  static Task<net::RpcReply> answer(net::RpcReply reply);

  Executor loop_;
  Clock& clock_;
  PoolState& state_;
  EndpointOptions options_;
  EndpointHooks hooks_;
  std::string socket_, kubelet_;
  std::unique_ptr<net::RpcServer> server_;
  FileId own_file_{}, kubelet_file_{};
  bool registered_ = false;
  SteadyTime registered_at_;
  int watchers_ = 0;
  Event changed_, wake_;
  log::Throttle log_;
  TaskGroup tasks_;
};

}  // namespace plim::pools
