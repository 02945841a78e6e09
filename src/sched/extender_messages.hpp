// The messages between the scheduler and its extenders, in kube-scheduler's format
// (k8s.io/kube-scheduler/extender/v1): bodies of requests and answers. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

// Nodes are sent by name, or as whole JSON to an extender without a cache of its own. `pod` is
// JSON.
std::string extender_args_by_name(std::string_view pod, std::span<const std::string> names);
std::string extender_args_by_object(std::string_view pod, std::span<const std::string> nodes);

struct ExtenderFilterAnswer {
  std::vector<std::string> passed;  // in the order of the request
  std::vector<placement::ExtenderRejection> rejections;
};

// `extender` is its URL, for messages. A node that was not in the request is an error; one that is
// in neither list is rejected without a reason.
Result<ExtenderFilterAnswer> read_filter_answer(std::string_view text, std::string_view extender,
                                                std::span<const std::string> asked, bool by_name);

// Node and score.
Result<std::vector<std::pair<std::string, std::int64_t>>> read_priorities(std::string_view text);

std::string extender_binding(std::string_view name, std::string_view ns, std::string_view uid,
                             std::string_view node);
Result<void> read_binding_answer(std::string_view text);

// The victims on a node: JSON in requests, uids in answers.
struct ExtenderVictims {
  std::string node;
  std::vector<std::string> pods;
  std::int64_t budget_violations = 0;
};

enum class VictimForm : std::uint8_t { uid, object };

std::string extender_preemption(std::string_view pod, std::vector<ExtenderVictims> victims,
                                VictimForm form);
Result<std::vector<ExtenderVictims>> read_preemption_answer(std::string_view text);

}  // namespace plim::sched
