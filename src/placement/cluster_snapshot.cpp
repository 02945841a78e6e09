#include "placement/cluster_snapshot.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/quantity.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "kube/decode.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "kube/selector.hpp"

namespace plim::placement {
namespace {

constexpr std::string_view kListEnding = "List";

struct Item {
  std::string kind;
  json::value object;
};

// "default/web" or "node1", for messages.
std::string item_name(const Item& item) {
  const std::string_view ns = kube::namespace_of(item.object);
  const std::string_view name = kube::name_of(item.object);
  return ns.empty() ? fmt::format("{} {}", item.kind, quote(name))
                    : fmt::format("{} {}", item.kind, quote(fmt::format("{}/{}", ns, name)));
}

// Items of a PodList do not say that they are pods; those of a plain List do.
Result<void> take_items(json::value object, std::string_view source, std::vector<Item>& out) {
  std::string kind(text_at(object, {"kind"}));
  json::value* items = object.is_object() ? object.get_object().if_contains("items") : nullptr;
  if (items != nullptr && items->is_array() && kind.ends_with(kListEnding)) {
    const std::string of = kind.substr(0, kind.size() - kListEnding.size());
    for (json::value& item : items->get_array()) {
      std::string own(text_at(item, {"kind"}));
      if (own.empty()) own = of;
      out.push_back({std::move(own), std::move(item)});
    }
    return {};
  }
  if (kind.empty()) return fail(Code::invalid, fmt::format("{}: an object without a kind", source));
  out.push_back({std::move(kind), std::move(object)});
  return {};
}

Result<std::vector<Item>> read_items(std::string_view text, std::string_view source) {
  std::vector<Item> out;
  // A dump of a large cluster is JSON, and the JSON parser is many times faster than the YAML one.
  if (trim(text).starts_with('{')) {
    if (auto whole = parse_json(text, source)) {
      PLIM_CHECK(take_items(std::move(*whole), source, out));
      return out;
    }
  }
  PLIM_TRY(std::vector<YamlDocument> documents, parse_yaml_documents(text, source));
  for (YamlDocument& document : documents)
    PLIM_CHECK(take_items(std::move(document).take(), source, out));
  return out;
}

template <class T>
Result<T> decoded(const Item& item, std::string_view source, kube::InternPool& pool,
                  Result<T> (*decode)(kube::JsonText, kube::InternPool&)) {
  std::string text = to_json(item.object);
  auto made = decode(kube::JsonText(text), pool);
  if (!made)
    return fail(Code::invalid,
                fmt::format("{}: {}: {}", source, item_name(item), made.error().message));
  return made;
}

std::optional<json::value> selector_of(const Item& item) {
  // All kinds with a selector have it at the same place.
  const json::value* selector = kube::find(item.object, "ReplicaSet.spec.selector");
  if (selector == nullptr || selector->is_null()) return std::nullopt;
  // Services and ReplicationControllers have plain labels as their selector.
  if (item.kind == "Service" || item.kind == "ReplicationController")
    return json::value{{"matchLabels", *selector}};
  return *selector;
}

Result<void> take_owner(const Item& item, std::string_view source, Snapshot& out) {
  const auto wanted = selector_of(item);
  if (!wanted) return {};  // a Service without a selector selects no pods
  auto selector = kube::LabelSelector::from_json(*wanted);
  if (!selector)
    return fail(Code::invalid,
                fmt::format("{}: {}: {}", source, item_name(item), selector.error().message));
  out.owners.push_back({.kind = item.kind,
                        .ns = std::string(kube::namespace_of(item.object)),
                        .name = std::string(kube::name_of(item.object)),
                        .selector = std::move(*selector)});
  return {};
}

Result<void> take_inventory(const Item& item, std::string_view source, Snapshot& out) {
  const json::value* spec = find(item.object, {"spec"});
  auto inventory = loop::inventory_from_json(spec != nullptr ? *spec : json::value());
  if (!inventory)
    return fail(Code::invalid,
                fmt::format("{}: {}: {}", source, item_name(item), inventory.error().message));
  out.inventories.emplace_back(kube::name_of(item.object), std::move(*inventory));
  return {};
}

Result<void> take_side_object(const Item& item, std::string_view source, kube::InternPool& pool,
                              Snapshot& out) {
  constexpr std::array kKinds{
      "PersistentVolumeClaim", "PersistentVolume", "StorageClass",       "CSIDriver", "CSINode",
      "CSIStorageCapacity",    "VolumeAttachment", "PodDisruptionBudget"};
  if (std::ranges::find(kKinds, item.kind) == kKinds.end()) return {};
  PLIM_TRY(kube::ObjectMeta meta, decoded(item, source, pool, kube::decode_meta));
  if (item.kind == "PersistentVolumeClaim")
    out.claims.push_back(read_claim(meta, item.object));
  else if (item.kind == "PersistentVolume")
    out.volumes.push_back(read_volume(meta, item.object));
  else if (item.kind == "StorageClass")
    out.classes.push_back(read_class(meta, item.object));
  else if (item.kind == "CSIDriver")
    out.drivers.push_back(read_driver(meta, item.object));
  else if (item.kind == "CSINode")
    out.csi_nodes.push_back(read_csi_node(meta, item.object));
  else if (item.kind == "CSIStorageCapacity")
    out.capacities.push_back(read_capacity(meta, item.object));
  else if (item.kind == "VolumeAttachment")
    out.attachments.push_back(read_attachment(meta, item.object));
  else
    out.budgets.push_back(read_budget(meta, item.object));
  return {};
}

Result<void> take(const Item& item, std::string_view source, kube::InternPool& pool,
                  Snapshot& out) {
  if (item.kind == "Node") {
    PLIM_TRY(kube::Node node, decoded(item, source, pool, kube::decode_node));
    out.nodes.push_back(std::move(node));
  } else if (item.kind == "Pod") {
    PLIM_TRY(kube::Pod pod, decoded(item, source, pool, kube::decode_pod));
    out.pods.push_back(std::make_shared<const kube::Pod>(std::move(pod)));
  } else if (item.kind == "Namespace") {
    PLIM_TRY(kube::ObjectMeta meta, decoded(item, source, pool, kube::decode_meta));
    out.namespaces.emplace_back(meta.name, std::move(meta.labels));
  } else if (item.kind == "NodeImageInventory") {
    return take_inventory(item, source, out);
  } else if (item.kind == "Service" || item.kind == "ReplicationController" ||
             item.kind == "ReplicaSet" || item.kind == "StatefulSet") {
    return take_owner(item, source, out);
  }
  return take_side_object(item, source, pool, out);
}

// People write `cpu: 2`, which the API server converts to a string. It also rejects invalid
// amounts, which would count as 0 here.
Result<void> quantities_as_text(json::value& object, kube::MapPath path) {
  const json::value* found = kube::find(object, path);
  if (found == nullptr || !found->is_object()) return {};
  for (json::key_value_pair& entry : kube::make_object(object, path)) {
    if (entry.value().is_number()) entry.value() = json::string(to_json(entry.value()));
    const json::string* text = entry.value().if_string();
    const auto amount = parse_quantity(text != nullptr ? std::string_view(*text) : "");
    if (!amount)
      return fail(Code::invalid,
                  fmt::format("{}.{}: {}", path.keys(), std::string_view(entry.key()),
                              amount.error().message));
  }
  return {};
}

Result<void> containers_as_text(json::value& pod, kube::ListPath containers) {
  const json::value* found = kube::find(pod, containers);
  if (found == nullptr || !found->is_array()) return {};
  for (json::value& one : kube::make_object(pod, "Pod.spec")[containers.key()].get_array()) {
    PLIM_CHECK(quantities_as_text(one, "Container.resources.requests"));
    PLIM_CHECK(quantities_as_text(one, "Container.resources.limits"));
  }
  return {};
}

Result<void> amounts_as_text(json::value& object, std::string_view kind) {
  if (kind == "Node") {
    PLIM_CHECK(quantities_as_text(object, "Node.status.allocatable"));
    PLIM_CHECK(quantities_as_text(object, "Node.status.capacity"));
  } else if (kind == "Pod") {
    PLIM_CHECK(containers_as_text(object, "Pod.spec.containers"));
    PLIM_CHECK(containers_as_text(object, "Pod.spec.initContainers"));
    PLIM_CHECK(quantities_as_text(object, "Pod.spec.resources.requests"));
    PLIM_CHECK(quantities_as_text(object, "Pod.spec.overhead"));
  }
  return {};
}

// Checks that the object has a name and valid amounts, which the API server also requires.
Result<void> check(Item& item, std::string_view source) {
  if (kube::name_of(item.object).empty())
    return fail(Code::invalid, fmt::format("{}: a {} without a name", source, item.kind));
  if (auto read = amounts_as_text(item.object, item.kind); !read)
    return fail(Code::invalid,
                fmt::format("{}: {}: {}", source, item_name(item), read.error().message));
  return {};
}

// Sets missing requests from limits, as the API server does for every container.
void request_the_limits(json::object& spec, kube::ListPath containers) {
  json::value* list = spec.if_contains(containers.key());
  if (list == nullptr || !list->is_array()) return;
  for (json::value& container : list->get_array()) {
    const json::value* limits = kube::find(container, "Container.resources.limits");
    if (limits == nullptr || !limits->is_object()) continue;
    const json::object limited = limits->get_object();
    json::object& requests = kube::make_object(container, "Container.resources.requests");
    for (const auto& [name, amount] : limited) requests.emplace(name, amount);
  }
}

void fill_in(json::value& pod) {
  kube::make_object(pod, "Pod.metadata").emplace(kube::key("ObjectMeta.namespace"), "default");
  json::object& spec = kube::make_object(pod, "Pod.spec");
  spec.emplace(kube::key("PodSpec.schedulerName"), "default-scheduler");
  request_the_limits(spec, "PodSpec.containers");
  request_the_limits(spec, "PodSpec.initContainers");
}

}  // namespace

Result<Snapshot> read_snapshot(std::string_view text, std::string_view source,
                               kube::InternPool& pool) {
  PLIM_TRY(std::vector<Item> items, read_items(text, source));
  Snapshot out;
  std::set<std::string> names;
  for (Item& item : items) {
    PLIM_CHECK(check(item, source));
    const std::string_view version = text_at(item.object, {"apiVersion"});
    if (!names.insert(fmt::format("{} {}", version, item_name(item))).second)
      return fail(Code::invalid, fmt::format("{}: {} occurs twice", source, item_name(item)));
    PLIM_CHECK(take(item, source, pool, out));
  }
  return out;
}

Result<std::vector<PodPointer>> read_pods(std::string_view text, std::string_view source,
                                          kube::InternPool& pool) {
  PLIM_TRY(std::vector<Item> items, read_items(text, source));
  std::vector<PodPointer> out;
  for (Item& item : items) {
    if (item.kind != "Pod")
      return fail(Code::invalid, fmt::format("{}: {} is not a pod", source, item_name(item)));
    fill_in(item.object);
    PLIM_CHECK(check(item, source));
    PLIM_TRY(kube::Pod pod, decoded(item, source, pool, kube::decode_pod));
    out.push_back(std::make_shared<const kube::Pod>(std::move(pod)));
  }
  if (out.empty()) return fail(Code::invalid, fmt::format("{}: no pod found", source));
  return out;
}

void fill_engine(Engine& engine, const Snapshot& snapshot) {
  for (const auto& [name, labels] : snapshot.namespaces) engine.set_namespace(name, labels);
  for (const kube::Node& node : snapshot.nodes) engine.set_node(node);
  for (const SelectorOwner& owner : snapshot.owners) engine.set_selector_owner(owner);
  for (const auto& [node, inventory] : snapshot.inventories) engine.set_inventory(node, inventory);
  for (const StorageClass& one : snapshot.classes) engine.volumes().set_class(one);
  for (const PersistentVolume& volume : snapshot.volumes) engine.volumes().set_volume(volume);
  for (const VolumeClaim& claim : snapshot.claims) engine.volumes().set_claim(claim);
  CsiTable& csi = engine.volumes().csi();
  for (const CsiDriver& driver : snapshot.drivers) csi.set_driver(driver);
  for (const CsiNode& node : snapshot.csi_nodes) csi.set_node(node);
  for (const StorageCapacity& one : snapshot.capacities) csi.set_capacity(one);
  for (const VolumeAttachment& one : snapshot.attachments) csi.set_attachment(one);
  for (const PodPointer& pod : snapshot.pods)
    if (!pod->spec.node_name.empty()) engine.set_pod(pod);
}

}  // namespace plim::placement
