#include <string>

#include <fmt/format.h>

#include "kube/selector.hpp"
#include "local/schema/checks.hpp"

namespace plim::local {
namespace {

constexpr std::size_t kMaxCronJobName = 52;  // eleven more are for the time of the run

void check_restart_policy(const json::value& spec, const std::string& path, Causes& causes) {
  std::string place = path + ".template.spec.restartPolicy";
  std::string_view policy = text_at(spec, {"template", "spec", "restartPolicy"});
  if (policy == "Always" || policy.empty())
    causes.required(place, R"(valid values: "OnFailure", "Never")");
  else if (policy == "OnFailure" && find(spec, {"podFailurePolicy"}) != nullptr)
    causes.invalid(place, json::value(policy),
                   R"(only "Never" is supported when podFailurePolicy is specified)");
}

void check_job_spec(const json::value& spec, const std::string& path, Causes& causes) {
  for (std::string_view field :
       {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
        "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"})
    check_not_negative(spec, field, path, causes);
  std::string_view mode = text_at(spec, {"completionMode"});
  if (mode == "Indexed") {
    if (find(spec, {"completions"}) == nullptr)
      causes.required(path + ".completions", "when completion mode is Indexed");
  } else if (!mode.empty() && mode != "NonIndexed") {
    causes.not_supported(path + ".completionMode", mode, {"NonIndexed", "Indexed"});
  }
  check_pod_template(value_at(spec, {"template"}), path + ".template", causes);
  check_restart_policy(spec, path, causes);
}

void check_job_selector(const json::value& job, Causes& causes) {
  const json::value& selector = value_at(job, {"spec", "selector"});
  if (selector.is_null()) return;  // the server makes one
  auto parsed = kube::LabelSelector::from_json(selector);
  if (!parsed) return causes.invalid("spec.selector", selector, parsed.error().message);
  std::vector<std::pair<std::string, std::string>> labels;
  for (const auto& entry : object_at(job, {"spec", "template", "metadata", "labels"}))
    if (entry.value().is_string()) labels.emplace_back(entry.key(), entry.value().get_string());
  if (!parsed->matches(labels))
    causes.invalid("spec.template.metadata.labels",
                   value_at(job, {"spec", "template", "metadata", "labels"}),
                   "`selector` does not match template `labels`");
}

void erase_at(json::value& value, std::initializer_list<std::string_view> path,
              std::string_view field) {
  json::value* place = &value;
  for (std::string_view step : path) {
    place = place->is_object() ? place->get_object().if_contains(step) : nullptr;
    if (place == nullptr) return;
  }
  if (place->is_object()) place->get_object().erase(field);
}

// A suspended job that never ran may still be sent elsewhere: queues rely on it.
json::value comparable_template(const json::value& job, bool may_be_redirected) {
  json::value out = value_at(job, {"spec", "template"});
  if (!may_be_redirected) return out;
  for (std::string_view field : {"nodeSelector", "tolerations", "schedulingGates"})
    erase_at(out, {"spec"}, field);
  erase_at(out, {"spec", "affinity"}, "nodeAffinity");
  if (object_at(out, {"spec", "affinity"}).empty()) erase_at(out, {"spec"}, "affinity");
  for (std::string_view field : {"labels", "annotations"}) erase_at(out, {"metadata"}, field);
  return out;
}

void check_job_update(const json::value& job, const json::value& before, Causes& causes) {
  if (text_at(job, {"spec", "completionMode"}) != "Indexed")
    check_immutable(job, before, {"spec", "completions"}, causes);
  check_immutable(job, before, {"spec", "selector"}, causes);
  bool may_be_redirected =
      bool_at(before, {"spec", "suspend"}) && find(before, {"status", "startTime"}) == nullptr;
  if (comparable_template(job, may_be_redirected) != comparable_template(before, may_be_redirected))
    causes.invalid("spec.template", value_at(job, {"spec", "template"}), kImmutable);
  for (std::string_view field :
       {"completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"})
    check_immutable(job, before, {"spec", field}, causes);
}

}  // namespace

void check_job(const json::value& job, const json::value* before, Causes& causes) {
  check_job_spec(value_at(job, {"spec"}), "spec", causes);
  check_job_selector(job, causes);
  if (before != nullptr) check_job_update(job, *before, causes);
}

void check_cron_job(const json::value& cron_job, const json::value* before, Causes& causes) {
  std::string_view name = text_at(cron_job, {"metadata", "name"});
  if (before == nullptr && name.size() > kMaxCronJobName)
    causes.invalid("metadata.name", json::value(name),
                   fmt::format("must be no more than {} characters", kMaxCronJobName));
  const json::value& spec = value_at(cron_job, {"spec"});
  if (text_at(spec, {"schedule"}).empty()) causes.required("spec.schedule");
  for (std::string_view field :
       {"startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"})
    check_not_negative(spec, field, "spec", causes);
  std::string_view policy = text_at(spec, {"concurrencyPolicy"});
  if (policy != "Allow" && policy != "Forbid" && policy != "Replace")
    causes.not_supported("spec.concurrencyPolicy", policy, {"Allow", "Forbid", "Replace"});
  check_job_spec(value_at(spec, {"jobTemplate", "spec"}), "spec.jobTemplate.spec", causes);
}

}  // namespace plim::local
