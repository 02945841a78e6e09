#include <fmt/format.h>

#include "base/duration.hpp"
#include "base/files.hpp"
#include "base/loop.hpp"
#include "base/rfc3339.hpp"
#include "cli/cluster_access.hpp"
#include "cli/commands.hpp"
#include "cli/printer.hpp"
#include "kube/status.hpp"
#include "net/client.hpp"
#include "roles/local_roles.hpp"
#include "servo/api.hpp"

namespace plim::cli {
namespace {

constexpr std::string_view kService = "servo-k8s-multijob";

std::string run_query_of(const Context& context) {
  std::vector<std::pair<std::string, std::string>> pairs;
  auto add = [&](std::string_view flag, const std::string& name) {
    const std::string& value = context.values.text(flag);
    if (!value.empty()) pairs.emplace_back(name, value);
  };
  add("app", "app");
  if (!context.values.boolean("all-namespaces")) add("namespace", "namespace");
  add("pod", "pod");
  add("since", "since");
  add("limit", "limit");
  return net::format_query(pairs);
}

Task<Result<net::Response>> ask_url(std::string url, net::Request request,
                                    net::CallOptions options) {
  Executor loop = co_await current_loop();
  PLIM_CO_TRY(auto client, net::Client::create(loop, std::move(url)));
  co_return co_await client->send(std::move(request), options);
}

Outcome<json::value> from_store(const Context& context, const std::string& directory) {
  auto query = servo::parse_run_query(run_query_of(context), system_clock().wall());
  if (!query) return usage_failure(Plm::bad_flag_value, query.error().message);
  auto page = servo::read_store(directory, *query);
  if (!page) return tl::unexpected(file_failure(Plm::cannot_read, page.error()));
  return json::value(servo::page_to_json(*page));
}

Outcome<json::value> from_servo(const Context& context) {
  std::string url = context.values.text("url");
  if (url.empty()) url = context.world.env("PLIMSOLL_SERVO_URL").value_or("");
  if (url.empty())
    url = text_at(roles::local_roles(context.values.text("kubeconfig"), context.world.env),
                  {"servo"});
  const auto timeout = context.values.duration("timeout");
  net::Request request{.path = "/v1/runs", .query = run_query_of(context)};
  Result<net::Response> answer = fail(Code::internal, "");
  std::string tried = url;
  if (!url.empty()) {
    Loop loop;
    net::CallOptions options{.timeout = timeout};
    answer = run_to_end(loop, ask_url(url, std::move(request), options));
  } else {
    // Reach the Service through the API server.
    Context plain = context;
    plain.values.set("namespace", {});
    PLIM_CLI_TRY(kube::Config config, cluster_config(plain));
    request.path = fmt::format("/api/v1/namespaces/{}/services/http:{}:8080/proxy/v1/runs",
                               config.ns, kService);
    tried = fmt::format("service {} in namespace {} of {}; pass --url for another address",
                        kService, config.ns, describe(config));
    answer = ask(config, std::move(request), timeout);
  }
  if (!answer) return tl::unexpected(request_failure(answer.error(), tried));
  auto value = parse_json(answer->body, "answer");
  if (answer->status >= 300) {
    const std::string_view said = value ? text_at(*value, {"error"}) : "";
    Error error = said.empty()
                      ? kube::error_from_answer(answer->status, answer->headers, answer->body)
                      : fail(code_from_http(answer->status), std::string(said));
    return tl::unexpected(request_failure(error, tried));
  }
  if (!value) return tl::unexpected(request_failure(value.error(), tried));
  return std::move(*value);
}

std::string run_age(std::string_view time) {
  auto parsed = parse_rfc3339(time);
  return parsed ? human_duration(system_clock().wall() - *parsed) : "-";
}

std::string run_cell(const json::value& run, std::string_view name) {
  const std::string_view text = text_at(run, {name});
  return std::string(text.empty() ? "-" : text);
}

void add_run_row(Table& table, const json::value& run) {
  auto duration = int_at(run, {"duration"});
  auto exit = int_at(run, {"exitCode"});
  const std::string_view result = text_at(run, {"result"});
  const bool good = result == "completed" && exit == 0;
  const std::string_view ended = text_at(run, {"finished"});
  table.add({run_cell(run, "app"),
             run_cell(run, "namespace"),
             run_cell(run, "pod"),
             {std::string(result), good ? Color::green : Color::red},
             exit ? std::to_string(*exit) : "-",
             duration ? fmt::format("{}s", *duration) : "-",
             run_cell(run, "state"),
             run_age(ended.empty() ? text_at(run, {"observed"}) : ended),
             run_cell(run, "reason"),
             run_cell(run, "node"),
             run_cell(run, "container"),
             run_cell(run, "uid")});
}

}  // namespace

Outcome<int> run_runs(Context& context) {
  PLIM_CLI_TRY(Printer printer, Printer::from(context));
  const std::string& store = context.values.text("store");
  PLIM_CLI_TRY(json::value page, store.empty() ? from_servo(context) : from_store(context, store));
  if (!printer.wants_table()) {
    PLIM_CLI_CHECK(printer.print(page));
    return 0;
  }
  constexpr auto kWide = Table::Shown::wide;
  Table table({{"APP"},
               {"NAMESPACE"},
               {"POD"},
               {"RESULT"},
               {"EXIT"},
               {"DURATION"},
               {"STATE"},
               {"AGE"},
               {"REASON", kWide},
               {"NODE", kWide},
               {"CONTAINER", kWide},
               {"UID", kWide}});
  for (const json::value& run : list_at(page, {"items"})) add_run_row(table, run);
  if (table.empty()) {
    PLIM_CLI_CHECK(context.world.err.write("no runs\n"));
    return 0;
  }
  PLIM_CLI_CHECK(printer.print_table(table));
  return 0;
}

}  // namespace plim::cli
