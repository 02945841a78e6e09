// One process node with everything around it: cgroups, images, devices, its kubelet port.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "local/cluster/mirror_pods.hpp"
#include "local/images/image_catalog.hpp"
#include "local/images/images.hpp"
#include "local/kubelet/nodes/cgroups.hpp"
#include "local/kubelet/nodes/cri_server.hpp"
#include "local/kubelet/nodes/device_manager.hpp"
#include "local/kubelet/nodes/kubelet_pods.hpp"
#include "local/kubelet/nodes/kubelet_server.hpp"
#include "local/kubelet/runtime/local_node.hpp"
#include "net/tls.hpp"

namespace plim::local::cluster {

struct ProcessNodeOptions {
  kubelet::NodeOptions node;
  std::string cluster;      // part of the names of its cgroups
  std::string kubelet_dir;  // sockets of device plugins and the like
  std::string cpus = {};    // "0-3"; "": all of the machine
  kubelet::CgroupDriver cgroup_driver = kubelet::CgroupDriver::cgroupfs;
  images::PullOptions pulls = {};
  std::shared_ptr<const images::ImageCatalog> catalog;
  kubelet::ProcessEvents* process_events = nullptr;
  net::ServerTls tls;
  kubelet::KubeletAccess access;
  MirrorPods* mirrors = nullptr;  // it serves their logs too; outlives it
};

// Lets the parts around a node see its pods; created before the node and destroyed after it.
class PodsOfNode final : public kubelet::KubeletPods {
 public:
  explicit PodsOfNode(MirrorPods* mirrors) : mirrors_(mirrors) {}

  void set(const kubelet::LocalNode* node) { node_ = node; }

  std::vector<json::value> pods() const override;
  std::vector<kubelet::ContainerRun> runs() const override;
  std::vector<int> processes(const std::string& pod_uid,
                             const std::string& container) const override;
  Task<Result<void>> read_log(std::string ns, std::string pod, std::string container,
                              kubelet::LogOptions options,
                              std::function<bool(std::string)> write) override;

 private:
  MirrorPods* mirrors_;
  const kubelet::LocalNode* node_ = nullptr;
};

// Belongs to one loop; co_await stop() before destroying it.
class ProcessNode {
 public:
  ProcessNode(Executor loop, Clock& clock, std::shared_ptr<kube::Client> client,
              ProcessNodeOptions options);

  // Completes when the node is Ready.
  Task<Result<void>> start();

  enum class Pods {
    end,    // with their grace period; nothing of the node is left
    pause,  // likewise, but its next start starts them again
    leave,  // processes keep running, for the next start of this node
  };

  Task<void> stop(Pods pods);

  const std::string& name() const { return options_.node.name; }

  int index() const { return options_.node.index; }

  // Only while the node is started.
  const kubelet::LocalNode& node() const { return *node_; }

  images::NodeImages& images() { return *images_; }

  const kubelet::NodeCgroups& cgroups() const { return *cgroups_; }

  const std::string& kubelet_dir() const { return options_.kubelet_dir; }

  std::uint16_t kubelet_port() const { return kubelet_->port(); }

  const node::NodeUsage& usage() { return kubelet_->usage().sample(); }

  bool running() const { return running_; }

 private:
  Executor loop_;
  Clock& clock_;
  std::shared_ptr<kube::Client> client_;
  ProcessNodeOptions options_;
  bool running_ = false;

  std::unique_ptr<kubelet::NodeCgroups> cgroups_;
  std::unique_ptr<images::NodeImages> images_;
  PodsOfNode pods_;
  std::unique_ptr<kubelet::DeviceManager> devices_;
  std::unique_ptr<kubelet::CriServer> cri_;
  std::unique_ptr<kubelet::KubeletServer> kubelet_;
  std::unique_ptr<kubelet::LocalNode> node_;
};

}  // namespace plim::local::cluster
