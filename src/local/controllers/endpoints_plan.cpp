#include "local/controllers/endpoints_plan.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "local/controllers/pod_questions.hpp"

namespace plim::local::controllers {
namespace {

constexpr std::string_view kOverCapacity = "endpoints.kubernetes.io/over-capacity";

bool publishes_unready(const Object& service) {
  return kube::bool_at(service.json, "Service.spec.publishNotReadyAddresses");
}

bool is_headless(const Object& service) {
  return kube::text_at(service.json, "Service.spec.clusterIP") == "None";
}

bool has_address(const kube::Pod& pod) {
  if (pod.status.pod_ip.empty() || pod.status.phase == "Succeeded") return false;
  return pod.status.phase != "Failed" || pod.spec.restart_policy != "Never";
}

// The number of a named port in this pod.
std::optional<std::int64_t> named_port(const kube::Pod& pod, std::string_view name,
                                       std::string_view protocol) {
  for (const kube::Container& container : pod.spec.containers) {
    if (container.ports.empty()) continue;
    auto ports = parse_json(container.ports.view());
    if (!ports || !ports->is_array()) continue;
    for (const json::value& port : ports->get_array()) {
      const std::string_view spoken = kube::text_at(port, "ContainerPort.protocol");
      if (kube::text_at(port, "ContainerPort.name") == name &&
          (spoken.empty() ? "TCP" : spoken) == protocol)
        return kube::int_at(port, "ContainerPort.containerPort");
    }
  }
  return std::nullopt;
}

json::array ports_for(const Object& service, const kube::Pod& pod) {
  json::array out;
  for (const json::value& port : kube::list_at(service.json, "Service.spec.ports")) {
    std::string_view protocol = kube::text_at(port, "ServicePort.protocol");
    if (protocol.empty()) protocol = "TCP";
    const json::value* target = kube::find(port, "ServicePort.targetPort");
    std::optional<std::int64_t> number = kube::int_at(port, "ServicePort.port");
    if (target && target->is_string())
      number = named_port(pod, std::string_view(target->get_string()), protocol);
    if (target && !target->is_string() &&
        kube::int_at(port, "ServicePort.targetPort").value_or(0) > 0)
      number = kube::int_at(port, "ServicePort.targetPort");
    if (!number) continue;  // this pod has no such port
    json::object made;
    made[kube::key("DiscoveryEndpointPort.name")] = kube::text_at(port, "ServicePort.name");
    made[kube::key("DiscoveryEndpointPort.port")] = *number;
    made[kube::key("DiscoveryEndpointPort.protocol")] = protocol;
    if (const std::string_view app = kube::text_at(port, "ServicePort.appProtocol"); !app.empty())
      made[kube::key("DiscoveryEndpointPort.appProtocol")] = app;
    out.push_back(std::move(made));
  }
  return out;
}

json::object target_of(const kube::Pod& pod) {
  return {{"kind", "Pod"},
          {"namespace", pod.meta.ns.view()},
          {"name", pod.meta.name},
          {"uid", pod.meta.uid}};
}

bool has_host_name(const Object& service, const kube::Pod& pod) {
  return !pod.spec.hostname.empty() && pod.spec.subdomain == service.meta.name;
}

json::object address_of(const Object& service, const kube::Pod& pod) {
  json::object out{{"ip", pod.status.pod_ip}};
  if (has_host_name(service, pod)) out[kube::key("EndpointAddress.hostname")] = pod.spec.hostname;
  set_or_omit(out, "EndpointAddress.nodeName", pod.spec.node_name.view());
  out[kube::key("EndpointAddress.targetRef")] = target_of(pod);
  return out;
}

json::object endpoint_of(const Object& service, const kube::Pod& pod) {
  const bool serving = is_ready(pod);
  const bool terminating = pod.meta.deleted.has_value();
  const bool ready = publishes_unready(service) || (serving && !terminating);
  json::object out{
      {"addresses", json::array{json::value(pod.status.pod_ip)}},
      {"conditions", {{"ready", ready}, {"serving", serving}, {"terminating", terminating}}}};
  if (has_host_name(service, pod)) out[kube::key("Endpoint.hostname")] = pod.spec.hostname;
  set_or_omit(out, "Endpoint.nodeName", pod.spec.node_name.view());
  out[kube::key("Endpoint.targetRef")] = target_of(pod);
  return out;
}

json::object labels_for(const Object& service) {
  json::object out;
  for (const auto& [key, value] : text_pairs(kube::find(service.json, "Service.metadata.labels")))
    if (key != kServiceName && key != kSliceManagedBy) out[key] = value;
  if (is_headless(service)) out["service.kubernetes.io/headless"] = "";
  return out;
}

// Slices always have the name of a port, Endpoints only if it is not empty.
json::array without_empty_names(json::array ports) {
  for (json::value& port : ports)
    if (kube::text_at(port, "CoreEndpointPort.name").empty())
      port.as_object().erase(kube::key("CoreEndpointPort.name"));
  return ports;
}

json::value new_slice(const Object& service, const json::array& ports, json::array endpoints) {
  const Parent parent(kube::resources::services, service.meta);
  json::object labels = labels_for(service);
  labels[kServiceName] = parent.name;
  labels[kSliceManagedBy] = kSliceManager;
  json::value out{{"apiVersion", "discovery.k8s.io/v1"},
                  {"kind", "EndpointSlice"},
                  {"metadata",
                   {{"generateName", parent.name + "-"},
                    {"namespace", parent.ns},
                    {"labels", std::move(labels)}}},
                  {"addressType", "IPv4"},
                  {"endpoints", std::move(endpoints)},
                  {"ports", ports}};
  PLIM_ASSERT(kube::set_owner(out, parent.controller_reference()));
  return out;
}

// Fills the slices with one set of ports.
class SliceFiller {
 public:
  SliceFiller(const Object& service, json::array ports, std::map<std::string, json::value> wanted)
      : service_(service), ports_(std::move(ports)), wanted_(std::move(wanted)) {}

  // Keeps endpoints that are still wanted in their slice.
  void take(const ObjectPointer& slice) {
    json::array kept;
    for (const json::value& endpoint : kube::list_at(slice->json, "EndpointSlice.endpoints")) {
      auto found = wanted_.find(std::string(kube::text_at(endpoint, "Endpoint.targetRef.uid")));
      if (found == wanted_.end()) continue;
      kept.push_back(std::move(found->second));
      wanted_.erase(found);
    }
    slices_.emplace_back(slice, std::move(kept));
  }

  void finish(SlicePlan& plan, bool may_be_empty) {
    for (auto& [slice, endpoints] : slices_)
      while (endpoints.size() < kMaxSlice && !wanted_.empty()) endpoints.push_back(next());
    bool one_left = false;
    for (auto& [slice, endpoints] : slices_) {
      if (endpoints.empty() && (one_left || !may_be_empty)) {
        plan.remove.push_back(slice);
        continue;
      }
      one_left = true;
      json::value changed = slice->json;
      changed.as_object()[kube::key("EndpointSlice.endpoints")] = std::move(endpoints);
      json::object labels = labels_for(service_);
      labels[kServiceName] = service_.meta.name;
      labels[kSliceManagedBy] = kSliceManager;
      kube::make_object(changed,
                        "EndpointSlice.metadata")[kube::key("EndpointSlice.metadata.labels")] =
          std::move(labels);
      if (changed != slice->json) plan.update.push_back(std::move(changed));
    }
    while (!wanted_.empty()) {
      json::array endpoints;
      while (endpoints.size() < kMaxSlice && !wanted_.empty()) endpoints.push_back(next());
      plan.create.push_back(new_slice(service_, ports_, std::move(endpoints)));
    }
  }

 private:
  json::value next() {
    auto first = wanted_.begin();
    json::value out = std::move(first->second);
    wanted_.erase(first);
    return out;
  }

  const Object& service_;
  json::array ports_;
  std::map<std::string, json::value> wanted_;  // by the UID of the pod
  std::vector<std::pair<ObjectPointer, json::array>> slices_;
};

}  // namespace

bool same_for_services(const kube::Pod& a, const kube::Pod& b) {
  return a.status.pod_ip == b.status.pod_ip && a.status.phase == b.status.phase &&
         a.spec.node_name == b.spec.node_name && is_ready(a) == is_ready(b) &&
         a.meta.deleted.has_value() == b.meta.deleted.has_value();
}

json::value endpoints_of(const Object& service, const std::vector<PodPointer>& pods,
                         const json::value* present) {
  struct Subset {
    json::array ports, ready, unready;
  };

  std::map<std::string, Subset> subsets;
  std::vector<PodPointer> order = pods;
  std::sort(order.begin(), order.end(), [](const PodPointer& a, const PodPointer& b) {
    return a->status.pod_ip != b->status.pod_ip ? a->status.pod_ip < b->status.pod_ip
                                                : a->meta.uid < b->meta.uid;
  });
  const json::value* asked = kube::find(service.json, "Service.spec.ports");
  const bool portless = !asked || !asked->is_array() || asked->get_array().empty();
  std::erase_if(order,
                [](const PodPointer& pod) { return !has_address(*pod) || pod->meta.deleted; });
  // Endpoints are truncated, since readers get the whole object; the slices have all addresses.
  const bool too_many = order.size() > kMaxEndpoints;
  if (too_many) {
    std::partition(order.begin(), order.end(),
                   [](const PodPointer& pod) { return is_ready(*pod); });
    order.resize(kMaxEndpoints);
  }
  for (const PodPointer& pod : order) {
    json::array ports = without_empty_names(ports_for(service, *pod));
    if (ports.empty() && !portless) continue;
    Subset& subset = subsets[to_json(ports)];
    subset.ports = std::move(ports);
    const bool ready = publishes_unready(service) || is_ready(*pod);
    (ready ? subset.ready : subset.unready).push_back(address_of(service, *pod));
  }
  json::array made;
  for (auto& [key, subset] : subsets) {
    json::object one;
    set_or_omit(one, "EndpointSubset.addresses", std::move(subset.ready));
    set_or_omit(one, "EndpointSubset.notReadyAddresses", std::move(subset.unready));
    set_or_omit(one, "EndpointSubset.ports", std::move(subset.ports));
    made.push_back(std::move(one));
  }
  json::value out =
      present ? *present
              : json::value{{"apiVersion", "v1"},
                            {"kind", "Endpoints"},
                            {"metadata",
                             {{"name", service.meta.name}, {"namespace", service.meta.ns.view()}}}};
  json::object labels = labels_for(service);
  labels["endpoints.kubernetes.io/managed-by"] = "endpoint-controller";
  kube::make_object(out, "Endpoints.metadata")[kube::key("Endpoints.metadata.labels")] =
      std::move(labels);
  set_or_omit(out.as_object(), "Endpoints.subsets", std::move(made));
  if (too_many) {
    kube::make_object(out, "Endpoints.metadata.annotations")[kOverCapacity] = "truncated";
  } else if (kube::find(out, "Endpoints.metadata.annotations", kOverCapacity)) {
    kube::make_object(out, "Endpoints.metadata.annotations").erase(kOverCapacity);
  }
  return out;
}

SlicePlan plan_slices(const Object& service, const std::vector<PodPointer>& pods,
                      const std::vector<ObjectPointer>& present) {
  struct Group {
    json::array ports;
    std::map<std::string, json::value> wanted;
    std::vector<ObjectPointer> slices;
  };

  std::map<std::string, Group> groups;
  for (const PodPointer& pod : pods) {
    if (!has_address(*pod)) continue;
    json::array ports = ports_for(service, *pod);
    Group& group = groups[to_json(ports)];
    group.ports = std::move(ports);
    group.wanted[pod->meta.uid] = endpoint_of(service, *pod);
  }
  SlicePlan out;
  std::vector<ObjectPointer> idle;
  for (const ObjectPointer& slice : present) {
    if (slice->meta.deleted) continue;
    const json::value* ports = kube::find(slice->json, "EndpointSlice.ports");
    // A server may omit empty names.
    const json::array held =
        without_empty_names(ports && ports->is_array() ? ports->get_array() : json::array());
    auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return without_empty_names(group.second.ports) == held;
    });
    if (same == groups.end()) {
      idle.push_back(slice);
    } else {
      same->second.slices.push_back(slice);
    }
  }
  for (auto& [key, group] : groups) {
    SliceFiller filler(service, group.ports, std::move(group.wanted));
    for (const ObjectPointer& slice : group.slices) filler.take(slice);
    filler.finish(out, false);
  }
  if (!groups.empty()) {
    out.remove.insert(out.remove.end(), idle.begin(), idle.end());
  } else if (idle.empty()) {
    out.create.push_back(new_slice(service, {}, {}));
  } else {
    // A service without pods has one empty slice.
    SliceFiller filler(service, {}, {});
    for (const ObjectPointer& slice : idle) filler.take(slice);
    filler.finish(out, true);
  }
  return out;
}

}  // namespace plim::local::controllers
