#include "local/kubelet/nodes/device_manager.hpp"

#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/event.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "kube/paths.hpp"
#include "local/kubelet/nodes/device_choice.hpp"
#include "local/kubelet/nodes/device_ledger.hpp"
#include "local/kubelet/nodes/device_plugin.hpp"
#include "local/kubelet/nodes/pod_resources_service.hpp"
#include "net/rpc.hpp"
#include "node/cgroup_names.hpp"

namespace plim::local::kubelet {
namespace {

constexpr std::size_t kMaxSocketPath = 107;
constexpr Nanos kCapacityKept = std::chrono::minutes(5);
constexpr std::string_view kCheckpoint = "kubelet_internal_checkpoint";
// What a kubelet without the static policy writes, including the checksum.
constexpr std::string_view kCpuManagerState =
    R"({"policyName":"none","defaultCpuSet":"","checksum":1353318690})";

Result<void> check_socket_path(const std::string& path) {
  if (path.size() <= kMaxSocketPath) return {};
  return fail(Code::invalid,
              fmt::format("socket path {} has {} bytes, a unix socket's may have {}: choose a "
                          "shorter run directory",
                          path, path.size(), kMaxSocketPath));
}

net::RpcReply refusal(const Error& error) {
  const auto code =
      error.code == Code::not_found ? net::RpcCode::not_found : net::RpcCode::invalid_argument;
  return {.status = {code, error.message}};
}

class PluginManager final : public DeviceManager {
 public:
  PluginManager(const Executor& loop, Clock& clock, DeviceManagerOptions options)
      : loop_(loop), clock_(clock), options_(std::move(options)), idle_(loop), tasks_(loop) {}

  Result<void> open() {
    const std::string registration = plugin_dir() + "/kubelet.sock";
    const std::string resources = options_.kubelet_dir + "/pod-resources/kubelet.sock";
    PLIM_CHECK(check_socket_path(registration));
    PLIM_CHECK(check_socket_path(resources));
    PLIM_CHECK(make_directories(plugin_dir(), 0750));
    PLIM_CHECK(make_directories(options_.kubelet_dir + "/pod-resources", 0750));
    PLIM_CHECK(write_file(options_.kubelet_dir + "/cpu_manager_state", kCpuManagerState,
                          {.mode = 0600, .sync = false}));
    remove_sockets();
    load_checkpoint();
    PLIM_TRY(registration_, net::RpcServer::listen(loop_, registration));
    registration_->unary("/v1beta1.Registration/Register", [this](net::RpcCall&, std::string body) {
      return register_plugin(std::move(body));
    });
    PLIM_TRY(pod_resources_, net::RpcServer::listen(loop_, resources));
    serve_pod_resources();
    return {};
  }

  Task<void> stop() override {
    co_await tasks_.stop();
    co_await registration_->drain(net::RpcClock::duration::zero());
    co_await pod_resources_->drain(net::RpcClock::duration::zero());
  }

  Task<Result<void>> allocate(json::value pod) override {
    // One pod at a time: while a plugin answers, another pod must not take the same devices.
    while (busy_) co_await idle_.wait();
    const Busy busy(*this);
    const std::string uid(kube::text_at(pod, "Pod.metadata.uid"));
    std::map<std::string, DeviceIds> passed_on;  // by resource
    for (const DeviceNeed& need : device_needs(pod)) {
      if (!ledger_.knows(need.resource)) continue;  // not a resource of a plugin
      DeviceIds& inherited = passed_on[need.resource];
      const Holding* before = ledger_.find(uid, need.container, need.resource);
      if (!before) {
        auto allocated = co_await allocate_one(uid, need, inherited);
        if (!allocated) {
          release(uid);
          co_return allocated;
        }
      }
      const DeviceIds ids = ledger_.find(uid, need.container, need.resource)->ids();
      std::erase_if(inherited,
                    [&](const std::string& id) { return std::ranges::count(ids, id) > 0; });
      if (need.passed_on) inherited.insert(inherited.end(), ids.begin(), ids.end());
    }
    co_return Result<void>();
  }

  Task<Result<DeviceGrants>> prepare(json::value pod, std::string container) override {
    const std::string uid(kube::text_at(pod, "Pod.metadata.uid"));
    DeviceGrants out;
    std::vector<Holding> holdings;  // copies: the ledger may change during the calls to plugins
    for (const Holding* holding : ledger_.held_by(uid, container)) holdings.push_back(*holding);
    for (const Holding& holding : holdings) {
      auto plugin = plugins_.find(holding.resource);
      if (plugin != plugins_.end() && plugin->second.plugin->options().pre_start) {
        const std::shared_ptr<DevicePlugin> asked = plugin->second.plugin;
        auto told = co_await asked->pre_start(holding.ids());
        if (!told) co_return told.error().with_context(holding.resource);
      }
      PLIM_CO_TRY(DeviceGrants grants, node::decode_grants(holding.response));
      for (auto& pair : grants.env) out.env.push_back(std::move(pair));
      for (auto& pair : grants.annotations) out.annotations.push_back(std::move(pair));
      for (auto& mount : grants.mounts) out.mounts.push_back(std::move(mount));
      for (auto& device : grants.devices) out.devices.push_back(std::move(device));
      for (auto& name : grants.cdi_devices) out.cdi_devices.push_back(std::move(name));
    }
    co_return out;
  }

  void release(const std::string& pod_uid) override {
    ledger_.release(pod_uid);
    save_checkpoint();
  }

  void keep_only(const std::vector<std::string>& pod_uids) override {
    if (ledger_.keep_only({pod_uids.begin(), pod_uids.end()})) save_checkpoint();
  }

  std::vector<DeviceCount> counts() const override { return ledger_.counts(); }

  void on_change(std::function<void()> callback) override { callback_ = std::move(callback); }

 private:
  struct Registered {
    std::shared_ptr<DevicePlugin> plugin;
    TaskGroup::Handle task;
  };

  class Busy {
   public:
    explicit Busy(PluginManager& manager) : manager_(manager) { manager_.busy_ = true; }

    ~Busy() {
      manager_.busy_ = false;
      manager_.idle_.notify();
    }

    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    PluginManager& manager_;
  };

  std::string plugin_dir() const { return options_.kubelet_dir + "/device-plugins"; }

  // Removes the sockets of all plugins. Running plugins notice it and register again.
  void remove_sockets() {
    std::error_code problem;
    std::vector<std::filesystem::path> sockets;
    for (const auto& entry : std::filesystem::directory_iterator(plugin_dir(), problem))
      if (entry.is_socket(problem)) sockets.push_back(entry.path());
    for (const auto& socket : sockets) std::filesystem::remove(socket, problem);
  }

  void load_checkpoint() {
    const std::string path = fmt::format("{}/{}", plugin_dir(), kCheckpoint);
    auto text = read_file(path);
    if (!text) return;
    auto parsed = parse_json(*text, path);
    auto restored = parsed ? ledger_.restore(*parsed) : Result<void>(parsed.error());
    // Running pods keep their devices in fact. Losing the record is better than not starting.
    if (!restored)
      log::error("local", "cannot read the device allocations",
                 {{"file", path}, {"error", restored.error()}});
  }

  void save_checkpoint() {
    const std::string path = fmt::format("{}/{}", plugin_dir(), kCheckpoint);
    auto saved = write_file(path, to_json(ledger_.checkpoint()), {.mode = 0600, .sync = false});
    if (!saved)
      log_.write(log::Level::error, "local", "cannot write the device allocations",
                 {{"error", saved.error()}});
  }

  Task<net::RpcReply> register_plugin(std::string body) {
    auto registration = node::decode_registration(body);
    if (!registration) co_return refusal(registration.error());
    auto accepted = accept(std::move(*registration));
    if (!accepted) {
      log::warn("local", "rejected a device plugin", {{"error", accepted.error()}});
      co_return refusal(accepted.error());
    }
    co_return net::RpcReply();
  }

  Result<void> accept(PluginRegistration registration) {
    if (registration.version != node::kDevicePluginVersion)
      return fail(Code::invalid,
                  fmt::format("device plugin API {} is not supported, only {}",
                              quote(registration.version), node::kDevicePluginVersion));
    PLIM_CHECK(check_extended_resource(registration.resource));
    if (!node::is_path_part(registration.endpoint))
      return fail(Code::invalid,
                  fmt::format("endpoint {} is not a file name", quote(registration.endpoint)));
    std::string socket = fmt::format("{}/{}", plugin_dir(), registration.endpoint);
    PLIM_CHECK(check_socket_path(socket));
    auto plugin =
        std::make_shared<DevicePlugin>(loop_, clock_, std::move(socket), registration.options);
    Registered& place = plugins_[registration.resource];
    place.task.cancel();
    place.plugin = plugin;
    place.task = tasks_.spawn("device plugin", follow(registration.resource, std::move(plugin)));
    log::info("local", "device plugin registered", {{"resource", registration.resource}});
    return {};
  }

  Task<void> follow(std::string resource, std::shared_ptr<DevicePlugin> plugin) {
    std::function<void(std::vector<Device>)> report = [this,
                                                       resource](std::vector<Device> devices) {
      ledger_.set_devices(resource, std::move(devices));
      ledger_.set_connected(resource, true);
      changed();
    };
    const Error why = co_await plugin->follow(std::move(report));
    log::warn("local", "device plugin is gone", {{"resource", resource}, {"error", why}});
    ledger_.set_connected(resource, false);
    changed();
    // It may only be restarting, and the node's capacity should not flicker.
    co_await clock_.sleep(kCapacityKept);
    ledger_.drop_devices(resource);
    plugins_.erase(resource);
    changed();
  }

  void changed() {
    save_checkpoint();
    if (callback_) callback_();
  }

  Task<Result<void>> allocate_one(std::string uid, DeviceNeed need, DeviceIds inherited) {
    auto registered = plugins_.find(need.resource);
    if (registered == plugins_.end() || !ledger_.is_connected(need.resource))
      co_return fail(Code::unavailable,
                     fmt::format("the device plugin of {} is not registered", need.resource));
    const std::shared_ptr<DevicePlugin> plugin = registered->second.plugin;
    const auto count = static_cast<std::size_t>(need.count);
    DeviceIds free = ledger_.free(need.resource);
    free.insert(free.end(), inherited.begin(), inherited.end());
    if (free.size() < count)
      co_return fail(Code::unavailable,
                     fmt::format("container {} needs {} of {}, {} are free", need.container, count,
                                 need.resource, free.size()));
    if (inherited.size() > count) inherited.resize(count);
    DeviceIds preferred;
    if (plugin->options().preferred && free.size() > count) {
      PreferredRequest request{.available = free, .must_include = inherited, .size = need.count};
      auto answer = co_await plugin->prefer(std::move(request));
      if (!answer) co_return answer.error().with_context(need.resource);
      preferred = std::move(*answer);
    }
    const DeviceIds chosen = choose_devices(free, inherited, preferred, count);
    auto response = co_await plugin->allocate(chosen);
    if (!response) co_return response.error().with_context(need.resource);
    auto readable = node::decode_grants(*response);
    if (!readable) co_return readable.error();
    ledger_.hold(std::move(uid), std::move(need.container), std::move(need.resource), chosen,
                 std::move(*response));
    save_checkpoint();
    co_return Result<void>();
  }

  std::vector<json::value> pods() const {
    return options_.pods ? options_.pods() : std::vector<json::value>();
  }

  void serve_pod_resources() {
    const std::string service = "/v1.PodResourcesLister/";
    pod_resources_->unary(service + "List", [this](net::RpcCall&, std::string) {
      return answer({.body = encode_list_pod_resources(pods(), ledger_)});
    });
    pod_resources_->unary(service + "GetAllocatableResources", [this](net::RpcCall&, std::string) {
      return answer({.body = encode_allocatable(ledger_)});
    });
    pod_resources_->unary(service + "Get", [this](net::RpcCall&, std::string body) {
      return answer(get_pod_resources(body));
    });
  }

  static Task<net::RpcReply> answer(net::RpcReply reply) { co_return reply; }

  net::RpcReply get_pod_resources(const std::string& body) const {
    auto wanted = decode_get_pod_resources(body);
    if (!wanted) return refusal(wanted.error());
    for (const json::value& pod : pods())
      if (kube::text_at(pod, "Pod.metadata.name") == wanted->name &&
          kube::text_at(pod, "Pod.metadata.namespace") == wanted->ns)
        return {.body = encode_get_pod_resources(pod, ledger_)};
    return refusal(
        fail(Code::not_found, fmt::format("no pod {}/{} on this node", wanted->ns, wanted->name)));
  }

  Executor loop_;
  Clock& clock_;
  DeviceManagerOptions options_;
  DeviceLedger ledger_;
  std::map<std::string, Registered> plugins_;  // by resource
  std::unique_ptr<net::RpcServer> registration_, pod_resources_;
  std::function<void()> callback_;
  bool busy_ = false;
  Event idle_;
  log::Throttle log_;
  TaskGroup tasks_;
};

}  // namespace

Result<std::unique_ptr<DeviceManager>> DeviceManager::start(Executor loop, Clock& clock,
                                                            DeviceManagerOptions options) {
  auto out = std::make_unique<PluginManager>(loop, clock, std::move(options));
  PLIM_CHECK(out->open());
  return out;
}

}  // namespace plim::local::kubelet
