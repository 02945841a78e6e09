#include "local/apiserver/crd/custom_resources.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/text.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/api/deletion.hpp"
#include "local/apiserver/api/object_bytes.hpp"
#include "local/apiserver/crd/definition.hpp"

namespace plim::local::apiserver {
namespace {

using namespace std::chrono_literals;

constexpr Nanos kRetry = 1s;

class Step final : public AdmissionStep {
 public:
  using Method = Task<ApiResult<void>> (CustomResources::*)(AdmissionPtr);

  Step(CustomResources& resources, Method method) : resources_(resources), method_(method) {}

  Task<ApiResult<void>> admit(AdmissionPtr admission) override {
    return (resources_.*method_)(std::move(admission));
  }

  bool attends(const Kind& kind) override { return resources_.is_definition(kind); }

 private:
  CustomResources& resources_;
  Method method_;
};

// Removes the finalizer that the deletion has added; true if the definition changed.
bool remove_finalizer(json::value& definition) {
  json::object& metadata = kube::make_object(definition, "CustomResourceDefinition.metadata");
  json::value* list = metadata.if_contains("finalizers");
  if (!list || !list->is_array()) return false;
  json::array& finalizers = list->get_array();
  auto found = std::find(finalizers.begin(), finalizers.end(), json::value(kCleanupFinalizer));
  if (found == finalizers.end()) return false;
  finalizers.erase(found);
  if (finalizers.empty()) metadata.erase("finalizers");
  return true;
}

}  // namespace

std::unique_ptr<CustomResources> CustomResources::install(Executor loop, Clock& clock,
                                                          store::Store& store, ApiServer& server) {
  std::unique_ptr<CustomResources> out(new CustomResources(std::move(loop), clock, store, server));
  Hooks& hooks = server.hooks();
  hooks.mutating.push_back(std::make_shared<Step>(*out, &CustomResources::complete));
  hooks.validating.push_back(std::make_shared<Step>(*out, &CustomResources::validate));
  return out;
}

CustomResources::CustomResources(Executor loop, Clock& clock, store::Store& store,
                                 ApiServer& server)
    : clock_(clock),
      store_(store),
      kinds_(server.kinds()),
      client_(server.client({.name = "system:apiserver", .groups = {"system:masters"}})),
      definitions_(kinds_.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")),
      tasks_(std::move(loop)) {}

Task<void> CustomResources::stop() {
  return tasks_.stop();
}

bool CustomResources::is_definition(const Kind& kind) const {
  return kind.group == definitions_->group && kind.plural == definitions_->plural;
}

Task<ApiResult<void>> CustomResources::complete(AdmissionPtr admission) {
  if (is_definition(*admission->kind) && admission->object.is_object())
    complete_definition(admission->object);
  co_return ApiResult<void>();
}

Task<ApiResult<void>> CustomResources::validate(AdmissionPtr admission) {
  const bool concerns = is_definition(*admission->kind) && admission->object.is_object() &&
                        !kube::is_being_deleted(admission->object);
  if (!concerns) co_return ApiResult<void>();
  DefinitionCheck check = check_definition(
      admission->object, admission->before.is_object() ? &admission->before : nullptr);
  if (!check.causes.empty())
    co_return invalid(*admission->kind, admission->name, std::move(check.causes));
  if (admission->call && admission->subresource.empty()) {
    std::vector<std::string>& warnings = admission->call->warnings;
    warnings.insert(warnings.end(), check.warnings.begin(), check.warnings.end());
  }
  co_return ApiResult<void>();
}

json::value CustomResources::definition(const std::string& name) const {
  const store::EntryPtr entry = store_.get(definitions_->key("", name));
  return entry ? decode_object(*entry->value) : json::value();
}

std::pair<std::string, std::string> CustomResources::conflict(const json::value& definition) const {
  const json::value* names = kube::find(definition, "CustomResourceDefinition.spec.names");
  const std::string_view group = kube::text_at(definition, "CustomResourceDefinition.spec.group");
  const std::string_view plural =
      kube::text_at(definition, "CustomResourceDefinition.spec.names.plural");
  const std::string_view kind = kube::text_at(*names, "CustomResourceDefinitionNames.kind");
  const std::string_view singular = kube::text_at(*names, "CustomResourceDefinitionNames.singular");
  const std::string_view list_kind =
      kube::text_at(*names, "CustomResourceDefinitionNames.listKind");
  auto used = [](std::string_view name) {
    return fmt::format("{} is already in use", quote(name));
  };
  for (const KindPtr& other : kinds_.all()) {
    if (other->group != group) continue;
    if (other->plural == plural) {
      if (!other->rules) return {"PluralConflict", used(plural)};
      continue;  // its own name
    }
    if (other->kind == kind) return {"KindConflict", used(kind)};
    if (other->list_kind == list_kind) return {"ListKindConflict", used(list_kind)};
    if (other->singular == singular) return {"SingularConflict", used(singular)};
  }
  return {};
}

void CustomResources::serve(const std::string& name, const json::value& definition) {
  const json::value& spec = *kube::find(definition, "CustomResourceDefinition.spec");
  auto known = served_.find(name);
  if (known != served_.end() && known->second.spec == spec) return;
  withdraw(name);
  for (Kind& kind : kinds_of(definition)) kinds_.add(std::move(kind));
  served_[name] = {
      .group = std::string(kube::text_at(spec, "CustomResourceDefinitionSpec.group")),
      .plural = std::string(kube::text_at(spec, "CustomResourceDefinitionSpec.names.plural")),
      .spec = spec};
}

void CustomResources::withdraw(const std::string& name) {
  auto known = served_.find(name);
  if (known == served_.end()) return;
  kinds_.remove(known->second.group, known->second.plural);
  served_.erase(known);
}

void CustomResources::start() {
  const store::View view = store_.view();
  const store::Page page = view.list(definitions_->prefix);
  for (const store::EntryPtr& entry : page.entries) {
    const json::value stored = decode_object(*entry->value);
    if (conflict(stored).first.empty()) serve(std::string(kube::name_of(stored)), stored);
  }
  tasks_.spawn("custom resource definitions", follow(view.revision()));
}

Task<void> CustomResources::settle_all() {
  std::set<std::string> names;
  for (const auto& [name, served] : served_) names.insert(name);
  const store::Page page = store_.view().list(definitions_->prefix);
  for (const store::EntryPtr& entry : page.entries)
    names.insert(entry->key.substr(definitions_->prefix.size()));
  for (const std::string& name : names) co_await settle(name);
}

Task<void> CustomResources::follow(store::Revision from) {
  for (;;) {
    auto watcher = store_.watch(definitions_->prefix, from);
    co_await settle_all();
    while (watcher) {
      auto changes = co_await (*watcher)->next();
      if (!changes && changes.error().code != Code::gone) co_return;
      if (!changes) break;
      for (const store::ChangePtr& change : *changes)
        co_await settle(change->key().substr(definitions_->prefix.size()));
    }
    from = store_.view().revision();
  }
}

Task<void> CustomResources::settle(std::string name) {
  json::value stored = definition(name);
  if (stored.is_null()) {
    withdraw(name);
    co_return;
  }
  if (kube::is_being_deleted(stored)) {
    if (leaving_.insert(name).second) tasks_.spawn("removal of " + name, remove_with_objects(name));
    co_return;
  }
  if (conflict(stored).first.empty()) serve(name, stored);
  json::value status = status_for(stored);
  const json::value* before = kube::find(stored, "CustomResourceDefinition.status");
  if (before && *before == status) co_return;
  stored.as_object()["status"] = std::move(status);
  const kube::ObjectPath path{.ns = "", .name = name, .subresource = "status"};
  auto updated =
      co_await client_->update(kube::resources::custom_resource_definitions, path, stored);
  // A conflict means that another client wrote; the watch will report that change.
  if (!updated && updated.error().code != Code::conflict)
    log::warn("crd", "cannot write a status", {{"name", name}, {"error", updated.error()}});
}

Task<bool> CustomResources::remove_objects(json::value gone) {
  const std::vector<Kind> kinds = kinds_of(gone);
  if (kinds.empty()) co_return true;
  const KindPtr kind = kinds_.find(kinds[0].group, kinds[0].version, kinds[0].plural);
  if (!kind) co_return true;
  const kube::Resource resource{.group = kind->group,
                                .version = kind->version,
                                .plural = kind->plural,
                                .kind = kind->kind,
                                .namespaced = kind->namespaced};
  const store::Page page = store_.view().list(kind->prefix);
  for (const store::EntryPtr& entry : page.entries) {
    const std::string_view rest = std::string_view(entry->key).substr(kind->prefix.size());
    kube::ObjectPath path{.ns = "", .name = std::string(rest)};
    if (kind->namespaced) {
      const auto [ns, name] = cut(rest, '/');
      path.ns = ns;
      path.name = name;
    }
    auto removed = co_await client_->remove(resource, path);
    if (!removed && removed.error().code != Code::not_found)
      log::warn("crd", "cannot remove an object",
                {{"key", entry->key}, {"error", removed.error()}});
  }
  co_return store_.view().count(kind->prefix) == 0;
}

Task<void> CustomResources::remove_with_objects(std::string name) {
  for (;;) {
    json::value stored = definition(name);
    if (stored.is_null()) break;
    const bool empty = co_await remove_objects(stored);
    if (empty) {
      if (!remove_finalizer(stored)) break;
      const kube::ObjectPath path{.ns = "", .name = name};
      auto updated =
          co_await client_->update(kube::resources::custom_resource_definitions, path, stored);
      if (updated) break;
    }
    co_await clock_.sleep(kRetry);
  }
  leaving_.erase(name);
}

}  // namespace plim::local::apiserver
