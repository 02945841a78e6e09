#include "local/apiserver/api/request_handlers.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/api/body.hpp"
#include "local/apiserver/api/events.hpp"
#include "local/apiserver/api/object_bytes.hpp"
#include "local/apiserver/api/response_output.hpp"
#include "local/apiserver/api/reviews.hpp"

namespace plim::local::apiserver {
namespace {

using namespace std::chrono_literals;

// If a connection has more than this queued, the watch waits for its reader.
constexpr std::size_t kWatchQueue = 64;
constexpr Nanos kWatchQueuePoll = 20ms;
// A watch whose reader takes nothing for this long is closed; the client resumes where it was.
constexpr Nanos kPatience = 5s;

// Subresources that are read and written as the object itself.
bool shows_object(std::string_view subresource) {
  return subresource == "status" || subresource == "resize";
}

Scope scope_of(std::string_view subresource) {
  if (subresource == "status") return Scope::status;
  return subresource == "resize" ? Scope::resize : Scope::main;
}

// The path exists upstream, but this server does not serve it.
ApiError not_served(std::string_view what) {
  return bad_request(fmt::format("{} is not served by this cluster's API yet", what));
}

}  // namespace

std::string_view verb_of(const Call& call) {
  const std::string& method = call.method;
  const bool is_collection = call.target.name.empty();
  if (method == "GET" || method == "HEAD") {
    const bool watches = call.target.subresource.empty() &&
                         (call.target.old_watch || (is_collection && call.query.flag("watch")));
    if (watches) return "watch";
    return is_collection ? "list" : "get";
  }
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return is_collection ? "deletecollection" : "delete";
  return "";
}

Task<void> Handlers::stop() {
  co_await collections_.stop();
  co_await nodes_.stop();
  co_await streams_.stop();
}

Task<HandlerResult> Handlers::handle(CallPtr call) {
  const std::string_view verb = verb_of(*call);
  const ResourcePath& target = call->target;
  if (!target.subresource.empty() && !shows_object(target.subresource))
    co_return co_await handle_subresource(call, verb);
  const bool names_object = verb == "update" || verb == "patch" || verb == "delete";
  const bool is_part = !target.subresource.empty();
  if (!target.kind->has_verb(verb) || (names_object && target.name.empty()) ||
      (verb == "create" && !target.name.empty()) || (is_part && verb == "delete"))
    co_return method_not_allowed();
  if (target.kind->group == "metrics.k8s.io" && core_.hooks.metrics)
    co_return co_await core_.hooks.metrics(call);
  const bool is_event = target.kind->kind == "Event" && target.kind->prefix == kEventsPrefix;
  if (is_event && (verb == "create" || verb == "list")) co_await event_expiry_.sweep_if_due();
  if (verb == "get") co_return co_await get(call);
  if (verb == "list") co_return co_await list(call);
  if (verb == "watch") co_return co_await watch(call);
  if (verb == "create") co_return co_await create(call);
  if (verb == "update") co_return co_await update(call);
  if (verb == "patch") co_return co_await patch(call);
  if (verb == "delete") co_return co_await remove(call);
  co_return co_await remove_collection(call);
}

Task<HandlerResult> Handlers::handle_subresource(CallPtr call, std::string_view verb) {
  const std::string& name = call->target.subresource;
  const Subresource* sub = call->kind().subresource(name);
  if (name == "ephemeralcontainers" || std::ranges::find(sub->verbs, verb) == sub->verbs.end())
    co_return method_not_allowed();
  if (name == "scale") co_return co_await handle_scale(call, verb);
  if (name == "binding") co_return co_await subresources_.bind(call);
  if (name == "eviction") co_return co_await subresources_.evict(call);
  if (name == "finalize") co_return co_await subresources_.finalize(call);
  if (name == "token") co_return co_await subresources_.make_token(call);
  if (name == "log") co_return co_await nodes_.log(call);
  if (name == "proxy") co_return co_await nodes_.forward(call, call->raw_query);
  if (name == "exec" || name == "attach" || name == "portforward") {
    PLIM_CO_TRY(store::EntryPtr entry,
                find_entry(core_, call->kind(), call->target.ns, call->target.name));
    if (kube::text_at(decode_object(*entry->value), "Pod.spec.nodeName").empty())
      co_return bad_request(fmt::format("pod {} does not have a host assigned", call->target.name));
  }
  co_return not_served(name);
}

Task<HandlerResult> Handlers::handle_scale(CallPtr call, std::string_view verb) {
  if (verb == "get") co_return co_await subresources_.get_scale(call);
  Edit edit;
  if (verb == "patch") {
    PLIM_CO_TRY(Patch parsed, parse_patch(*call));
    edit = scale_patch_edit(std::move(parsed));
  } else {
    PLIM_CO_TRY(json::value sent, decode_body_as(*call, "autoscaling", "v1", "Scale"));
    edit = [sent = std::move(sent)](const json::value&) -> ApiResult<json::value> { return sent; };
  }
  co_return co_await subresources_.change_scale(call, std::move(edit));
}

Task<HandlerResult> Handlers::get(CallPtr call) {
  const ResourcePath& target = call->target;
  PLIM_CO_TRY(store::EntryPtr entry, find_entry(core_, *target.kind, target.ns, target.name));
  co_return object_reply(*call, 200, *target.kind, *entry->value, core_.clock.wall());
}

Task<HandlerResult> Handlers::list(CallPtr call) {
  PLIM_CO_TRY(ReadOptions options, parse_read_options(*call));
  PLIM_CO_TRY(ListResult found, co_await reader_.list(std::move(options)));
  co_return list_reply(*call, found, core_.clock.wall());
}

Task<ApiResult<std::unique_ptr<WatchSession>>> Handlers::open_watch(CallPtr call) {
  PLIM_CO_TRY(ReadOptions options, parse_read_options(*call));
  std::optional<ListResult> state;
  if (begins_with_state(options)) {
    PLIM_CO_CHECK(co_await reader_.wait_for(options.revision.value_or(0)));
    state = co_await reader_.select(options.selection);
  }
  co_return std::make_unique<WatchSession>(core_, call->target.kind, std::move(options),
                                           watch_format(core_, call), std::move(state));
}

Task<HandlerResult> Handlers::watch(CallPtr call) {
  if (streams_.running() >= max_watches_)
    co_return ApiError{.code = 429,
                       .reason = "TooManyRequests",
                       .message = fmt::format("{} watches are open already", max_watches_),
                       .details = ErrorDetails{.retry_after = 1}};
  PLIM_CO_TRY(std::unique_ptr<WatchSession> opened, co_await open_watch(call));
  std::shared_ptr<WatchSession> session = std::move(opened);
  net::Streamed out;
  out.headers.set("Content-Type", "application/json");
  out.attach = [this, session](std::shared_ptr<net::Sink> sink) {
    net::Sink& open = *sink;
    auto handle = streams_.spawn("watch", pump(session, std::move(sink)));
    open.on_gone([handle]() mutable { handle.cancel(); });
  };
  co_return net::Reply(std::move(out));
}

Task<void> Handlers::pump(std::shared_ptr<WatchSession> session, std::shared_ptr<net::Sink> sink) {
  for (;;) {
    auto pieces = co_await session->next();
    if (!pieces) break;
    for (net::Piece& piece : *pieces)
      if (!sink->push(std::move(piece))) co_return;
    const SteadyTime limit = core_.clock.steady() + kPatience;
    while (sink->queued() > kWatchQueue && core_.clock.steady() < limit)
      co_await core_.clock.sleep(kWatchQueuePoll);
    // Not finish(): that would wait for the reader again.
    if (sink->queued() > kWatchQueue) co_return sink->abort();
  }
  sink->finish();
}

Task<HandlerResult> Handlers::create(CallPtr call) {
  const Kind& kind = call->kind();
  if (is_review(kind)) co_return answer_review(authenticator_, *call);
  if (kind.namespaced && call->target.ns.empty()) co_return method_not_allowed();
  if (kind.kind == "Binding" && kind.group.empty()) co_return co_await subresources_.bind(call);
  CreateRequest request{
      .call = call, .kind = core_.kinds.stored_kind(call->target.kind), .ns = call->target.ns};
  PLIM_CO_TRY(request.dry_run, parse_dry_run(*call, "CreateOptions"));
  PLIM_CO_TRY(request.object, decode_body(*call));
  if (!kube::resource_version_of(request.object).empty())
    co_return bad_request("resourceVersion should not be set on objects to be created");
  if (kind.conversion) request.object = kind.conversion->to_stored(std::move(request.object));
  PLIM_CO_TRY(Written written, co_await writer_.create(std::move(request)));
  co_return object_reply(*call, 201, kind, *written.bytes, core_.clock.wall());
}

UpdateRequest Handlers::update_request(const CallPtr& call) const {
  const ResourcePath& target = call->target;
  return {.call = call,
          .kind = core_.kinds.stored_kind(target.kind),
          .ns = target.ns,
          .name = target.name,
          .subresource = target.subresource,
          .scope = scope_of(target.subresource)};
}

Task<HandlerResult> Handlers::update(CallPtr call) {
  const Kind& kind = call->kind();
  UpdateRequest request = update_request(call);
  PLIM_CO_TRY(request.dry_run, parse_dry_run(*call, "UpdateOptions"));
  PLIM_CO_TRY(json::value object, decode_body(*call));
  PLIM_CO_CHECK(place_in_namespace(kind, request.ns, object));
  if (kube::name_of(object).empty()) co_return without_a_name(request.name);
  if (kind.conversion) object = kind.conversion->to_stored(std::move(object));
  // As upstream, replacing a custom resource requires a resourceVersion.
  const bool is_blind = kind.rules && kube::resource_version_of(object).empty();
  const KindPtr served = call->target.kind;
  request.edit = [object = std::move(object), is_blind,
                  served](const json::value&) -> ApiResult<json::value> {
    if (!is_blind) return object;
    Kind resource = *served;
    resource.kind = served->plural;
    return invalid(resource, kube::name_of(object),
                   {{"FieldValueInvalid", "Invalid value: 0: must be specified for an update",
                     "metadata.resourceVersion"}});
  };
  PLIM_CO_TRY(Written written, co_await writer_.update(std::move(request)));
  co_return object_reply(*call, 200, kind, *written.bytes, core_.clock.wall());
}

Task<HandlerResult> Handlers::patch(CallPtr call) {
  UpdateRequest request = update_request(call);
  PLIM_CO_TRY(request.dry_run, parse_dry_run(*call, "PatchOptions"));
  PLIM_CO_TRY(Patch parsed, parse_patch(*call));
  const bool creates = parsed.kind == PatchKind::apply && call->target.subresource.empty();
  request.edit = patch_edit(core_, call, parsed);
  auto written = co_await writer_.update(std::move(request));
  if (!written && written.error().code == 404 && creates)
    co_return co_await apply_new(call, std::move(parsed));
  if (!written) co_return std::move(written).error();
  co_return object_reply(*call, 200, call->kind(), *written->bytes, core_.clock.wall());
}

Task<HandlerResult> Handlers::apply_new(CallPtr call, Patch patch) {
  CreateRequest request{
      .call = call, .kind = core_.kinds.stored_kind(call->target.kind), .ns = call->target.ns};
  PLIM_CO_TRY(request.dry_run, parse_dry_run(*call, "PatchOptions"));
  PLIM_CO_TRY(request.object, applied_to_nothing(core_, call, patch));
  const auto& conversion = call->kind().conversion;
  if (conversion) request.object = conversion->to_stored(std::move(request.object));
  PLIM_CO_TRY(Written written, co_await writer_.create(std::move(request)));
  co_return object_reply(*call, 201, call->kind(), *written.bytes, core_.clock.wall());
}

Task<HandlerResult> Handlers::remove(CallPtr call) {
  const ResourcePath& target = call->target;
  DeleteRequest request{.call = call,
                        .kind = core_.kinds.stored_kind(target.kind),
                        .ns = target.ns,
                        .name = target.name};
  PLIM_CO_CHECK(parse_dry_run(*call, "DeleteOptions"));
  PLIM_CO_TRY(json::value body, decode_options(*call));
  PLIM_CO_TRY(request.options, parse_delete_options(*call, body));
  PLIM_CO_TRY(Deleted deleted, co_await deleter_.remove(std::move(request)));
  co_return text_reply(*call, 200, encode_deleted(*target.kind, target.name, deleted));
}

Task<HandlerResult> Handlers::remove_collection(CallPtr call) {
  // Deleting in all namespaces at once is not allowed.
  if (call->kind().namespaced && call->target.ns.empty()) co_return method_not_allowed();
  PLIM_CO_CHECK(parse_dry_run(*call, "DeleteOptions"));
  PLIM_CO_TRY(ReadOptions which, parse_read_options(*call));
  PLIM_CO_TRY(json::value body, decode_options(*call));
  PLIM_CO_TRY(DeleteOptions options, parse_delete_options(*call, body));
  PLIM_CO_TRY(ListResult found, co_await reader_.list(std::move(which)));
  DeleteRequest each{.call = call,
                     .kind = core_.kinds.stored_kind(call->target.kind),
                     .options = options,
                     .of_many = true};
  ListResult deleted{.revision = found.revision};
  PLIM_CO_TRY(deleted.entries,
              co_await collections_.remove(std::move(each), std::move(found.entries)));
  co_return list_reply(*call, deleted, core_.clock.wall());
}

}  // namespace plim::local::apiserver
