#include "cli/up_file.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "roles/scheduler_launch.hpp"
#include "sched/config.hpp"

namespace plim::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kControlPlane = "node-role.kubernetes.io/control-plane";
constexpr std::int64_t kHighestSchedulerV = 100;

tl::unexpected<Failure> bad_kind_file(const std::string& what) {
  return usage_failure(Plm::bad_flag_value, "--config: " + what);
}

// Resolves a path like kind, from the working directory. If the file does not exist there, from the
// directory of the configuration file.
std::string find_beside(const std::string& path, const std::string& file) {
  std::error_code ignored;
  const fs::path here = fs::absolute(path, ignored);
  if (fs::path(path).is_absolute() || fs::exists(here, ignored))
    return here.lexically_normal().string();
  return (fs::absolute(file, ignored).parent_path() / path).lexically_normal().string();
}

Outcome<void> check_scheduler_config(const Context& context, const std::string& path) {
  auto text = read_file(path);
  if (!text) return tl::unexpected(file_failure(Plm::cannot_read, text.error()));
  auto read = sched::read_configuration(*text, path);
  if (read) return {};
  const auto lines = split(read.error().message, '\n');
  if (lines.size() == 1)
    return tl::unexpected(
        Failure{.code = Plm::bad_scheduler_config, .exit = 2, .what = std::string(lines.front())});
  for (const std::string_view line : lines)
    (void)context.world.err.write(fmt::format("{}\n", line));
  return tl::unexpected(Failure{.code = Plm::bad_scheduler_config,
                                .exit = 2,
                                .what = fmt::format("{} has {} mistakes", path, lines.size())});
}

Outcome<void> read_kind_file(const Context& context, const std::string& path, UpFile& out) {
  const Values& values = context.values;
  for (const std::string_view flag : {"nodes", "runtime"})
    if (values.given(flag))
      return usage_failure(Plm::bad_flag_value,
                           fmt::format("--{}: {} already defines the nodes", flag, path));
  auto text = read_file(path);
  if (!text) return tl::unexpected(file_failure(Plm::cannot_read, text.error()));
  auto config = local::cluster::read_kind_config(*text, path);
  if (!config) return bad_kind_file(config.error().message);
  out.warnings = std::move(config->warnings);
  const local::cluster::KindConfig::Scheduler& scheduler = config->scheduler;
  out.roles.scheduler_v = scheduler.v;
  if (!scheduler.config_file.empty() && !values.given("scheduler-config")) {
    out.roles.scheduler_config = find_beside(scheduler.config_file, path);
    std::error_code ignored;
    if (!fs::is_regular_file(out.roles.scheduler_config, ignored))
      return bad_kind_file(
          located(path, scheduler.config_at,
                  fmt::format("config: {} is {} on this machine, which is not a file",
                              scheduler.config, out.roles.scheduler_config)));
  }
  out.kind = std::move(*config);
  return {};
}

}  // namespace

Outcome<void> use_config_on_node(const Context& context,
                                 const local::cluster::ClusterDirectories& directories,
                                 UpFile& file) {
  const bool wanted = file.kind && !file.kind->scheduler.config_on_node.empty();
  if (!wanted || !file.roles.scheduler_config.empty()) return {};
  const std::vector<std::string> names =
      local::cluster::kind_node_names(*file.kind, directories.name);
  std::size_t first = 0;
  while (!file.kind->nodes[first].control_plane) ++first;
  const std::string& node = names[first];
  const std::string& path = file.kind->scheduler.config_on_node;
  file.roles.scheduler_config = directories.host(node) + path;
  file.roles.config_is_on_node = true;
  if (!roles::is_missing_config(file.roles.scheduler_config))
    return check_scheduler_config(context, file.roles.scheduler_config);
  file.notes.push_back(fmt::format(
      "the scheduler uses its defaults, because node {} has no {}; it loads the file "
      "when you run: plimsoll node cp FILE {}:{}{}",
      node, path, node, path, directories.name == "default" ? "" : " --name " + directories.name));
  return {};
}

Outcome<UpFile> read_up_file(const Context& context) {
  UpFile out;
  const Values& values = context.values;
  if (const std::string& path = values.text("config"); !path.empty())
    PLIM_CLI_CHECK(read_kind_file(context, path, out));
  if (const std::string& path = values.text("scheduler-config"); !path.empty())
    out.roles.scheduler_config = fs::absolute(path).lexically_normal().string();
  if (values.given("scheduler-v")) {
    const std::int64_t v = values.integer("scheduler-v");
    if (v < 0 || v > kHighestSchedulerV)
      return usage_failure(Plm::bad_flag_value, "--scheduler-v: expected 0 to 100");
    out.roles.scheduler_v = static_cast<int>(v);
  }
  if (!out.roles.scheduler_config.empty())
    PLIM_CLI_CHECK(check_scheduler_config(context, out.roles.scheduler_config));
  return out;
}

std::vector<local::cluster::NamedNode> nodes_of_kind(const local::cluster::KindConfig& config,
                                                     std::string_view cluster) {
  std::vector<local::cluster::NamedNode> out;
  const std::vector<std::string> names = local::cluster::kind_node_names(config, cluster);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const local::cluster::KindConfig::Node& node = config.nodes[i];
    local::cluster::NamedNode made{.name = names[i], .labels = node.labels};
    if (node.control_plane) {
      made.labels.emplace_back(kControlPlane, "");
      // Otherwise a cluster of one node could not run any pods.
      if (names.size() > 1)
        made.taints.push_back({.key = std::string(kControlPlane), .effect = "NoSchedule"});
    }
    out.push_back(std::move(made));
  }
  return out;
}

}  // namespace plim::cli
