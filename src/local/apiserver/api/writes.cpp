#include "local/apiserver/api/writes.hpp"

#include <fmt/format.h>

#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/api/mutators/mutators.hpp"
#include "local/apiserver/api/object_bytes.hpp"
#include "local/apiserver/api/pod_resize.hpp"
#include "local/apiserver/api/reads.hpp"

namespace plim::local::apiserver {
namespace {

constexpr int kNameTries = 8;
constexpr int kUpdateTries = 6;
constexpr std::size_t kMaxGeneratedBase = 58;
constexpr std::size_t kMaxObject = 3u << 19;  // 1.5 MiB, as in etcd

store::Bytes share(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

ApiResult<void> check_size(const std::string& bytes) {
  if (bytes.size() <= kMaxObject) return {};
  return ApiError{.code = 413,
                  .reason = "RequestEntityTooLarge",
                  .message = fmt::format("the object has {} bytes, at most {} can be stored",
                                         bytes.size(), kMaxObject),
                  .details = ErrorDetails{}};
}

std::string generated_name(Random& random, std::string_view base) {
  return std::string(base.substr(0, kMaxGeneratedBase)) + make_name_suffix(random);
}

}  // namespace

ApiResult<void> check_namespace(const Core& core, const Kind& kind, std::string_view ns,
                                std::string_view name) {
  if (!kind.namespaced) return {};
  const KindPtr namespaces = core.kinds.find("", "v1", "namespaces");
  const store::EntryPtr entry = core.store.get(namespaces->key("", ns));
  if (!entry) return not_found(*namespaces, ns);
  // Terminating namespaces are rare, so search the text before parsing.
  if (entry->value->find("\"Terminating\"") == std::string::npos) return {};
  const json::value object = decode_object(*entry->value);
  if (kube::text_at(object, "Namespace.status.phase") != "Terminating") return {};
  ApiError error = forbidden(
      kind, name,
      fmt::format("unable to create new content in namespace {} because it is being terminated",
                  ns));
  error.details->causes.push_back({"NamespaceTerminating",
                                   fmt::format("namespace {} is being terminated", ns),
                                   "metadata.namespace"});
  return error;
}

bool Writer::is_attended(const Kind& kind) const {
  for (const auto& step : core_.hooks.mutating)
    if (step->attends(kind)) return true;
  return false;
}

ApiResult<void> Writer::show(Admission& admission) const {
  const Kind& kind = *admission.kind;
  const json::value* sent = find(admission.object, {"status"});
  const json::value status = sent ? *sent : json::value(json::object());
  fill_in_defaults(kind, admission.object);
  if (kind.has_status() && !kind.keeps_status && admission.object.as_object().contains("status"))
    admission.object.as_object()["status"] = status;
  return run_built_in_mutators(core_, MutatorStage::admission, admission);
}

Task<ApiResult<void>> Writer::admit(AdmissionPtr admission) {
  PLIM_CO_CHECK(co_await mutate(admission));
  co_return co_await validate(admission);
}

Task<ApiResult<void>> Writer::mutate(AdmissionPtr admission) {
  for (std::size_t i = 0; i < core_.hooks.mutating.size(); ++i) {
    auto step = core_.hooks.mutating[i];
    PLIM_CO_CHECK(co_await step->admit(admission));
  }
  co_return ApiResult<void>();
}

Task<ApiResult<void>> Writer::validate(AdmissionPtr admission) {
  for (std::size_t i = 0; i < core_.hooks.validating.size(); ++i) {
    auto step = core_.hooks.validating[i];
    PLIM_CO_CHECK(co_await step->admit(admission));
  }
  co_return ApiResult<void>();
}

Task<ApiResult<Written>> Writer::create(CreateRequest request) {
  PLIM_CO_CHECK(check_namespace(core_, *request.kind, request.ns, kube::name_of(request.object)));
  auto admission = std::make_shared<Admission>();
  admission->operation = Admission::Operation::create;
  admission->call = request.call;
  admission->kind = request.kind;
  admission->ns = request.ns;
  admission->dry_run = request.dry_run;
  admission->object = std::move(request.object);
  PLIM_CO_CHECK(place_in_namespace(*request.kind, request.ns, admission->object));
  admission->name = kube::name_of(admission->object);
  if (is_attended(*request.kind)) {
    PLIM_CO_CHECK(show(*admission));
    PLIM_CO_CHECK(co_await mutate(admission));
    admission->name = kube::name_of(admission->object);
  }

  const std::string base(kube::text_at(admission->object, "Object.metadata.generateName"));
  const bool generates = kube::name_of(admission->object).empty() && !base.empty();
  const json::value nameless = generates ? admission->object : json::value();
  for (int i = 0; i < kNameTries; ++i) {
    if (generates) {
      admission->object = nameless;
      admission->name = generated_name(core_.random, base);
      kube::make_object(admission->object, "Object.metadata")["name"] = admission->name;
    }
    PLIM_CO_TRY(std::optional<Written> written, co_await store_new(admission));
    if (written) co_return std::move(*written);
    if (!generates) break;
  }
  co_return already_exists(*request.kind, admission->name);
}

Task<ApiResult<std::optional<Written>>> Writer::store_new(AdmissionPtr admission) {
  const Kind& kind = *admission->kind;
  prepare_for_create(kind, core_.clock.wall(), core_.random, admission->object);
  PLIM_CO_CHECK(run_built_in_mutators(core_, MutatorStage::admission, *admission));
  PLIM_CO_CHECK(run_built_in_mutators(core_, MutatorStage::strategy, *admission));
  fill_in_defaults(kind, admission->object);
  auto causes = check_object(kind, admission->object, nullptr);
  if (!causes.empty()) co_return invalid(kind, admission->name, std::move(causes));
  PLIM_CO_CHECK(co_await validate(admission));

  const std::string key = kind.key(admission->ns, admission->name);
  // Without storing there is no new version.
  const store::Revision revision = admission->dry_run ? 0 : core_.store.next_revision();
  store::Bytes bytes = share(encode_object(kind, admission->object, revision));
  PLIM_CO_CHECK(check_size(*bytes));
  if (admission->dry_run) {
    if (core_.store.get(key)) co_return std::optional<Written>();
    co_return Written{.bytes = std::move(bytes), .created = true};
  }
  store::Txn txn;
  txn.compares.push_back({.key = key, .modified = 0});
  txn.ops.push_back(store::Op::put(key, bytes));
  auto written = co_await core_.store.txn(txn);
  if (written) co_return Written{.bytes = std::move(bytes), .created = true};
  if (written.error().code == Code::already_exists) co_return std::optional<Written>();
  co_return written.error();
}

Task<ApiResult<Written>> Writer::update(UpdateRequest request) {
  for (int i = 0; i < kUpdateTries; ++i) {
    PLIM_CO_TRY(store::EntryPtr entry, find_entry(core_, *request.kind, request.ns, request.name));
    PLIM_CO_TRY(std::optional<Written> written, co_await try_update(request, std::move(entry)));
    if (written) co_return std::move(*written);
  }
  co_return modified_meanwhile(*request.kind, request.name);
}

Task<ApiResult<std::optional<Written>>> Writer::try_update(UpdateRequest request,
                                                           store::EntryPtr entry) {
  const Kind& kind = *request.kind;
  auto admission = std::make_shared<Admission>();
  admission->operation = Admission::Operation::update;
  admission->call = request.call;
  admission->kind = request.kind;
  admission->ns = request.ns;
  admission->name = request.name;
  admission->subresource = request.subresource;
  admission->dry_run = request.dry_run;
  admission->before = decode_object(*entry->value);
  PLIM_CO_TRY(admission->object, request.edit(admission->before));
  PLIM_CO_CHECK(prepare_for_update(kind, request.scope, admission->before, admission->object));
  fill_in_defaults(kind, admission->object);
  if (!request.shown && is_attended(kind)) {
    PLIM_CO_CHECK(co_await mutate(admission));
    PLIM_CO_CHECK(prepare_for_update(kind, request.scope, admission->before, admission->object));
  }
  PLIM_CO_CHECK(run_built_in_mutators(core_, MutatorStage::strategy, *admission));
  if (request.scope != Scope::all) {
    auto causes = check_object(kind, admission->object, &admission->before, request.scope);
    if (!causes.empty()) co_return invalid(kind, request.name, std::move(causes));
  }
  if (request.scope == Scope::resize) PLIM_CO_CHECK(check_resize(core_, *admission));
  if (request.shown) {
    const AdmissionPtr shown = request.shown(*admission);
    if (shown) PLIM_CO_CHECK(co_await admit(shown));
  } else {
    PLIM_CO_CHECK(co_await validate(admission));
  }

  if (admission->object == admission->before) co_return Written{.bytes = entry->value};
  if (request.scope == Scope::main || request.scope == Scope::resize)
    count_generation(kind, admission->before, admission->object);
  // Without storing the object keeps its version.
  const store::Revision revision = request.dry_run ? entry->modified : core_.store.next_revision();
  store::Bytes bytes = share(encode_object(kind, admission->object, revision));
  PLIM_CO_CHECK(check_size(*bytes));
  if (request.dry_run) co_return Written{.bytes = std::move(bytes)};
  store::Txn txn;
  txn.compares.push_back({.key = entry->key, .modified = entry->modified});
  if (may_go_now(kind, admission->object))
    txn.ops.push_back(store::Op::del(entry->key));
  else
    txn.ops.push_back(store::Op::put(entry->key, bytes));
  auto written = co_await core_.store.txn(txn);
  if (written) co_return Written{.bytes = std::move(bytes)};
  const Code code = written.error().code;
  if (code == Code::conflict || code == Code::not_found) co_return std::optional<Written>();
  co_return written.error();
}

}  // namespace plim::local::apiserver
