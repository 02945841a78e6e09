// Roles that `plimsoll up` starts beside the cluster: child processes with the command lines that a
// real cluster would use, started again when they end, gone when the cluster goes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "local/cluster/cluster.hpp"

namespace plim::cli {

// What `up` was told about roles.
struct RoleSettings {
  std::string scheduler_config = {};  // a file; "": none
  std::optional<int> scheduler_v = {};
};

// What a role gets to see of the cluster when its command line is made.
struct RolePlace {
  const local::cluster::ClusterDirectories& directories;
  const std::string& kubeconfig;   // of an administrator
  json::value node;                // of roles that run once per node: an item of `node ls`
  std::vector<std::string> parts;  // the roles that are to be in this process
  std::string directory;           // for files of the roles, only ours
  const RoleSettings& settings;
  // The address with that port, or with the next free one.
  std::function<std::string(std::string host, int port)> free_address;
};

struct RoleLaunch {
  std::vector<std::string> words;         // after the program's name
  std::string url = {};                   // where it serves, for endpoints.json; "" for none
  std::vector<std::string> missing = {};  // parts that cannot be here
};

// A row of the table in role_table.cpp.
struct RoleRow {
  std::string_view name;  // "images", as in --roles
  // Roles of the same process are one child, with one pod that shows them.
  std::string_view process;
  bool per_node = false;
  Result<RoleLaunch> (*launch)(const RolePlace& place);
  // What it needs on the cluster before it starts, with the address that it was told; and what to
  // take away where an earlier `up` had the role and this one has not.
  Task<Result<void>> (*prepare)(std::shared_ptr<kube::Client> client, std::string url) = nullptr;
  Task<Result<void>> (*withdraw)(std::shared_ptr<kube::Client> client) = nullptr;
};

std::span<const RoleRow> role_rows();
// "agent,servo", "all" or "none".
Result<std::vector<const RoleRow*>> parse_roles(std::string_view text);
// The pod that shows it; `node` is an item of `node ls`.
local::cluster::MirrorPod role_pod(const RoleRow& row, const json::value& node,
                                   std::vector<std::string> words, std::string log_file);

// Belongs to the cluster's loop; co_await stop() before the cluster's own.
class RoleChildren {
 public:
  RoleChildren(Executor loop, Clock& clock, local::cluster::Cluster& cluster,
               const local::cluster::ClusterDirectories& directories,
               std::vector<const RoleRow*> rows, RoleSettings settings);
  ~RoleChildren();
  RoleChildren(const RoleChildren&) = delete;
  RoleChildren& operator=(const RoleChildren&) = delete;

  // Ends when what the roles need on the cluster is there: whoever uses the cluster from then on
  // finds, for example, a webhook that is not ready rather than none.
  Task<void> register_roles();
  // Installs our CRDs, unless there are no roles, and then starts them. Returns at once; nodes that
  // come and go later are noticed.
  void start();
  Task<void> stop();

 private:
  struct Child;

  std::vector<std::string> parts_of(const RoleRow& row) const;
  void arrange();
  Task<void> watch_nodes();
  Task<void> prepare_cluster();
  void show_elsewhere(const json::value& nodes);
  void show(Child& child, const std::vector<std::string>& words, const std::string& log_file);
  void renew(const std::string& name);
  Task<void> keep(std::shared_ptr<Child> child);
  Task<void> rest(std::shared_ptr<Child> child, Nanos pause);
  Task<void> end_process(std::shared_ptr<Child> child);
  Task<void> end(std::shared_ptr<Child> child);
  void write_endpoints();

  Executor loop_;
  Clock& clock_;
  local::cluster::Cluster& cluster_;
  local::cluster::ClusterDirectories directories_;
  std::vector<const RoleRow*> rows_;
  RoleSettings settings_;
  std::string program_;
  std::shared_ptr<kube::Client> client_;
  std::map<std::string, std::shared_ptr<Child>> children_;  // by process and node: "agent-n1"
  bool kinds_installed_ = false;
  Event progress_;
  TaskGroup tasks_, ending_;
};

// For main(): ends this process when the one that started it as a role has gone, however it went.
void end_with_parent();

}  // namespace plim::cli
