#include <algorithm>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "agent/measure_runner.hpp"
#include "base/loop.hpp"
#include "cli/agent_command.hpp"
#include "cli/agent_settings.hpp"
#include "cli/build_info.hpp"
#include "cli/commands.hpp"
#include "cli/printer.hpp"
#include "net/client.hpp"
#include "roles/local_roles.hpp"

namespace plim::cli {
namespace {

Task<Result<json::value>> measure_twice(agent::AgentConfig config, agent::RunnerOptions options) {
  Executor loop = co_await current_loop();
  PLIM_CO_CHECK(agent::can_run(config));
  PLIM_CO_TRY(auto made, agent::MeasureRunner::make(loop, system_clock(), std::move(config.measure),
                                                    std::move(options)));
  auto ran = co_await made->run();
  json::value out = made->state();
  co_await made->stop();
  if (!ran) co_return ran.error();
  co_return out;
}

Task<Result<json::value>> ask_for_state(std::string url) {
  Executor loop = co_await current_loop();
  PLIM_CO_TRY(auto client, net::Client::create(loop, url));
  net::Request request{.path = "/state"};
  const net::CallOptions options;
  PLIM_CO_TRY(net::Response answer, co_await client->send(std::move(request), options));
  if (answer.status != 200)
    co_return fail(code_from_http(answer.status),
                   fmt::format("{}/state answered {}", url, answer.status));
  co_return parse_json(answer.body, url);
}

json::array* tasks_of(json::value& state) {
  json::value* tasks = state.is_object() ? state.get_object().if_contains("tasks") : nullptr;
  return tasks != nullptr ? tasks->if_array() : nullptr;
}

// The tasks of all nodes of a local cluster, each with its node.
Outcome<json::value> ask_agents(const json::object& agents) {
  json::array all;
  for (const auto& [node, url] : agents) {
    if (!url.is_string()) continue;
    PLIM_CLI_TRY(json::value state, ask_agent(std::string(url.get_string())));
    json::array* tasks = tasks_of(state);
    if (tasks == nullptr) continue;
    for (json::value& task : *tasks) {
      task.as_object()["node"] = node;
      all.push_back(std::move(task));
    }
  }
  return json::value{{"tasks", std::move(all)}};
}

// Asks the agent at --url, or the agents of the local cluster. Nothing: measure in this process.
Outcome<std::optional<json::value>> ask_running(Context& context) {
  std::string url = context.values.text("url");
  if (url.empty()) url = context.world.env("PLIMSOLL_AGENT_URL").value_or("");
  if (!url.empty()) {
    PLIM_CLI_TRY(json::value state, ask_agent(url));
    return std::optional(std::move(state));
  }
  if (!context.values.text("config").empty()) return std::nullopt;
  const json::object roles =
      roles::local_roles(context.values.text("kubeconfig"), context.world.env);
  const json::value* agents = roles.if_contains("agent");
  if (agents == nullptr || !agents->is_object()) return std::nullopt;
  PLIM_CLI_TRY(json::value state, ask_agents(agents->get_object()));
  return std::optional(std::move(state));
}

Outcome<json::value> look(Context& context) {
  PLIM_CLI_TRY(std::optional<json::value> running, ask_running(context));
  if (running) return std::move(*running);
  if (context.values.text("config").empty())
    return usage_failure(Plm::wrong_arguments,
                         "no agent of a local cluster runs; pass --url of an agent, or -c FILE to "
                         "measure this machine");
  PLIM_CLI_CHECK(refuse_root(context));
  PLIM_CLI_TRY(agent::LoadedConfig loaded, agent_config(context));
  agent::RunnerOptions options{.host_root = context.values.text("host-root"),
                               .version = std::string(build_info().version),
                               .cgroup_root = context.values.text("cgroup-root"),
                               .iterations = 2};
  // Prints only the table, after two iterations: rates per second need two samples.
  loaded.config.measure.storage = {.kind = agent::StorageConfig::Kind::filter};
  loaded.config.measure.interval = std::clamp(loaded.config.measure.interval, 0.2, 5.0);
  if (auto* pods = std::get_if<agent::KubernetesNodeConfig>(&loaded.config.measure.node))
    pods->sync_interval = 0;
  Loop loop;
  auto state = run_to_end(loop, measure_twice(std::move(loaded.config), std::move(options)));
  if (!state)
    return tl::unexpected(
        Failure{.code = Plm::bad_agent_config, .exit = 1, .what = state.error().message});
  return std::move(*state);
}

double number(const json::value& task, std::initializer_list<std::string_view> path) {
  const json::value* found = plim::find(task, path);
  return found != nullptr && found->is_number() ? found->to_number<double>() : -1;
}

std::string percent(double share) {
  return share < 0 ? "-" : fmt::format("{:.1f}%", share * 100);
}

std::string bytes(double amount) {
  if (amount < 0) return "-";
  constexpr double kMi = 1 << 20;
  return amount < 10 * kMi ? fmt::format("{:.1f}Mi", amount / kMi)
                           : fmt::format("{:.0f}Mi", amount / kMi);
}

double sort_value(const json::value& task, const std::string& column) {
  if (column == "mem") return number(task, {"memory_bytes"});
  if (column == "psi") return number(task, {"rates", "pressure"});
  if (column == "throttle") return number(task, {"rates", "throttled"});
  return number(task, {"rates", "cpu"});
}

Outcome<void> show(Context& context, Printer& printer, json::value state) {
  json::array* tasks = tasks_of(state);
  if (tasks == nullptr)
    return tl::unexpected(Failure{.code = Plm::unexpected_answer, .what = "no list of tasks"});
  const std::string& column = context.values.text("sort");
  std::ranges::sort(*tasks, [&](const json::value& a, const json::value& b) {
    const double first = sort_value(a, column), second = sort_value(b, column);
    if (first != second) return first > second;
    return text_at(a, {"name"}) < text_at(b, {"name"});
  });
  if (!printer.wants_table()) return printer.print(state);
  const bool of_many = std::ranges::any_of(
      *tasks, [](const json::value& task) { return !text_at(task, {"node"}).empty(); });
  Table table({{"TASK"},
               {"NODE", of_many ? Table::Shown::always : Table::Shown::wide},
               {"CPU"},
               {"MEMORY"},
               {"FAULTS/S"},
               {"THROTTLED"},
               {"PSI"},
               {"CONTAINERS"},
               {"CGROUP", Table::Shown::wide}});
  for (const json::value& task : *tasks) {
    const double faults = number(task, {"rates", "page_faults"});
    const json::value* containers = plim::find(task, {"containers"});
    table.add({std::string(text_at(task, {"name"})), std::string(text_at(task, {"node"})),
               percent(number(task, {"rates", "cpu"})), bytes(number(task, {"memory_bytes"})),
               faults < 0 ? std::string("-") : fmt::format("{:.0f}", faults),
               percent(number(task, {"rates", "throttled"})),
               percent(number(task, {"rates", "pressure"})),
               std::to_string(containers != nullptr && containers->is_array()
                                  ? containers->get_array().size()
                                  : 0),
               std::string(text_at(task, {"cgroup"}))});
  }
  if (table.empty()) {
    (void)context.world.err.write("no tasks found\n");
    return {};
  }
  return printer.print_table(table);
}

}  // namespace

Outcome<json::value> ask_agent(const std::string& url) {
  Loop loop;
  auto state = run_to_end(loop, ask_for_state(url));
  if (!state) return tl::unexpected(request_failure(state.error(), url));
  return std::move(*state);
}

Outcome<int> run_agent_top(Context& context) {
  PLIM_CLI_TRY(Printer printer, Printer::from(context));
  for (;;) {
    PLIM_CLI_TRY(json::value state, look(context));
    if (context.world.terminal.is_terminal && !context.values.boolean("once"))
      PLIM_CLI_CHECK(context.world.out.write("\033[H\033[2J"));
    PLIM_CLI_CHECK(show(context, printer, std::move(state)));
    if (context.values.boolean("once") || !context.world.terminal.is_terminal) return 0;
    if (context.values.text("config").empty()) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

}  // namespace plim::cli
