#include "pools/pool_events.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"

namespace plim::pools {
namespace {

std::string_view reason_of(Note::Kind kind) {
  switch (kind) {
    case Note::Kind::no_allocation:
      return "NoAllocation";
    case Note::Kind::withheld:
    case Note::Kind::pool_held:
      return "CPUWithheld";
    case Note::Kind::offline:
    case Note::Kind::pool_lost:
      break;
  }
  return "CPUOffline";
}

// As the kubelet writes it in its events about containers. "": the event is about the pod.
std::string field_of(const kube::Pod& pod, std::string_view name) {
  for (const kube::Container& container : pod.spec.containers)
    if (container.name == name) return fmt::format("spec.containers{{{}}}", name);
  for (const kube::Container& container : pod.spec.init_containers)
    if (container.name == name) return fmt::format("spec.initContainers{{{}}}", name);
  return {};
}

}  // namespace

PoolEvents::PoolEvents(std::string node_name, Clock& clock)
    : node_name_(std::move(node_name)), clock_(clock) {}

void PoolEvents::start(const Executor& loop, std::shared_ptr<kube::Client> client,
                       const ClusterView& cluster) {
  cluster_ = &cluster;
  recorder_ = std::make_unique<kube::EventRecorder>(
      loop, std::move(client), kube::EventSource{.component = "plimsoll-pools", .host = node_name_},
      clock_);
  recorder_->start();
}

Task<void> PoolEvents::stop() {
  if (recorder_) co_await recorder_->stop();
}

Task<void> PoolEvents::flush(Nanos at_most) {
  if (recorder_) co_await recorder_->flush(at_most);
}

void PoolEvents::add(const LiveContainer& container, kube::EventNote::Type type,
                     const std::string& reason, const std::string& text) {
  if (!recorder_ || container.pod.empty()) return;
  const auto pod = cluster_->find_pod(container.pod);
  if (!pod) return;
  digest_.add({.about = {.api_version = "v1",
                         .kind = "Pod",
                         .ns = std::string(pod->meta.ns.view()),
                         .name = pod->meta.name,
                         .uid = pod->meta.uid,
                         .field_path = field_of(*pod, container.container)},
               .type = type,
               .reason = reason,
               .message = text});
}

void PoolEvents::add_notes(const std::vector<Note>& notes,
                           const std::vector<LiveContainer>& containers) {
  std::set<std::string> now;
  for (const Note& note : notes) {
    const LiveContainer& container = containers[note.container];
    std::string key = container.path + "|" + note.text;
    if (!noted_.contains(key))
      add(container, kube::EventNote::Type::warning, std::string(reason_of(note.kind)),
          fmt::format("container {}: {}", container.container, note.text));
    now.insert(std::move(key));
  }
  noted_ = std::move(now);
}

void PoolEvents::add_double_bookings(const std::vector<std::string>& texts) {
  std::set<std::string> now(texts.begin(), texts.end());
  for (const std::string& text : now) {
    if (double_booked_.contains(text)) continue;
    log::error("pools", "a CPU has two owners", {{"reason", text}});
    warn_of_node("CPUDoubleBooked", text);
  }
  double_booked_ = std::move(now);
}

void PoolEvents::warn_of_node(const std::string& reason, const std::string& text) {
  if (!recorder_) return;
  digest_.add(
      {.about =
           {.api_version = "v1", .kind = "Node", .ns = {}, .name = node_name_, .uid = node_name_},
       .type = kube::EventNote::Type::warning,
       .reason = reason,
       .message = text});
  write();
}

void PoolEvents::write() {
  if (!recorder_) return;
  for (const kube::EventNote& note : digest_.due(clock_.steady())) recorder_->record(note);
}

}  // namespace plim::pools
