#include <fmt/format.h>

#include "cli/build_info.hpp"
#include "cli/cluster_access.hpp"
#include "cli/commands.hpp"
#include "cli/printer.hpp"

namespace plim::cli {
namespace {

json::object own_version() {
  return {{"version", build_info().version},
          {"build", build_info().build},
          {"compiler", build_info().compiler}};
}

json::object supported_range() {
  return {{"oldest", fmt::format("1.{}", kOldestMinor)},
          {"newest", fmt::format("1.{}", kNewestMinor)},
          {"tested", build_info().tested_kubernetes}};
}

// Returns {"version", "address"} or {"error"}: the command succeeds even if the cluster is
// unreachable.
json::object ask_server(const Context& context, std::string& warning) {
  auto config = cluster_config(context);
  if (!config) return {{"error", config.error().what}};
  auto version = server_version(*config, context.values.duration("timeout"));
  if (!version) return {{"address", config->server}, {"error", version.error().message}};
  warning = range_warning(*version);
  json::object out{{"address", config->server}, {"version", version->text}};
  out["supported"] = warning.empty();
  return out;
}

std::string as_lines(const json::value& value) {
  std::string out =
      fmt::format("Client:       {} ({}, {})\n", text_at(value, {"client", "version"}),
                  text_at(value, {"client", "build"}), text_at(value, {"client", "compiler"}));
  out += fmt::format(
      "Kubernetes:   {} to {}, tested with {}\n", text_at(value, {"kubernetes", "oldest"}),
      text_at(value, {"kubernetes", "newest"}), text_at(value, {"kubernetes", "tested"}));
  const json::value* server = find(value, {"server"});
  if (server == nullptr) return out;
  if (auto version = text_at(*server, {"version"}); !version.empty())
    out += fmt::format("Server:       {} at {}\n", version, text_at(*server, {"address"}));
  else
    out += fmt::format("Server:       none: {}\n", text_at(*server, {"error"}));
  return out;
}

}  // namespace

Outcome<int> run_version(Context& context) {
  PLIM_CLI_TRY(Printer printer, Printer::from(context));
  json::value value = {{"client", own_version()}, {"kubernetes", supported_range()}};
  std::string warning;
  if (!context.values.boolean("client")) value.as_object()["server"] = ask_server(context, warning);
  PLIM_CLI_CHECK(printer.wants_table() ? context.world.out.write(as_lines(value))
                                       : printer.print(value));
  if (!warning.empty() && !context.values.boolean("quiet"))
    (void)context.world.err.write(fmt::format("warning: {}\n", warning));
  return 0;
}

}  // namespace plim::cli
