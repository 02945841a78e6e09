#include "cli/up_options.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/cpu_list.hpp"
#include "base/files.hpp"
#include "base/quantity.hpp"
#include "base/text.hpp"
#include "cli/build_info.hpp"
#include "cli/local_cluster.hpp"
#include "cli/up_file.hpp"
#include "kube/kubeconfig.hpp"

namespace plim::cli {
namespace {

tl::unexpected<Failure> bad_value(std::string_view flag, const std::string& what) {
  return usage_failure(Plm::bad_flag_value, fmt::format("--{}: {}", flag, what));
}

std::vector<std::string> list_of(std::string_view text) {
  std::vector<std::string> out;
  for (std::string_view part : split(text, ','))
    if (!trim(part).empty()) out.emplace_back(trim(part));
  return out;
}

// The file that kubectl would write: the first of KUBECONFIG, else the one in the home directory.
Outcome<std::string> users_kubeconfig(const Context& context) {
  if (context.values.given("kubeconfig")) return context.values.text("kubeconfig");
  if (auto list = context.world.env("KUBECONFIG"); list && !list->empty())
    for (const std::string_view file : split(*list, ':'))
      if (!file.empty()) return std::string(file);
  if (auto home = context.world.env("HOME"); home && !home->empty()) return *home + "/.kube/config";
  return bad_value("merge-kubeconfig", "neither KUBECONFIG nor HOME is set");
}

// Refuses to overwrite a file that contains other clusters.
Outcome<void> check_target(const std::string& path, const std::string& context_name) {
  auto text = read_file(path);
  if (!text) return {};
  auto parsed = kube::parse_kubeconfig(*text, path, path);
  bool ours = parsed && parsed->contexts.size() <= 1 && parsed->clusters.size() <= 1 &&
              (parsed->contexts.empty() || parsed->contexts.contains(context_name));
  if (ours) return {};
  return bad_value(
      "kubeconfig",
      fmt::format("{} already has other clusters; pass --merge-kubeconfig to keep them", path));
}

Outcome<void> choose_kubeconfig(const Context& context, local::cluster::ClusterOptions& options) {
  if (context.values.boolean("merge-kubeconfig")) {
    PLIM_CLI_TRY(options.merge_into, users_kubeconfig(context));
    options.merge_into = std::filesystem::absolute(options.merge_into).string();
    return {};
  }
  if (!context.values.given("kubeconfig")) return {};
  options.kubeconfig = std::filesystem::absolute(context.values.text("kubeconfig")).string();
  return check_target(options.kubeconfig, "plimsoll-" + options.directories.name);
}

Durability durability_of(const Context& context) {
  if (context.values.boolean("ephemeral")) return Durability::none;
  return parse_durability(context.values.text("durability")).value_or(Durability::fsync);
}

// Parses "n1=0-3,n2=4-7". Commas also separate CPUs, so a name is the part before '='.
Outcome<std::map<std::string, std::string>> node_cpus(const std::string& text) {
  std::map<std::string, std::string> out;
  std::string name;
  for (std::string_view part : split(text, ',')) {
    if (part.empty()) continue;
    auto [left, right] = cut(part, '=');
    bool begins = part.find('=') != part.npos;
    if (begins) name = left;
    if (name.empty()) return bad_value("node-cpus", fmt::format("{} is not a node", part));
    std::string& cpus = out[name];
    cpus += fmt::format("{}{}", cpus.empty() ? "" : ",", begins ? right : part);
  }
  const std::string here(trim(read_file("/sys/devices/system/cpu/online").value_or("")));
  const auto online = parse_cpu_list(here);
  for (const auto& [node, cpus] : out) {
    auto list = parse_cpu_list(cpus);
    if (!list || list->empty())
      return bad_value("node-cpus", fmt::format("{} are not CPUs for {}", quote(cpus), node));
    if (online && !online->empty() && !list->is_subset_of(*online))
      return bad_value("node-cpus",
                       fmt::format("{} of {}: this machine has CPUs {}", cpus, node, here));
  }
  return out;
}

Outcome<std::shared_ptr<const local::images::ImageCatalog>> image_catalog(const Context& context) {
  local::images::ImageCatalog::Options options;
  if (context.values.text("image-policy") == "strict")
    options.policy = local::images::ImagePolicy::strict;
  std::error_code problem;
  options.program = std::filesystem::read_symlink("/proc/self/exe", problem).string();
  options.version = build_info().version;
  auto out = std::make_shared<local::images::ImageCatalog>(std::move(options));
  if (const std::string& file = context.values.text("images"); !file.empty()) {
    auto text = read_file(file);
    if (!text) return tl::unexpected(file_failure(Plm::cannot_read, text.error()));
    auto added = out->add_yaml(*text, file);
    if (!added) return bad_value("images", added.error().message);
  }
  return std::shared_ptr<const local::images::ImageCatalog>(std::move(out));
}

Outcome<std::vector<local::sim::Stage>> stages(const Context& context) {
  const std::string& file = context.values.text("stages");
  if (file.empty()) return std::vector<local::sim::Stage>();
  auto text = read_file(file);
  if (!text) return tl::unexpected(file_failure(Plm::cannot_read, text.error()));
  auto out = local::sim::parse_stages(*text, file);
  if (!out) return bad_value("stages", out.error().message);
  return std::move(*out);
}

Outcome<void> choose_nodes(const Context& context, const UpFile& file,
                           local::cluster::NodesOptions& out) {
  const std::int64_t count = context.values.integer("nodes");
  if (count < 0 || count > 100) return bad_value("nodes", "expected 0 to 100");
  out.count = file.kind ? 0 : static_cast<int>(count);
  out.version = build_info().version;
  PLIM_CLI_TRY(out.catalog, image_catalog(context));
  auto speedup = parse_double(context.values.text("pull-speedup"));
  if (!speedup || *speedup <= 0) return bad_value("pull-speedup", "expected a number above 0");
  out.pulls.speedup = *speedup;
  if (context.values.text("cgroup-driver") == "systemd")
    out.cgroup_driver = local::kubelet::CgroupDriver::systemd;
  if (context.values.text("isolation") == "none") out.isolation = local::kubelet::Isolation::none;
  PLIM_CLI_TRY(out.cpus, node_cpus(context.values.text("node-cpus")));
  const std::int64_t images = context.values.integer("max-images");
  if (images < -1 || images > 1'000'000)
    return bad_value("max-images", "expected a number of images, or -1 for all");
  out.max_images = static_cast<int>(images);
  out.annotate_runs = context.values.boolean("annotate-runs");
  return {};
}

// The cluster name comes from the flag, else from the file.
Outcome<local::cluster::ClusterDirectories> place_of(const Context& context, const UpFile& file) {
  if (!file.kind || file.kind->name.empty() || context.values.given("name"))
    return directories_of(context);
  auto found = local::cluster::find_directories(file.kind->name, context.values.text("dir"),
                                                context.world.env);
  if (!found) return tl::unexpected(local_failure(found.error()));
  return std::move(*found);
}

Outcome<local::cluster::ClusterOptions> cluster_options(const Context& context,
                                                        const UpFile& file) {
  local::cluster::ClusterOptions out;
  out.began = std::chrono::steady_clock::now();
  PLIM_CLI_TRY(out.directories, place_of(context, file));
  if (const std::string& text = context.values.text("listen"); !text.empty()) {
    auto address = local::cluster::parse_front_address(text);
    if (!address) return bad_value("listen", address.error().message);
    // There is no authorization yet: every client may do everything. So only this machine may
    // connect.
    if (!local::cluster::is_loopback(address->host))
      return bad_value("listen", fmt::format("{} is not a loopback address; other addresses need "
                                             "authorization, which is not supported yet",
                                             address->host));
    out.listen = std::move(*address);
  }
  out.server_names = list_of(context.values.text("tls-san"));
  PLIM_CLI_CHECK(choose_kubeconfig(context, out));
  out.durability = durability_of(context);
  const auto limit = parse_quantity(context.values.text("max-objects-bytes"));
  if (!limit || limit->value() < 0)
    return bad_value("max-objects-bytes", "expected a quantity of bytes such as 512Mi, or 0");
  out.max_objects_bytes = static_cast<std::uint64_t>(limit->value());
  PLIM_CLI_CHECK(choose_nodes(context, file, out.nodes));
  if (file.kind) out.nodes.named = nodes_of_kind(*file.kind, out.directories.name);
  const std::int64_t simulated = context.values.integer("sim-nodes");
  if (simulated < 0 || simulated > 50'000) return bad_value("sim-nodes", "expected 0 to 50000");
  out.simulated_nodes = static_cast<int>(simulated);
  PLIM_CLI_TRY(out.stages, stages(context));
  if (context.values.text("runtime") == "sim")
    out.simulated_nodes += std::exchange(out.nodes.count, 0);
  auto controllers = local::controllers::parse_controllers(context.values.text("controllers"));
  if (!controllers) return bad_value("controllers", controllers.error().message);
  out.controllers = std::move(*controllers);
  out.scheduler = context.values.text("scheduler") == "builtin";
  return out;
}

}  // namespace

Outcome<UpPlan> plan_up(const Context& context) {
  UpPlan out;
  PLIM_CLI_TRY(UpFile file, read_up_file(context));
  PLIM_CLI_TRY(out.up.cluster, cluster_options(context, file));
  PLIM_CLI_CHECK(use_config_on_node(context, out.up.cluster.directories, file));
  auto roles = roles::parse_roles(context.values.text("roles"));
  if (!roles) return bad_value("roles", roles.error().message);
  out.up.roles = std::move(*roles);
  // The role replaces the built-in scheduler. With `--scheduler none` neither of them runs.
  const auto is_scheduler = [](const roles::RoleRow* row) { return row->name == "scheduler"; };
  const bool has_role = std::ranges::any_of(out.up.roles, is_scheduler);
  if (!out.up.cluster.scheduler)
    std::erase_if(out.up.roles, is_scheduler);
  else if (has_role)
    out.up.cluster.scheduler = false;
  out.up.settings = std::move(file.roles);
  out.warnings = std::move(file.warnings);
  out.notes = std::move(file.notes);
  const bool is_configured =
      !out.up.settings.scheduler_config.empty() || out.up.settings.scheduler_v.has_value();
  if (is_configured && std::ranges::none_of(out.up.roles, is_scheduler))
    out.warnings.emplace_back(
        "the scheduler's configuration has no effect: --roles does not include scheduler");
  if (std::ranges::none_of(out.up.roles, is_scheduler)) out.notes.clear();
  return out;
}

}  // namespace plim::cli
