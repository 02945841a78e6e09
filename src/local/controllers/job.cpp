#include "local/controllers/job.hpp"

#include <fmt/format.h>

namespace plim::local::controllers {
namespace {

constexpr std::string_view kOrphan = "orphan ";  // a name cannot contain a space
constexpr std::string_view kOurName = "kubernetes.io/job-controller";

}  // namespace

JobController::JobController(const ControllerContext& context)
    : PodOwnerController(context, {.name = "job-controller", .component = "job-controller"},
                         kube::resources::jobs) {
  owners_.informer.add_handlers({.on_delete = [this](const ObjectPointer& job) {
    for (const PodPointer& pod : pods_.controlled_by(job->meta.uid)) look_for_orphan(pod);
  }});
  pods_.informer.add_handlers(
      {.on_add = [this](const PodPointer& pod) { look_for_orphan(pod); },
       .on_update = [this](const PodPointer&, const PodPointer& now) { look_for_orphan(now); }});
}

void JobController::look_for_orphan(const PodPointer& pod) {
  if (has_finalizer(pod->meta, kJobFinalizer) && !owner_of(*pod))
    enqueue(std::string(kOrphan) + kube::object_key(pod->meta));
}

Task<Result<void>> JobController::release_orphan(std::string pod_key) {
  PodPointer pod = pods_.find(pod_key);
  if (!pod || !has_finalizer(pod->meta, kJobFinalizer) || owner_of(*pod)) co_return Result<void>();
  std::vector<PodPointer> pods(1, pod);
  auto trouble = co_await drop_finalizers(std::move(pods));
  if (trouble) co_return std::move(*trouble);
  co_return Result<void>();
}

Task<Result<void>> JobController::reconcile(std::string key) {
  if (key.starts_with(kOrphan)) co_return co_await release_orphan(key.substr(kOrphan.size()));
  JobInput input;
  input.job = owners_.find(key);
  if (!input.job || is_finished(input.job->json)) {
    backoffs_.erase(key);
    co_return Result<void>();
  }
  const std::string_view manager = kube::text_at(input.job->json, "Job.spec.managedBy");
  const json::value* wanted = kube::find(input.job->json, "Job.spec.selector");
  if (!wanted || (!manager.empty() && manager != kOurName)) co_return Result<void>();
  auto selector = kube::LabelSelector::from_json(*wanted);
  if (!selector) co_return Result<void>();
  input.current = expectations_.satisfied(key);
  PLIM_CO_TRY(input.pods, co_await claim_pods(Parent(kind_, input.job->meta), std::move(*selector),
                                              input.job->meta.deleted.has_value()));
  if (auto known = backoffs_.find(key); known != backoffs_.end()) input.backoff = known->second;
  JobPlan plan = plan_job(input, clock_.wall());
  if (plan.look_again) enqueue_after(key, *plan.look_again - clock_.wall());
  co_return co_await carry_out(input.job, std::move(plan));
}

Task<Result<void>> JobController::carry_out(ObjectPointer job, JobPlan plan) {
  const Parent parent(kind_, job->meta);
  std::optional<Error> trouble;
  Outcome ended = co_await delete_pods(parent, std::move(plan.end));
  trouble = ended.error;
  if (!trouble) trouble = co_await give_up(parent, std::move(plan.give_up));
  if (!trouble) {
    const auto wanted = static_cast<std::int64_t>(plan.create.size());
    Outcome created = co_await create_pods(parent, std::move(plan.create));
    // The status must not count pods that could not be created.
    const std::int64_t missing = wanted - static_cast<std::int64_t>(created.done);
    if (missing > 0)
      set_or_omit(plan.status.as_object(), "JobStatus.active",
                  kube::int_at(plan.status, "JobStatus.active").value_or(0) - missing);
    if (created.error && !is_namespace_terminating(*created.error)) trouble = created.error;
  }
  PLIM_CO_TRY([[maybe_unused]] bool changed,
              co_await write_status(kind_, job, std::move(plan.status)));
  backoffs_[kube::object_key(job->meta)] = plan.backoff;
  for (JobEvent& event : plan.events)
    record(parent, event.warning ? kube::EventNote::Type::warning : kube::EventNote::Type::normal,
           event.reason, std::move(event.message));
  auto unreleased = co_await drop_finalizers(std::move(plan.release));
  if (!trouble) trouble = std::move(unreleased);
  if (trouble) co_return std::move(*trouble);
  co_return Result<void>();
}

// Without the finalizer they end uncounted.
Task<std::optional<Error>> JobController::give_up(Parent parent, std::vector<PodPointer> pods) {
  std::vector<PodPointer> tracked = pods;
  std::erase_if(tracked,
                [](const PodPointer& pod) { return !has_finalizer(pod->meta, kJobFinalizer); });
  auto trouble = co_await drop_finalizers(std::move(tracked));
  if (trouble) co_return trouble;
  Outcome outcome = co_await delete_pods(parent, std::move(pods));
  co_return outcome.error;
}

Task<std::optional<Error>> JobController::drop_finalizers(std::vector<PodPointer> pods) {
  auto error = std::make_shared<std::optional<Error>>();
  std::vector<Task<void>> calls;
  for (PodPointer& pod : pods) calls.push_back(drop_finalizer(std::move(pod), error));
  co_await together(std::move(calls));
  co_return *error;
}

Task<void> JobController::drop_finalizer(PodPointer pod,
                                         std::shared_ptr<std::optional<Error>> error) {
  json::array dropped;
  dropped.emplace_back(kJobFinalizer);
  json::object metadata{{"uid", pod->meta.uid}};
  metadata["$deleteFromPrimitiveList/finalizers"] = std::move(dropped);
  json::value patch{{"metadata", std::move(metadata)}};
  kube::ObjectPath path = Parent(kube::resources::pods, pod->meta).path();
  auto patched = co_await client_->patch(kube::resources::pods, std::move(path),
                                         kube::PatchType::strategic, std::move(patch));
  if (!patched && patched.error().code != Code::not_found && !*error)
    *error = std::move(patched).error();
}

}  // namespace plim::local::controllers
