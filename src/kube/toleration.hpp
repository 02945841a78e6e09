// Taints and tolerations.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/types.hpp"

namespace plim::kube {

struct Toleration {
  // `greater` and `less` compare the taint's value, an integer, with the toleration's. `never` is
  // an operator that is not known or not enabled.
  enum class Op : std::uint8_t { equal, exists, greater, less, never };

  std::string key, value, effect;  // "" for any
  Op op = Op::equal;
  std::optional<std::chrono::seconds> seconds;  // tolerationSeconds of effect NoExecute

  bool tolerates(std::string_view taint_key, std::string_view taint_value,
                 std::string_view taint_effect) const;

  bool tolerates(const Taint& taint) const {
    return tolerates(taint.key, taint.value, taint.effect);
  }
};

// Whether the operators Gt and Lt work: the feature gate TaintTolerationComparisonOperators.
enum class NumericTolerations : std::uint8_t { off, on };

// From the JSON in PodSpec::tolerations. An entry that cannot be read tolerates nothing: the API
// server has checked it.
std::vector<Toleration> parse_tolerations(std::string_view text,
                                          NumericTolerations numeric = NumericTolerations::off);

bool tolerated(const std::vector<Toleration>& tolerations, const Taint& taint);
// Whether the pod may be placed on a cordoned node (`kubectl cordon`).
bool unschedulable_is_tolerated(const std::vector<Toleration>& tolerations);

}  // namespace plim::kube
