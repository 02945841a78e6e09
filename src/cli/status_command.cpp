#include <fmt/format.h>

#include "base/files.hpp"
#include "cli/commands.hpp"
#include "cli/local_cluster.hpp"
#include "cli/output.hpp"

namespace plim::cli {
namespace {

std::string number_at(const json::value& value, std::initializer_list<std::string_view> path) {
  auto number = int_at(value, path);
  return number ? std::to_string(*number) : "-";
}

json::value stopped_status(const local::ClusterDirectories& directories) {
  return json::object{{"name", directories.name},
                      {"status", "Stopped"},
                      {"kubeconfig", directories.kubeconfig()},
                      {"stateDirectory", directories.state},
                      {"runDirectory", directories.run}};
}

}  // namespace

Outcome<int> run_status(Context& context) {
  PLIM_CLI_TRY(Printer printer, Printer::from(context));
  PLIM_CLI_TRY(local::ClusterDirectories directories, directories_of(context));
  json::value status = stopped_status(directories);
  const bool runs = local::holder_of(directories.lock()).has_value();
  if (runs) {
    PLIM_CLI_TRY(status, ask_cluster(directories, "/v1/status"));
    status.as_object()["status"] = "Running";
  } else if (!read_file(directories.endpoints())) {
    return tl::unexpected(Failure{.code = Plm::not_running,
                                  .exit = 4,
                                  .what = fmt::format("there is no cluster {}", directories.name),
                                  .tried = directories.state});
  }
  if (!printer.wants_table()) {
    PLIM_CLI_CHECK(printer.print(status));
    return runs ? 0 : 1;
  }
  Table table({{"NAME"},
               {"STATUS"},
               {"PID"},
               {"SERVER"},
               {"NODES"},
               {"OBJECTS"},
               {"KUBECONFIG"},
               {"STATE", Table::Shown::wide},
               {"RUN", Table::Shown::wide}});
  auto text = [&](std::string_view key) {
    std::string_view found = text_at(status, {key});
    return std::string(found.empty() ? "-" : found);
  };
  std::string nodes = number_at(status, {"nodes"});
  if (auto simulated = int_at(status, {"simulatedNodes"}); simulated.value_or(0) > 0)
    nodes += fmt::format(" + {} simulated", *simulated);
  table.add({text("name"),
             {text("status"), runs ? Color::green : Color::yellow},
             number_at(status, {"pid"}),
             text("server"),
             nodes,
             number_at(status, {"store", "objects"}),
             text("kubeconfig"),
             text("stateDirectory"),
             text("runDirectory")});
  PLIM_CLI_CHECK(printer.print_table(table));
  return runs ? 0 : 1;
}

}  // namespace plim::cli
