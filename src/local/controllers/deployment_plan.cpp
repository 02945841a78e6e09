#include "local/controllers/deployment_plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "local/controllers/deployment_status.hpp"

namespace plim::local::controllers {
namespace {

constexpr std::size_t kMaxHistoryText = 2000;

class DeploymentPlanner {
 public:
  DeploymentPlanner(const DeploymentInput& input, WallTime now)
      : input_(input),
        now_(now),
        deployment_(*input.deployment),
        sets_(deployment_, input.sets),
        status_(deployment_.status.get_object()) {}

  DeploymentPlan plan() {
    if (input_.deployment->meta.deleted) return finish(Verdict::numbers_only);
    note_pausing();
    if (deployment_.paused || is_scaling()) {
      if (sets_.current) refresh_current();
      scale_all();
      if (deployment_.paused) clean_up();
      return finish(Verdict::numbers_only);
    }
    if (deployment_.rolling) {
      roll();
    } else {
      recreate();
    }
    return finish(Verdict::with_progress);
  }

 private:
  enum class Verdict { numbers_only, with_progress };

  void roll() {
    ensure_current();
    if (grow_current() || shrink_old()) return;
    if (is_complete(deployment_, deployment_.status)) clean_up();
  }

  void recreate() {
    if (sets_.current) refresh_current();
    bool shrunk = false;
    for (SetModel& set : sets_.old) shrunk |= resize(set, 0);
    if (shrunk || input_.old_pods_running) return;
    ensure_current();
    resize(*sets_.current, deployment_.replicas);
    if (is_complete(deployment_, deployment_.status)) clean_up();
  }

  // True if it scaled: only one direction at a time, so that the next counts are correct.
  bool grow_current() {
    SetModel& current = *sets_.current;
    if (current.replicas == deployment_.replicas) return false;
    if (current.replicas > deployment_.replicas) return resize(current, deployment_.replicas);
    return resize(current, next_current_size(deployment_, sets_, current.replicas));
  }

  bool shrink_old() {
    std::int64_t old_total = 0;
    for (const SetModel& set : sets_.old) old_total += set.replicas;
    if (old_total == 0) return false;
    const SetModel& current = *sets_.current;
    // New pods may never become available, so they do not replace old ones before they are.
    const std::int64_t unavailable = current.replicas - current.available;
    const std::int64_t most = sets_.total() - deployment_.min_available() - unavailable;
    if (most <= 0) return false;
    const bool cleaned = drop_unhealthy(most);
    const bool shrunk = drop_available();
    return cleaned || shrunk;
  }

  // Old pods that are not available are deleted first; that costs no availability.
  bool drop_unhealthy(std::int64_t most) {
    bool out = false;
    for (SetModel& set : sets_.old) {
      if (most <= 0) break;
      const std::int64_t count = std::min(most, set.replicas - set.available);
      if (set.replicas == 0 || count <= 0) continue;
      most -= count;
      out |= resize(set, set.replicas - count);
    }
    return out;
  }

  bool drop_available() {
    bool out = false;
    std::int64_t most = sets_.total_available() - deployment_.min_available();
    for (SetModel& set : sets_.old) {
      if (most <= 0) break;
      const std::int64_t count = std::min(most, set.replicas);
      if (count <= 0) continue;
      most -= count;
      out |= resize(set, set.replicas - count);
    }
    return out;
  }

  bool is_scaling() {
    for (const SetModel* set : sets_.active()) {
      auto desired = parse_int<std::int64_t>(set->annotation(kDesiredReplicas));
      if (desired && *desired != deployment_.replicas) return true;
    }
    return false;
  }

  void scale_all() {
    const std::vector<SetModel*> active = sets_.active();
    if (active.size() <= 1) {
      SetModel* only = active.empty() ? latest() : active.front();
      if (only) resize(*only, deployment_.replicas);
      return;
    }
    if (is_saturated()) {
      for (SetModel& set : sets_.old) resize(set, 0);
      return;
    }
    if (!deployment_.rolling) return;
    for (const SetSize& one : share_proportionally(deployment_, sets_)) resize(*one.set, one.size);
  }

  SetModel* latest() {
    if (sets_.current) return &*sets_.current;
    return sets_.old.empty() ? nullptr : &sets_.old.back();
  }

  bool is_saturated() const {
    if (!sets_.current) return false;
    auto desired = parse_int<std::int64_t>(sets_.current->annotation(kDesiredReplicas));
    return desired && sets_.current->replicas == deployment_.replicas &&
           *desired == deployment_.replicas && sets_.current->available == deployment_.replicas;
  }

  // True if the number changed. Updates the annotations for proportional scaling in any case.
  bool resize(SetModel& set, std::int64_t size) {
    const bool sized = set.replicas != size;
    if (!sized && size == 0) return false;
    set.annotate(kDesiredReplicas, fmt::format("{}", deployment_.replicas));
    set.annotate(kMaxReplicas, fmt::format("{}", deployment_.max_total()));
    if (!sized) return false;
    set.note = fmt::format("Scaled {} replica set {} from {} to {}",
                           size > set.replicas ? "up" : "down", set.name(), set.replicas, size);
    kube::make_object(set.json, "ReplicaSet.spec")[kube::key("ReplicaSetSpec.replicas")] = size;
    set.replicas = size;
    set.changed = true;
    return true;
  }

  std::int64_t next_revision() const {
    std::int64_t highest = 0;
    for (const SetModel& set : sets_.old) highest = std::max(highest, set.revision());
    return highest + 1;
  }

  void copy_annotations(SetModel& set) const {
    const json::value* given =
        kube::find(input_.deployment->json, "Deployment.metadata.annotations");
    for (const auto& [key, value] : text_pairs(given)) {
      const bool own = key == kRevision || key == kRevisionHistory || key == kDesiredReplicas ||
                       key == kMaxReplicas || key == "deprecated.deployment.rollback.to" ||
                       key == "kubectl.kubernetes.io/last-applied-configuration";
      if (!own) set.annotate(key, value);
    }
  }

  // A set of an old revision that becomes current again gets a new one and keeps the old in a list.
  void number_current() {
    SetModel& set = *sets_.current;
    const std::string before(set.annotation(kRevision));
    const std::int64_t next = next_revision();
    if (!before.empty() && set.revision() >= next) return;
    set.annotate(kRevision, fmt::format("{}", next));
    if (before.empty()) return;
    std::string history(set.annotation(kRevisionHistory));
    while (!history.empty() && history.size() + before.size() + 1 > kMaxHistoryText)
      history = std::string(cut(history, ',').second);
    set.annotate(kRevisionHistory, history.empty() ? before : history + "," + before);
  }

  void refresh_current() {
    SetModel& set = *sets_.current;
    copy_annotations(set);
    number_current();
    if (kube::int_at(set.json, "ReplicaSet.spec.minReadySeconds").value_or(0) !=
        deployment_.min_ready) {
      set_or_omit(kube::make_object(set.json, "ReplicaSet.spec"), "ReplicaSetSpec.minReadySeconds",
                  deployment_.min_ready);
      set.changed = true;
    }
    if (!find_condition(deployment_.status, "Progressing"))
      progressing("FoundNewReplicaSet", fmt::format("Found new replica set \"{}\"", set.name()));
  }

  void ensure_current() {
    if (sets_.current) return refresh_current();
    const json::value* given = kube::find(input_.deployment->json, "Deployment.spec.template");
    json::value pod_template = given ? *given : json::value(json::object());
    const std::string hash = template_hash(
        pod_template,
        kube::int_at(deployment_.status, "DeploymentStatus.collisionCount").value_or(0));
    kube::make_object(pod_template, "PodTemplateSpec.metadata.labels")[kPodTemplateHash] = hash;
    const json::value* selected = kube::find(input_.deployment->json, "Deployment.spec.selector");
    json::value selector = selected ? *selected : json::value(json::object());
    kube::make_object(selector, "LabelSelector.matchLabels")[kPodTemplateHash] = hash;

    const Parent parent(kube::resources::deployments, input_.deployment->meta);
    const std::string suffix = "-" + hash;
    auto made = std::make_shared<Object>();
    made->json = json::value{
        {"apiVersion", "apps/v1"},
        {"kind", "ReplicaSet"},
        {"metadata",
         {{"name", parent.name.substr(0, 253 - suffix.size()) + suffix},
          {"namespace", parent.ns},
          {"labels", pod_template.at("metadata").at("labels")}}},
        {"spec", {{"replicas", 0}, {"selector", selector}, {"template", pod_template}}}};
    PLIM_ASSERT(kube::set_owner(made->json, parent.controller_reference()));
    const std::int64_t size = next_current_size(deployment_, sets_, 0);
    SetModel set(std::move(made));
    set.object = nullptr;
    set_or_omit(kube::make_object(set.json, "ReplicaSet.spec"), "ReplicaSetSpec.minReadySeconds",
                deployment_.min_ready);
    sets_.current.emplace(std::move(set));
    copy_annotations(*sets_.current);
    number_current();
    resize(*sets_.current, size);
    progressing("NewReplicaSetCreated",
                fmt::format("Created new replica set \"{}\"", sets_.current->name()));
  }

  void progressing(std::string_view reason, const std::string& message) {
    if (!deployment_.progress_deadline) return;
    set_deployment_condition(
        status_, {.type = "Progressing", .status = "True", .reason = reason, .message = message},
        now_);
  }

  // A paused rollout cannot time out.
  void note_pausing() {
    if (!deployment_.progress_deadline) return;
    const json::object* present = find_condition(deployment_.status, "Progressing");
    const json::value* given =
        present ? present->if_contains(kube::key("DeploymentCondition.reason")) : nullptr;
    const std::string_view reason =
        given && given->is_string() ? std::string_view(given->get_string()) : "";
    if (reason == "ProgressDeadlineExceeded") return;
    if (deployment_.paused && reason != "DeploymentPaused")
      set_deployment_condition(status_,
                               {.type = "Progressing",
                                .status = "Unknown",
                                .reason = "DeploymentPaused",
                                .message = "Deployment is paused"},
                               now_);
    if (!deployment_.paused && reason == "DeploymentPaused")
      set_deployment_condition(status_,
                               {.type = "Progressing",
                                .status = "Unknown",
                                .reason = "DeploymentResumed",
                                .message = "Deployment is resumed"},
                               now_);
  }

  // Deletes the oldest revisions beyond the limit that have no pods.
  void clean_up() {
    if (!deployment_.history_limit) return;
    std::vector<const SetModel*> alive;
    for (const SetModel& set : sets_.old)
      if (!set.object->meta.deleted) alive.push_back(&set);
    const auto limit =
        static_cast<std::size_t>(std::max<std::int64_t>(0, *deployment_.history_limit));
    if (alive.size() <= limit) return;
    std::sort(alive.begin(), alive.end(), [](const SetModel* a, const SetModel* b) {
      return a->revision() != b->revision() ? a->revision() < b->revision()
                                            : a->created < b->created;
    });
    alive.resize(alive.size() - limit);
    for (const SetModel* set : alive) {
      const bool seen =
          kube::int_at(set->json, "ReplicaSet.status.observedGeneration").value_or(0) >=
          set->object->meta.generation;
      if (set->replicas == 0 && set->actual == 0 && seen) removed_.push_back(set->object);
    }
  }

  DeploymentPlan finish(Verdict verdict) {
    DeploymentPlan out;
    deployment_.status = json::value(status_);  // with the conditions that earlier steps set
    json::object status = deployment_status(deployment_, sets_, now_);
    if (verdict == Verdict::with_progress) {
      judge_progress(status, deployment_, sets_, now_);
      out.look_again = progress_deadline(deployment_, status);
    }
    out.status = std::move(status);
    out.remove = std::move(removed_);
    if (sets_.current) {
      const std::string_view revision = sets_.current->annotation(kRevision);
      if (kube::annotation_of(input_.deployment->json, kRevision) != revision)
        out.revision = revision;
    }
    for (SetModel* set : sets_.all()) {
      if (!set->object) {
        out.create = SetChange{std::move(set->json), std::move(set->note)};
      } else if (set->changed) {
        out.update.push_back({std::move(set->json), std::move(set->note)});
      }
    }
    return out;
  }

  const DeploymentInput& input_;
  WallTime now_;
  DeploymentModel deployment_;
  DeploymentSets sets_;
  json::object status_;  // the current one, with conditions set on the way
  std::vector<ObjectPointer> removed_;
};

}  // namespace

DeploymentPlan plan_deployment(const DeploymentInput& input, WallTime now) {
  return DeploymentPlanner(input, now).plan();
}

}  // namespace plim::local::controllers
