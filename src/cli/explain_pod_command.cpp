// explain pod: why a pod is on its node, or on which node it would be.
#include <algorithm>

#include <fmt/format.h>

#include "base/random.hpp"
#include "base/utf8.hpp"
#include "cli/commands.hpp"
#include "cli/explain_live.hpp"
#include "cli/input.hpp"
#include "cli/printer.hpp"
#include "cli/release_flags.hpp"
#include "placement/cluster_snapshot.hpp"
#include "placement/volume_match.hpp"
#include "sched/config.hpp"
#include "sched/explain.hpp"
#include "sched/explain_table.hpp"

namespace plim::cli {
namespace {

// A snapshot of 5,000 nodes and 100,000 pods has about 700 MB.
constexpr std::size_t kLargestSnapshot = std::size_t{1} << 30;

Outcome<std::string> read_named(const std::string& name, std::size_t limit = kLargestInput) {
  auto text = read_input(name, limit);
  if (text) return std::move(*text);
  Failure out = file_failure(Plm::cannot_read, text.error());
  if (text.error().code == Code::too_large)
    out.next = "remove objects that the pods do not depend on";
  return tl::unexpected(std::move(out));
}

// The draws between equal nodes: different each time, or repeatable with --seed.
std::uint64_t draw_seed(const Values& values) {
  return values.given("seed") ? static_cast<std::uint64_t>(values.integer("seed"))
                              : system_random().next();
}

Failure bad_file(const Error& error) {
  return Failure{.code = Plm::cannot_read,
                 .exit = exit_code(error.code),
                 .what = error.message,
                 .next = "see docs/scheduler.md"};
}

constexpr const char* kMakeSnapshot =
    "create the file with kubectl get nodes,pods,namespaces,services,replicasets.apps -A -o json";

const std::string& name_of_node(const kube::Node& node) {
  return node.meta.name;
}

Failure no_such_node(const std::string& node, std::string tried) {
  return Failure{.code = Plm::not_found,
                 .exit = 4,
                 .what = fmt::format("node {} does not exist", escape_controls(node)),
                 .tried = std::move(tried),
                 .next = "pass the name of a node to --why-not"};
}

Outcome<sched::Configuration> read_profiles(Context& context) {
  const std::string& name = context.values.text("config");
  PLIM_CLI_TRY(const ChosenRelease chosen, chosen_release(context.values));
  for (const std::string& gate : chosen.idle_gates)
    PLIM_CLI_CHECK(
        context.world.err.write(fmt::format("warning: --feature-gates: {} has no effect\n", gate)));
  const sched::ReadConfigOptions options{.release = chosen.release};
  if (name.empty()) return sched::default_configuration(options);
  PLIM_CLI_TRY(std::string text, read_named(name));
  auto read = sched::read_configuration(text, name, options);
  if (!read) return tl::unexpected(bad_file(read.error()));
  for (const std::string& warning : read->warnings)
    PLIM_CLI_CHECK(context.world.err.write(fmt::format("warning: {}\n", warning)));
  return std::move(read->config);
}

// Counts the pod on the node. The volumes that it gets there go to no other claim.
void count_on(placement::Engine& engine, const placement::PodPointer& pod, std::string_view node) {
  const placement::VolumePlan plan = placement::plan_volumes(engine.cluster(), *pod, node);
  engine.volumes().reserve(plan, node);
  engine.set_pod(pod, node);
}

// Places one pod after another and counts each on its node before the next. Skips pods of the file
// that already have a node. Fails if no pod is left.
Outcome<json::array> decide_all(Context& context, placement::Engine& engine,
                                const placement::Snapshot& snapshot,
                                const std::vector<placement::PodPointer>& pods,
                                const sched::Configuration& config) {
  sched::ExplainOptions options;
  options.budgets = snapshot.budgets;
  if (context.values.boolean("all-nodes") || !context.values.text("why-not").empty()) {
    options.rows = placement::DecideOptions::kAllRows;
    options.samples = options.rows;
  }
  json::array out;
  SeededRandom draws(draw_seed(context.values));
  for (const placement::PodPointer& pod : pods) {
    if (!pod->spec.node_name.empty()) {
      count_on(engine, pod, pod->spec.node_name.view());
      PLIM_CLI_CHECK(context.world.err.write(fmt::format(
          "note: pod {}/{} is skipped: its spec.nodeName is already {}\n", pod->meta.ns.view(),
          pod->meta.name, escape_controls(pod->spec.node_name.view()))));
      continue;
    }
    const placement::Profile* profile = config.profile_named(pod->spec.scheduler_name);
    if (profile == nullptr)
      return tl::unexpected(Failure{
          .code = Plm::wrong_arguments,
          .exit = 2,
          .what = fmt::format("profile \"{}\" of pod {}/{} does not exist",
                              pod->spec.scheduler_name.view(), pod->meta.ns.view(), pod->meta.name),
          .shape = Failure::Shape::one_line});
    options.draw = draws.next();
    const sched::ExplainRecord record =
        sched::explain(engine, *pod, *profile, system_clock(), options);
    out.push_back(sched::explain_to_json(record));
    if (!record.decision.node.empty()) count_on(engine, pod, record.decision.node);
  }
  if (out.empty())
    return tl::unexpected(Failure{
        .code = Plm::wrong_arguments,
        .exit = 2,
        .what = fmt::format("all pods of {} already have nodes", context.values.text("pod")),
        .next = "remove spec.nodeName from the pods to place"});
  return out;
}

Outcome<json::array> explain_snapshot(Context& context) {
  kube::InternPool pool;
  const std::string& snapshot_name = context.values.text("snapshot");
  const std::string& pod_name = context.values.text("pod");
  PLIM_CLI_TRY(std::string snapshot_text, read_named(snapshot_name, kLargestSnapshot));
  auto snapshot = placement::read_snapshot(snapshot_text, snapshot_name, pool);
  if (!snapshot) return tl::unexpected(bad_file(snapshot.error()));
  PLIM_CLI_TRY(std::string pod_text, read_named(pod_name));
  auto pods = placement::read_pods(pod_text, pod_name, pool);
  if (!pods) return tl::unexpected(bad_file(pods.error()));
  PLIM_CLI_TRY(sched::Configuration config, read_profiles(context));
  if (snapshot->nodes.empty())
    return tl::unexpected(Failure{.code = Plm::cannot_read,
                                  .exit = 2,
                                  .what = fmt::format("{}: the file has no node", snapshot_name),
                                  .next = kMakeSnapshot});
  if (const std::string& node = context.values.text("why-not");
      !node.empty() && std::ranges::count(snapshot->nodes, node, name_of_node) == 0)
    return tl::unexpected(no_such_node(node, snapshot_name));
  // A pod must not compete with its own earlier copy.
  std::erase_if(snapshot->pods, [&](const placement::PodPointer& there) {
    return std::ranges::any_of(*pods, [&](const placement::PodPointer& pod) {
      return pod->meta.name == there->meta.name && pod->meta.ns == there->meta.ns;
    });
  });
  placement::Engine engine;
  engine.follow(config.release);
  placement::fill_engine(engine, *snapshot);
  return decide_all(context, engine, *snapshot, *pods, config);
}

Outcome<void> print_tables(Context& context, const json::array& records) {
  sched::ExplainTableOptions options;
  if (context.values.boolean("all-nodes")) options.rows = placement::DecideOptions::kAllRows;
  const std::string& node = context.values.text("why-not");
  bool first = true;
  for (const json::value& record : records) {
    std::string text = std::exchange(first, false) ? "" : "\n";
    text +=
        node.empty() ? sched::explain_table(record, options) : sched::explain_why_not(record, node);
    PLIM_CLI_CHECK(context.world.out.write(text));
  }
  return {};
}

Outcome<int> print_annotation(Context& context, Printer& printer, const LiveExplanation& found) {
  if (const std::string& node = context.values.text("why-not"); !node.empty())
    return tl::unexpected(
        Failure{.code = Plm::not_found,
                .exit = 4,
                .what = fmt::format("only the scheduler knows why pod {}/{} is not on {}: {}",
                                    found.ns, found.name, node, found.reason),
                .next = "without --why-not the command shows the annotation of the pod"});
  if (printer.wants_table()) {
    PLIM_CLI_CHECK(context.world.out.write(annotation_text(found)));
    return 0;
  }
  const json::value out{{"pod", {{"namespace", found.ns}, {"name", found.name}}},
                        {"node", found.node},
                        {"decision", found.decision},
                        {"notes", {found.reason}}};
  PLIM_CLI_CHECK(printer.print(out));
  return 0;
}

}  // namespace

Outcome<int> run_explain_pod(Context& context) {
  PLIM_CLI_TRY(Printer printer, Printer::from(context));
  json::array records;
  const std::string& snapshot = context.values.text("snapshot");
  const std::string& pod = context.values.text("pod");
  if (!context.arguments.empty()) {
    if (!snapshot.empty() || !pod.empty() || context.values.given("config"))
      return usage_failure(
          Plm::wrong_arguments,
          "pass a pod of the cluster, or --snapshot, --pod and --config, not both");
    PLIM_CLI_TRY(LiveExplanation found, explain_live(context, context.arguments[0]));
    if (found.record.is_null()) return print_annotation(context, printer, found);
    if (const std::string& node = context.values.text("why-not");
        !node.empty() && !sched::explain_knows(found.record, node) && is_no_node(context, node))
      return tl::unexpected(no_such_node(node, {}));
    records.push_back(std::move(found.record));
  } else if (snapshot.empty() || pod.empty()) {
    return usage_failure(Plm::wrong_arguments, "pass a pod, or --snapshot and --pod",
                         "plimsoll explain pod NAME");
  } else {
    PLIM_CLI_TRY(records, explain_snapshot(context));
  }
  if (printer.wants_table()) {
    PLIM_CLI_CHECK(print_tables(context, records));
    return 0;
  }
  json::value one =
      records.size() == 1 ? std::move(records[0]) : json::value{{"items", std::move(records)}};
  PLIM_CLI_CHECK(printer.print(one));
  return 0;
}

}  // namespace plim::cli
