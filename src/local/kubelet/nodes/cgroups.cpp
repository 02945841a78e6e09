#include "local/kubelet/nodes/cgroups.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/text.hpp"
#include "kube/paths.hpp"
#include "local/kubelet/nodes/pod_limits.hpp"

namespace plim::local::kubelet {
namespace {

using node::CgroupLimits;
using node::CgroupTree;
using node::Qos;

// "containerd://c0ffee" is the cgroup of c0ffee.
std::string_view bare_id(std::string_view container_id) {
  const std::size_t scheme = container_id.find("://");
  return scheme == container_id.npos ? container_id : container_id.substr(scheme + 3);
}

class NoCgroups final : public NodeCgroups {
 public:
  NoCgroups(CgroupDriver driver, std::string root, std::string why)
      : driver_(driver), root_(std::move(root)), why_(std::move(why)) {}

  bool available() const override { return false; }

  std::string why_not() const override { return why_; }

  CgroupDriver driver() const override { return driver_; }

  std::string root() const override { return root_; }

  Result<void> make_pod(const json::value&) override { return {}; }

  Result<void> make_container(const json::value&, std::string, std::string) override { return {}; }

  std::vector<std::string> procs_files(const json::value&, std::string) const override {
    return {};
  }

  std::optional<CgroupUsage> usage(const json::value&, std::string) const override { return {}; }

  std::vector<int> processes(const json::value&, std::string) const override { return {}; }

  void kill(const json::value&, std::string) override {}

  Result<void> remove_pod(const json::value&) override { return {}; }

  Result<void> remove_node() override { return {}; }

 private:
  CgroupDriver driver_;
  std::string root_, why_;
};

class KubeletTree final : public NodeCgroups {
 public:
  KubeletTree(CgroupOptions options, CgroupTree cluster, CgroupTree node)
      : options_(std::move(options)), cluster_(std::move(cluster)), node_(std::move(node)) {}

  Result<void> start() {
    PLIM_CHECK(node_.apply({.cpus = options_.cpus}));
    PLIM_TRY(CgroupTree pods, node_.make_below(qos_path(Qos::guaranteed)));
    CgroupLimits limits;
    if (options_.milli_cpu > 0) limits.shares = node::shares_of(options_.milli_cpu);
    if (options_.memory_bytes > 0) limits.memory = options_.memory_bytes;
    PLIM_CHECK(pods.apply(limits));
    for (Qos qos : {Qos::burstable, Qos::best_effort}) PLIM_CHECK(node_.make_below(qos_path(qos)));
    return write_qos_shares();
  }

  bool available() const override { return true; }

  std::string why_not() const override { return ""; }

  CgroupDriver driver() const override { return options_.driver; }

  std::string root() const override { return node_.path(); }

  Result<void> make_pod(const json::value& pod) override {
    remove_dying();
    PLIM_TRY(std::string path, pod_path(pod));
    PLIM_TRY(CgroupTree tree, node_.make_below(path));
    CgroupLimits limits = pod_limits(pod);
    if (options_.pids_per_pod > 0) limits.pids = options_.pids_per_pod;
    PLIM_CHECK(tree.apply(limits));
    const std::int64_t milli = pod_amount(pod, "requests", "cpu").milli_value();
    pods_.insert_or_assign(std::move(path), Pod{qos_of(pod), milli});
    return write_qos_shares();
  }

  Result<void> make_container(const json::value& pod, std::string container,
                              std::string container_id) override {
    remove_dying();
    PLIM_TRY(std::string path, container_path(pod, container_id));
    const json::value* spec = find_container(pod, container);
    if (!spec)
      return fail(Code::not_found, fmt::format("the pod has no container {}", quote(container)));
    PLIM_TRY(CgroupTree tree, node_.make_below(path));
    return tree.apply(container_limits(*spec));
  }

  std::vector<std::string> procs_files(const json::value& pod,
                                       std::string container_id) const override {
    auto path = container_path(pod, container_id);
    return path ? node_.below(*path).procs_files() : std::vector<std::string>();
  }

  std::optional<CgroupUsage> usage(const json::value& pod,
                                   std::string container_id) const override {
    auto path = container_path(pod, container_id);
    return path ? node_.below(*path).usage() : std::nullopt;
  }

  std::vector<int> processes(const json::value& pod, std::string container_id) const override {
    auto path = container_path(pod, container_id);
    return path ? node_.below(*path).processes() : std::vector<int>();
  }

  void kill(const json::value& pod, std::string container_id) override {
    auto path = container_path(pod, container_id);
    if (!path) return;
    CgroupTree tree = node_.below(*path);
    tree.kill();
    if (!container_id.empty()) dying_.push_back(std::move(tree));
    remove_dying();
  }

  Result<void> remove_pod(const json::value& pod) override {
    PLIM_TRY(std::string path, pod_path(pod));
    PLIM_CHECK(node_.below(path).remove());
    remove_dying();
    if (pods_.erase(path) == 0) return {};
    return write_qos_shares();
  }

  Result<void> remove_node() override {
    node_.kill();
    PLIM_CHECK(node_.remove());
    pods_.clear();
    dying_.clear();
    // Fails while other nodes have cgroups below it.
    static_cast<void>(cluster_.remove_own());
    return {};
  }

 private:
  struct Pod {
    Qos qos;
    std::int64_t milli_cpu;
  };

  std::string qos_path(Qos qos) const { return node::qos_cgroup(options_.driver, qos); }

  Result<std::string> pod_path(const json::value& pod) const {
    const std::string_view uid = kube::text_at(pod, "Pod.metadata.uid");
    if (!node::is_path_part(uid))
      return fail(Code::invalid, fmt::format("{} is not the uid of a pod", quote(uid)));
    return node::pod_cgroup(options_.driver, qos_of(pod), uid);
  }

  Result<std::string> container_path(const json::value& pod, std::string_view container_id) const {
    PLIM_TRY(std::string path, pod_path(pod));
    if (container_id.empty()) return path;
    const std::string_view id = bare_id(container_id);
    if (!node::is_path_part(id))
      return fail(Code::invalid, fmt::format("{} is not a container id", quote(container_id)));
    return fmt::format("{}/{}", path, node::container_cgroup(options_.driver, id));
  }

  // Burstable pods together get the shares of their requests, best-effort pods the minimum.
  Result<void> write_qos_shares() {
    std::int64_t burstable = 0;
    for (const auto& [path, pod] : pods_)
      if (pod.qos == Qos::burstable) burstable += pod.milli_cpu;
    PLIM_CHECK(node_.below(qos_path(Qos::burstable)).apply({.shares = node::shares_of(burstable)}));
    return node_.below(qos_path(Qos::best_effort)).apply({.shares = node::kMinShares});
  }

  // SIGKILL takes some time, so the directories of ended containers are removed on later calls.
  void remove_dying() {
    std::erase_if(dying_, [](const CgroupTree& tree) { return tree.remove().has_value(); });
  }

  CgroupOptions options_;
  CgroupTree cluster_, node_;
  std::map<std::string, Pod> pods_;  // by path
  std::vector<CgroupTree> dying_;
};

}  // namespace

std::unique_ptr<NodeCgroups> open_node_cgroups(const CgroupOptions& options) {
  const std::string name = fmt::format("plimsoll-{}", options.cluster);
  auto refuse = [&](const Error& error) -> std::unique_ptr<NodeCgroups> {
    log::warn("local", "pods run without cgroups", {{"node", options.node}, {"error", error}});
    return std::make_unique<NoCgroups>(options.driver, fmt::format("/{}/{}", name, options.node),
                                       error.message);
  };
  auto cluster = CgroupTree::make_below_own(options.host_root, name);
  if (!cluster) return refuse(cluster.error());
  auto tree = cluster->make_below(options.node);
  if (!tree) return refuse(tree.error());
  auto out = std::make_unique<KubeletTree>(options, std::move(*cluster), std::move(*tree));
  if (auto started = out->start(); !started) return refuse(started.error());
  return out;
}

}  // namespace plim::local::kubelet
