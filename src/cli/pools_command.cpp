#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "base/cpu_list.hpp"
#include "base/loop.hpp"
#include "base/text.hpp"
#include "cli/agent_command.hpp"
#include "cli/cluster_access.hpp"
#include "cli/commands.hpp"
#include "cli/printer.hpp"
#include "kube/paths.hpp"
#include "net/client.hpp"
#include "pools/look.hpp"
#include "roles/local_roles.hpp"

namespace plim::cli {
namespace {

constexpr std::string_view kHowToConfigure =
    "to create pools, write a file poolconfig.yaml such as\n  pools:\n    exclusive-pool: {cpus: "
    "\"1\"}\nCheck it with plimsoll pools validate -f poolconfig.yaml, and pass it to the nodes "
    "with\nkubectl create configmap cpu-dp-configmap -n kube-system "
    "--from-file=poolconfig.yaml\nSee docs/pools.md.\n";

Outcome<json::value> pools_at(const std::string& url) {
  PLIM_CLI_TRY(json::value state, ask_agent(url));
  json::value* pools = state.is_object() ? state.get_object().if_contains("pools") : nullptr;
  if (pools == nullptr || !pools->is_object())
    return tl::unexpected(request_failure(
        fail(Code::not_found, "the agent at this address does not run the module pools"), url));
  return std::move(*pools);
}

// The report that a node's agent publishes on any cluster.
Outcome<json::value> from_report(const Context& context, const std::string& node) {
  PLIM_CLI_TRY(kube::Config config, cluster_config(context));
  net::Request request{.path = "/apis/plimsoll.io/v1alpha1/nodereports/" + node};
  auto answer = ask(config, std::move(request), std::chrono::seconds(10));
  if (!answer) return tl::unexpected(request_failure(answer.error(), describe(config)));
  if (answer->status != 200)
    return tl::unexpected(request_failure(
        fail(code_from_http(answer->status),
             fmt::format("node {} has no NodeReport; start its agent with --node-report", node)),
        describe(config)));
  auto report = parse_json(answer->body);
  json::array pools;
  const json::value* told = report ? find(*report, {"spec", "pools"}) : nullptr;
  if (told != nullptr && told->is_object())
    for (const auto& [name, value] : told->get_object()) {
      json::value item = value;
      if (item.is_object()) item.get_object()["name"] = name;
      pools.push_back(std::move(item));
    }
  return json::value{{"node", node}, {"pools", std::move(pools)}};
}

// The agents that the DaemonSet of deploy/pools runs. Empty: there is no cluster, or it has none.
Outcome<json::array> from_daemons(const Context& context, const std::string& node) {
  json::array out;
  auto config = cluster_config(context);
  if (!config) return out;
  net::Request request{.path = "/api/v1/namespaces/kube-system/pods?labelSelector=name%3Dcpudp"};
  const auto answer = ask(*config, std::move(request), std::chrono::seconds(10));
  const auto list = answer && answer->status == 200 ? parse_json(answer->body)
                                                    : Result<json::value>(json::value());
  if (!list || !list->is_object()) return out;
  for (const json::value& pod : kube::list_at(*list, "ObjectList.items")) {
    std::string address(kube::text_at(pod, "Pod.status.hostIP"));
    if (address.empty() || kube::text_at(pod, "Pod.status.phase") != "Running") continue;
    if (!node.empty() && kube::text_at(pod, "Pod.spec.nodeName") != node) continue;
    if (address.find(':') != address.npos) address = "[" + address + "]";
    PLIM_CLI_TRY(json::value pools, pools_at("http://" + address + ":9101"));
    out.push_back(std::move(pools));
  }
  return out;
}

bool has_files(const Context& context) {
  std::error_code ignored;
  return context.values.given("poolconfigs") ||
         std::filesystem::is_directory("/etc/cpu-pooler", ignored) ||
         std::filesystem::is_directory("/etc/cpu-dp", ignored);
}

// The pools from the files of this machine, if no agent runs.
Outcome<json::value> pools_here(const Context& context) {
  pools::LookOptions options;
  for (std::string_view part : split(context.values.text("poolconfigs"), ','))
    if (!trim(part).empty()) options.config.emplace_back(trim(part));
  std::error_code ignored;
  if (options.config.empty())
    for (const char* usual : {"/etc/cpu-pooler", "/etc/cpu-dp"})
      if (std::filesystem::is_directory(usual, ignored)) options.config.emplace_back(usual);
  if (options.config.empty())
    return usage_failure(Plm::wrong_arguments,
                         "no agent of a local cluster runs the module pools, and /etc/cpu-pooler "
                         "and /etc/cpu-dp have no configuration",
                         "pass --url, --node or --poolconfigs; or run plimsoll up --roles pools");
  options.host_root = context.values.text("host-root");
  options.node_name = context.world.env("NODE_NAME").value_or("here");
  if (options.host_root != "/") options.kubelet_dir = options.host_root + options.kubelet_dir;
  if (context.values.given("kubelet-dir")) options.kubelet_dir = context.values.text("kubelet-dir");
  auto labels = pools::parse_labels(context.values.text("labels"));
  if (!labels) return usage_failure(Plm::bad_flag_value, "--labels: " + labels.error().message);
  options.labels = std::move(*labels);
  Loop loop;
  auto pools = run_to_end(loop, pools::look_at_pools(std::move(options), system_clock()));
  if (!pools)
    return tl::unexpected(
        Failure{.code = Plm::bad_pool_config, .exit = 1, .what = pools.error().message});
  return std::move(*pools);
}

Outcome<json::array> nodes_of(const Context& context) {
  const std::string& node = context.values.text("node");
  std::string url = context.values.text("url");
  if (url.empty()) url = context.world.env("PLIMSOLL_POOLS_URL").value_or("");
  json::array out;
  if (!url.empty()) {
    PLIM_CLI_TRY(json::value pools, pools_at(url));
    out.push_back(std::move(pools));
    return out;
  }
  const json::object roles =
      roles::local_roles(context.values.text("kubeconfig"), context.world.env);
  if (const json::value* local = roles.if_contains("pools"); local != nullptr && local->is_object())
    for (const auto& [name, address] : local->get_object()) {
      if (!address.is_string() || (!node.empty() && name != node)) continue;
      PLIM_CLI_TRY(json::value pools, pools_at(std::string(address.get_string())));
      out.push_back(std::move(pools));
    }
  if (!out.empty()) return out;
  if (!node.empty() || !has_files(context)) {
    PLIM_CLI_TRY(out, from_daemons(context, node));
    if (!out.empty()) return out;
  }
  if (node.empty()) {
    PLIM_CLI_TRY(json::value pools, pools_here(context));
    out.push_back(std::move(pools));
    return out;
  }
  PLIM_CLI_TRY(json::value pools, from_report(context, node));
  out.push_back(std::move(pools));
  return out;
}

std::string count_text(const json::value& pool, std::string_view state) {
  if (const json::value* states = find(pool, {"states"})) {
    auto cpus = parse_cpu_list(text_at(*states, {state}));
    return cpus ? std::to_string(cpus->count()) : "-";
  }
  if (auto count = int_at(pool, {state})) return std::to_string(*count);  // as in a report
  return "-";
}

// Exclusive pools count CPUs, shared pools count thousandths of CPUs.
std::pair<std::string, std::string> free_and_used(const json::value& pool) {
  if (auto millis = int_at(pool, {"millis"})) {
    const std::int64_t used = int_at(pool, {"millisUsed"}).value_or(0);
    return {fmt::format("{}m", *millis - used), fmt::format("{}m", used)};
  }
  if (const json::value* free = find(pool, {"free"}); free != nullptr && free->is_object()) {
    std::int64_t sum = 0;
    for (const auto& [numa, count] : free->get_object())
      if (count.is_int64()) sum += count.get_int64();
    const bool shared = text_at(pool, {"type"}) == "shared";
    return {fmt::format("{}{}", sum, shared ? "m" : ""), "-"};
  }
  return {count_text(pool, "free"), count_text(pool, "used")};
}

// The share of the free CPUs that is not available on a single NUMA node.
std::string fragmentation_text(const json::value& pool) {
  const json::value* share = find(pool, {"fragmentation"});
  if (share == nullptr || !share->is_number()) return "-";
  return fmt::format("{:.0f}%", 100 * share->to_number<double>());
}

std::string holders_text(const json::value& pool) {
  const json::value* holders = find(pool, {"holders"});
  if (holders == nullptr || !holders->is_array()) return "-";
  std::string out;
  for (const json::value& holder : holders->get_array()) {
    if (!out.empty()) out += ", ";
    if (const auto letter = text_at(holder, {"letter"}); !letter.empty())
      out += fmt::format("{}:", letter);
    out += fmt::format("{}/{}", text_at(holder, {"pod"}), text_at(holder, {"container"}));
    if (const auto cpus = text_at(holder, {"cpus"}); !cpus.empty())
      out += fmt::format("={}", cpus);
    else if (auto millis = int_at(holder, {"millis"}))
      out += fmt::format("={}m", *millis);
  }
  return out.empty() ? "-" : out;
}

Table pools_table(const json::array& nodes) {
  Table table({{"NODE"},
               {"POOL"},
               {"TYPE"},
               {"CPUS"},
               {"FREE"},
               {"USED"},
               {"DRAINING", Table::Shown::wide},
               {"WITHHELD", Table::Shown::wide},
               {"OFFLINE", Table::Shown::wide},
               {"FRAGMENTED", Table::Shown::wide},
               {"HOLDERS"}});
  for (const json::value& node : nodes) {
    for (const json::value& pool : list_at(node, {"pools"})) {
      auto [free, used] = free_and_used(pool);
      table.add({std::string(text_at(node, {"node"})), std::string(text_at(pool, {"name"})),
                 std::string(text_at(pool, {"type"})), std::string(text_at(pool, {"cpus"})), free,
                 used, count_text(pool, "draining"), count_text(pool, "withheld"),
                 count_text(pool, "offline"), fragmentation_text(pool), holders_text(pool)});
    }
  }
  return table;
}

// One line per NUMA node, with a gap between caches.
std::string map_of(const json::value& node) {
  const json::value* cpus = find(node, {"cpus"});
  if (cpus == nullptr || !cpus->is_array()) return {};
  std::map<std::int64_t, std::map<std::int64_t, std::string>> places;
  for (const json::value& cpu : cpus->get_array())
    places[int_at(cpu, {"numa"}).value_or(0)][int_at(cpu, {"l3"}).value_or(0)] +=
        text_at(cpu, {"cell"});
  std::string out;
  for (const auto& [numa, caches] : places) {
    out += fmt::format("{} numa {}: ", text_at(node, {"node"}), numa);
    for (const auto& [l3, cells] : caches) out += " " + cells;
    out += "\n";
  }
  return out;
}

// Processes that may run on exclusive CPUs but belong to no pod.
std::string foreign_of(const json::value& node) {
  constexpr std::size_t kMost = 8;  // the rest is in -o json
  const json::value* foreign = find(node, {"foreign"});
  if (foreign == nullptr || !foreign->is_array() || foreign->get_array().empty()) return {};
  std::string out = fmt::format("{} !", text_at(node, {"node"}));
  std::size_t count = 0;
  for (const json::value& process : foreign->get_array()) {
    if (count++ == kMost) return out + " ...\n";
    out += fmt::format("{} {} (pid {}) on {}", count == 1 ? "" : ",", text_at(process, {"name"}),
                       int_at(process, {"pid"}).value_or(0), text_at(process, {"cpus"}));
  }
  return out + "\n";
}

std::string policy_of(const json::value& node) {
  const auto policy = text_at(node, {"cpuManagerPolicy"});
  if (policy.empty()) return {};
  return fmt::format("{} CPU manager of the kubelet: {}\n", text_at(node, {"node"}), policy);
}

// Returns false if there are no problems. Nodes that read the same ConfigMap have the same problem,
// so it is printed once.
bool tell_problems(Context& context, const json::array& nodes) {
  std::map<std::string_view, std::string> nodes_with;
  for (const json::value& node : nodes) {
    const std::string_view problem = text_at(node, {"configProblem"});
    if (problem.empty()) continue;
    std::string& names = nodes_with[problem];
    names += fmt::format("{}{}", names.empty() ? "" : ", ", text_at(node, {"node"}));
  }
  for (const auto& [problem, names] : nodes_with)
    (void)context.world.err.write(fmt::format("warning: {}: {}\n", names, problem));
  return !nodes_with.empty();
}

}  // namespace

Outcome<int> run_pools(Context& context) {
  PLIM_CLI_TRY(Printer printer, Printer::from(context));
  PLIM_CLI_TRY(json::array nodes, nodes_of(context));
  if (!printer.wants_table()) {
    PLIM_CLI_CHECK(printer.print(json::value{{"items", std::move(nodes)}}));
    return 0;
  }
  const Table table = pools_table(nodes);
  if (table.empty()) {
    PLIM_CLI_CHECK(context.world.out.write("no pools are configured\n"));
    if (!tell_problems(context, nodes)) (void)context.world.err.write(kHowToConfigure);
    return 0;
  }
  PLIM_CLI_CHECK(printer.print_table(table));
  tell_problems(context, nodes);
  std::string map;
  for (const json::value& node : nodes) map += map_of(node) + foreign_of(node) + policy_of(node);
  if (!map.empty()) PLIM_CLI_CHECK(context.world.out.write("\n" + map));
  return 0;
}

}  // namespace plim::cli
