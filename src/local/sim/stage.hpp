// Stages: rules of users for what happens to simulated pods and nodes in a certain state.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/random.hpp"
#include "base/result.hpp"
#include "kube/selector.hpp"

namespace plim::local::sim {

// ".status.phase" In [Pending], ".metadata.deletionTimestamp" Exists.
struct FieldExpression {
  enum class Op { in, not_in, exists, does_not_exist };

  std::vector<std::string> path;
  Op op = Op::exists;
  std::vector<std::string> values = {};

  bool matches(const json::value& object) const;
};

struct StageEvent {
  std::string type = "Normal", reason, message;
};

struct Stage {
  std::string name, kind;  // "Pod" or "Node"
  std::vector<FieldExpression> fields = {};
  kube::LabelSelector labels = {};
  Nanos delay{0}, jitter{0};  // a random time up to this is added
  std::uint64_t weight = 1;   // relative to the other matching stages
  json::value status = {};    // merge patch of status, null for none
  std::optional<StageEvent> event = {};
  bool remove = false;
  std::vector<std::string> add_finalizers = {}, remove_finalizers = {};

  bool matches(const json::value& object) const;
  Nanos wait(Random& random) const;
};

// stages:
// - name: slow-start
//   kind: Pod
//   selector:
//     matchLabels: {app: web}
//     matchFields: [{key: .status.phase, operator: In, values: [Pending]}]
//   delay: 5s
//   jitter: 1s
//   weight: 1
//   next:
//     status: {phase: Running, startTime: "${now}"}
//     event: {type: Warning, reason: Slow, message: "${name} on ${node}"}
//     finalizers: {add: [], remove: []}
//     delete: false
Result<std::vector<Stage>> parse_stages(std::string_view yaml, std::string_view source);

// Chooses by weight among the matching stages of `kind`; null if none matches.
const Stage* choose_stage(const std::vector<Stage>& stages, std::string_view kind,
                          const json::value& object, Random& random);

struct Substitutions {
  std::string now, name, node, pod_ip;
};

// Replaces ${now}, ${name}, ${node} and ${podIP} in every text.
json::value substitute(const json::value& value, const Substitutions& with);
std::string substitute(std::string_view text, const Substitutions& with);

}  // namespace plim::local::sim
