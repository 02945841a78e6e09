#include "placement/pod_records.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "placement/image_table.hpp"

namespace plim::placement {
namespace {

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

// The images that the pod's node has or gets soon: all except those whose pull fails. So pods that
// are created together share their pulls before a node reports the images.
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

// From the PodScheduled condition, or else from the start time; an assumed pod has neither.
WallTime bound_at(const kube::PodStatus& status) {
  for (const kube::Condition& one : status.conditions)
    if (one.type == "PodScheduled" && one.status == "True" && one.last_transition)
      return *one.last_transition;
  return status.started.value_or(WallTime::max());
}

}  // namespace

std::string pod_key(const kube::Pod& pod) {
  if (!pod.meta.uid.empty()) return pod.meta.uid;
  return fmt::format("{}/{}", pod.meta.ns.view(), pod.meta.name);
}

std::unique_ptr<PodRecord> make_record(PodPointer pod, NodeIndex row, NodeTable& table,
                                       RuleReader& rules, const Release& release) {
  auto out = std::make_unique<PodRecord>();
  out->row = row;
  out->requests = requests_of(*pod, table.resources().names(), release);
  out->ports = kube::host_ports(*pod);
  out->affinity = rules.affinity(*pod);
  out->images = promised_images(*pod);
  out->bound_at = bound_at(pod->status);
  out->pod = std::move(pod);
  return out;
}

void PodRecords::add(std::unique_ptr<PodRecord> record) {
  const NodeIndex row = record->row;
  rows_.emplace(pod_key(*record->pod), row);
  if (by_row_.size() <= row) by_row_.resize(row + std::size_t{1});
  by_row_[row].push_back(std::move(record));
}

std::unique_ptr<PodRecord> PodRecords::take(std::string_view key) {
  auto at = rows_.find(key);
  if (at == rows_.end()) return nullptr;
  OnRow& records = by_row_[at->second];
  rows_.erase(at);
  auto found =
      std::ranges::find_if(records, [&](const auto& record) { return has_key(*record->pod, key); });
  auto taken = std::move(*found);
  records.erase(found);
  return taken;
}

const PodRecord* PodRecords::find(std::string_view key) const {
  auto at = rows_.find(key);
  if (at == rows_.end()) return nullptr;
  for (const auto& record : by_row_[at->second])
    if (has_key(*record->pod, key)) return record.get();
  return nullptr;
}

std::span<const std::unique_ptr<PodRecord>> PodRecords::on(NodeIndex row) const {
  if (row >= by_row_.size()) return {};
  return by_row_[row];
}

}  // namespace plim::placement
