#include "local/api/handlers.hpp"

#include <chrono>

#include <fmt/format.h>

#include "kube/object.hpp"
#include "local/api/body.hpp"
#include "local/api/object_bytes.hpp"

namespace plim::local {
namespace {

using namespace std::chrono_literals;

// More than this in a connection's queue, and the watch waits for its reader.
constexpr std::size_t kQueueHigh = 64;
constexpr Nanos kQueuePoll = 20ms;

net::Reply json_reply(int status, std::string body) {
  net::Response out{.status = status, .body = std::move(body)};
  out.headers.set("Content-Type", "application/json");
  return out;
}

net::Reply object_reply(const Kind& kind, const Written& written) {
  std::string body;
  append_object(body, kind, *written.bytes);
  return json_reply(written.created ? 201 : 200, std::move(body));
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

Task<HandlerResult> Handlers::handle(CallPtr call) {
  const std::string_view verb = verb_of(*call);
  const ResourcePath& target = call->target;
  if (!target.subresource.empty() && target.subresource != "status") co_return method_not_allowed();
  const bool names_object = verb == "update" || verb == "patch" || verb == "delete";
  if (!target.kind->has_verb(verb) || (names_object && target.name.empty()) ||
      (verb == "create" && !target.name.empty()))
    co_return method_not_allowed();
  if (verb == "get") co_return co_await get(call);
  if (verb == "list") co_return co_await list(call);
  if (verb == "watch") co_return co_await watch(call);
  if (verb == "create") co_return co_await create(call);
  if (verb == "update") co_return co_await update(call);
  if (verb == "delete") co_return co_await remove(call);
  if (verb == "deletecollection") co_return co_await remove_collection(call);
  co_return method_not_allowed();
}

Task<HandlerResult> Handlers::get(CallPtr call) {
  const ResourcePath& target = call->target;
  PLIM_CO_TRY(EntryPtr entry, find_entry(core_, *target.kind, target.ns, target.name));
  std::string body;
  append_object(body, *target.kind, *entry->value);
  co_return json_reply(200, std::move(body));
}

Task<HandlerResult> Handlers::list(CallPtr call) {
  PLIM_CO_TRY(ReadOptions options, parse_read_options(*call));
  PLIM_CO_TRY(ListResult found, co_await reader_.list(std::move(options)));
  co_return json_reply(200, encode_list(call->kind(), found));
}

Task<ApiResult<std::unique_ptr<WatchSession>>> Handlers::open_watch(CallPtr call) {
  PLIM_CO_TRY(ReadOptions options, parse_read_options(*call));
  if (begins_with_state(options))
    PLIM_CO_CHECK(co_await reader_.wait_for(options.revision.value_or(0)));
  co_return std::make_unique<WatchSession>(core_, call->target.kind, std::move(options), nullptr);
}

Task<HandlerResult> Handlers::watch(CallPtr call) {
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
    while (sink->queued() > kQueueHigh) co_await core_.clock.sleep(kQueuePoll);
  }
  sink->finish();
}

Task<HandlerResult> Handlers::create(CallPtr call) {
  const Kind& kind = call->kind();
  CreateRequest request{.call = call, .kind = call->target.kind, .ns = call->target.ns};
  PLIM_CO_TRY(request.dry_run, parse_dry_run(*call, "CreateOptions"));
  PLIM_CO_TRY(request.object, decode_body(*call, kind.kind, kind.api_version));
  if (kind.namespaced && request.ns.empty()) co_return method_not_allowed();
  PLIM_CO_TRY(Written written, co_await writer_.create(std::move(request)));
  co_return object_reply(kind, written);
}

Task<HandlerResult> Handlers::update(CallPtr call) {
  const Kind& kind = call->kind();
  const ResourcePath& target = call->target;
  UpdateRequest request{.call = call,
                        .kind = target.kind,
                        .ns = target.ns,
                        .name = target.name,
                        .subresource = target.subresource};
  if (target.subresource == "status") request.scope = Scope::status;
  PLIM_CO_TRY(request.dry_run, parse_dry_run(*call, "UpdateOptions"));
  PLIM_CO_TRY(json::value object, decode_body(*call, kind.kind, kind.api_version));
  PLIM_CO_CHECK(place_in_namespace(kind, target.ns, object));
  request.edit = [object = std::move(object)](const json::value&) -> ApiResult<json::value> {
    return object;
  };
  PLIM_CO_TRY(Written written, co_await writer_.update(std::move(request)));
  co_return object_reply(kind, written);
}

Task<HandlerResult> Handlers::remove(CallPtr call) {
  const ResourcePath& target = call->target;
  DeleteRequest request{.call = call, .kind = target.kind, .ns = target.ns, .name = target.name};
  PLIM_CO_CHECK(parse_dry_run(*call, "DeleteOptions"));
  PLIM_CO_TRY(json::value body, decode_options(*call));
  PLIM_CO_TRY(request.options, parse_delete_options(*call, body));
  PLIM_CO_TRY(Deleted deleted, co_await deleter_.remove(std::move(request)));
  co_return json_reply(200, encode_deleted(*target.kind, target.name, deleted));
}

Task<HandlerResult> Handlers::remove_collection(CallPtr call) {
  PLIM_CO_CHECK(parse_dry_run(*call, "DeleteOptions"));
  PLIM_CO_TRY(ReadOptions which, parse_read_options(*call));
  PLIM_CO_TRY(json::value body, decode_options(*call));
  PLIM_CO_TRY(DeleteOptions options, parse_delete_options(*call, body));
  PLIM_CO_TRY(ListResult found, co_await reader_.list(std::move(which)));
  ListResult deleted{.revision = found.revision};
  for (const EntryPtr& entry : found.entries) {
    const json::value object = decode_object(*entry->value);
    DeleteRequest request{.call = call,
                          .kind = call->target.kind,
                          .ns = std::string(kube::namespace_of(object)),
                          .name = std::string(kube::name_of(object)),
                          .options = options};
    auto done = co_await deleter_.remove(std::move(request));
    if (!done && done.error().code != 404) co_return std::move(done).error();
    if (done) deleted.entries.push_back(entry);
  }
  co_return json_reply(200, encode_list(call->kind(), deleted));
}

}  // namespace plim::local
