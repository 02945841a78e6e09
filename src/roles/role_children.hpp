// The roles that `plimsoll up` starts as child processes, with the command lines of a real cluster.
// A child is restarted when it ends, and stopped with the cluster.
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
#include "base/subprocess.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "local/cluster/cluster.hpp"

namespace plim::roles {

// Flags of `up` that concern roles.
struct RoleSettings {
  std::string scheduler_config = {};  // path; "": none
  bool config_is_on_node = false;     // the user may copy it there later
  std::optional<int> scheduler_v = {};
};

// What a role needs to know about the cluster to build its command line.
struct RolePlace {
  const local::cluster::ClusterDirectories& directories;
  const std::string& kubeconfig;   // of an administrator
  json::value node;                // for roles that run once per node: an item of `node ls`
  std::vector<std::string> parts;  // the roles to run in this process
  std::string directory;           // for files of the roles; nothing else writes there
  const RoleSettings& settings;
  // Reserves the address with this port, or with the next free one.
  std::function<std::string(std::string host, int port)> free_address;
};

struct RoleLaunch {
  std::vector<std::string> words;         // arguments of the program
  std::string url = {};                   // its address, for endpoints.json; "": it does not listen
  std::vector<std::string> missing = {};  // parts that cannot run here
};

// A row of the table in role_table.cpp.
struct RoleRow {
  std::string_view name;  // "images", as in --roles
  // Roles with the same process name are one child, and one pod represents them.
  std::string_view process;
  bool per_node = false;
  Result<RoleLaunch> (*launch)(const RolePlace& place);
  // prepare() creates what the role needs on the cluster before it starts; `url` is its address.
  // withdraw() deletes these objects if an earlier `up` had the role and this one does not.
  Task<Result<void>> (*prepare)(std::shared_ptr<kube::Client> client, std::string url) = nullptr;
  Task<Result<void>> (*withdraw)(std::shared_ptr<kube::Client> client) = nullptr;
};

std::span<const RoleRow> role_rows();
// "agent,servo", "all" or "none".
Result<std::vector<const RoleRow*>> parse_roles(std::string_view text);
// The mirror pod of a role; `node` is an item of `node ls`.
local::cluster::MirrorPod role_pod(const RoleRow& row, const json::value& node,
                                   std::vector<std::string> words, std::string log_file);

// Belongs to the cluster's loop; co_await stop() before the cluster stops.
class RoleChildren {
 public:
  RoleChildren(Executor loop, Clock& clock, local::cluster::Cluster& cluster,
               const local::cluster::ClusterDirectories& directories,
               std::vector<const RoleRow*> rows, RoleSettings settings);
  ~RoleChildren();
  RoleChildren(const RoleChildren&) = delete;
  RoleChildren& operator=(const RoleChildren&) = delete;

  // Returns when the objects that the roles need are on the cluster. From then on a client finds,
  // for example, a webhook that is not ready yet instead of no webhook.
  Task<void> register_roles();
  // Installs our CRDs, unless there are no roles, and then starts the roles. Returns at once. Nodes
  // may be added and removed later.
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
  std::string roles_directory() const;
  std::string log_of(const Child& child) const;
  Result<RoleLaunch> launch(Child& child);
  Task<bool> prepare(std::shared_ptr<Child> child);
  Task<Result<Exit>> run_process(std::shared_ptr<Child> child, std::vector<std::string> words);
  void report_end(const Child& child, const Result<Exit>& exit, Nanos pause);
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

// For main(): sends SIGTERM to this process when the parent that started it as a role ends for any
// reason.
void end_with_parent();

}  // namespace plim::roles
