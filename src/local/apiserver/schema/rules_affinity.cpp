// Affinity of pods, and the keys of labels that the server merges into selectors.
#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "local/apiserver/schema/checks.hpp"
#include "local/apiserver/schema/rule_tables.hpp"

namespace plim::local::apiserver {
namespace {

using namespace rule;

void check_keys(const Place& term, std::string_view field, Causes& causes) {
  const json::array& keys = term.list(field);
  if (keys.empty()) return;
  if (!term.has("labelSelector"))
    return causes.forbidden(term.path(field),
                            "must not be specified when labelSelector is not set");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!keys[i].is_string()) continue;
    const std::string_view key = keys[i].get_string();
    causes.invalid_text(fmt::format("{}[{}]", term.path(field), i), key, check_qualified_name(key));
  }
}

// The selector contains the merged keys already, so a key that occurs twice was also written by
// the client. Upstream names the element of the term here, not of the list.
void check_not_selected(const Place& term, Causes& causes) {
  const json::array& keys = term.list("matchLabelKeys");
  std::set<std::string_view> seen;
  for (const auto& label : term.map("labelSelector.matchLabels")) seen.insert(label.key());
  for (const json::value& expression : term.list("labelSelector.matchExpressions")) {
    const std::string_view key = text_at(expression, {"key"});
    const auto found = std::find_if(keys.rbegin(), keys.rend(), [&](const json::value& one) {
      return one.is_string() && one.get_string() == key;
    });
    if (found != keys.rend() && seen.contains(key))
      causes.invalid(fmt::format("{}[{}]", term.path(), keys.rend() - found - 1), json::value(key),
                     "exists in both matchLabelKeys and labelSelector");
    seen.insert(key);
  }
}

void check_pod_term(const Place& term, const json::value* /*before*/, Causes& causes) {
  check_label_keys(term, nullptr, causes);
  const std::string_view topology = term.text("topologyKey");
  if (topology.empty()) causes.required(term.path("topologyKey"), "can not be empty");
  causes.invalid_text(term.path("topologyKey"), topology, check_qualified_name(topology));
}

void check_weight(const Place& weighted, const json::value* /*before*/, Causes& causes) {
  const auto weight = weighted.number("weight").value_or(0);
  if (weight < 1 || weight > 100)
    causes.invalid(weighted.path("weight"), weight, "must be in the range 1-100");
}

constexpr Rule kTerm[] = {custom(check_pod_term)};
constexpr Rule kWeightedTerm[] = {custom(check_weight), inside("podAffinityTerm", kTerm)};
constexpr Rule kPodAffinity[] = {
    each("requiredDuringSchedulingIgnoredDuringExecution", kTerm),
    each("preferredDuringSchedulingIgnoredDuringExecution", kWeightedTerm),
};
constexpr Rule kAffinity[] = {
    inside("podAffinity", kPodAffinity),
    inside("podAntiAffinity", kPodAffinity),
};

}  // namespace

void check_label_keys(const Place& term, const json::value* /*before*/, Causes& causes) {
  check_keys(term, "matchLabelKeys", causes);
  check_keys(term, "mismatchLabelKeys", causes);
  if (term.has("labelSelector")) check_not_selected(term, causes);
  const json::array& mismatched = term.list("mismatchLabelKeys");
  const json::array& matched = term.list("matchLabelKeys");
  for (std::size_t i = 0; i < matched.size(); ++i)
    if (std::find(mismatched.begin(), mismatched.end(), matched[i]) != mismatched.end())
      causes.invalid(fmt::format("{}[{}]", term.path("matchLabelKeys"), i), matched[i],
                     "exists in both matchLabelKeys and mismatchLabelKeys");
}

constinit const RuleTable kAffinityRules{kAffinity};

}  // namespace plim::local::apiserver
