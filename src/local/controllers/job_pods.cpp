#include "local/controllers/job_pods.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "local/controllers/pod_owner.hpp"
#include "local/controllers/pod_questions.hpp"

namespace plim::local::controllers {
namespace {

std::set<std::string> uids_at(const json::value& status, kube::ListPath field) {
  std::set<std::string> out;
  for (const json::value& uid : kube::list_at(status, field))
    if (uid.is_string()) out.emplace(std::string_view(uid.get_string()));
  return out;
}

void add_index_variable(json::value& pod_spec, std::string_view field) {
  json::value* containers = pod_spec.as_object().if_contains(field);
  if (!containers || !containers->is_array()) return;
  for (json::value& container : containers->get_array()) {
    if (!container.is_object()) continue;
    json::value& env = container.get_object()[kube::key("Container.env")];
    if (!env.is_array()) env = json::array();
    const bool given =
        std::any_of(env.get_array().begin(), env.get_array().end(), [](const json::value& one) {
          return kube::text_at(one, "EnvVar.name") == "JOB_COMPLETION_INDEX";
        });
    if (given) continue;
    env.get_array().push_back(
        {{"name", "JOB_COMPLETION_INDEX"},
         {"valueFrom",
          {{"fieldRef", {{"fieldPath", fmt::format("metadata.labels['{}']", kJobIndex)}}}}}});
  }
}

}  // namespace

JobFacts::JobFacts(const Object& job)
    : object(&job),
      indexed(kube::text_at(job.json, "Job.spec.completionMode") == "Indexed"),
      suspended(kube::bool_at(job.json, "Job.spec.suspend")),
      replace_failed_only(kube::text_at(job.json, "Job.spec.podReplacementPolicy") == "Failed"),
      restarts_in_place(kube::text_at(job.json, "Job.spec.template.spec.restartPolicy") ==
                        "OnFailure"),
      parallelism(kube::int_at(job.json, "Job.spec.parallelism").value_or(1)),
      completions(kube::int_at(job.json, "Job.spec.completions")),
      backoff_limit(kube::int_at(job.json, "Job.spec.backoffLimit").value_or(6)) {
  if (auto seconds = kube::int_at(job.json, "Job.spec.activeDeadlineSeconds"))
    deadline = std::chrono::seconds(*seconds);
  const json::value* present = kube::find(job.json, "Job.status");
  status = present && present->is_object() ? *present : json::value(json::object());
  uncounted_succeeded = uids_at(status, "JobStatus.uncountedTerminatedPods.succeeded");
  uncounted_failed = uids_at(status, "JobStatus.uncountedTerminatedPods.failed");
}

std::optional<std::int64_t> index_of(const kube::Pod& pod) {
  auto text = annotation_of(pod.meta, kJobIndex);
  if (!text) return std::nullopt;
  auto index = parse_int<std::int64_t>(*text);
  if (!index || *index < 0) return std::nullopt;
  return *index;
}

bool has_failed(const kube::Pod& pod, const JobFacts& job) {
  if (pod.status.phase == "Failed") return true;
  if (job.replace_failed_only) return false;  // it will reach the phase Failed
  return pod.meta.deleted && pod.status.phase != "Succeeded";
}

WallTime finish_time(const kube::Pod& pod, WallTime now) {
  std::optional<WallTime> latest;
  for (const kube::ContainerStatus& one : pod.status.containers)
    if (one.state == kube::ContainerStatus::State::terminated && one.terminated.finished)
      latest = std::max(latest.value_or(*one.terminated.finished), *one.terminated.finished);
  if (latest) return *latest;
  if (const kube::Condition* ready = find_condition(pod.status.conditions, "Ready");
      ready && ready->last_transition)
    return *ready->last_transition;
  return pod.meta.deleted.value_or(now);
}

JobPods::JobPods(const JobFacts& job, const std::vector<PodPointer>& pods) {
  for (const PodPointer& pod : pods) {
    const bool tracked = has_finalizer(pod->meta, kJobFinalizer);
    if (tracked) held.insert(pod->meta.uid);
    if (is_active(*pod)) {
      active.push_back(pod);
      if (is_ready(*pod)) ++ready;
    } else if (!is_terminal(*pod)) {
      ++terminating;
    }
    if (!is_terminal(*pod))
      for (const auto* list : {&pod->status.containers, &pod->status.init_containers})
        for (const kube::ContainerStatus& one : *list) restarts += one.restarts;
    if (!tracked || job.uncounted_succeeded.contains(pod->meta.uid) ||
        job.uncounted_failed.contains(pod->meta.uid))
      continue;
    if (pod->status.phase == "Succeeded") new_succeeded.push_back(pod);
    if (has_failed(*pod, job)) new_failed.push_back(pod);
  }
}

std::vector<PodPointer> pods_to_give_up(const JobFacts& job, const JobPods& pods,
                                        const JobIndexes& done, std::size_t surplus, WallTime now) {
  std::vector<PodPointer> order = pods.active;
  std::sort(order.begin(), order.end(), DeletionOrder(pods.active, now));
  if (!job.indexed) {
    order.resize(std::min(order.size(), surplus));
    return order;
  }
  // Of each index the pod that is furthest along stays.
  JobIndexes taken;
  std::vector<PodPointer> out;
  std::vector<PodPointer> good;
  for (auto pod = order.rbegin(); pod != order.rend(); ++pod) {
    auto index = index_of(**pod);
    const bool useful = index && *index < job.completions.value_or(0) && !taken.contains(*index) &&
                        !done.contains(*index);
    if (useful) taken.add(*index);
    (useful ? good : out).push_back(*pod);
  }
  while (out.size() < surplus && !good.empty()) {
    out.push_back(std::move(good.back()));
    good.pop_back();
  }
  return out;
}

json::value job_pod(const Object& job, std::optional<std::int64_t> index) {
  const json::value* pod_template = kube::find(job.json, "Job.spec.template");
  const Parent parent(kube::resources::jobs, job.meta);
  json::value pod = pod_from_template(pod_template ? *pod_template : json::value(), parent);
  json::object& metadata = kube::make_object(pod, "Pod.metadata");
  json::value& finalizers = metadata[kube::key("ObjectMeta.finalizers")];
  if (!finalizers.is_array()) finalizers = json::array();
  finalizers.get_array().emplace_back(kJobFinalizer);
  if (!index) return pod;
  const std::string number = fmt::format("{}", *index);
  metadata[kube::key("ObjectMeta.generateName")] = fmt::format("{}-{}-", parent.name, number);
  kube::make_object(pod, "Pod.metadata.annotations")[kJobIndex] = number;
  kube::make_object(pod, "Pod.metadata.labels")[kJobIndex] = number;
  json::value& spec = pod.as_object()[kube::key("Pod.spec")];
  if (!spec.is_object()) spec = json::object();
  spec.get_object()[kube::key("PodSpec.hostname")] = fmt::format("{}-{}", parent.name, number);
  add_index_variable(spec, "containers");
  add_index_variable(spec, "initContainers");
  return pod;
}

}  // namespace plim::local::controllers
