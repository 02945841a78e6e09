#include "local/controllers/namespace_defaults.hpp"

#include <fmt/format.h>

namespace plim::local::controllers {
namespace {

kube::ReflectorOptions named(const json::value& object) {
  kube::ReflectorOptions out;
  out.field_selector = fmt::format("metadata.name={}", kube::name_of(object));
  return out;
}

}  // namespace

NamespaceDefault::NamespaceDefault(const ControllerContext& context, ControllerIdentity identity,
                                   kube::Resource kind, json::value wanted)
    : Controller(context, std::move(identity)),
      kind_(std::move(kind)),
      wanted_(std::move(wanted)),
      namespaces_(context.informers.objects(kube::resources::namespaces)),
      present_(context.loop, context.client, kind_, object_codec(context.informers.pool()),
               named(wanted_), context.clock) {
  auto look = [this](const ObjectPointer& space) { enqueue(space->meta.name); };
  namespaces_.informer.add_handlers(
      {.on_add = look,
       .on_update = [look](const ObjectPointer&, const ObjectPointer& now) { look(now); }});
  auto look_inside = [this](const ObjectPointer& object) {
    enqueue(std::string(object->meta.ns.view()));
  };
  present_.add_handlers({.on_update = [look_inside](const ObjectPointer&,
                                                    const ObjectPointer& now) { look_inside(now); },
                         .on_delete = look_inside});
}

void NamespaceDefault::start() {
  present_.start();
  Controller::start();
}

Task<void> NamespaceDefault::stop() {
  co_await present_.stop();
  co_await Controller::stop();
}

Task<Result<void>> NamespaceDefault::reconcile(std::string ns) {
  co_await present_.wait_synced();
  ObjectPointer space = namespaces_.find(ns);
  if (!space || space->meta.deleted) co_return Result<void>();
  ObjectPointer present = present_.store().find(kube::object_key(ns, kube::name_of(wanted_)));
  kube::ObjectPath path;
  path.ns = ns;
  const json::value* data = kube::find(wanted_, "ConfigMap.data");
  if (!present) {
    json::value object = wanted_;
    auto created = co_await client_->create(kind_, std::move(path), std::move(object));
    // The cache was late, or the namespace is being deleted.
    const bool settled = created || created.error().code == Code::already_exists ||
                         created.error().code == Code::not_found ||
                         is_namespace_terminating(created.error());
    if (!settled) co_return std::move(created).error();
  } else if (const json::value* held = kube::find(present->json, "ConfigMap.data");
             data && (!held || *held != *data)) {
    path.name = present->meta.name;
    json::value object = present->json;
    object.as_object()[kube::key("ConfigMap.data")] = *data;
    auto updated = co_await client_->update(kind_, std::move(path), std::move(object));
    if (!updated && updated.error().code != Code::not_found) co_return std::move(updated).error();
  }
  co_return Result<void>();
}

std::unique_ptr<Controller> make_service_account_controller(const ControllerContext& context) {
  return std::make_unique<NamespaceDefault>(
      context,
      ControllerIdentity{.name = "serviceaccount-controller",
                         .component = "service-account-controller",
                         .workers = 1},
      kube::resources::service_accounts, json::value{{"metadata", {{"name", "default"}}}});
}

std::unique_ptr<Controller> make_root_ca_publisher(const ControllerContext& context,
                                                   std::string_view certificate_pem) {
  json::value wanted{
      {"metadata",
       {{"name", "kube-root-ca.crt"},
        {"annotations",
         {{"kubernetes.io/description",
           "The certificate authority of this cluster's API server, for clients in pods."}}}}},
      {"data", {{"ca.crt", certificate_pem}}}};
  return std::make_unique<NamespaceDefault>(
      context,
      ControllerIdentity{.name = "root-ca-certificate-publisher-controller",
                         .component = "root-ca-cert-publisher",
                         .workers = 1},
      kube::resources::config_maps, std::move(wanted));
}

}  // namespace plim::local::controllers
