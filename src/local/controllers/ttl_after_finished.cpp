#include "local/controllers/ttl_after_finished.hpp"

#include "local/controllers/conditions.hpp"

namespace plim::local::controllers {

std::optional<WallTime> expiry_of(const json::value& job) {
  auto ttl = kube::int_at(job, "Job.spec.ttlSecondsAfterFinished");
  const json::value* status = kube::find(job, "Job.status");
  if (!ttl || !status) return std::nullopt;
  for (const char* type : {"Complete", "Failed"}) {
    if (!has_true_condition(*status, type)) continue;
    auto since =
        time_at(json::value(*find_condition(*status, type)), "JobCondition.lastTransitionTime");
    if (since) return *since + std::chrono::seconds(*ttl);
  }
  return std::nullopt;
}

TtlAfterFinishedController::TtlAfterFinishedController(const ControllerContext& context)
    : Controller(context, {.name = "ttl-after-finished-controller",
                           .component = "ttl-after-finished-controller"}),
      jobs_(context.informers.objects(kube::resources::jobs)) {
  auto look = [this](const ObjectPointer& job) {
    if (!job->meta.deleted && expiry_of(job->json)) enqueue(kube::object_key(job->meta));
  };
  jobs_.informer.add_handlers(
      {.on_add = look,
       .on_update = [look](const ObjectPointer&, const ObjectPointer& now) { look(now); }});
}

Task<Result<void>> TtlAfterFinishedController::reconcile(std::string key) {
  ObjectPointer job = jobs_.find(key);
  if (!job || job->meta.deleted) co_return Result<void>();
  auto expiry = expiry_of(job->json);
  if (!expiry) co_return Result<void>();
  if (const WallTime now = clock_.wall(); *expiry > now) {
    enqueue_after(key, *expiry - now);
    co_return Result<void>();
  }
  // The resource version makes this fail if a user has just changed the TTL.
  kube::DeleteOptions options;
  options.propagation = "Foreground";
  options.uid = job->meta.uid;
  options.resource_version = job->meta.resource_version;
  kube::ObjectPath path = Parent(kube::resources::jobs, job->meta).path();
  auto removed =
      co_await client_->remove(kube::resources::jobs, std::move(path), std::move(options));
  if (!removed && removed.error().code != Code::not_found) co_return std::move(removed).error();
  co_return Result<void>();
}

}  // namespace plim::local::controllers
