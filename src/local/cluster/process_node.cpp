#include "local/cluster/process_node.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/log.hpp"
#include "local/cluster/leftovers.hpp"
#include "local/kubelet/runtime/pod_addresses.hpp"

namespace plim::local::cluster {
namespace {

using namespace std::chrono_literals;

// As ClusterDirectories::runtime_socket(). Pods see its directory as /run/containerd.
constexpr std::string_view kRuntimeSocket = "/containerd/containerd.sock";
constexpr int kKubeletPort = 10'250;
// Killed processes need a moment before their cgroups are empty.
constexpr int kRemoveTries = 50;
constexpr Nanos kBetweenTries = 20ms;
constexpr WriteOptions kMayVanish{.mode = 0600, .sync = false};

}  // namespace

std::vector<json::value> PodsOfNode::pods() const {
  return node_ ? node_->pods() : std::vector<json::value>();
}

std::vector<kubelet::ContainerRun> PodsOfNode::runs() const {
  return node_ ? node_->runs() : std::vector<kubelet::ContainerRun>();
}

std::vector<int> PodsOfNode::processes(const std::string& pod_uid,
                                       const std::string& container) const {
  return node_ ? node_->processes(pod_uid, container) : std::vector<int>();
}

Task<Result<void>> PodsOfNode::read_log(std::string ns, std::string pod, std::string container,
                                        kubelet::LogOptions options,
                                        std::function<bool(std::string)> write) {
  if (!node_) co_return fail(Code::unavailable, "the node is not running");
  if (mirrors_ != nullptr && mirrors_->has(ns, pod))
    co_return co_await mirrors_->read_log(std::move(pod), options, std::move(write));
  auto* node = const_cast<kubelet::LocalNode*>(node_);
  co_return co_await node->read_log(std::move(ns), std::move(pod), std::move(container), options,
                                    std::move(write));
}

ProcessNode::ProcessNode(Executor loop, Clock& clock, std::shared_ptr<kube::Client> client,
                         ProcessNodeOptions options)
    : loop_(std::move(loop)),
      clock_(clock),
      client_(std::move(client)),
      options_(std::move(options)),
      images_(make_node_images(loop_, clock_, options_.catalog, options_.pulls)),
      pods_(options_.mirrors) {
  if (!options_.catalog) return;
  for (const auto& image : options_.catalog->present_on(name()))
    (void)images_->load(image->name);  // cannot fail: the catalog has it
}

Task<Result<void>> ProcessNode::start() {
  kubelet::CgroupOptions held{
      .cluster = options_.cluster, .node = name(), .driver = options_.cgroup_driver};
  held.cpus = options_.cpus;
  held.milli_cpu = options_.node.milli_cpus;
  held.memory_bytes = options_.node.memory_bytes;
  cgroups_ = open_node_cgroups(held);
  kubelet::DeviceManagerOptions devices{.kubelet_dir = options_.kubelet_dir,
                                        .pods = [this] { return pods_.pods(); }};
  PLIM_CO_TRY(devices_, kubelet::DeviceManager::start(loop_, clock_, std::move(devices)));
  kubelet::CriServerOptions runtime{.socket = options_.kubelet_dir + std::string(kRuntimeSocket),
                                    .version = options_.node.version};
  PLIM_CO_CHECK(make_directories(runtime.socket.substr(0, runtime.socket.rfind('/')), 0755));
  PLIM_CO_TRY(cri_, kubelet::CriServer::start(loop_, clock_, std::move(runtime), *images_, pods_));
  if (cgroups_->available())
    PLIM_CO_CHECK(write_file(fmt::format("{}/{}", options_.kubelet_dir, kCgroupNote),
                             cgroups_->root(), kMayVanish));
  kubelet::NodeParts parts{
      loop_, client_, clock_, *images_, *cgroups_, *devices_, options_.process_events};
  // The Node object contains the port, so the server listens before the node is created.
  kubelet::KubeletServerOptions serving{
      .node = name(),
      .address = fmt::format("{}:{}", kubelet::PodAddresses(index()).node(), kKubeletPort),
      .tls = options_.tls,
      .access = options_.access};
  PLIM_CO_TRY(kubelet_, kubelet::KubeletServer::start(loop_, clock_, std::move(serving), pods_,
                                                      *cgroups_, *images_));
  kubelet::NodeOptions node = options_.node;
  node.kubelet_port = kubelet_->port();
  node.kubelet_dir = options_.kubelet_dir;
  node_ = kubelet::LocalNode::create(std::move(parts), std::move(node));
  pods_.set(node_.get());
  running_ = true;
  PLIM_CO_CHECK(co_await node_->start());
  co_return Result<void>();
}

Task<void> ProcessNode::stop(Pods pods) {
  running_ = false;
  const kubelet::Shutdown kind =
      pods == Pods::end ? kubelet::Shutdown::for_good : kubelet::Shutdown::until_restart;
  if (node_ && pods != Pods::leave) co_await node_->end_pods(kind);
  if (kubelet_) co_await kubelet_->stop();
  if (node_) co_await node_->stop();
  if (devices_) co_await devices_->stop();
  if (cri_) co_await cri_->stop();
  if (cgroups_ && pods != Pods::leave) {
    Result<void> removed = cgroups_->remove_node();
    for (int i = 0; i < kRemoveTries && !removed && removed.error().code == Code::conflict; ++i) {
      co_await clock_.sleep(kBetweenTries);
      removed = cgroups_->remove_node();
    }
    if (!removed)
      log::warn("up", "cannot remove the cgroups of a node",
                {{"node", name()}, {"error", removed.error()}});
  }
  pods_.set(nullptr);
  node_.reset();
  kubelet_.reset();
  devices_.reset();
  cri_.reset();
}

}  // namespace plim::local::cluster
