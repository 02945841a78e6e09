#include "placement/testing/objects.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/yaml.hpp"
#include "kube/decode.hpp"

namespace plim::placement::testing {
namespace {

kube::InternPool& test_pool() {
  static kube::InternPool pool;
  return pool;
}

// Amounts as an API server writes them: always strings.
void quote_amounts(json::value& value, bool amounts) {
  if (json::array* list = value.if_array())
    for (json::value& item : *list) quote_amounts(item, false);
  if (amounts && value.is_number()) value = json::string(to_json(value));
  json::object* object = value.if_object();
  if (object == nullptr) return;
  for (auto& [key, item] : *object)
    quote_amounts(item, amounts || key == "requests" || key == "allocatable" || key == "overhead" ||
                            key == "allocatedResources");
}

json::value value_of(std::string_view yaml) {
  auto value = parse_yaml(yaml);
  if (!value) fmt::print(stderr, "{}\n{}\n", value.error().message, yaml);
  PLIM_ASSERT(value);
  quote_amounts(*value, false);
  return std::move(*value);
}

const ScoredNode* row_of(const Decision& decision, std::string_view node) {
  for (const ScoredNode& row : decision.rows)
    if (row.node == node) return &row;
  return nullptr;
}

}  // namespace

kube::Node node_of(std::string_view yaml) {
  std::string text = to_json(value_of(yaml));
  auto node = kube::decode_node(kube::JsonText(text), test_pool());
  PLIM_ASSERT(node);
  return std::move(*node);
}

PodPointer pod_of(std::string_view yaml) {
  static int uids = 0;
  json::value value = value_of(yaml);
  json::object& meta = make_object(value, {"metadata"});
  if (!meta.contains("uid")) meta["uid"] = fmt::format("uid-{}", ++uids);
  if (!meta.contains("namespace")) meta["namespace"] = "default";
  std::string text = to_json(value);
  auto pod = kube::decode_pod(kube::JsonText(text), test_pool());
  if (!pod) fmt::print(stderr, "{}\n{}\n", pod.error().message, text);
  PLIM_ASSERT(pod);
  return std::make_shared<const kube::Pod>(std::move(*pod));
}

kube::Node plain_node(std::string_view name, std::string_view labels) {
  return node_of(
      fmt::format("{{metadata: {{name: {}, labels: {}}}, status: {{allocatable: {{cpu: '4', "
                  "memory: 32Gi, pods: '110', ephemeral-storage: 100Gi}}}}}}",
                  name, labels));
}

PodPointer plain_pod(std::string_view name, std::string_view requests, std::string_view labels) {
  return pod_of(
      fmt::format("{{metadata: {{name: {}, labels: {}}}, spec: {{containers: [{{name: c, image: "
                  "app, resources: {{requests: {}}}}}]}}}}",
                  name, labels, requests));
}

kube::Labels labels_of(std::string_view yaml) {
  kube::Labels out;
  const json::value value = value_of(yaml);
  for (const auto& [key, text] : value.as_object())
    out.emplace_back(test_pool()(key), test_pool()(std::string_view(text.as_string())));
  return out;
}

std::int64_t raw_score(const Decision& decision, std::string_view node, PluginId plugin) {
  if (const ScoredNode* row = row_of(decision, node))
    for (const PluginScore& score : row->scores)
      if (score.plugin == plugin) return score.raw;
  return -1;
}

std::int64_t score_of(const Decision& decision, std::string_view node, PluginId plugin) {
  if (const ScoredNode* row = row_of(decision, node))
    for (const PluginScore& score : row->scores)
      if (score.plugin == plugin) return score.normalized;
  return -1;
}

Decision decide_all(Engine& engine, const PodPointer& pod, const Profile& profile) {
  DecideOptions options;
  options.rows = DecideOptions::kAllRows;
  return engine.decide(*pod, profile, options);
}

}  // namespace plim::placement::testing
