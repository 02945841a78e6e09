#include "base/json.hpp"
#include "node/pod_resources.hpp"

namespace plim::node {
namespace {

void add_ids(const json::value& list, std::vector<std::string>& out) {
  if (const json::array* ids = list.if_array())
    for (const json::value& id : *ids)
      if (id.is_string()) out.emplace_back(id.get_string());
}

}  // namespace

Result<std::vector<HeldDevices>> parse_device_checkpoint(std::string_view text) {
  PLIM_TRY(json::value file, parse_json(text, "kubelet_internal_checkpoint"));
  std::vector<HeldDevices> out;
  for (const json::value& entry : list_at(file, {"Data", "PodDeviceEntries"})) {
    HeldDevices held{.ns = {},
                     .pod = {},
                     .pod_uid = std::string(text_at(entry, {"PodUID"})),
                     .container = std::string(text_at(entry, {"ContainerName"})),
                     .resource = std::string(text_at(entry, {"ResourceName"})),
                     .ids = {}};
    const json::value* ids = find(entry, {"DeviceIDs"});
    if (held.pod_uid.empty() || held.container.empty() || ids == nullptr) continue;
    add_ids(*ids, held.ids);
    if (const json::object* by_numa = ids->if_object())
      for (const auto& [numa, list] : *by_numa) add_ids(list, held.ids);
    out.push_back(std::move(held));
  }
  return out;
}

}  // namespace plim::node
