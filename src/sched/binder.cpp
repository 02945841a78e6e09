#include "sched/binder.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "kube/store.hpp"

namespace plim::sched {

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

Task<Result<void>> Binder::write(Binding binding) {
  const kube::ObjectMeta& meta = binding.pod->meta;
  json::object about{
      {"name", meta.name}, {"namespace", std::string_view(meta.ns)}, {"uid", meta.uid}};
  if (!binding.annotations.empty()) about["annotations"] = std::move(binding.annotations);
  json::value body = json::object{{"apiVersion", "v1"},
                                  {"kind", "Binding"},
                                  {"metadata", std::move(about)},
                                  {"target", {{"kind", "Node"}, {"name", binding.node}}}};
  kube::ObjectPath path{.ns = std::string(meta.ns), .name = meta.name, .subresource = "binding"};
  auto bound = co_await client_->create(kube::resources::pods, path, std::move(body));
  if (!bound) {
    Error error = bound.error();
    error.message = fmt::format("running Bind plugin \"DefaultBinder\": {}", error.message);
    co_return error;
  }
  co_return Result<void>{};
}

Task<Result<bool>> Binder::delegate(Binding binding) {
  const kube::ObjectMeta& meta = binding.pod->meta;
  for (const auto& extender : *binding.extenders) {
    if (extender->config().bind_verb.empty() || !extender->is_interested(*binding.pod)) continue;
    std::string body = extender_binding(meta.name, meta.ns, meta.uid, binding.node);
    auto bound = co_await extender->bind(std::move(body));
    if (bound) co_return true;
    if (!extender->config().ignorable) co_return bound.error();
    log::warn("scheduler", "binds without an extender",
              {{"pod", kube::object_key(meta)}, {"error", bound.error()}});
  }
  co_return false;
}

}  // namespace plim::sched
