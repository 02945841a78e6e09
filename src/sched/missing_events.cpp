#include "sched/missing_events.hpp"

#include <algorithm>
#include <utility>

#include "base/json.hpp"
#include "base/log.hpp"
#include "kube/paths.hpp"
#include "sched/pod_reports.hpp"

namespace plim::sched {
namespace {

using namespace std::chrono_literals;

constexpr Nanos kLookBack = 1min;
// How long the API server may take to carry out the last bindings of a killed process.
constexpr Nanos kLateBindings = 15s;
constexpr Nanos kDoubtPause = 1s;
constexpr std::int64_t kEventPage = 500;

const kube::Resource kListedEvents{
    .group = "events.k8s.io", .version = "v1", .plural = "events", .kind = "Event"};

// Kubelets create mirror pods on their own nodes; nobody binds them.
bool is_mirror(const kube::Pod& pod) {
  return std::ranges::any_of(pod.meta.annotations, [](const auto& one) {
    return one.first.view() == "kubernetes.io/config.mirror";
  });
}

// When the API server bound the pod; none if it has no node.
std::optional<WallTime> bound_at(const kube::Pod& pod) {
  if (pod.spec.node_name.empty()) return std::nullopt;
  for (const kube::Condition& one : pod.status.conditions)
    if (one.type == "PodScheduled" && one.status == "True") return one.last_transition;
  return std::nullopt;
}

}  // namespace

MissingEvents::MissingEvents(const Executor& loop, std::shared_ptr<kube::Client> client,
                             EventWriter& events, const kube::Store<kube::Pod>& pods,
                             const SchedulerState& state, Clock& clock)
    : client_(std::move(client)),
      events_(events),
      pods_(pods),
      state_(state),
      clock_(clock),
      tasks_(loop) {}

Task<void> MissingEvents::stop() {
  co_await tasks_.stop();
}

void MissingEvents::begin() {
  if (std::exchange(looking_, true)) return;
  tasks_.spawn("missing events", look_twice());
}

void MissingEvents::bound(const std::string& uid) {
  if (looking_) done_.insert(uid);
  if (!doubts_.empty()) doubts_.erase(uid);
}

Task<void> MissingEvents::look_twice() {
  co_await look();
  co_await clock_.sleep(kLateBindings);
  co_await look();
  looking_ = false;
  done_ = {};
}

std::vector<PodPointer> MissingEvents::bound_by_others() const {
  std::vector<PodPointer> out;
  const WallTime oldest = clock_.wall() - kLookBack;
  for (const auto& [key, pod] : pods_) {
    const std::optional<WallTime> at = bound_at(*pod);
    if (!at || *at < oldest || done_.contains(pod->meta.uid) || is_mirror(*pod)) continue;
    if (state_.config()->profile_named(pod->spec.scheduler_name) != nullptr) out.push_back(pod);
  }
  return out;
}

Task<void> MissingEvents::look() {
  const std::vector<PodPointer> found = bound_by_others();
  if (found.empty()) co_return;
  auto known = co_await pods_with_event();
  // kube-scheduler's own role may not list events. Then the API server rejects those that exist.
  if (!known) {
    log::debug("scheduler", "cannot list events, writing those of the last minute again",
               {{"error", known.error()}});
    known = std::unordered_set<std::string>();
  }
  std::size_t missing = 0;
  for (const PodPointer& pod : found) {
    if (!done_.insert(pod->meta.uid).second || known->contains(pod->meta.uid)) continue;
    SchedulerEvent event = scheduled_event(*pod, std::string(pod->spec.scheduler_name.view()),
                                           pod->spec.node_name.view());
    event.at = bound_at(*pod);
    events_.record(std::move(event));
    ++missing;
  }
  if (missing > 0)
    log::info("scheduler", "writing Scheduled events that may be missing", {{"count", missing}});
}

// One list for all pods, page by page: a large cluster has many events.
Task<Result<std::unordered_set<std::string>>> MissingEvents::pods_with_event() {
  std::unordered_set<std::string> out;
  kube::ListOptions options{.field_selector = "reason=Scheduled,regarding.kind=Pod",
                            .limit = kEventPage};
  do {
    PLIM_CO_TRY(const std::string page, co_await client_->list_page(kListedEvents, options));
    PLIM_CO_TRY(const json::value list, parse_json(page, "events"));
    if (const json::value* items = find(list, {"items"}); items != nullptr && items->is_array())
      for (const json::value& one : items->get_array())
        out.emplace(kube::text_at(one, "EventsEvent.regarding.uid"));
    options.continue_token = text_at(list, {"metadata", "continue"});
  } while (!options.continue_token.empty());
  co_return out;
}

void MissingEvents::in_doubt(const PodPointer& pod, std::string profile, std::string node) {
  doubts_[pod->meta.uid] = {.key = kube::object_key(pod->meta),
                            .profile = std::move(profile),
                            .node = std::move(node),
                            .until = clock_.steady() + kLookBack};
  if (!std::exchange(settling_, true)) tasks_.spawn("bindings in doubt", settle_doubts());
}

Task<void> MissingEvents::settle_doubts() {
  while (!doubts_.empty()) {
    co_await clock_.sleep(kDoubtPause);
    std::erase_if(doubts_, [this](const auto& one) { return is_settled(one.first, one.second); });
  }
  settling_ = false;
}

bool MissingEvents::is_settled(const std::string& uid, const Doubt& doubt) {
  const PodPointer pod = pods_.find(doubt.key);
  if (!pod || pod->meta.uid != uid) return true;
  if (pod->spec.node_name.empty()) return clock_.steady() > doubt.until;
  if (pod->spec.node_name != doubt.node) return true;
  SchedulerEvent event = scheduled_event(*pod, doubt.profile, doubt.node);
  event.at = bound_at(*pod);
  events_.record(std::move(event));
  return true;
}

}  // namespace plim::sched
