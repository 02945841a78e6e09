#include "sched/binder.hpp"

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
  tasks_.spawn("bind a pod", write(std::move(binding), std::move(done)));
}

Task<void> Binder::write(Binding binding, Done done) {
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
  --under_way_;
  Result<void> out;
  if (!bound) out = std::move(bound).error();
  done(std::move(out));
}

}  // namespace plim::sched
