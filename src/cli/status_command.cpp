#include <span>

#include <fmt/format.h>

#include "base/files.hpp"
#include "cli/commands.hpp"
#include "cli/local_cluster.hpp"
#include "cli/printer.hpp"

namespace plim::cli {
namespace {

std::string number_at(const json::value& value, std::initializer_list<std::string_view> path) {
  auto number = int_at(value, path);
  return number ? std::to_string(*number) : "-";
}

json::value stopped_status(const local::cluster::ClusterDirectories& directories) {
  return json::object{{"name", directories.name},
                      {"status", "Stopped"},
                      {"kubeconfig", directories.kubeconfig()},
                      {"stateDirectory", directories.state},
                      {"runDirectory", directories.run}};
}

Outcome<json::value> status_of(const local::cluster::ClusterDirectories& directories) {
  if (!local::cluster::holder_of(directories.lock())) return stopped_status(directories);
  PLIM_CLI_TRY(json::value status, ask_cluster(directories, "/v1/status"));
  status.as_object()["status"] = "Running";
  return status;
}

bool runs(const json::value& status) {
  return text_at(status, {"status"}) == "Running";
}

void add_row(Table& table, const json::value& status) {
  auto text = [&](std::string_view key) {
    std::string_view found = text_at(status, {key});
    return std::string(found.empty() ? "-" : found);
  };
  std::string nodes = number_at(status, {"nodes"});
  if (auto simulated = int_at(status, {"simulatedNodes"}); simulated.value_or(0) > 0)
    nodes += fmt::format(" + {} simulated", *simulated);
  table.add({text("name"),
             {text("status"), runs(status) ? Color::green : Color::yellow},
             number_at(status, {"pid"}),
             text("server"),
             nodes,
             number_at(status, {"store", "objects"}),
             text("kubeconfig"),
             text("stateDirectory"),
             text("runDirectory")});
}

Outcome<void> print_clusters(Printer& printer, const json::value& shown,
                             std::span<const json::value> clusters) {
  if (!printer.wants_table()) return printer.print(shown);
  Table table({{"NAME"},
               {"STATUS"},
               {"PID"},
               {"SERVER"},
               {"NODES"},
               {"OBJECTS"},
               {"KUBECONFIG"},
               {"STATE", Table::Shown::wide},
               {"RUN", Table::Shown::wide}});
  for (const json::value& status : clusters) add_row(table, status);
  return printer.print_table(table);
}

Outcome<int> show_all(Context& context, Printer& printer) {
  json::array clusters;
  for (const local::cluster::ClusterDirectories& directories :
       local::cluster::known_clusters(context.world.env)) {
    auto status = status_of(directories);
    // A cluster that is stopping or does not answer must not hide the others.
    if (!status) {
      status = stopped_status(directories);
      status->as_object()["status"] = "NotAnswering";
    }
    clusters.push_back(std::move(*status));
  }
  if (clusters.empty() && printer.wants_table()) {
    PLIM_CLI_CHECK(context.world.err.write("no local cluster; start one with plimsoll up\n"));
    return 0;
  }
  const json::value list = json::object{{"items", clusters}};
  PLIM_CLI_CHECK(print_clusters(printer, list, clusters));
  return 0;
}

}  // namespace

Outcome<int> run_status(Context& context) {
  PLIM_CLI_TRY(Printer printer, Printer::from(context));
  if (!context.values.given("name") && !context.values.given("dir"))
    return show_all(context, printer);
  PLIM_CLI_TRY(local::cluster::ClusterDirectories directories, directories_of(context));
  PLIM_CLI_TRY(json::value status, status_of(directories));
  if (!runs(status) && !read_file(directories.endpoints()))
    return tl::unexpected(
        Failure{.code = Plm::not_running,
                .exit = 4,
                .what = fmt::format("cluster {} does not exist", directories.name),
                .tried = directories.state});
  PLIM_CLI_CHECK(print_clusters(printer, status, {&status, 1}));
  return runs(status) ? 0 : 1;
}

}  // namespace plim::cli
