// Jobs and cron jobs.
#include <string>

#include <fmt/format.h>

#include "kube/paths.hpp"
#include "local/apiserver/schema/checks.hpp"
#include "local/apiserver/schema/rule_tables.hpp"

namespace plim::local::apiserver {
namespace {

using namespace rule;

constexpr std::size_t kMaxCronJobName = 52;  // leaves eleven characters for the time of the run

void check_index_options(const Place& spec, const json::value* /*before*/, Causes& causes) {
  if (spec.text("completionMode") == "Indexed") {
    if (!spec.has("completions"))
      causes.required(spec.path("completions"), "when completion mode is Indexed");
    return;
  }
  for (std::string_view field : {"backoffLimitPerIndex", "maxFailedIndexes"})
    if (auto value = spec.number(field))
      causes.invalid(spec.path(field), *value, "requires indexed completion mode");
}

void check_restart_policy(const Place& spec, const json::value* /*before*/, Causes& causes) {
  constexpr std::string_view kField = "template.spec.restartPolicy";
  std::string_view policy = spec.text(kField);
  if (policy == "Always" || policy.empty())
    causes.required(spec.path(kField), R"(valid values: "OnFailure", "Never")");
  else if (policy != "OnFailure" && policy != "Never")
    causes.unsupported(spec.path(kField), json::value(policy), "OnFailure,Never");
  else if (policy == "OnFailure" && spec.has("podFailurePolicy"))
    causes.invalid(spec.path(kField), json::value(policy),
                   R"(only "Never" is supported when podFailurePolicy is specified)");
}

constexpr Rule kTemplatedJobSpec[] = {
    not_negative("parallelism"),
    not_negative("completions"),
    not_negative("activeDeadlineSeconds"),
    not_negative("backoffLimit"),
    not_negative("ttlSecondsAfterFinished"),
    not_negative("backoffLimitPerIndex"),
    not_negative("maxFailedIndexes"),
    one_of("completionMode", "NonIndexed,Indexed"),
    custom(check_index_options),
    one_of("podReplacementPolicy", "Failed,TerminatingOrFailed"),
    inside("template", kPodTemplateRules),
    custom(check_restart_policy),
};

// The server creates a selector if there is none.
void check_job_selector(const Place& spec, const json::value* /*before*/, Causes& causes) {
  if (spec.has("selector"))
    check_selector_matches(spec.in("selector"), spec.in("template.metadata.labels"), causes);
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

// The placement of a suspended job that never ran may change: queues rely on that.
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

void check_job_update(const Place& job, const json::value* before, Causes& causes) {
  if (before == nullptr) return;
  bool may_be_redirected = kube::bool_at(*before, "Job.spec.suspend") &&
                           kube::find(*before, "Job.status.startTime") == nullptr;
  if (comparable_template(job.value(), may_be_redirected) !=
      comparable_template(*before, may_be_redirected))
    causes.invalid("spec.template", job.member("spec.template"), kImmutable);
}

// Completions may change only for Indexed jobs.
void check_completions(const Place& spec, const json::value* before, Causes& causes) {
  if (before != nullptr && spec.text("completionMode") != "Indexed" &&
      spec.member("completions") != Place(*before).member("completions"))
    causes.invalid(spec.path("completions"), spec.member("completions"), kImmutable);
}

constexpr Rule kJobSpec[] = {
    also(kTemplatedJobSpec),
    custom(check_job_selector),
    custom(check_completions),
    fixed("selector"),
};

constexpr Rule kFixedJobSpec[] = {
    fixed("completionMode"), fixed("podFailurePolicy"), fixed("backoffLimitPerIndex"),
    fixed("managedBy"),      fixed("successPolicy"),
};

constexpr Rule kJob[] = {
    inside("spec", kJobSpec),
    custom(check_job_update),
    inside("spec", kFixedJobSpec),
};

void check_cron_name(const Place& cron_job, const json::value* before, Causes& causes) {
  std::string_view name = cron_job.text("metadata.name");
  if (before == nullptr && name.size() > kMaxCronJobName)
    causes.invalid("metadata.name", json::value(name),
                   fmt::format("must be no more than {} characters", kMaxCronJobName));
}

void check_spec_schedule(const Place& spec, const json::value* /*before*/, Causes& causes) {
  if (!spec.text("schedule").empty()) check_schedule(spec.in("schedule"), causes);
}

constexpr Rule kJobTemplate[] = {inside("spec", kTemplatedJobSpec)};

constexpr Rule kCronJobSpec[] = {
    required("schedule"),
    custom(check_spec_schedule),
    not_negative("startingDeadlineSeconds"),
    required("concurrencyPolicy"),
    one_of("concurrencyPolicy", "Allow,Forbid,Replace"),
    inside("jobTemplate", kJobTemplate),
    not_negative("successfulJobsHistoryLimit"),
    not_negative("failedJobsHistoryLimit"),
};

constexpr Rule kCronJob[] = {
    custom(check_cron_name),
    inside("spec", kCronJobSpec),
};

}  // namespace

constinit const RuleTable kJobRules{kJob};
constinit const RuleTable kCronJobRules{kCronJob};

}  // namespace plim::local::apiserver
