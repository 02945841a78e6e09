#include "placement/release.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::placement {
namespace {

// A gate that changes decisions, and the first minor version that has it.
struct Gate {
  std::string_view name;
  int since;
  void (*set)(Release& release, bool on);
};

constexpr std::array<Gate, 3> kGates{{
    {"TaintTolerationComparisonOperators", 35,
     [](Release& release, bool on) { release.numeric_tolerations = on; }},
    {"StorageCapacityScoring", 33,
     [](Release& release, bool on) { release.storage_capacity_scoring = on; }},
    {"VolumeLimitScaling", 35,
     [](Release& release, bool on) { release.volume_limit_scaling = on; }},
}};

// Gates whose behavior we have in any case, so that setting them to true changes nothing.
// OpportunisticBatching: pods of equal shape share their results here too (node_class.hpp).
constexpr std::array<std::string_view, 8> kAlwaysOn{
    "InPlacePodVerticalScaling",
    "MatchLabelKeysInPodTopologySpread",
    "NodeInclusionPolicyInPodTopologySpread",
    "OpportunisticBatching",
    "PodLevelResources",
    "SchedulerAsyncPreemption",
    "SchedulerPopFromBackoffQ",
    "SchedulerQueueingHints",
};

Error not_emulated(std::string_view value) {
  return fail(Code::invalid,
              fmt::format("cannot emulate version {}; expected 1.{} to 1.{}, for example 1.{} or "
                          "kube=1.{}",
                          quote(value), Release::kOldest, Release::kNewest, Release::kOldest,
                          Release::kOldest));
}

Result<bool> parse_gate_value(std::string_view name, std::string_view value) {
  constexpr std::array<std::string_view, 6> kTrue{"1", "t", "T", "true", "TRUE", "True"};
  constexpr std::array<std::string_view, 6> kFalse{"0", "f", "F", "false", "FALSE", "False"};
  if (std::ranges::find(kTrue, value) != kTrue.end()) return true;
  if (std::ranges::find(kFalse, value) != kFalse.end()) return false;
  return fail(Code::invalid, fmt::format("feature gate {} has the value {}; expected true or false",
                                         name, quote(value)));
}

}  // namespace

Result<Release> parse_release(std::string_view text) {
  constexpr std::string_view kComponent = "kube=";
  std::string_view version = trim(text);
  if (version.starts_with(kComponent)) version.remove_prefix(kComponent.size());
  if (const auto equals = version.find('='); equals != std::string_view::npos)
    return fail(Code::invalid, fmt::format("component {} is not known; the only component is kube",
                                           quote(version.substr(0, equals))));
  std::string_view minor = version;
  if (minor.starts_with('v')) minor.remove_prefix(1);
  if (!minor.starts_with("1.")) return not_emulated(version);
  const auto number = parse_int(minor.substr(2));
  if (!number || *number < Release::kOldest || *number > Release::kNewest)
    return not_emulated(version);
  Release out;
  out.minor = static_cast<int>(*number);
  return out;
}

Result<std::vector<std::string>> apply_feature_gates(std::string_view text, Release& release) {
  std::vector<std::string> idle;
  for (std::string_view item : split(text, ',')) {
    item = trim(item);
    if (item.empty()) continue;
    if (item.starts_with("kube:")) item.remove_prefix(5);
    const auto equals = item.find('=');
    if (equals == std::string_view::npos)
      return fail(Code::invalid,
                  fmt::format("{} has no value; expected NAME=true or NAME=false", quote(item)));
    const std::string_view name = trim(item.substr(0, equals));
    PLIM_TRY(const bool on, parse_gate_value(name, trim(item.substr(equals + 1))));
    if (const auto gate = std::ranges::find(kGates, name, &Gate::name); gate != kGates.end()) {
      if (release.minor < gate->since)
        return fail(Code::invalid,
                    fmt::format("feature gate {} does not exist in {}", name, name_of(release)));
      gate->set(release, on);
    } else if (!on || std::ranges::find(kAlwaysOn, name) == kAlwaysOn.end()) {
      idle.emplace_back(item);
    }
  }
  return idle;
}

std::string name_of(const Release& release) {
  return fmt::format("1.{}", release.minor);
}

}  // namespace plim::placement
