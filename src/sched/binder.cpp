#include "sched/binder.hpp"

#include <fmt/format.h>

#include "base/json_text.hpp"
#include "base/log.hpp"
#include "kube/status.hpp"
#include "kube/store.hpp"

namespace plim::sched {
namespace {

std::string binding_text(const Binding& binding) {
  const kube::ObjectMeta& meta = binding.pod->meta;
  std::string out = R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":)";
  append_json_string(out, meta.name);
  out += R"(,"namespace":)";
  append_json_string(out, meta.ns);
  out += R"(,"uid":)";
  append_json_string(out, meta.uid);
  if (!binding.annotations.empty()) {
    out += R"(,"annotations":)";
    append_json(out, binding.annotations);
  }
  out += R"(},"target":{"kind":"Node","name":)";
  append_json_string(out, binding.node);
  out += "}}";
  return out;
}

}  // namespace

json::object annotations_of(const Decision& decision) {
  json::object said{{"total", decision.total}, {"missingBytes", decision.missing_bytes}};
  if (decision.rows.size() > 1)
    said["runnerUp"] =
        json::object{{"node", decision.rows[1].node}, {"total", decision.rows[1].total}};
  if (!decision.rows.empty()) {
    json::object scores;
    for (const PluginScore& score : decision.rows[0].scores)
      scores[name_of(score.plugin)] = score.weighted;
    for (const ExtenderPoints& points : decision.rows[0].extenders)
      scores[points.extender] = points.weighted;
    said["scores"] = std::move(scores);
  }
  return json::object{{"plimsoll.io/decision", to_json(said)}};
}

Binder::Binder(const Executor& loop, std::shared_ptr<kube::Client> client)
    : client_(std::move(client)), tasks_(loop) {}

Task<void> Binder::stop() {
  co_await tasks_.stop();
}

void Binder::bind(Binding binding, Done done) {
  ++under_way_;
  tasks_.spawn("bind a pod", carry_out(std::move(binding), std::move(done)));
}

Task<void> Binder::carry_out(Binding binding, Done done) {
  Result<bool> delegated = false;
  if (binding.extenders && !binding.extenders->empty()) delegated = co_await delegate(binding);
  Result<void> out;
  if (!delegated)
    out = delegated.error();
  else if (!*delegated)
    out = co_await write(std::move(binding));
  --under_way_;
  done(std::move(out));
}

// Builds the body by hand and does not parse a successful answer, since there is one binding for
// every pod.
Task<Result<void>> Binder::write(Binding binding) {
  const kube::ObjectMeta& meta = binding.pod->meta;
  const kube::ObjectPath path{
      .ns = std::string(meta.ns), .name = meta.name, .subresource = "binding"};
  net::Request request{.method = "POST",
                       .path = kube::api_path(kube::resources::pods, path),
                       .query = "fieldManager=plimsoll"};
  request.headers.set("Accept", "application/json");
  request.headers.set("Content-Type", "application/json");
  request.body = binding_text(binding);
  const net::CallOptions options;
  auto answer = co_await client_->raw(std::move(request), options);
  if (answer && answer->status / 100 == 2) co_return Result<void>{};
  Error error = answer ? kube::error_from_answer(answer->status, answer->headers, answer->body)
                       : answer.error();
  error.message = fmt::format("running Bind plugin \"DefaultBinder\": {}", error.message);
  co_return error;
}

Task<Result<bool>> Binder::delegate(Binding binding) {
  const kube::ObjectMeta& meta = binding.pod->meta;
  for (const auto& extender : *binding.extenders) {
    if (extender->config().bind_verb.empty() || !extender->is_interested(*binding.pod)) continue;
    std::string body = extender_binding(meta.name, meta.ns, meta.uid, binding.node);
    auto bound = co_await extender->bind(std::move(body));
    if (bound) co_return true;
    if (!extender->config().ignorable) co_return bound.error();
    log::warn("scheduler", "an extender cannot bind a pod, binding without it",
              {{"pod", kube::object_key(meta)}, {"error", bound.error()}});
  }
  co_return false;
}

}  // namespace plim::sched
