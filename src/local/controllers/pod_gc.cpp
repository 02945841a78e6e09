#include "local/controllers/pod_gc.hpp"

#include <algorithm>
#include <set>

#include "base/rfc3339.hpp"
#include "local/controllers/pod_questions.hpp"

namespace plim::local::controllers {
namespace {

constexpr std::chrono::seconds kPeriod{20};

}  // namespace

PodGcPlan plan_pod_gc(const PodGcInput& input, std::size_t max_ended) {
  PodGcPlan out;
  std::vector<PodPointer> ended;
  for (const PodPointer& pod : input.pods) {
    auto missing = input.missing_since.find(std::string(pod->spec.node_name.view()));
    if (missing != input.missing_since.end() && input.now - missing->second >= kNodeQuarantine) {
      out.remove.push_back({pod, is_terminal(*pod) ? "" : "PodGC: node no longer exists"});
    } else if (pod->meta.deleted && pod->spec.node_name.empty()) {
      out.remove.push_back({pod, ""});
    } else if (is_terminal(*pod) && !pod->meta.deleted) {
      ended.push_back(pod);
    }
  }
  if (ended.size() <= max_ended) return out;
  const auto surplus = static_cast<std::ptrdiff_t>(ended.size() - max_ended);
  std::partial_sort(ended.begin(), ended.begin() + surplus, ended.end(),
                    [](const PodPointer& a, const PodPointer& b) {
                      return a->meta.created != b->meta.created ? a->meta.created < b->meta.created
                                                                : a->meta.name < b->meta.name;
                    });
  for (std::ptrdiff_t i = 0; i < surplus; ++i)
    out.remove.push_back({ended[static_cast<std::size_t>(i)], ""});
  return out;
}

PodGarbageCollector::PodGarbageCollector(const ControllerContext& context)
    : Controller(context, {.name = "pod-garbage-collector-controller",
                           .component = "pod-garbage-collector-controller",
                           .workers = 1}),
      nodes_(context.informers.nodes()),
      pods_(context.informers.pods()) {}

void PodGarbageCollector::start() {
  enqueue("");
  Controller::start();
}

Task<Result<void>> PodGarbageCollector::reconcile(std::string key) {
  enqueue_after(key, kPeriod);
  PodGcInput input;
  input.now = clock_.steady();
  std::map<std::string, SteadyTime> missing;
  for (const auto& [name, pod] : pods_.informer.store()) {
    input.pods.push_back(pod);
    const std::string node(pod->spec.node_name.view());
    if (node.empty() || nodes_.find(node) || missing.contains(node)) continue;
    auto known = missing_since_.find(node);
    missing[node] = known == missing_since_.end() ? input.now : known->second;
  }
  missing_since_ = missing;
  input.missing_since = std::move(missing);
  PodGcPlan plan = plan_pod_gc(input);
  for (PodGcPlan::Victim& victim : plan.remove) PLIM_CO_CHECK(co_await remove(std::move(victim)));
  co_return Result<void>();
}

Task<Result<void>> PodGarbageCollector::remove(PodGcPlan::Victim victim) {
  const Parent about(kube::resources::pods, victim.pod->meta);
  if (!victim.reason.empty()) {
    // The cache may not have the node yet.
    kube::ObjectPath node;
    node.name = victim.pod->spec.node_name.view();
    auto live = co_await client_->get(kube::resources::nodes, std::move(node));
    if (live) co_return Result<void>();
    if (live.error().code != Code::not_found) co_return std::move(live).error();
    // Owners of the pod have to see why it ended.
    json::object condition{{"type", "DisruptionTarget"},
                           {"status", "True"},
                           {"lastTransitionTime", format_rfc3339(clock_.wall())},
                           {"reason", "DeletionByPodGC"},
                           {"message", victim.reason}};
    json::array conditions;
    conditions.push_back(std::move(condition));
    json::value patch{{"status", {{"phase", "Failed"}, {"conditions", std::move(conditions)}}}};
    auto patched = co_await client_->patch(kube::resources::pods, about.path("status"),
                                           kube::PatchType::strategic, std::move(patch));
    if (!patched && patched.error().code != Code::not_found) co_return std::move(patched).error();
  }
  kube::DeleteOptions options;
  options.grace_seconds = 0;
  options.uid = victim.pod->meta.uid;
  auto removed = co_await client_->remove(kube::resources::pods, about.path(), std::move(options));
  if (!removed && removed.error().code != Code::not_found) co_return std::move(removed).error();
  co_return Result<void>();
}

}  // namespace plim::local::controllers
