#include <fmt/format.h>

#include "local/apiserver/table/cells.hpp"
#include "local/apiserver/table/views.hpp"

namespace plim::local::apiserver {
namespace {

using namespace cells;

constexpr std::size_t kShownMetrics = 2;  // metrics in one cell

constexpr TableColumn kAutoscalerColumns[] = {
    kName,
    {.name = "Reference", .description = "What it scales"},
    {.name = "Targets", .description = "Measured and wanted value of each metric"},
    {.name = "MinPods", .description = "Minimum number of pods"},
    {.name = "MaxPods", .description = "Maximum number of pods"},
    {.name = "Replicas", .description = "Pods it wants now"},
    kAge,
};

std::string or_unknown(std::string value) {
  return value.empty() ? "<unknown>" : std::move(value);
}

// "12%/80%", "5/10": utilization in percent, else an average or a plain value.
std::string current_and_target(const json::value& spec, const json::value& current) {
  if (find(spec, {"target", "averageUtilization"})) {
    const auto used = int_at(current, {"averageUtilization"});
    return fmt::format("{}/{}%", used ? fmt::format("{}%", *used) : "<unknown>",
                       number(spec, {"target", "averageUtilization"}));
  }
  const char* kind = find(spec, {"target", "averageValue"}) ? "averageValue" : "value";
  return fmt::format("{}/{}", or_unknown(scalar(current, {kind})), scalar(spec, {"target", kind}));
}

std::string metric(const json::value& spec, const json::value& status) {
  constexpr std::pair<std::string_view, std::string_view> kSources[] = {
      {"Resource", "resource"}, {"ContainerResource", "containerResource"},
      {"Pods", "pods"},         {"Object", "object"},
      {"External", "external"},
  };
  const std::string_view type = text_at(spec, {"type"});
  for (const auto& [name, key] : kSources) {
    const json::value* source = name == type ? find(spec, {key}) : nullptr;
    if (!source) continue;
    const json::value* current = find(status, {key, "current"});
    const std::string values = current_and_target(*source, current ? *current : json::value());
    if (type == "Resource" || type == "ContainerResource")
      return fmt::format("{}: {}", text(*source, {"name"}), values);
    const bool averaged = type != "Pods" && find(*source, {"target", "averageValue"});
    return averaged ? values + " (avg)" : values;
  }
  return "<unknown type>";
}

std::string targets(const json::value& object) {
  const json::array& specs = list(object, {"spec", "metrics"});
  const json::array& current = list(object, {"status", "currentMetrics"});
  if (specs.empty()) return "<none>";
  std::vector<std::string> out;
  for (std::size_t i = 0; i < specs.size(); ++i)
    out.push_back(metric(specs[i], i < current.size() ? current[i] : json::value()));
  return join_some(out, kShownMetrics, ", ");
}

json::array autoscaler_cells(const json::value& object, WallTime now) {
  const std::string minimum = scalar(object, {"spec", "minReplicas"});
  return {name(object),
          text(object, {"spec", "scaleTargetRef", "kind"}) + "/" +
              text(object, {"spec", "scaleTargetRef", "name"}),
          targets(object),
          minimum.empty() ? "<unset>" : minimum,
          number(object, {"spec", "maxReplicas"}),
          number(object, {"status", "currentReplicas"}),
          age(object, now)};
}

}  // namespace

const TableView kAutoscalerView{.columns = kAutoscalerColumns, .cells = autoscaler_cells};

}  // namespace plim::local::apiserver
