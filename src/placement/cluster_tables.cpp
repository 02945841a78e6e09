#include "placement/cluster_tables.hpp"

#include "base/log.hpp"

namespace plim::placement {
namespace {

bool is_over(const kube::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

}  // namespace

ClusterTables::ClusterTables()
    : table_(std::make_unique<NodeTable>()), rules_(*table_), volumes_(*table_) {}

void ClusterTables::follow(const Release& release) {
  release_ = release;
  rules_.set_numeric(release.numeric_tolerations ? kube::NumericTolerations::on
                                                 : kube::NumericTolerations::off);
}

void ClusterTables::set_node(const kube::Node& node) {
  const NodeIndex row = table_->set(node);
  images_.set_status(row, node.images);
  if (auto read = images_.set_annotations(row, node.meta.annotations); !read)
    log::warn("scheduler", "cannot read the image inventory in a node's annotations",
              {{"node", node.meta.name}, {"error", read.error()}});
}

void ClusterTables::remove_node(std::string_view name) {
  if (auto row = table_->find(name)) {
    images_.set_status(*row, {});
    (void)images_.set_annotations(*row, {});  // cannot fail without annotations
  }
  table_->remove(name);
}

void ClusterTables::set_pod(PodPointer pod, std::string_view node) {
  remove_pod(pod_key(*pod));
  if (node.empty() || is_over(*pod)) return;
  const NodeIndex row = table_->hold(node);
  image_history_.note(*pod);
  auto record = make_record(std::move(pod), row, *table_, rules_, release_);
  count(*record, 1);
  pods_.add(std::move(record));
}

void ClusterTables::remove_pod(std::string_view key) {
  auto record = pods_.take(key);
  if (!record) return;
  count(*record, -1);
  table_->release(record->row);
}

void ClusterTables::nominate(PodPointer pod, std::string_view node) {
  forget_nomination(pod_key(*pod));
  const NodeIndex row = table_->hold(node);
  nominations_.add(make_record(std::move(pod), row, *table_, rules_, release_));
}

void ClusterTables::forget_nomination(std::string_view key) {
  if (auto record = nominations_.take(key)) table_->release(record->row);
}

std::string_view ClusterTables::nominated_node(std::string_view key) const {
  const PodRecord* record = nominations_.find(key);
  if (record == nullptr || !table_->is_live(record->row)) return {};
  return table_->name(record->row);
}

void ClusterTables::count(const PodRecord& record, int sign) {
  imagine(record, record.row, sign);
  images_.count_promised(record.images, record.row, record.bound_at, sign);
  volumes_.count(*record.pod, record.row, sign);
}

void ClusterTables::imagine(const PodRecord& record, NodeIndex row, int sign) {
  table_->count(row, record.requests, sign);
  pods_.count_ports(row, record.ports, sign);
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

}  // namespace plim::placement
