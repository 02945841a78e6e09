#include "local/controllers/controllers.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "local/controllers/daemon_set.hpp"
#include "local/controllers/deployment.hpp"
#include "local/controllers/disruption.hpp"
#include "local/controllers/endpoints.hpp"
#include "local/controllers/garbage_collector.hpp"
#include "local/controllers/job.hpp"
#include "local/controllers/namespace_defaults.hpp"
#include "local/controllers/namespaces.hpp"
#include "local/controllers/node_lifecycle.hpp"
#include "local/controllers/pod_gc.hpp"
#include "local/controllers/replica_set.hpp"
#include "local/controllers/ttl_after_finished.hpp"

namespace plim::local::controllers {
namespace {

using Made = std::unique_ptr<Controller>;

template <class T>
Made make(const ControllerContext& context, const ControllersOptions&) {
  return std::make_unique<T>(context);
}

Made make_service_accounts(const ControllerContext& context, const ControllersOptions&) {
  return make_service_account_controller(context);
}

Made make_node_lifecycle(const ControllerContext& context, const ControllersOptions& options) {
  return std::make_unique<NodeLifecycleController>(context, options.node_grace_period);
}

Made make_root_ca(const ControllerContext& context, const ControllersOptions& options) {
  if (options.root_ca_pem.empty()) return nullptr;
  return make_root_ca_publisher(context, options.root_ca_pem);
}

struct ControllerRow {
  std::string_view name;
  std::string_view short_name;
  Made (*make)(const ControllerContext&, const ControllersOptions&);
};

constexpr std::array kControllers{
    ControllerRow{"daemonset-controller", "daemonset", make<DaemonSetController>},
    ControllerRow{"deployment-controller", "deployment", make<DeploymentController>},
    ControllerRow{"disruption-controller", "disruption", make<DisruptionController>},
    ControllerRow{"endpoints-controller", "endpoints", make<EndpointsController>},
    ControllerRow{"endpointslice-controller", "endpointslice", make<EndpointSliceController>},
    ControllerRow{"garbage-collector-controller", "garbagecollector", make<GarbageCollector>},
    ControllerRow{"job-controller", "job", make<JobController>},
    ControllerRow{"namespace-controller", "namespace", make<NamespaceController>},
    ControllerRow{"node-lifecycle-controller", "nodelifecycle", make_node_lifecycle},
    ControllerRow{"pod-garbage-collector-controller", "podgc", make<PodGarbageCollector>},
    ControllerRow{"replicaset-controller", "replicaset", make<ReplicaSetController>},
    ControllerRow{"root-ca-certificate-publisher-controller", "root-ca-cert-publisher",
                  make_root_ca},
    ControllerRow{"serviceaccount-controller", "serviceaccount", make_service_accounts},
    ControllerRow{"taint-eviction-controller", "taint-eviction", make<TaintEvictionController>},
    ControllerRow{"ttl-after-finished-controller", "ttl-after-finished",
                  make<TtlAfterFinishedController>},
};

const ControllerRow* find_row(std::string_view name) {
  for (const ControllerRow& entry : kControllers)
    if (entry.name == name || entry.short_name == name) return &entry;
  return nullptr;
}

}  // namespace

std::vector<std::string> controller_names() {
  std::vector<std::string> out;
  for (const ControllerRow& entry : kControllers) out.emplace_back(entry.name);
  return out;
}

Result<std::vector<std::string>> parse_controllers(std::string_view text) {
  if (text == "all") return controller_names();
  std::vector<std::string> out;
  if (text == "none" || text.empty()) return out;
  for (std::string_view item : split(text, ',')) {
    item = trim(item);
    if (item == "*") {
      out = controller_names();
      continue;
    }
    const bool without = item.starts_with('-');
    if (without) item.remove_prefix(1);
    const ControllerRow* entry = find_row(item);
    if (!entry) return fail(Code::invalid, fmt::format("there is no controller {}", quote(item)));
    std::erase(out, entry->name);
    if (!without) out.emplace_back(entry->name);
  }
  return out;
}

Controllers::Controllers(Executor loop, std::shared_ptr<kube::Client> client, Clock& clock,
                         ControllersOptions options)
    : informers_(loop, client, clock), tasks_(loop) {
  const ControllerContext context{loop, std::move(client), clock, informers_};
  for (const ControllerRow& entry : kControllers) {
    const auto& on = options.enabled;
    if (std::find(on.begin(), on.end(), entry.name) == on.end()) continue;
    if (Made made = entry.make(context, options)) controllers_.push_back(std::move(made));
  }
}

Controllers::~Controllers() = default;

void Controllers::start() {
  informers_.start();
  tasks_.spawn("controllers", begin());
}

Task<void> Controllers::begin() {
  co_await informers_.wait_synced();
  for (auto& controller : controllers_) controller->start();
  begun_ = true;
}

Task<void> Controllers::stop() {
  co_await tasks_.stop();
  co_await informers_.stop();
  for (auto& controller : controllers_) co_await controller->stop();
}

bool Controllers::idle() const {
  return begun_ && std::all_of(controllers_.begin(), controllers_.end(),
                               [](const auto& one) { return one->idle(); });
}

}  // namespace plim::local::controllers
