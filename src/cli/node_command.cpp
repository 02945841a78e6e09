#include <cerrno>
#include <cstdlib>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/local_cluster.hpp"
#include "cli/printer.hpp"

namespace plim::cli {
namespace {

constexpr const char* kKubeletDirectory = "/var/lib/kubelet";

// Sends one change of nodes to the control socket and prints the nodes that its answer names.
Outcome<int> change(Context& context, std::string_view verb, std::string_view done,
                    json::object body) {
  PLIM_CLI_TRY(local::cluster::ClusterDirectories directories, directories_of(context));
  PLIM_CLI_TRY(json::value answer,
               ask_cluster(directories, fmt::format("/v1/nodes/{}", verb), std::move(body),
                           context.values.duration("timeout")));
  for (const json::value& name : list_at(answer, {"nodes"}))
    if (name.is_string())
      PLIM_CLI_CHECK(context.world.out.write(
          fmt::format("node/{} {}\n", std::string_view(name.get_string()), done)));
  return 0;
}

json::array names_of(const Context& context) {
  json::array out;
  for (const std::string& name : context.arguments) out.emplace_back(name);
  return out;
}

Failure exec_failure(std::string_view what) {
  return local_failure(fail_errno(errno, what));
}

// Mounts the node's directory at the path of a kubelet's, in a mount namespace of its own.
Outcome<void> enter_node(const std::string& directory) {
  if (::mkdir(kKubeletDirectory, 0755) != 0 && errno != EEXIST)
    return tl::unexpected(exec_failure(fmt::format("cannot create {}", kKubeletDirectory)));
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount(directory.c_str(), kKubeletDirectory, nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    Failure out = exec_failure(fmt::format("cannot mount {} at {}", directory, kKubeletDirectory));
    out.next = "run it as root, or configure the directory in the program";
    return tl::unexpected(std::move(out));
  }
  return {};
}

// Fails if the cluster has no such process node.
Outcome<void> check_node(const local::cluster::ClusterDirectories& directories,
                         const std::string& node) {
  const std::string directory = directories.node(node);
  struct stat info{};
  const bool exists = !node.empty() && !node.starts_with('.') && node.find('/') == node.npos &&
                      ::stat(directory.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  if (exists) return {};
  return tl::unexpected(
      Failure{.code = Plm::not_found,
              .exit = 4,
              .what = fmt::format("cluster {} has no process node {}", directories.name, node),
              .tried = directory,
              .next = "plimsoll node ls lists the nodes"});
}

// Lets crictl find the runtime of the node.
void show_runtime(const local::cluster::ClusterDirectories& directories, const std::string& node) {
  const std::string endpoint = "unix://" + directories.runtime_socket(node);
  ::setenv("CONTAINER_RUNTIME_ENDPOINT", endpoint.c_str(), 1);
  const char* path = std::getenv("PATH");
  const std::string longer = fmt::format("{}{}{}/usr/local/bin", path != nullptr ? path : "",
                                         path != nullptr ? ":" : "", directories.host(node));
  ::setenv("PATH", longer.c_str(), 1);
}

}  // namespace

Outcome<int> run_node_add(Context& context) {
  json::object body{{"names", names_of(context)}, {"count", context.values.integer("count")}};
  return change(context, "add", "added", std::move(body));
}

Outcome<int> run_node_rm(Context& context) {
  return change(context, "rm", "removed", {{"names", names_of(context)}});
}

Outcome<int> run_node_stop(Context& context) {
  return change(context, "stop", "stopped", {{"names", names_of(context)}});
}

Outcome<int> run_node_start(Context& context) {
  return change(context, "start", "started", {{"names", names_of(context)}});
}

Outcome<int> run_node_ls(Context& context) {
  PLIM_CLI_TRY(Printer printer, Printer::from(context));
  PLIM_CLI_TRY(local::cluster::ClusterDirectories directories, directories_of(context));
  PLIM_CLI_TRY(json::value answer, ask_cluster(directories, "/v1/nodes"));
  if (!printer.wants_table()) {
    PLIM_CLI_CHECK(printer.print(answer));
    return 0;
  }
  Table table({{"NAME"},
               {"KIND"},
               {"STATE"},
               {"ADDRESS"},
               {"PODS"},
               {"CGROUPS"},
               {"DIRECTORY", Table::Shown::wide}});
  for (const json::value& item : list_at(answer, {"items"}))
    table.add({text_at(item, {"name"}), text_at(item, {"kind"}), text_at(item, {"state"}),
               text_at(item, {"address"}), std::to_string(int_at(item, {"pods"}).value_or(0)),
               text_at(item, {"cgroups"}), text_at(item, {"directory"})});
  PLIM_CLI_CHECK(printer.print_table(table));
  return 0;
}

Outcome<int> run_node_exec(Context& context) {
  PLIM_CLI_TRY(local::cluster::ClusterDirectories directories, directories_of(context));
  PLIM_CLI_TRY([[maybe_unused]] pid_t pid, running_pid(directories));
  const std::string& node = context.arguments[0];
  PLIM_CLI_CHECK(check_node(directories, node));
  PLIM_CLI_CHECK(enter_node(directories.node(node)));
  show_runtime(directories, node);
  std::vector<char*> words;
  for (std::size_t i = 1; i < context.arguments.size(); ++i)
    words.push_back(context.arguments[i].data());
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  return tl::unexpected(exec_failure(fmt::format("cannot run {}", words[0])));
}

Outcome<int> run_node_cp(Context& context) {
  const auto [node, path] = cut(context.arguments[1], ':');
  bool fine = path.starts_with('/') && !path.ends_with('/');
  for (const std::string_view part : split(path, '/')) fine = fine && part != "..";
  if (!fine)
    return usage_failure(Plm::wrong_arguments,
                         fmt::format("{}: expected NODE:PATH with an absolute path of a file",
                                     quote(context.arguments[1])),
                         "plimsoll node cp scheduler-config.conf "
                         "kind-control-plane:/etc/kubernetes/scheduler-config.conf");
  PLIM_CLI_TRY(local::cluster::ClusterDirectories directories, directories_of(context));
  PLIM_CLI_CHECK(check_node(directories, std::string(node)));
  auto text = read_file(context.arguments[0]);
  if (!text) return tl::unexpected(file_failure(Plm::cannot_read, text.error()));
  const std::string target = directories.host(node) + std::string(path);
  auto made = make_directories(target.substr(0, target.rfind('/')));
  if (made) made = write_file(target, *text, WriteOptions{.mode = 0644});
  if (!made) return tl::unexpected(file_failure(Plm::cannot_write, made.error()));
  return 0;
}

}  // namespace plim::cli
