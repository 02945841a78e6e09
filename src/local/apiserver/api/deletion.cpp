#include "local/apiserver/api/deletion.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/rfc3339.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/api/object_bytes.hpp"
#include "local/apiserver/api/reads.hpp"
#include "local/apiserver/api/strategy.hpp"

namespace plim::local::apiserver {
namespace {

constexpr int kTries = 6;
constexpr std::string_view kForeground = "foregroundDeletion";
constexpr std::string_view kOrphan = "orphan";

bool is_core(const Kind& kind, std::string_view name) {
  return kind.group.empty() && kind.kind == name;
}

ApiResult<void> check_preconditions(const Kind& kind, const DeleteOptions& options,
                                    const json::value& object) {
  std::string why;
  if (!options.uid.empty() && options.uid != kube::uid_of(object))
    why = fmt::format(
        "the UID in the precondition ({}) does not match the UID in record ({}). The object might "
        "have been deleted and then recreated",
        options.uid, kube::uid_of(object));
  else if (!options.resource_version.empty() &&
           options.resource_version != kube::resource_version_of(object))
    why = fmt::format(
        "the ResourceVersion in the precondition ({}) does not match the ResourceVersion in record "
        "({}). The object might have been modified",
        options.resource_version, kube::resource_version_of(object));
  if (why.empty()) return {};
  // Upstream names the kind here; in other conflicts it names the resource.
  const std::string_view name = kube::name_of(object);
  ApiError out = conflict(kind, name, why);
  out.message = fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", kind.kind, name, why);
  out.details->kind = kind.kind;
  return out;
}

ApiResult<void> check_protected(const Kind& kind, std::string_view name) {
  const bool is_protected = is_core(kind, "Namespace") &&
                            (name == "default" || name == "kube-system" || name == "kube-public");
  if (is_protected) return forbidden(kind, name, "this namespace may not be deleted");
  return {};
}

// Sets the finalizers that make the garbage collector wait for dependents, or orphan them.
void set_propagation(json::value& object, std::string_view policy) {
  if (policy.empty()) return;
  json::object& metadata = kube::make_object(object, "Object.metadata");
  json::array kept;
  if (const json::value* found = metadata.if_contains("finalizers"); found && found->is_array())
    for (const json::value& one : found->get_array())
      if (one != json::value(kForeground) && one != json::value(kOrphan)) kept.push_back(one);
  if (policy == "Foreground") kept.emplace_back(kForeground);
  if (policy == "Orphan") kept.emplace_back(kOrphan);
  if (kept.empty())
    metadata.erase("finalizers");
  else
    metadata["finalizers"] = std::move(kept);
}

void add_finalizer(json::value& object, std::string_view name) {
  json::value& list = kube::make_object(object, "Object.metadata")["finalizers"];
  json::array& finalizers = list.is_array() ? list.get_array() : list.emplace_array();
  if (std::ranges::find(finalizers, json::value(name)) == finalizers.end())
    finalizers.emplace_back(name);
}

// 0 for a pod that runs nowhere, and for negative values.
std::int64_t grace_of(const json::value& pod, const DeleteOptions& options) {
  const std::string_view phase = kube::text_at(pod, "Pod.status.phase");
  if (kube::text_at(pod, "Pod.spec.nodeName").empty() || phase == "Succeeded" || phase == "Failed")
    return 0;
  const std::int64_t grace = options.grace_seconds.value_or(
      kube::int_at(pod, "Pod.spec.terminationGracePeriodSeconds").value_or(30));
  return grace < 0 ? 1 : grace;
}

void mark(json::value& object, WallTime when, std::int64_t grace) {
  json::object& metadata = kube::make_object(object, "Object.metadata");
  metadata["deletionTimestamp"] = format_rfc3339(when);
  metadata["deletionGracePeriodSeconds"] = grace;
}

// The grace period of a pod that is being deleted can become shorter, never longer.
void shorten_grace(json::value& pod, const DeleteOptions& options) {
  const std::int64_t now = kube::int_at(pod, "Pod.metadata.deletionGracePeriodSeconds").value_or(0);
  if (!options.grace_seconds || *options.grace_seconds >= now) return;
  const std::int64_t grace = std::max<std::int64_t>(*options.grace_seconds, 0);
  auto end = parse_rfc3339(kube::text_at(pod, "Pod.metadata.deletionTimestamp"));
  if (end) mark(pod, *end - std::chrono::seconds(now - grace), grace);
}

// The object after the request: marked as deleted.
json::value marked(const Kind& kind, const json::value& before, const DeleteOptions& options,
                   WallTime now) {
  json::value out = before;
  // As upstream, ReplicationControllers orphan their pods by default.
  const bool orphans = options.propagation.empty() && is_core(kind, "ReplicationController");
  set_propagation(out, orphans ? "Orphan" : options.propagation);
  const bool is_pod = is_core(kind, "Pod");
  if (kube::is_being_deleted(before)) {
    if (is_pod) shorten_grace(out, options);
    return out;
  }
  const std::int64_t grace = is_pod ? grace_of(before, options) : 0;
  mark(out, now + std::chrono::seconds(grace), grace);
  if (is_core(kind, "Namespace")) {
    kube::make_object(out, "Namespace.status")["phase"] = "Terminating";
    kube::make_object(out, "Namespace.metadata").erase("deletionGracePeriodSeconds");
  }
  if (kind.group == "apiextensions.k8s.io") add_finalizer(out, kCleanupFinalizer);
  return out;
}

}  // namespace

ApiResult<DeleteOptions> parse_delete_options(const Call& call, const json::value& body) {
  DeleteOptions out;
  out.grace_seconds = kube::int_at(body, "DeleteOptions.gracePeriodSeconds");
  // If there is a body, the query is ignored.
  const bool has_body = !call.body.empty();
  std::optional<std::int64_t> grace;
  if (!has_body) {
    PLIM_TRY(grace, call.query.integer("gracePeriodSeconds"));
  }
  if (grace) out.grace_seconds = grace;
  out.propagation = kube::text_at(body, "DeleteOptions.propagationPolicy");
  if (!has_body) out.propagation = call.query.text("propagationPolicy");
  const json::value* orphan = kube::find(body, "DeleteOptions.orphanDependents");
  if (!out.propagation.empty() && orphan && orphan->is_bool())
    return invalid_options("DeleteOptions",
                           {{"FieldValueInvalid",
                             fmt::format("Invalid value: \"{}\": orphanDependents and "
                                         "deletionPropagation cannot be both set",
                                         out.propagation),
                             "propagationPolicy"}});
  if (out.propagation.empty() && orphan && orphan->is_bool())
    out.propagation = orphan->get_bool() ? "Orphan" : "Background";
  else if (out.propagation.empty() && call.query.has("orphanDependents"))
    out.propagation = call.query.flag("orphanDependents") ? "Orphan" : "Background";
  if (!out.propagation.empty() && out.propagation != "Orphan" && out.propagation != "Background" &&
      out.propagation != "Foreground")
    return invalid_options(
        "DeleteOptions",
        {{"FieldValueNotSupported",
          fmt::format(R"(Unsupported value: "{}": supported values: "Foreground", "Background", )"
                      R"("Orphan", "nil")",
                      out.propagation),
          "propagationPolicy"}});
  constexpr kube::AnyPath kEchoed[] = {
      "DeleteOptions.gracePeriodSeconds", "DeleteOptions.preconditions",
      "DeleteOptions.orphanDependents", "DeleteOptions.propagationPolicy"};
  for (kube::AnyPath path : kEchoed)
    if (const json::value* found = kube::find(body, path)) out.as_sent[path.key()] = *found;
  if (grace) out.as_sent["gracePeriodSeconds"] = *grace;
  out.uid = kube::text_at(body, "DeleteOptions.preconditions.uid");
  out.resource_version = kube::text_at(body, "DeleteOptions.preconditions.resourceVersion");
  const json::value* dry_run = kube::find(body, "DeleteOptions.dryRun");
  const json::array* values = dry_run ? dry_run->if_array() : nullptr;
  if (values)
    for (const json::value& value : *values)
      if (value != json::value("All"))
        return invalid_options(
            "DeleteOptions",
            {{"FieldValueNotSupported",
              fmt::format(R"(Unsupported value: {}: supported values: "All")", to_json(*values)),
              "dryRun"}});
  out.dry_run = (values && !values->empty()) || call.query.has("dryRun");
  return out;
}

Task<ApiResult<Deleted>> Deleter::remove(DeleteRequest request) {
  PLIM_CO_CHECK(check_protected(*request.kind, request.name));
  for (int i = 0; i < kTries; ++i) {
    PLIM_CO_TRY(store::EntryPtr entry, find_entry(core_, *request.kind, request.ns, request.name));
    if (i == 0) PLIM_CO_CHECK(co_await admit(request, entry));
    PLIM_CO_TRY(std::optional<Deleted> done, co_await try_remove(request, std::move(entry)));
    if (done) co_return std::move(*done);
  }
  co_return modified_meanwhile(*request.kind, request.name);
}

Task<ApiResult<void>> Deleter::admit(DeleteRequest request, store::EntryPtr entry) {
  if (core_.hooks.mutating.empty() && core_.hooks.validating.empty()) co_return ApiResult<void>();
  auto admission = std::make_shared<Admission>();
  admission->operation = Admission::Operation::remove;
  admission->call = request.call;
  admission->kind = request.kind;
  admission->ns = request.ns;
  if (!request.of_many) admission->name = request.name;
  admission->before = decode_object(*entry->value);
  admission->delete_options = request.options.as_sent;
  if (is_core(*request.kind, "Pod"))
    admission->delete_options["gracePeriodSeconds"] = grace_of(admission->before, request.options);
  admission->dry_run = request.options.dry_run;
  for (std::size_t i = 0; i < core_.hooks.mutating.size(); ++i) {
    auto step = core_.hooks.mutating[i];
    PLIM_CO_CHECK(co_await step->admit(admission));
  }
  for (std::size_t i = 0; i < core_.hooks.validating.size(); ++i) {
    auto step = core_.hooks.validating[i];
    PLIM_CO_CHECK(co_await step->admit(admission));
  }
  co_return ApiResult<void>();
}

Task<ApiResult<std::optional<Deleted>>> Deleter::try_remove(DeleteRequest request,
                                                            store::EntryPtr entry) {
  const Kind& kind = *request.kind;
  const json::value before = decode_object(*entry->value);
  PLIM_CO_CHECK(check_preconditions(kind, request.options, before));
  json::value object = marked(kind, before, request.options, core_.clock.wall());
  Deleted out{.bytes = entry->value, .uid = std::string(kube::uid_of(before))};
  out.gone = may_go_now(kind, object);
  if (request.options.dry_run) {
    if (!out.gone && object != before) {
      count_generation(kind, before, object);
      out.bytes = std::make_shared<const std::string>(encode_object(kind, object, entry->modified));
    }
    co_return out;
  }

  // As upstream, show a pod as terminating before it is deleted at once.
  store::Revision modified = entry->modified;
  std::optional<Task<Result<store::Revision>>> marking;
  const bool shows_mark = !out.gone || is_core(kind, "Pod");
  if (shows_mark && object != before) {
    count_generation(kind, before, object);
    modified = core_.store.next_revision();
    out.bytes = std::make_shared<const std::string>(encode_object(kind, object, modified));
    store::Txn txn;
    txn.compares.push_back({.key = entry->key, .modified = entry->modified});
    txn.ops.push_back(store::Op::put(entry->key, out.bytes));
    marking = core_.store.txn(txn);
  }
  store::Txn txn;
  txn.compares.push_back({.key = entry->key, .modified = modified});
  if (out.gone) txn.ops.push_back(store::Op::del(entry->key));
  Task<Result<store::Revision>> removing = core_.store.txn(txn);
  Result<store::Revision> written = store::Revision{0};
  if (marking) written = co_await std::move(*marking);
  if (written) written = co_await std::move(removing);
  if (written) co_return out;
  const Code code = written.error().code;
  if (code == Code::conflict || code == Code::not_found) co_return std::optional<Deleted>();
  co_return written.error();
}

std::string encode_deleted(const Kind& kind, std::string_view name, const Deleted& deleted) {
  // Upstream's list; other kinds return a Status.
  constexpr std::string_view kCore[] = {
      "Namespace",   "PersistentVolume", "PersistentVolumeClaim", "Pod",
      "PodTemplate", "ResourceQuota",    "ServiceAccount",        "Service"};
  const bool is_listed =
      kind.group == "resource.k8s.io" ||
      (kind.group == "storage.k8s.io" && kind.kind != "CSIStorageCapacity") ||
      (kind.group.empty() && std::ranges::find(kCore, kind.kind) != std::end(kCore));
  const bool shows_itself = !deleted.gone || is_listed;
  std::string out;
  if (shows_itself) {
    append_object(out, kind, *deleted.bytes);
    return out;
  }
  json::object details{{"name", name}, {"group", kind.group}, {"kind", kind.plural}};
  if (kind.group.empty()) details.erase("group");
  details["uid"] = deleted.uid;
  const json::object status{{"kind", "Status"},
                            {"apiVersion", "v1"},
                            {"metadata", json::object()},
                            {"status", "Success"},
                            {"details", std::move(details)}};
  return to_json(status);
}

}  // namespace plim::local::apiserver
