#include "local/controllers/pod_groups.hpp"

namespace plim::local::controllers {

PodGroups::PodGroups(PodCache& pods, Same same, Changed changed)
    : pods_(pods), same_(same), changed_(std::move(changed)) {
  pods.informer.add_handlers(
      {.on_add = [this](const PodPointer& pod) { look(nullptr, pod); },
       .on_update = [this](const PodPointer& before, const PodPointer& now) { look(before, now); },
       .on_delete = [this](const PodPointer& last) { look(last, nullptr); }});
}

void PodGroups::look(const PodPointer& before, const PodPointer& now) {
  const kube::ObjectMeta& meta = now ? now->meta : before->meta;
  auto found = by_namespace_.find(meta.ns.view());
  if (found == by_namespace_.end()) return;
  const std::string pod = kube::object_key(meta);
  for (const std::string& key : found->second) {
    Group& group = groups_.at(key);
    const bool is = now && group.selector.matches(now->meta.labels);
    const bool was = group.members.contains(pod);
    if (is && !was) group.members.insert(pod);
    if (!is && was) group.members.erase(pod);
    if (is != was || (is && before && !same_(*before, *now))) changed_(key);
  }
}

void PodGroups::set(const std::string& key, std::string_view ns,
                    const kube::LabelSelector& selector) {
  auto [place, added] = groups_.emplace(key, Group{std::string(ns), selector});
  if (!added && place->second.selector == selector) return;
  place->second = Group{std::string(ns), selector};
  by_namespace_[std::string(ns)].insert(key);
  for (const PodPointer& pod : pods_.in_namespace(ns))
    if (selector.matches(pod->meta.labels))
      place->second.members.insert(kube::object_key(pod->meta));
}

void PodGroups::erase(const std::string& key) {
  auto found = groups_.find(key);
  if (found == groups_.end()) return;
  auto space = by_namespace_.find(found->second.ns);
  space->second.erase(key);
  if (space->second.empty()) by_namespace_.erase(space);
  groups_.erase(found);
}

std::size_t PodGroups::size(const std::string& key) const {
  auto found = groups_.find(key);
  return found == groups_.end() ? 0 : found->second.members.size();
}

std::vector<PodPointer> PodGroups::members(const std::string& key) const {
  std::vector<PodPointer> out;
  if (auto found = groups_.find(key); found != groups_.end())
    for (const std::string& pod : found->second.members)
      if (PodPointer member = pods_.find(pod)) out.push_back(std::move(member));
  return out;
}

}  // namespace plim::local::controllers
