#include <filesystem>
#include <iostream>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "cli/commands.hpp"
#include "cli/local_cluster.hpp"
#include "local/cluster/kubeconfig_file.hpp"

namespace plim::cli {
namespace {

namespace fs = std::filesystem;

// Everything that a cluster and its roles write into the state directory. Other files in a
// directory given by --dir are kept.
constexpr std::string_view kOurs[] = {
    "store",          "pki",          "nodes", "nodes.json", "kubeconfig", "scheduler.kubeconfig",
    "endpoints.json", "plimsoll.log", "roles", "servo",      "pools",
};

Outcome<void> remove_tree(const fs::path& path) {
  std::error_code problem;
  fs::remove_all(path, problem);
  if (!problem) return {};
  return tl::unexpected(
      file_failure(Plm::cannot_write,
                   fail_errno(problem.value(), fmt::format("cannot remove {}", path.string()))));
}

// A path from a file is not removed with what is below it.
Outcome<void> remove_our_file(const fs::path& path) {
  std::error_code problem;
  if (!fs::is_regular_file(fs::symlink_status(path, problem))) return {};
  auto removed = remove_file(path.string());
  if (!removed) return tl::unexpected(file_failure(Plm::cannot_write, removed.error()));
  return {};
}

// Removes the directory and its parents that we created, if they are empty.
void remove_empty(fs::path path, int levels) {
  std::error_code problem;
  for (; levels > 0 && fs::remove(path, problem); --levels) path = path.parent_path();
}

Outcome<void> remove_outside(const local::cluster::ClusterDirectories& directories) {
  auto text = read_file(directories.endpoints());
  if (!text) return {};
  auto endpoints = parse_json(*text);
  if (!endpoints) return {};
  const std::string kubeconfig(text_at(*endpoints, {"kubeconfig"}));
  if (!kubeconfig.empty() && kubeconfig != directories.kubeconfig())
    PLIM_CLI_CHECK(remove_our_file(kubeconfig));
  const std::string merged(text_at(*endpoints, {"mergedInto"}));
  if (merged.empty()) return {};
  auto undone = local::cluster::unmerge_kubeconfig(merged, "plimsoll-" + directories.name);
  if (!undone) return tl::unexpected(file_failure(Plm::cannot_write, undone.error()));
  return {};
}

bool agrees(const Context& context, const local::cluster::ClusterDirectories& directories) {
  bool ask = !context.values.boolean("yes") && ::isatty(STDIN_FILENO) == 1;
  if (!ask) return true;
  (void)context.world.err.write(fmt::format("remove cluster {} with everything in {}? [y/N] ",
                                            directories.name, directories.state));
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace

Outcome<int> run_reset(Context& context) {
  PLIM_CLI_TRY(local::cluster::ClusterDirectories directories, directories_of(context));
  std::error_code ignored;
  if (!fs::exists(directories.state, ignored) && !fs::exists(directories.run, ignored)) {
    (void)context.world.err.write(fmt::format("cluster {} does not exist\n", directories.name));
    return 0;
  }
  if (!agrees(context, directories)) return 1;
  PLIM_CLI_TRY([[maybe_unused]] bool stopped,
               stop_cluster(directories, context.values.duration("timeout")));
  PLIM_CLI_CHECK(remove_outside(directories));
  for (std::string_view name : kOurs)
    PLIM_CLI_CHECK(remove_tree(fs::path(directories.state) / name));
  PLIM_CLI_CHECK(remove_tree(directories.run));
  bool usual_place = context.values.text("dir").empty();
  remove_empty(directories.state, usual_place ? 3 : 1);
  remove_empty(fs::path(directories.run).parent_path(), 1);
  if (!context.values.boolean("quiet"))
    (void)context.world.err.write(fmt::format("cluster {} removed\n", directories.name));
  return 0;
}

}  // namespace plim::cli
