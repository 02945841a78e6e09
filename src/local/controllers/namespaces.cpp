#include "local/controllers/namespaces.hpp"

#include <algorithm>

namespace plim::local::controllers {
namespace {

constexpr std::string_view kFinalizer = "kubernetes";
constexpr std::chrono::milliseconds kFirstLook{50};
constexpr std::chrono::seconds kLastLook{15};

bool has_our_finalizer(const json::value& object) {
  const json::value* list = kube::find(object, "Namespace.spec.finalizers");
  if (!list || !list->is_array()) return false;
  return std::any_of(list->get_array().begin(), list->get_array().end(),
                     [](const json::value& one) { return one == json::value(kFinalizer); });
}

}  // namespace

NamespaceController::NamespaceController(const ControllerContext& context)
    : Controller(
          context,
          {.name = "namespace-controller", .component = "namespace-controller", .workers = 10}),
      namespaces_(context.informers.objects(kube::resources::namespaces)) {
  auto look = [this](const ObjectPointer& object) {
    if (object->meta.deleted) enqueue(object->meta.name);
  };
  namespaces_.informer.add_handlers(
      {.on_add = look,
       .on_update = [look](const ObjectPointer&, const ObjectPointer& now) { look(now); },
       .on_delete = [this](const ObjectPointer& last) { rounds_.erase(last->meta.name); }});
  // A namespace usually waits for its last pod to end.
  context.informers.pods().informer.add_handlers({.on_delete = [this](const PodPointer& pod) {
    ObjectPointer space = namespaces_.find(pod->meta.ns.view());
    if (space && space->meta.deleted) enqueue(space->meta.name);
  }});
}

Task<Result<void>> NamespaceController::reconcile(std::string name) {
  ObjectPointer space = namespaces_.find(name);
  if (!space || !space->meta.deleted || !has_our_finalizer(space->json)) co_return Result<void>();
  const NamespaceContent content = co_await empty(name);
  const json::value* before = kube::find(space->json, "Namespace.status");
  json::value status = namespace_status(before ? *before : json::value(), content, clock_.wall());
  json::value object = space->json;
  if (!before || *before != status) {
    object.as_object()[kube::key("Namespace.status")] = std::move(status);
    kube::ObjectPath path;
    path.name = name;
    path.subresource = "status";
    PLIM_CO_TRY(object, co_await client_->update(kube::resources::namespaces, std::move(path),
                                                 std::move(object)));
  }
  if (content.is_empty()) co_return co_await finalize(std::move(object));
  // No event reports when other objects are gone, so poll at growing intervals.
  const int round = std::min(rounds_[name]++, 12);
  enqueue_after(name, std::min<Nanos>(kFirstLook * (1 << round), kLastLook));
  co_return Result<void>();
}

Task<NamespaceContent> NamespaceController::empty(std::string name) {
  auto content = std::make_shared<NamespaceContent>();
  auto kinds = co_await discover_kinds(client_);
  if (!kinds) {
    content->discovery_error = std::move(kinds).error();
    co_return *content;
  }
  std::erase_if(*kinds, [](const ServedKind& kind) {
    return !kind.resource.namespaced || !kind.can("delete") || !kind.can("list");
  });
  auto is_pods = [](const ServedKind& kind) {
    return kind.resource.group.empty() && kind.resource.plural == "pods";
  };
  // Pods may need other objects until they have ended, so pods are deleted first.
  std::partition(kinds->begin(), kinds->end(), is_pods);
  for (const ServedKind& kind : *kinds) {
    auto cleared = co_await clear(kind, name, content);
    if (!cleared && !content->deletion_error) content->deletion_error = cleared.error();
    if (is_pods(kind) && !content->resources.empty()) break;
  }
  co_return *content;
}

Task<Result<void>> NamespaceController::clear(ServedKind kind, std::string ns,
                                              std::shared_ptr<NamespaceContent> content) {
  kube::ListOptions all;
  all.ns = ns;
  if (kind.can("deletecollection")) {
    auto removed = co_await client_->remove_collection(kind.resource, all);
    if (!removed) co_return std::move(removed).error();
  }
  PLIM_CO_TRY(json::value left, co_await client_->list(kind.resource, all));
  content->add(kind.resource.plural, kind.resource.group, left);
  co_return Result<void>();
}

Task<Result<void>> NamespaceController::finalize(json::value object) {
  json::array kept;
  for (const json::value& one : object.at("spec").at("finalizers").as_array())
    if (one != json::value(kFinalizer)) kept.push_back(one);
  set_or_omit(kube::make_object(object, "Namespace.spec"), "NamespaceSpec.finalizers",
              std::move(kept));
  kube::ObjectPath path;
  path.name = kube::name_of(object);
  path.subresource = "finalize";
  auto done =
      co_await client_->update(kube::resources::namespaces, std::move(path), std::move(object));
  if (!done && done.error().code != Code::not_found) co_return std::move(done).error();
  co_return Result<void>();
}

}  // namespace plim::local::controllers
