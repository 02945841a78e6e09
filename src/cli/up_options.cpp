#include "cli/up_options.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "cli/local_cluster.hpp"
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

// Where kubectl would write: the first file of KUBECONFIG, else the one in the home directory.
Outcome<std::string> users_kubeconfig(const Context& context) {
  if (context.values.given("kubeconfig")) return context.values.text("kubeconfig");
  if (auto list = context.world.env("KUBECONFIG"); list && !list->empty())
    for (const std::string_view file : split(*list, ':'))
      if (!file.empty()) return std::string(file);
  if (auto home = context.world.env("HOME"); home && !home->empty()) return *home + "/.kube/config";
  return bad_value("merge-kubeconfig", "neither KUBECONFIG nor HOME says where to");
}

// A file with somebody else's clusters is never overwritten.
Outcome<void> check_target(const std::string& path, const std::string& context_name) {
  auto text = read_file(path);
  if (!text) return {};
  auto parsed = kube::parse_kubeconfig(*text, path, path);
  bool ours = parsed && parsed->contexts.size() <= 1 && parsed->clusters.size() <= 1 &&
              (parsed->contexts.empty() || parsed->contexts.contains(context_name));
  if (ours) return {};
  return bad_value("kubeconfig", fmt::format("{} holds something else already; to keep it, add "
                                             "--merge-kubeconfig",
                                             path));
}

Outcome<void> choose_kubeconfig(const Context& context, local::ClusterOptions& options) {
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
  const std::string& text = context.values.text("durability");
  if (context.values.boolean("ephemeral") || text == "none") return Durability::none;
  return text == "os" ? Durability::os : Durability::fsync;
}

}  // namespace

Outcome<local::ClusterOptions> cluster_options(const Context& context) {
  local::ClusterOptions out;
  out.began = std::chrono::steady_clock::now();
  PLIM_CLI_TRY(out.directories, directories_of(context));
  if (const std::string& text = context.values.text("listen"); !text.empty()) {
    auto address = local::parse_front_address(text);
    if (!address) return bad_value("listen", address.error().message);
    // Every user of a cluster may do everything in it so far, which is not for a network.
    if (!local::is_loopback(address->host))
      return bad_value("listen", fmt::format("{} is no loopback address; others may listen only "
                                             "with authorization, which is not here yet",
                                             address->host));
    out.listen = std::move(*address);
  }
  out.server_names = list_of(context.values.text("tls-san"));
  PLIM_CLI_CHECK(choose_kubeconfig(context, out));
  out.durability = durability_of(context);
  auto controllers = local::parse_controllers(context.values.text("controllers"));
  if (!controllers) return bad_value("controllers", controllers.error().message);
  out.controllers = std::move(*controllers);
  out.scheduler = context.values.text("scheduler") == "builtin";
  return out;
}

}  // namespace plim::cli
