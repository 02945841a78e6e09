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
  if (kube::find(spec, "PodsMetricSource.target.averageUtilization")) {
    const auto used = kube::int_at(current, "MetricValueStatus.averageUtilization");
    return fmt::format("{}/{}%", used ? fmt::format("{}%", *used) : "<unknown>",
                       number(spec, "PodsMetricSource.target.averageUtilization"));
  }
  if (kube::find(spec, "PodsMetricSource.target.averageValue"))
    return fmt::format("{}/{}", or_unknown(scalar(current, "MetricValueStatus.averageValue")),
                       scalar(spec, "PodsMetricSource.target.averageValue"));
  return fmt::format("{}/{}", or_unknown(scalar(current, "MetricValueStatus.value")),
                     scalar(spec, "PodsMetricSource.target.value"));
}

std::string metric(const json::value& spec, const json::value& status) {
  struct Source {
    std::string_view type;
    kube::AnyPath spec, current;
  };

  constexpr Source kSources[] = {
      {"Resource", "MetricSpec.resource", "MetricStatus.resource.current"},
      {"ContainerResource", "MetricSpec.containerResource",
       "MetricStatus.containerResource.current"},
      {"Pods", "MetricSpec.pods", "MetricStatus.pods.current"},
      {"Object", "MetricSpec.object", "MetricStatus.object.current"},
      {"External", "MetricSpec.external", "MetricStatus.external.current"},
  };
  const std::string_view type = kube::text_at(spec, "MetricSpec.type");
  for (const Source& known : kSources) {
    const json::value* source = known.type == type ? kube::find(spec, known.spec) : nullptr;
    if (!source) continue;
    const json::value* current = kube::find(status, known.current);
    const std::string values = current_and_target(*source, current ? *current : json::value());
    if (type == "Resource" || type == "ContainerResource")
      return fmt::format("{}: {}", text(*source, "ResourceMetricSource.name"), values);
    const bool averaged =
        type != "Pods" && kube::find(*source, "ResourceMetricSource.target.averageValue");
    return averaged ? values + " (avg)" : values;
  }
  return "<unknown type>";
}

std::string targets(const json::value& object) {
  const json::array& specs = list(object, "HorizontalPodAutoscaler.spec.metrics");
  const json::array& current = list(object, "HorizontalPodAutoscaler.status.currentMetrics");
  if (specs.empty()) return "<none>";
  std::vector<std::string> out;
  for (std::size_t i = 0; i < specs.size(); ++i)
    out.push_back(metric(specs[i], i < current.size() ? current[i] : json::value()));
  return join_some(out, kShownMetrics, ", ");
}

json::array autoscaler_cells(const json::value& object, WallTime now) {
  const std::string minimum = scalar(object, "HorizontalPodAutoscaler.spec.minReplicas");
  return {name(object),
          text(object, "HorizontalPodAutoscaler.spec.scaleTargetRef.kind") + "/" +
              text(object, "HorizontalPodAutoscaler.spec.scaleTargetRef.name"),
          targets(object),
          minimum.empty() ? "<unset>" : minimum,
          number(object, "HorizontalPodAutoscaler.spec.maxReplicas"),
          number(object, "HorizontalPodAutoscaler.status.currentReplicas"),
          age(object, now)};
}

}  // namespace

const TableView kAutoscalerView{.columns = kAutoscalerColumns, .cells = autoscaler_cells};

}  // namespace plim::local::apiserver
