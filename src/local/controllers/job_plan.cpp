#include "local/controllers/job_plan.hpp"

#include <algorithm>

#include "base/rfc3339.hpp"
#include "local/controllers/conditions.hpp"
#include "local/controllers/job_pods.hpp"

namespace plim::local::controllers {
namespace {

constexpr std::chrono::seconds kFirstBackoff{10};
constexpr std::chrono::minutes kLongestBackoff{10};

// Also sets lastProbeTime, as Jobs do.
json::object job_condition(const NewCondition& condition, WallTime now) {
  json::object out = make_condition(condition, now);
  out[kube::key("JobCondition.lastProbeTime")] = format_rfc3339(now);
  return out;
}

json::array texts(const std::set<std::string>& set) {
  json::array out;
  for (const std::string& text : set) out.emplace_back(text);
  return out;
}

JobBackoff after(JobBackoff backoff, const JobPods& pods, WallTime now) {
  std::optional<WallTime> success;
  for (const PodPointer& pod : pods.new_succeeded)
    success = std::max(success.value_or(WallTime()), finish_time(*pod, now));
  if (success && (!backoff.last || *backoff.last <= *success)) backoff = {};
  for (const PodPointer& pod : pods.new_failed) {
    const WallTime when = finish_time(*pod, now);
    if (success && when <= *success) continue;
    ++backoff.failures;
    backoff.last = std::max(backoff.last.value_or(when), when);
  }
  return backoff;
}

class JobPlanner {
 public:
  JobPlanner(const JobInput& input, WallTime now)
      : input_(input),
        now_(now),
        job_(*input.job),
        pods_(job_, input.pods),
        status_(job_.status.get_object()),
        active_(static_cast<std::int64_t>(pods_.active.size())) {
    if (job_.indexed)
      done_ = JobIndexes::parse(kube::text_at(job_.status, "JobStatus.completedIndexes"),
                                job_.completions.value_or(0));
  }

  JobPlan plan() {
    plan_.backoff = after(input_.backoff, pods_, now_);
    start_the_clock();
    count();
    judge();
    if (target_) {
      if (target_->failed) end_all();
    } else {
      const bool managed = input_.current && !input_.job->meta.deleted;
      if (managed) manage();
      if (is_complete()) {
        succeed();
      } else if (managed) {
        note_suspension();
      }
    }
    write_status();
    return std::move(plan_);
  }

 private:
  struct Target {
    bool failed = false;
    std::string reason, message;
  };

  void start_the_clock() {
    if (!kube::text_at(job_.status, "JobStatus.startTime").empty() || job_.suspended) return;
    status_[kube::key("JobStatus.startTime")] = format_rfc3339(now_);
  }

  // UIDs whose pods have lost the finalizer become part of the numbers; pods that have ended since
  // take their place in the list.
  void count() {
    auto settle = [&](std::set<std::string>& uids) {
      return static_cast<std::int64_t>(
          std::erase_if(uids, [&](const std::string& uid) { return !pods_.held.contains(uid); }));
    };
    const std::int64_t settled = settle(job_.uncounted_succeeded);
    counted_failed_ =
        kube::int_at(job_.status, "JobStatus.failed").value_or(0) + settle(job_.uncounted_failed);
    counted_succeeded_ = kube::int_at(job_.status, "JobStatus.succeeded").value_or(0) + settled;
    std::size_t room = kJobBurst;
    for (const PodPointer& pod : pods_.new_succeeded) {
      if (room-- == 0) break;
      // An index counts once, however many of its pods succeed; completedIndexes has it.
      if (!job_.indexed) job_.uncounted_succeeded.insert(pod->meta.uid);
      if (auto index = index_of(*pod);
          job_.indexed && index && *index < job_.completions.value_or(0))
        done_.add(*index);
      plan_.release.push_back(pod);
    }
    for (const PodPointer& pod : pods_.new_failed) count_failed(pod);
    // Pods of an earlier round whose finalizer could not be removed.
    for (const PodPointer& pod : input_.pods) {
      const std::string& uid = pod->meta.uid;
      const bool again = pods_.held.contains(uid) && (job_.uncounted_succeeded.contains(uid) ||
                                                      job_.uncounted_failed.contains(uid));
      const bool planned =
          std::find(plan_.release.begin(), plan_.release.end(), pod) != plan_.release.end();
      if (again && !planned) plan_.release.push_back(pod);
    }
  }

  void count_failed(const PodPointer& pod) {
    if (plan_.release.size() >= kJobBurst) return;
    job_.uncounted_failed.insert(pod->meta.uid);
    plan_.release.push_back(pod);
  }

  std::int64_t succeeded() const {
    if (job_.indexed) return done_.size();
    return counted_succeeded_ + static_cast<std::int64_t>(job_.uncounted_succeeded.size());
  }

  std::int64_t failed() const {
    return counted_failed_ + static_cast<std::int64_t>(job_.uncounted_failed.size());
  }

  // Decides whether the Job has failed or succeeded.
  void judge() {
    if (const json::object* told = find_condition(job_.status, "FailureTarget")) {
      const json::value condition(*told);
      target_ = Target{true, std::string(kube::text_at(condition, "JobCondition.reason")),
                       std::string(kube::text_at(condition, "JobCondition.message"))};
    } else if (find_condition(job_.status, "SuccessCriteriaMet")) {
      target_ = success();
    } else if (exceeds_backoff_limit()) {
      fail_for("BackoffLimitExceeded", "Job has reached the specified backoff limit");
    } else if (job_.deadline && !job_.suspended) {
      auto started = time_at(json::value(status_), "JobStatus.startTime");
      if (started && *started + *job_.deadline <= now_) {
        fail_for("DeadlineExceeded", "Job was active longer than specified deadline");
      } else if (started) {
        look_again(*started + *job_.deadline);
      }
    }
  }

  bool exceeds_backoff_limit() const {
    if (failed() > job_.backoff_limit) return true;
    if (!job_.restarts_in_place) return false;
    return job_.backoff_limit == 0 ? pods_.restarts > 0 : pods_.restarts >= job_.backoff_limit;
  }

  void fail_for(std::string_view reason, std::string_view message) {
    target_ = Target{true, std::string(reason), std::string(message)};
    put_condition(
        status_,
        job_condition(
            {.type = "FailureTarget", .status = "True", .reason = reason, .message = message},
            now_));
  }

  static Target success() {
    return {false, "CompletionsReached", "Reached expected number of succeeded pods"};
  }

  void succeed() {
    target_ = success();
    put_condition(status_, job_condition({.type = "SuccessCriteriaMet",
                                          .status = "True",
                                          .reason = target_->reason,
                                          .message = target_->message},
                                         now_));
  }

  // The pods of a failed Job fail with it.
  void end_all() {
    plan_.end = pods_.active;
    pods_.terminating += active_;
    active_ = 0;
    pods_.ready = 0;
    for (const PodPointer& pod : plan_.end)
      if (pods_.held.contains(pod->meta.uid) && !job_.uncounted_failed.contains(pod->meta.uid))
        count_failed(pod);
  }

  void manage() {
    const std::int64_t wanted = job_.suspended ? 0 : wanted_active();
    const auto surplus = static_cast<std::size_t>(std::max<std::int64_t>(0, active_ - wanted));
    plan_.give_up = pods_to_give_up(job_, pods_, done_, surplus, now_);
    if (plan_.give_up.size() > kJobBurst) plan_.give_up.resize(kJobBurst);
    if (!plan_.give_up.empty()) {
      active_ -= static_cast<std::int64_t>(plan_.give_up.size());
      return;  // start others only after these are gone
    }
    std::int64_t missing = wanted - active_;
    if (job_.replace_failed_only) missing -= pods_.terminating;
    if (missing <= 0 || job_.suspended) return;
    if (auto free = plan_.backoff.free_from(); free && *free > now_) return look_again(*free);
    start(std::min(static_cast<std::size_t>(missing), kJobBurst));
  }

  std::int64_t wanted_active() const {
    // A work queue is done when one pod has succeeded; the others finish by themselves.
    if (!job_.completions) return succeeded() > 0 ? active_ : job_.parallelism;
    return std::clamp<std::int64_t>(*job_.completions - succeeded(), 0,
                                    std::max<std::int64_t>(0, job_.parallelism));
  }

  void start(std::size_t count) {
    if (!job_.indexed) {
      plan_.create.assign(count, job_pod(*input_.job, std::nullopt));
    } else {
      JobIndexes busy;
      for (const PodPointer& pod : pods_.active)
        if (auto index = index_of(*pod)) busy.add(*index);
      for (std::int64_t index :
           JobIndexes::first_missing(done_, busy, job_.completions.value_or(0), count))
        plan_.create.push_back(job_pod(*input_.job, index));
    }
    active_ += static_cast<std::int64_t>(plan_.create.size());
  }

  bool is_complete() const {
    if (active_ > 0) return false;
    return job_.completions ? succeeded() >= *job_.completions : succeeded() > 0;
  }

  void note_suspension() {
    const json::object* present = find_condition(job_.status, "Suspended");
    const bool was = has_true_condition(job_.status, "Suspended");
    if (job_.suspended && !was) {
      put_condition(status_, job_condition({.type = "Suspended",
                                            .status = "True",
                                            .reason = "JobSuspended",
                                            .message = "Job suspended"},
                                           now_));
      plan_.events.push_back({false, "Suspended", "Job suspended"});
    } else if (!job_.suspended && present && was) {
      put_condition(status_, job_condition({.type = "Suspended",
                                            .status = "False",
                                            .reason = "JobResumed",
                                            .message = "Job resumed"},
                                           now_));
      status_[kube::key("JobStatus.startTime")] = format_rfc3339(now_);
      plan_.events.push_back({false, "Resumed", "Job resumed"});
    }
  }

  // The final condition is set only when every pod is gone or counted.
  void conclude() {
    const bool all_counted =
        job_.uncounted_succeeded.empty() && job_.uncounted_failed.empty() && plan_.release.empty();
    if (!target_ || !all_counted || !input_.current || active_ > 0 || pods_.terminating > 0) return;
    put_condition(status_, job_condition({.type = target_->failed ? "Failed" : "Complete",
                                          .status = "True",
                                          .reason = target_->reason,
                                          .message = target_->message},
                                         now_));
    if (target_->failed) {
      plan_.events.push_back({true, target_->reason, target_->message});
    } else {
      status_[kube::key("JobStatus.completionTime")] = format_rfc3339(now_);
      plan_.events.push_back({false, "Completed", "Job completed"});
    }
  }

  void write_status() {
    conclude();
    set_or_omit(status_, "JobStatus.active", active_);
    status_[kube::key("JobStatus.ready")] = std::min(pods_.ready, active_);
    status_[kube::key("JobStatus.terminating")] =
        pods_.terminating + static_cast<std::int64_t>(plan_.give_up.size());
    set_or_omit(status_, "JobStatus.succeeded", job_.indexed ? done_.size() : counted_succeeded_);
    set_or_omit(status_, "JobStatus.failed", counted_failed_);
    if (job_.indexed) set_or_omit(status_, "JobStatus.completedIndexes", done_.to_string());
    json::object uncounted;
    set_or_omit(uncounted, "UncountedTerminatedPods.succeeded", texts(job_.uncounted_succeeded));
    set_or_omit(uncounted, "UncountedTerminatedPods.failed", texts(job_.uncounted_failed));
    status_[kube::key("JobStatus.uncountedTerminatedPods")] = std::move(uncounted);
    plan_.status = std::move(status_);
  }

  void look_again(WallTime when) {
    plan_.look_again = std::min(plan_.look_again.value_or(when), when);
  }

  const JobInput& input_;
  WallTime now_;
  JobFacts job_;
  JobPods pods_;
  json::object status_;
  std::int64_t active_;
  std::int64_t counted_succeeded_ = 0;
  std::int64_t counted_failed_ = 0;
  JobIndexes done_;
  std::optional<Target> target_;
  JobPlan plan_;
};

}  // namespace

std::optional<WallTime> JobBackoff::free_from() const {
  if (failures == 0 || !last) return std::nullopt;
  const auto doublings = std::min<std::int64_t>(failures - 1, 20);
  const std::chrono::seconds delay = kFirstBackoff * (std::int64_t{1} << doublings);
  return *last + std::min<std::chrono::seconds>(delay, kLongestBackoff);
}

bool is_finished(const json::value& job) {
  const json::value* status = kube::find(job, "Job.status");
  return status &&
         (has_true_condition(*status, "Complete") || has_true_condition(*status, "Failed"));
}

JobPlan plan_job(const JobInput& input, WallTime now) {
  return JobPlanner(input, now).plan();
}

}  // namespace plim::local::controllers
