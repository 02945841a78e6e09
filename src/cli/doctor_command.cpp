#include <algorithm>

#include <fmt/format.h>

#include "cli/cluster_access.hpp"
#include "cli/commands.hpp"
#include "cli/doctor/probes.hpp"
#include "cli/printer.hpp"
#include "kube/paths.hpp"

namespace plim::cli {
namespace {

using doctor::Finding;
using doctor::Status;

Finding probe_cluster(const Context& context) {
  Finding out{.check = "cluster"};
  auto config = cluster_config(context);
  if (!config) {
    bool nothing_there = config.error().code == Plm::no_cluster;
    bool asked = context.values.given("kubeconfig") || context.values.given("context") ||
                 context.values.given("server");
    out.status = nothing_there && !asked ? Status::absent : Status::failed;
    out.found = config.error().what;
    out.effect = "commands that need a cluster fail";
    out.remedy = entry(config.error().code).remedy;
    return out;
  }
  auto version = server_version(*config, context.values.duration("timeout"));
  if (!version) {
    Failure failure = request_failure(version.error(), "");
    out.status = Status::failed;
    out.found = fmt::format("{}: {}", describe(*config), failure.what);
    out.effect = "commands that need the cluster fail";
    out.remedy = entry(failure.code).remedy;
    return out;
  }
  out.found = fmt::format("{} at {}; supported are 1.{} to 1.{}", version->text, describe(*config),
                          kOldestMinor, kNewestMinor);
  if (std::string warning = range_warning(*version); !warning.empty()) {
    out.status = Status::degraded;
    out.effect = warning;
    out.remedy = fmt::format("use Kubernetes 1.{} to 1.{}", kOldestMinor, kNewestMinor);
  }
  return out;
}

// Every client may read /version. Only a request that needs permissions shows whether the
// credentials work.
Finding probe_credentials(const Context& context) {
  Finding out{.check = "credentials"};
  auto config = cluster_config(context);
  if (!config) {
    out.status = Status::absent;
    out.found = "no cluster";
    return out;
  }
  json::value review = {
      {"apiVersion", "authorization.k8s.io/v1"},
      {"kind", "SelfSubjectAccessReview"},
      {"spec", {{"resourceAttributes", {{"verb", "list"}, {"resource", "pods"}}}}}};
  net::Request request{.method = "POST",
                       .path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                       .query = {}};
  request.headers.set("Content-Type", "application/json");
  request.body = to_json(review);
  auto answer = ask(*config, std::move(request), context.values.duration("timeout"));
  if (!answer) {
    out.status = Status::absent;
    out.found = "the cluster does not answer";
    return out;
  }
  if (answer->status == 401 || answer->status == 403) {
    out.status = Status::failed;
    out.found = fmt::format("rejected with HTTP {}", answer->status);
    out.effect = "the cluster does not accept the credentials";
    out.remedy = entry(Plm::unauthorized).remedy;
    return out;
  }
  auto body = parse_json(answer->body);
  if (answer->status >= 300 || !body) {
    out.status = Status::degraded;
    out.found = fmt::format("cannot review access (HTTP {})", answer->status);
    return out;
  }
  if (kube::bool_at(*body, "SelfSubjectAccessReview.status.allowed")) {
    out.found = "accepted; may list pods of all namespaces";
    return out;
  }
  out.status = Status::degraded;
  out.found = "accepted; may not list pods of all namespaces";
  out.effect = "commands for the whole cluster show only what you may list";
  out.remedy = "ask for a ClusterRole with list and watch on pods and nodes";
  return out;
}

std::vector<Finding> examine(const Context& context) {
  doctor::Host host(context.values.text("host-root"));
  std::vector<Finding> out;
  for (const doctor::Probe& probe : doctor::probes()) {
    Finding finding = probe.run(host);
    finding.check = probe.check;
    out.push_back(std::move(finding));
  }
  if (context.values.boolean("offline")) return out;
  out.push_back(probe_cluster(context));
  if (out.back().status == Status::ok || out.back().status == Status::degraded)
    out.push_back(probe_credentials(context));
  return out;
}

json::value as_json(const std::vector<Finding>& findings, bool passed) {
  json::array items;
  for (const Finding& finding : findings) {
    json::object item{{"check", finding.check},
                      {"status", doctor::status_name(finding.status)},
                      {"found", finding.found}};
    if (!finding.effect.empty()) item["effect"] = finding.effect;
    if (!finding.remedy.empty()) item["remedy"] = finding.remedy;
    items.push_back(std::move(item));
  }
  return {{"ok", passed}, {"items", std::move(items)}};
}

Table as_table(const std::vector<Finding>& findings) {
  constexpr Color kColors[] = {Color::green, Color::yellow, Color::dim, Color::red};
  constexpr auto kWide = Table::Shown::wide;
  Table out({{"CHECK"}, {"STATUS"}, {"FOUND"}, {"EFFECT", kWide}, {"REMEDY", kWide}});
  for (const Finding& finding : findings) {
    Table::Cell status(std::string(doctor::status_name(finding.status)),
                       kColors[static_cast<std::size_t>(finding.status)]);
    out.add({finding.check, status, finding.found, finding.effect, finding.remedy});
  }
  return out;
}

// Explains the findings that are not ok; wrapped on a terminal, one line each otherwise.
std::string advice(const std::vector<Finding>& findings, const Terminal& terminal) {
  std::string out;
  for (const Finding& finding : findings) {
    if (finding.status != Status::degraded && finding.status != Status::failed) continue;
    out += fmt::format("\n{}\n", painted(finding.check, Color::bold, terminal));
    if (!finding.effect.empty()) out += wrap("  effect:  ", finding.effect, terminal.width);
    if (!finding.remedy.empty()) out += wrap("  improve: ", finding.remedy, terminal.width);
  }
  return out;
}

}  // namespace

Outcome<int> run_doctor(Context& context) {
  PLIM_CLI_TRY(Printer printer, Printer::from(context));
  std::vector<Finding> findings = examine(context);
  bool passed = std::ranges::none_of(
      findings, [](const Finding& finding) { return finding.status == Status::failed; });
  if (!printer.wants_table()) {
    PLIM_CLI_CHECK(printer.print(as_json(findings, passed)));
  } else {
    const Terminal& terminal = context.world.terminal;
    PLIM_CLI_CHECK(printer.print_table(as_table(findings)));
    if (!printer.is_wide() && !context.values.boolean("quiet"))
      PLIM_CLI_CHECK(context.world.out.write(advice(findings, terminal)));
  }
  return passed ? 0 : 1;
}

}  // namespace plim::cli
