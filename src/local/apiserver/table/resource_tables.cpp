// Resource claims, what drivers and administrators say about devices, and kinds that show only
// their age.
#include "local/apiserver/table/cells.hpp"
#include "local/apiserver/table/views.hpp"

namespace plim::local::apiserver {
namespace {

using namespace cells;

constexpr TableColumn kResourceClaimColumns[] = {
    kName, {.name = "State", .description = "Whether it has devices and users"}, kAge};

json::array resource_claim_cells(const json::value& claim, WallTime now) {
  std::vector<std::string> states;
  if (kube::find(claim, "ResourceResourceClaim.metadata.deletionTimestamp"))
    states.emplace_back("deleted");
  if (!kube::find(claim, "ResourceResourceClaim.status.allocation")) {
    if (states.empty()) states.emplace_back("pending");
  } else {
    states.emplace_back("allocated");
    if (!list(claim, "ResourceResourceClaim.status.reservedFor").empty())
      states.emplace_back("reserved");
  }
  return {name(claim), join(states), age(claim, now)};
}

constexpr TableColumn kResourceSliceColumns[] = {
    kName,
    {.name = "Node", .description = "Node the devices are on"},
    {.name = "Driver", .description = "Who offers the devices"},
    {.name = "Pool", .description = "Pool the devices are in"},
    kAge,
};

json::array resource_slice_cells(const json::value& slice, WallTime now) {
  return {name(slice), text(slice, "ResourceSlice.spec.nodeName", "<unset>"),
          text(slice, "ResourceSlice.spec.driver"), text(slice, "ResourceSlice.spec.pool.name"),
          age(slice, now)};
}

constexpr TableColumn kDeviceTaintRuleColumns[] = {
    kName,
    {.name = "Key", .description = "Key of the taint"},
    {.name = "Value", .description = "Value of the taint"},
    {.name = "Effect", .description = "What happens to claims that do not tolerate it"},
    {.name = "TimeAdded", .description = "Time since the devices have the taint"},
    kAge,
};

json::array device_taint_rule_cells(const json::value& rule, WallTime now) {
  const std::string added = text(rule, "DeviceTaintRule.spec.taint.timeAdded");
  return {name(rule),
          text(rule, "DeviceTaintRule.spec.taint.key"),
          text(rule, "DeviceTaintRule.spec.taint.value"),
          text(rule, "DeviceTaintRule.spec.taint.effect"),
          added.empty() ? added : human_age(added, now),
          age(rule, now)};
}

constexpr TableColumn kNameAndAgeColumns[] = {kName, kAge};

json::array name_and_age_cells(const json::value& object, WallTime now) {
  return {name(object), age(object, now)};
}

}  // namespace

const TableView kResourceClaimView{.columns = kResourceClaimColumns, .cells = resource_claim_cells};
const TableView kResourceSliceView{.columns = kResourceSliceColumns, .cells = resource_slice_cells};
const TableView kDeviceTaintRuleView{.columns = kDeviceTaintRuleColumns,
                                     .cells = device_taint_rule_cells};
const TableView kNameAndAgeView{.columns = kNameAndAgeColumns, .cells = name_and_age_cells};

}  // namespace plim::local::apiserver
