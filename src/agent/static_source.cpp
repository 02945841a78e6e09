#include <algorithm>

#include <fmt/format.h>

#include "agent/task_source.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "node/cgroup_files.hpp"

namespace plim::agent {
namespace {

constexpr std::chrono::minutes kWarnAgain{1};

class StaticSource final : public TaskSource {
 public:
  StaticSource(const StaticNodeConfig& config, const node::CgroupMounts& mounts, Clock& clock)
      : config_(config), mounts_(mounts), clock_(clock) {}

  // Searches for directories only when something may have changed: a search costs as much as a
  // measurement.
  Task<void> prepare(bool vanished) override {
    if (listed_ && complete_ && !vanished && !config_.require_pids && config_.directory.empty())
      co_return;
    std::vector<NodeTask> found;
    complete_ = true;
    for (const std::string& name : names()) {
      NodeTask task = make(name);
      if (is_there(task))
        found.push_back(std::move(task));
      else
        complete_ = false;
    }
    if (listed_ && *listed_ == found) co_return;
    listed_ = std::make_shared<const std::vector<NodeTask>>(std::move(found));
  }

  TaskList tasks() const override { return listed_; }

 private:
  std::vector<std::string> names() const {
    std::vector<std::string> out = config_.tasks;
    if (config_.directory.empty()) return out;
    const std::string_view trimmed = std::string_view(config_.directory);
    const std::string parent(
        trimmed.substr(std::min(trimmed.find_first_not_of('/'), trimmed.size())));
    std::vector<std::string> children;
    for (const std::string& path : node::child_directories(mounts_.memory.directory + "/" + parent))
      children.push_back(fmt::format("{}/{}", parent, path.substr(path.rfind('/') + 1)));
    std::ranges::sort(children);
    out.insert(out.end(), children.begin(), children.end());
    return out;
  }

  NodeTask make(const std::string& name) const {
    NodeTask out{
        .id = name, .name = name, .cgroup_path = name.starts_with('/') ? name : "/" + name};
    out.labels = config_.default_labels;
    if (auto own = config_.task_labels.find(name); own != config_.task_labels.end())
      for (const auto& [key, value] : own->second) out.labels[key] = value;
    out.labels["task_id"] = name;
    out.labels["task_name"] = name;
    out.resources = config_.default_resources;
    return out;
  }

  bool is_there(const NodeTask& task) {
    const bool exists = mounts_.exists(task.cgroup_path);
    if (exists && (!config_.require_pids || has_processes(task))) return true;
    if (exists) return false;
    auto [last, first_time] = warned_.try_emplace(task.id, clock_.steady());
    if (first_time || clock_.steady() - last->second >= kWarnAgain) {
      last->second = clock_.steady();
      log::warn("node", "the cgroup does not exist in every hierarchy that is needed",
                {{"task", task.name}});
    }
    return false;
  }

  bool has_processes(const NodeTask& task) const {
    const auto& place = mounts_.memory;
    auto text =
        read_file(place.directory + task.cgroup_path + (place.v2 ? "/cgroup.procs" : "/tasks"));
    return text && !trim(*text).empty();
  }

  StaticNodeConfig config_;
  const node::CgroupMounts& mounts_;
  Clock& clock_;
  TaskList listed_;
  bool complete_ = false;
  std::map<std::string, SteadyTime> warned_;
};

}  // namespace

const std::map<std::string, std::uint64_t>& TaskSource::errors() const {
  static const std::map<std::string, std::uint64_t> none;
  return none;
}

std::unique_ptr<TaskSource> make_static_source(const StaticNodeConfig& config,
                                               const node::CgroupMounts& mounts, Clock& clock) {
  return std::make_unique<StaticSource>(config, mounts, clock);
}

}  // namespace plim::agent
