#include "local/controllers/endpoints.hpp"

#include "local/controllers/endpoints_plan.hpp"

namespace plim::local::controllers {
namespace {

constexpr std::size_t kLarge = 100;
constexpr std::chrono::milliseconds kGather{200};
constexpr std::string_view kManagedBy = "endpoints.kubernetes.io/managed-by";

kube::LabelSelector selector_of(const Object& service) {
  json::value labels;
  if (const json::value* given = kube::find(service.json, "Service.spec.selector"))
    labels = {{"matchLabels", *given}};
  auto parsed = kube::LabelSelector::from_json(labels);
  return parsed ? std::move(*parsed) : kube::LabelSelector::nothing();
}

bool selects(const Object& service) {
  const json::value* selector = kube::find(service.json, "Service.spec.selector");
  return selector && selector->is_object() && !selector->get_object().empty() &&
         kube::text_at(service.json, "Service.spec.type") != "ExternalName";
}

}  // namespace

ServiceController::ServiceController(const ControllerContext& context, ControllerIdentity identity)
    : Controller(context, std::move(identity)),
      services_(context.informers.objects(kube::resources::services)),
      groups_(context.informers.pods(), same_for_services,
              [this](const std::string& key) { pods_changed(key); }) {
  services_.informer.add_handlers(
      {.on_add = [this](const ObjectPointer& service) { service_changed(service); },
       .on_update = [this](const ObjectPointer&,
                           const ObjectPointer& now) { service_changed(now); },
       .on_delete =
           [this](const ObjectPointer& last) {
             groups_.erase(kube::object_key(last->meta));
             enqueue(kube::object_key(last->meta));
           }});
}

void ServiceController::service_changed(const ObjectPointer& service) {
  const std::string key = kube::object_key(service->meta);
  if (selects(*service)) {
    groups_.set(key, service->meta.ns, selector_of(*service));
  } else {
    groups_.erase(key);
  }
  enqueue(key);
}

// Each pod that becomes ready rewrites the whole object of a large service, so collect changes.
void ServiceController::pods_changed(const std::string& key) {
  if (groups_.size(key) > kLarge) {
    enqueue_after(key, kGather);
  } else {
    enqueue(key);
  }
}

ObjectPointer ServiceController::selecting_service(const std::string& key) const {
  ObjectPointer service = services_.find(key);
  return service && selects(*service) ? service : nullptr;
}

EndpointsController::EndpointsController(const ControllerContext& context)
    : ServiceController(context,
                        {.name = "endpoints-controller", .component = "endpoint-controller"}),
      endpoints_(context.informers.objects(kube::resources::endpoints)) {
  auto look = [this](const ObjectPointer& object) { enqueue(kube::object_key(object->meta)); };
  endpoints_.informer.add_handlers(
      {.on_add = look,
       .on_update = [look](const ObjectPointer&, const ObjectPointer& now) { look(now); },
       .on_delete = look});
}

Task<Result<void>> EndpointsController::reconcile(std::string key) {
  ObjectPointer present = endpoints_.find(key);
  kube::ObjectPath path;
  if (!services_.find(key)) {
    // Delete our own object with the service; one that a user wrote stays.
    if (!present || !kube::find_label(present->meta.labels, kManagedBy)) co_return Result<void>();
    path = Parent(kube::resources::endpoints, present->meta).path();
    auto removed = co_await client_->remove(kube::resources::endpoints, std::move(path));
    if (!removed && removed.error().code != Code::not_found) co_return std::move(removed).error();
    co_return Result<void>();
  }
  ObjectPointer service = selecting_service(key);
  if (!service || service->meta.deleted) co_return Result<void>();
  json::value wanted =
      endpoints_of(*service, groups_.members(key), present ? &present->json : nullptr);
  if (present && present->json == wanted) co_return Result<void>();
  path = Parent(kube::resources::endpoints, service->meta).path();
  Result<json::value> written;
  if (present) {
    written =
        co_await client_->update(kube::resources::endpoints, std::move(path), std::move(wanted));
  } else {
    path.name.clear();
    written =
        co_await client_->create(kube::resources::endpoints, std::move(path), std::move(wanted));
  }
  if (!written && !is_namespace_terminating(written.error())) co_return std::move(written).error();
  co_return Result<void>();
}

EndpointSliceController::EndpointSliceController(const ControllerContext& context)
    : ServiceController(
          context, {.name = "endpointslice-controller", .component = "endpoint-slice-controller"}),
      slices_(context.informers.objects(kinds::endpoint_slices)),
      expectations_(context.clock) {
  auto look = [this](const ObjectPointer& slice) {
    auto service = kube::find_label(slice->meta.labels, kServiceName);
    if (service) enqueue(kube::object_key(slice->meta.ns, *service));
  };
  slices_.informer.add_handlers(
      {.on_add =
           [this, look](const ObjectPointer& slice) {
             if (auto service = kube::find_label(slice->meta.labels, kServiceName))
               expectations_.creation_observed(kube::object_key(slice->meta.ns, *service));
             look(slice);
           },
       .on_update = [look](const ObjectPointer&, const ObjectPointer& now) { look(now); },
       .on_delete = look});
}

Task<Result<void>> EndpointSliceController::reconcile(std::string key) {
  ObjectPointer service = selecting_service(key);
  // The garbage collector deletes the slices of a deleted service.
  if (!service || service->meta.deleted) {
    expectations_.forget(key);
    co_return Result<void>();
  }
  // Names are generated, so a slice that is not in the cache yet would be created twice.
  if (!expectations_.satisfied(key)) co_return Result<void>();
  std::vector<ObjectPointer> present = slices_.controlled_by(service->meta.uid);
  std::erase_if(present, [](const ObjectPointer& slice) {
    return kube::find_label(slice->meta.labels, kSliceManagedBy) != kSliceManager;
  });
  SlicePlan plan = plan_slices(*service, groups_.members(key), present);
  for (json::value& slice : plan.create) {
    kube::ObjectPath path;
    path.ns = service->meta.ns.view();
    expectations_.expect_creations(key, 1);
    auto created =
        co_await client_->create(kinds::endpoint_slices, std::move(path), std::move(slice));
    if (created) continue;
    expectations_.creation_observed(key);
    if (is_namespace_terminating(created.error())) co_return Result<void>();
    co_return std::move(created).error();
  }
  for (json::value& slice : plan.update) {
    kube::ObjectPath path;
    path.ns = service->meta.ns.view();
    path.name = kube::name_of(slice);
    PLIM_CO_TRY(json::value written, co_await client_->update(kinds::endpoint_slices,
                                                              std::move(path), std::move(slice)));
  }
  for (const ObjectPointer& slice : plan.remove) {
    kube::ObjectPath path = Parent(kinds::endpoint_slices, slice->meta).path();
    auto removed = co_await client_->remove(kinds::endpoint_slices, std::move(path));
    if (!removed && removed.error().code != Code::not_found) co_return std::move(removed).error();
  }
  co_return Result<void>();
}

}  // namespace plim::local::controllers
