#include "pools/endpoint.hpp"

#include <algorithm>
#include <sys/stat.h>

#include <fmt/format.h>

#include "base/files.hpp"
#include "pools/device_ids.hpp"
#include "pools/device_list.hpp"

namespace plim::pools {
namespace {

using namespace std::chrono_literals;

constexpr Nanos kFirstPause = 100ms;
constexpr Nanos kLongestPause = 5s;
constexpr Nanos kLook = 10s;     // period of checks, for directories that cannot be watched
constexpr Nanos kDialBack = 2s;  // the kubelet connects right after Register
constexpr auto kRegisterLimit = 5s;
constexpr std::string_view kService = "/v1beta1.DevicePlugin/";

// Counts a stream while its handler runs, however it ends.
class Watching {
 public:
  Watching(int& count, Event& wake) : count_(count), wake_(wake) { ++count_; }

  ~Watching() {
    --count_;
    wake_.notify();
  }

  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

 private:
  int& count_;
  Event& wake_;
};

net::RpcReply refuse(const Error& error) {
  return {.status = {net::RpcCode::invalid_argument, error.message}};
}

}  // namespace

Endpoint::Endpoint(const Executor& loop, Clock& clock, PoolState& state, EndpointOptions options,
                   EndpointHooks hooks)
    : loop_(loop),
      clock_(clock),
      state_(state),
      options_(std::move(options)),
      hooks_(std::move(hooks)),
      socket_(fmt::format("{}/{}", options_.directory, options_.socket)),
      kubelet_(options_.directory + "/kubelet.sock"),
      changed_(loop),
      wake_(loop),
      tasks_(loop) {}

void Endpoint::start() {
  tasks_.spawn("endpoint of " + options_.resource, keep());
}

Task<void> Endpoint::stop() {
  co_await tasks_.stop();
  if (server_) co_await server_->drain(0s);
  server_.reset();
}

Endpoint::FileId Endpoint::file_id(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino, info.st_ctim.tv_sec, info.st_ctim.tv_nsec};
}

bool Endpoint::is_good() const {
  if (!server_ || !registered_) return false;
  if (file_id(socket_) != own_file_ || file_id(kubelet_) != kubelet_file_) return false;
  return watchers_ > 0 || clock_.steady() - registered_at_ < kDialBack;
}

Task<void> Endpoint::keep() {
  Nanos pause = kFirstPause;
  for (;;) {
    Nanos wait = kLook;
    if (!is_good()) {
      const Result<void> done = co_await establish();
      if (done) {
        pause = kFirstPause;
        wait = kDialBack;
      } else {
        log_.write(log::Level::warn, "pools", "cannot register a pool with the kubelet",
                   {{"pool", pool()}, {"error", done.error()}});
        wait = pause;
        pause = std::min(pause * 2, kLongestPause);
      }
      if (hooks_.on_registration) hooks_.on_registration(pool(), done.has_value());
    }
    // A new socket may not answer at once, so the pauses are short again.
    const bool woken = co_await wake_.wait_until(clock_, clock_.steady() + wait);
    if (woken) pause = kFirstPause;
  }
}

Task<Result<void>> Endpoint::establish() {
  registered_ = false;
  if (!server_ || file_id(socket_) != own_file_) {
    if (server_) co_await server_->drain(0s);
    server_.reset();
    PLIM_CO_CHECK(listen());
  }
  const FileId kubelet = file_id(kubelet_);
  if (kubelet == FileId{})
    co_return fail(Code::unavailable, fmt::format("{} does not exist", kubelet_));
  node::PluginRegistration registration{.version = std::string(node::kDevicePluginVersion),
                                        .endpoint = socket_.substr(socket_.rfind('/') + 1),
                                        .resource = options_.resource,
                                        .options = {.pre_start = false, .preferred = true}};
  auto channel = net::Channel::unix_socket(loop_, kubelet_);
  std::string request = node::encode_registration(registration);
  const net::RpcReply reply =
      co_await channel->call("/v1beta1.Registration/Register", std::move(request), kRegisterLimit);
  if (!reply.status.ok()) co_return reply.status.to_error();
  registered_ = true;
  registered_at_ = clock_.steady();
  kubelet_file_ = kubelet;
  log::info("pools", "registered", {{"resource", options_.resource}});
  co_return Result<void>();
}

Result<void> Endpoint::listen() {
  PLIM_TRY(server_, net::RpcServer::listen(loop_, socket_, 0600));
  own_file_ = file_id(socket_);
  const std::string service(kService);
  server_->unary(service + "GetDevicePluginOptions", [](net::RpcCall&, const std::string&) {
    const node::PluginOptions told{.pre_start = false, .preferred = true};
    return answer({.body = node::encode_plugin_options(told)});
  });
  server_->streaming(service + "ListAndWatch", [this](net::RpcCall& call, const std::string&) {
    return list_and_watch(call);
  });
  server_->unary(service + "GetPreferredAllocation",
                 [this](net::RpcCall&, const std::string& body) { return answer(prefer(body)); });
  server_->unary(service + "Allocate",
                 [this](net::RpcCall&, const std::string& body) { return answer(allocate(body)); });
  server_->unary(service + "PreStartContainer",
                 [](net::RpcCall&, const std::string&) { return answer({}); });
  return {};
}

Task<net::RpcReply> Endpoint::answer(net::RpcReply reply) {
  co_return reply;
}

Task<net::RpcStatus> Endpoint::list_and_watch(net::RpcCall& call) {
  const Watching counted(watchers_, wake_);
  std::vector<node::Device> sent;
  std::string sent_key;
  for (bool first = true;; first = false) {
    std::string key = shared_list_key(state_, pool());
    const bool same_key = !first && !key.empty() && key == sent_key;
    std::vector<node::Device> now;
    if (!same_key) now = devices_of(state_, pool());
    if (same_key || (!first && key.empty() && now == sent)) {
      co_await changed_.wait();
      continue;
    }
    std::string message = node::encode_devices(now);
    sent_key = std::move(key);
    sent = sent_key.empty() ? std::move(now) : std::vector<node::Device>();
    const bool goes_on = co_await call.write(std::move(message));
    if (!goes_on) co_return net::RpcStatus();
  }
}

// All containers of the request get their devices, or none does.
Result<std::vector<node::DeviceGrants>> Endpoint::grant(const std::string& body, SteadyTime now) {
  PLIM_TRY(const auto containers, node::decode_allocate_requests(body));
  const std::string name = pool();
  node::DeviceIds all;
  for (const node::DeviceIds& ids : containers) all.insert(all.end(), ids.begin(), ids.end());
  PLIM_CHECK(state_.allocate(name, all, now));
  const Pool& pool = *state_.pools().find(name);
  std::vector<node::DeviceGrants> out;
  for (const node::DeviceIds& ids : containers) {
    // The variables name the whole shared pool: CPUs that others still hold join it later.
    CpuSet cpus = pool.type == PoolType::shared ? pool.cpus : CpuSet();
    if (pool.type == PoolType::exclusive)
      for (const std::string& id : ids) cpus |= pool.granted(*cpu_of_id(id), state_.topology());
    node::DeviceGrants grants = grants_of(pool, cpus, state_.topology(), options_.format);
    if (!options_.starter.empty()) grants.mounts = {{options_.starter, options_.starter, true}};
    out.push_back(std::move(grants));
  }
  return out;
}

net::RpcReply Endpoint::allocate(const std::string& body) {
  const SteadyTime began = clock_.steady();
  const auto grants = grant(body, began);
  if (hooks_.on_allocate) hooks_.on_allocate(pool(), clock_.steady() - began, grants.has_value());
  if (!grants) {
    log::warn("pools", "rejected an allocation", {{"pool", pool()}, {"error", grants.error()}});
    return refuse(grants.error());
  }
  return {.body = node::encode_allocate_all(*grants)};
}

net::RpcReply Endpoint::prefer(const std::string& body) const {
  auto requests = node::decode_preferred_requests(body);
  if (!requests) return refuse(requests.error());
  std::vector<node::DeviceIds> out;
  for (const node::PreferredRequest& request : *requests)
    out.push_back(preferred_devices(state_, pool(), request));
  return {.body = node::encode_preferred_all(out)};
}

}  // namespace plim::pools
