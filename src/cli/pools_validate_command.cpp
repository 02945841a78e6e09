#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/printer.hpp"
#include "pools/pool_config.hpp"

namespace plim::cli {
namespace {

std::vector<std::string> places_of(const Context& context) {
  std::vector<std::string> out = context.arguments;
  for (std::string_view part : split(context.values.text("file"), ','))
    if (!trim(part).empty()) out.emplace_back(trim(part));
  return out;
}

Failure pools_failure(std::string what, std::string next) {
  return Failure{
      .code = Plm::bad_pool_config, .exit = 1, .what = std::move(what), .next = std::move(next)};
}

// Plans every file of the configuration as if this node used it.
std::vector<pools::NodePools> plans_of(const pools::PoolConfig& config,
                                       const pools::Topology& topology,
                                       const std::optional<pools::NodeLabels>& labels,
                                       pools::Problems& problems) {
  std::vector<pools::NodePools> out;
  if (labels) {
    const pools::PoolFile* file = pools::choose_file(config, *labels, problems);
    if (file != nullptr) out.push_back(pools::plan_node(config, *file, topology, {}, problems));
    return out;
  }
  for (const pools::PoolFile& file : config.files)
    out.push_back(pools::plan_node(config, file, topology, {}, problems));
  return out;
}

json::value describe_plan(const pools::NodePools& plan) {
  json::array list;
  for (const pools::Pool& pool : plan.pools) {
    json::object item{{"name", pool.name},
                      {"type", pools::type_name(pool.type)},
                      {"cpus", pool.cpus.to_string()}};
    if (pool.advertised()) item["resource"] = plan.resource(pool);
    if (pool.advertised()) item["devices"] = pool.cpus.count() * pool.devices_per_cpu();
    if (pool.type == pools::PoolType::exclusive)
      item["hyperThreadingPolicy"] = pools::policy_name(pool.smt);
    list.push_back(std::move(item));
  }
  return {{"file", plan.file},
          {"defaultCPUs", plan.default_cpus.to_string()},
          {"pools", std::move(list)}};
}

Table table_of(const std::vector<pools::NodePools>& plans) {
  Table table({{"FILE"}, {"POOL"}, {"TYPE"}, {"CPUS"}, {"RESOURCE"}, {"AMOUNT"}});
  for (const pools::NodePools& plan : plans) {
    for (const pools::Pool& pool : plan.pools)
      table.add(
          {plan.file, pool.name, std::string(pools::type_name(pool.type)), pool.cpus.to_string(),
           pool.advertised() ? plan.resource(pool) : "-",
           pool.advertised() ? std::to_string(pool.cpus.count() * pool.devices_per_cpu()) : "-"});
    if (!plan.default_is_explicit && !plan.default_cpus.empty())
      table.add({plan.file, "(rest)", "default", plan.default_cpus.to_string(), "-", "-"});
  }
  return table;
}

}  // namespace

Outcome<int> run_pools_validate(Context& context) {
  PLIM_CLI_TRY(Printer printer, Printer::from(context));
  const std::vector<std::string> places = places_of(context);
  if (places.empty())
    return usage_failure(Plm::wrong_arguments, "pools validate needs a file",
                         "plimsoll pools validate -f poolconfig.yaml");
  std::optional<pools::NodeLabels> labels;
  if (context.values.given("labels")) {
    auto parsed = pools::parse_labels(context.values.text("labels"));
    if (!parsed) return usage_failure(Plm::bad_flag_value, "--labels: " + parsed.error().message);
    labels = std::move(*parsed);
  }
  auto texts = pools::read_config_texts(places);
  if (!texts) return tl::unexpected(file_failure(Plm::cannot_read, texts.error()));
  if (texts->empty())
    return tl::unexpected(
        pools_failure("no pool configuration in " + places.front(),
                      "name the files poolconfig.yaml, poolconfig-<x>.yaml or cpu-pooler.yaml"));
  auto topology = pools::read_topology(context.values.text("host-root"));
  if (!topology) return tl::unexpected(pools_failure(topology.error().message, ""));
  pools::Problems problems;
  const pools::PoolConfig config = pools::parse_pool_config(*texts, problems);
  const auto plans = plans_of(config, *topology, labels, problems);
  const bool strict = context.values.boolean("strict");
  for (const std::string& line : problems.errors)
    (void)context.world.err.write(fmt::format("error: {}\n", line));
  for (const std::string& line : problems.warnings)
    (void)context.world.err.write(fmt::format("{}: {}\n", strict ? "error" : "warning", line));
  const std::size_t mistakes =
      problems.errors.size() + (strict ? problems.warnings.size() : std::size_t{0});
  if (mistakes > 0)
    return tl::unexpected(pools_failure(
        mistakes == 1 ? "the pool configuration has a mistake"
                      : fmt::format("the pool configuration has {} mistakes", mistakes),
        "see docs/pools.md; the agent applies nothing until all mistakes are corrected"));
  if (plans.empty()) {
    PLIM_CLI_CHECK(context.world.out.write("no file matches a node with these labels\n"));
    return 0;
  }
  if (printer.wants_table()) {
    PLIM_CLI_CHECK(printer.print_table(table_of(plans)));
    return 0;
  }
  json::array all;
  for (const pools::NodePools& plan : plans) all.push_back(describe_plan(plan));
  PLIM_CLI_CHECK(printer.print(json::value{{"items", std::move(all)}}));
  return 0;
}

}  // namespace plim::cli
