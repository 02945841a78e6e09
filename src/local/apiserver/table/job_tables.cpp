#include <fmt/format.h>

#include "base/duration.hpp"
#include "base/rfc3339.hpp"
#include "local/apiserver/table/cells.hpp"
#include "local/apiserver/table/views.hpp"

namespace plim::local::apiserver {
namespace {

using namespace cells;

constexpr TableColumn kJobColumns[] = {
    kName,
    {.name = "Status", .description = "How far the job is"},
    {.name = "Completions", .description = "Pods that succeeded, of those that must"},
    {.name = "Duration", .description = "How long it has run, or ran"},
    kAge,
    kContainers,
    kImages,
    kSelector,
};

std::string job_status(const json::value& job) {
  if (is_true(job, "Complete")) return "Complete";
  if (is_true(job, "Failed")) return "Failed";
  if (kube::find(job, "Job.metadata.deletionTimestamp")) return "Terminating";
  for (const char* type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"})
    if (is_true(job, type)) return type;
  return "Running";
}

std::string completions(const json::value& job) {
  const std::int64_t succeeded = number(job, "Job.status.succeeded");
  if (const auto wanted = kube::int_at(job, "Job.spec.completions"))
    return fmt::format("{}/{}", succeeded, *wanted);
  const std::int64_t parallelism = number(job, "Job.spec.parallelism");
  return parallelism > 1 ? fmt::format("{}/1 of {}", succeeded, parallelism)
                         : fmt::format("{}/1", succeeded);
}

std::string duration(const json::value& job, WallTime now) {
  const auto start = parse_rfc3339(kube::text_at(job, "Job.status.startTime"));
  if (!start) return "";
  const auto end = parse_rfc3339(kube::text_at(job, "Job.status.completionTime"));
  return human_duration((end ? *end : now) - *start);
}

json::array job_cells(const json::value& job, WallTime now) {
  const Containers all = containers(job, "Job.spec.template.spec");
  return {name(job),     job_status(job), completions(job), duration(job, now),
          age(job, now), all.names,       all.images,       selector(job, "Job.spec.selector")};
}

constexpr TableColumn kCronJobColumns[] = {
    kName,
    {.name = "Schedule", .description = "When jobs are started"},
    {.name = "Timezone", .description = "Time zone of the schedule"},
    {.name = "Suspend", .type = "boolean", .description = "Whether it pauses"},
    {.name = "Active", .type = "integer", .description = "Jobs that run"},
    {.name = "Last Schedule", .description = "Time since a job was started last"},
    kAge,
    kContainers,
    kImages,
    kSelector,
};

std::string yes_or_no(const json::value& object, kube::BoolPath path) {
  const json::value* found = kube::find(object, path);
  if (!found || !found->is_bool()) return "<unset>";
  return found->get_bool() ? "True" : "False";
}

json::array cron_job_cells(const json::value& job, WallTime now) {
  const Containers all = containers(job, "CronJob.spec.jobTemplate.spec.template.spec");
  const std::string last = text(job, "CronJob.status.lastScheduleTime");
  return {name(job),
          text(job, "CronJob.spec.schedule"),
          text(job, "CronJob.spec.timeZone", "<none>"),
          yes_or_no(job, "CronJob.spec.suspend"),
          size(job, "CronJob.status.active"),
          last.empty() ? "<none>" : human_age(last, now),
          age(job, now),
          all.names,
          all.images,
          selector(job, "CronJob.spec.jobTemplate.spec.selector")};
}

}  // namespace

const TableView kJobView{.columns = kJobColumns, .cells = job_cells};
const TableView kCronJobView{.columns = kCronJobColumns, .cells = cron_job_cells};

}  // namespace plim::local::apiserver
