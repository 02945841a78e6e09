#include "placement/cluster_tables.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"

namespace plim::placement {
namespace {

bool is_over(const kube::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

bool has_key(const kube::Pod& pod, std::string_view key) {
  return pod.meta.uid.empty() ? pod_key(pod) == key : pod.meta.uid == key;
}

bool cannot_pull(const std::vector<kube::ContainerStatus>& statuses, std::string_view container) {
  constexpr std::string_view kReasons[] = {"ErrImagePull", "ImagePullBackOff", "InvalidImageName",
                                           "ErrImageNeverPull"};
  return std::ranges::any_of(statuses, [&](const kube::ContainerStatus& status) {
    return status.name == container &&
           std::ranges::find(kReasons, status.waiting_reason.view()) != std::end(kReasons);
  });
}

// Images a pod has on its node, or gets there soon: all but those whose pull fails. So pods that
// come together share their pulls before anybody reports them.
std::vector<std::string> promised_images(const kube::Pod& pod) {
  std::vector<std::string> out;
  auto add = [&](std::string_view image) {
    for (std::string& key : image_keys(image))
      if (std::ranges::find(out, key) == out.end()) out.push_back(std::move(key));
  };
  for (const kube::Container& one : pod.spec.init_containers)
    if (!cannot_pull(pod.status.init_containers, one.name)) add(one.image);
  for (const kube::Container& one : pod.spec.containers)
    if (!cannot_pull(pod.status.containers, one.name)) add(one.image);
  for (const kube::PodVolume& one : pod.spec.volumes)
    if (!one.image.empty()) add(one.image);
  return out;
}

// By what the API server wrote then, or the kubelet a little later; an assumed pod has neither.
WallTime bound_at(const kube::PodStatus& status) {
  for (const kube::Condition& one : status.conditions)
    if (one.type == "PodScheduled" && one.status == "True" && one.last_transition)
      return *one.last_transition;
  return status.started.value_or(WallTime::max());
}

// Adds the requirements of `more` to the text of a selector.
void append_selector(std::string& text, const kube::LabelSelector& more) {
  std::string own = more.to_string();
  if (own.empty()) return;
  if (!text.empty()) text += ',';
  text += own;
}

}  // namespace

std::string pod_key(const kube::Pod& pod) {
  if (!pod.meta.uid.empty()) return pod.meta.uid;
  return fmt::format("{}/{}", pod.meta.ns.view(), pod.meta.name);
}

ClusterTables::ClusterTables()
    : table_(std::make_unique<NodeTable>()), rules_(*table_), volumes_(*table_) {}

void ClusterTables::set_node(const kube::Node& node) {
  const NodeIndex row = table_->set(node);
  images_.set_status(row, node.images);
  if (auto read = images_.set_annotations(row, node.meta.annotations); !read)
    log::warn("scheduler", "a node's annotation of images cannot be read",
              {{"node", node.meta.name}, {"error", read.error()}});
}

void ClusterTables::remove_node(std::string_view name) {
  if (auto row = table_->find(name)) {
    images_.set_status(*row, {});
    (void)images_.set_annotations(*row, {});  // none can always be read
  }
  table_->remove(name);
}

PodRecord ClusterTables::record_of(PodPointer pod) {
  PodRecord out;
  out.requests = requests_of(*pod, table_->resources().names());
  out.ports = kube::host_ports(*pod);
  out.affinity = rules_.affinity(*pod);
  out.images = promised_images(*pod);
  out.bound_at = bound_at(pod->status);
  out.pod = std::move(pod);
  return out;
}

ClusterTables::Records& ClusterTables::records(std::vector<Records>& of, NodeIndex row) {
  if (of.size() <= row) of.resize(table_->rows());
  return of[row];
}

std::unique_ptr<PodRecord> ClusterTables::take_record(std::vector<Records>& from,
                                                      TextMap<NodeIndex>& index,
                                                      std::string_view key) {
  auto at = index.find(key);
  if (at == index.end()) return nullptr;
  Records& records = from[at->second];
  index.erase(at);
  auto found =
      std::ranges::find_if(records, [&](const auto& record) { return has_key(*record->pod, key); });
  auto taken = std::move(*found);
  records.erase(found);
  return taken;
}

void ClusterTables::set_pod(PodPointer pod, std::string_view node) {
  remove_pod(pod_key(*pod));
  if (node.empty() || is_over(*pod)) return;
  NodeIndex row = table_->hold(node);
  image_history_.note(*pod);
  auto record = std::make_unique<PodRecord>(record_of(std::move(pod)));
  record->row = row;
  count(*record, 1);
  pods_.emplace(pod_key(*record->pod), row);
  records(on_row_, row).push_back(std::move(record));
}

void ClusterTables::remove_pod(std::string_view key) {
  auto record = take_record(on_row_, pods_, key);
  if (!record) return;
  count(*record, -1);
  table_->release(record->row);
}

void ClusterTables::nominate(PodPointer pod, std::string_view node) {
  forget_nomination(pod_key(*pod));
  NodeIndex row = table_->hold(node);
  auto record = std::make_unique<PodRecord>(record_of(std::move(pod)));
  record->row = row;
  nominations_.emplace(pod_key(*record->pod), row);
  records(nominated_row_, row).push_back(std::move(record));
}

void ClusterTables::forget_nomination(std::string_view key) {
  if (auto record = take_record(nominated_row_, nominations_, key)) table_->release(record->row);
}

void ClusterTables::count(const PodRecord& record, int sign) {
  imagine(record, record.row, sign);
  counts_.count(*record.pod, record.row, sign);
  images_.count_promised(record.images, record.row, record.bound_at, sign);
  volumes_.count(*record.pod, sign);
  if (record.affinity->has_pod_terms()) terms_.count(*record.affinity, record.row, sign);
}

const RowCounts& ClusterTables::count_pods(const PodMatcher& matcher) {
  return counts_.get(matcher, [&](const auto& visit) {
    for (const Records& records : on_row_)
      for (const auto& record : records) visit(*record->pod, record->row);
  });
}

void ClusterTables::imagine(const PodRecord& record, NodeIndex row, int sign) {
  table_->count(row, record.requests, sign);
  if (!record.ports.empty()) ports_.count(row, record.ports, sign);
}

void ClusterTables::set_inventory(std::string_view node, const loop::ImageInventory& inventory,
                                  InventorySource reporter) {
  TextMap<NodeIndex>& known = inventories_[place_of(reporter)];
  auto at = known.find(node);
  if (at == known.end()) at = known.emplace(std::string(node), table_->hold(node)).first;
  images_.set_inventory(at->second, reporter, inventory);
}

void ClusterTables::remove_inventory(std::string_view node, InventorySource reporter) {
  TextMap<NodeIndex>& known = inventories_[place_of(reporter)];
  auto at = known.find(node);
  if (at == known.end()) return;
  images_.remove_inventory(at->second, reporter);
  table_->release(at->second);
  known.erase(at);
}

std::span<const std::unique_ptr<PodRecord>> ClusterTables::pods_on(NodeIndex row) const {
  if (row >= on_row_.size()) return {};
  return on_row_[row];
}

std::span<const std::unique_ptr<PodRecord>> ClusterTables::nominated_on(NodeIndex row) const {
  if (row >= nominated_row_.size()) return {};
  return nominated_row_[row];
}

std::string_view ClusterTables::nominated_node(std::string_view key) const {
  auto at = nominations_.find(key);
  if (at == nominations_.end() || !table_->is_live(at->second)) return {};
  return table_->name(at->second);
}

const PodRecord* ClusterTables::find_pod(std::string_view key) const {
  auto at = pods_.find(key);
  if (at == pods_.end()) return nullptr;
  for (const auto& record : on_row_[at->second])
    if (has_key(*record->pod, key)) return record.get();
  return nullptr;
}

void ClusterTables::set_namespace(std::string_view name, kube::Labels labels) {
  namespaces_.insert_or_assign(std::string(name), std::move(labels));
}

void ClusterTables::remove_namespace(std::string_view name) {
  if (auto at = namespaces_.find(name); at != namespaces_.end()) namespaces_.erase(at);
}

const kube::Labels& ClusterTables::namespace_labels(std::string_view name) const {
  static const kube::Labels none;
  auto at = namespaces_.find(name);
  return at == namespaces_.end() ? none : at->second;
}

void ClusterTables::set_selector_owner(SelectorOwner owner) {
  remove_selector_owner(owner.kind, owner.ns, owner.name);
  owners_[owner.ns].push_back(std::move(owner));
}

void ClusterTables::remove_selector_owner(std::string_view kind, std::string_view ns,
                                          std::string_view name) {
  auto in_namespace = owners_.find(ns);
  if (in_namespace == owners_.end()) return;
  std::erase_if(in_namespace->second,
                [&](const SelectorOwner& one) { return one.kind == kind && one.name == name; });
  if (in_namespace->second.empty()) owners_.erase(in_namespace);
}

kube::LabelSelector ClusterTables::owners_of(const kube::Pod& pod) const {
  auto in_namespace = owners_.find(pod.meta.ns.view());
  if (in_namespace == owners_.end()) return kube::LabelSelector::nothing();
  auto controller = std::ranges::find_if(pod.meta.owners, &kube::Owner::controller);
  std::string text;
  for (const SelectorOwner& one : in_namespace->second) {
    bool chooses = one.kind == "Service"
                       ? one.selector.matches(pod.meta.labels)
                       : controller != pod.meta.owners.end() && controller->kind == one.kind &&
                             controller->name == one.name;
    if (chooses) append_selector(text, one.selector);
  }
  if (text.empty()) return kube::LabelSelector::nothing();
  auto made = kube::LabelSelector::parse(text);
  return made ? std::move(*made) : kube::LabelSelector::nothing();
}

}  // namespace plim::placement
