#include "sched/extender_messages.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.hpp"

namespace plim::sched {
namespace {

// Larger scores are not meaningful and could overflow sums.
constexpr std::int64_t kLargestScore = 1'000'000;

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// Finds a field as Go does: by the exact name, else ignoring case. null counts as missing.
const json::value* go_field(const json::value& value, std::string_view name) {
  const json::object* object = value.if_object();
  if (object == nullptr) return nullptr;
  const json::value* found = object->if_contains(name);
  if (found == nullptr)
    for (const auto& [key, one] : *object)
      if (same_letters(std::string_view(key), name)) found = &one;
  return found == nullptr || found->is_null() ? nullptr : found;
}

Result<std::string> go_text(const json::value& value, std::string_view name) {
  const json::value* found = go_field(value, name);
  if (found == nullptr) return std::string();
  if (!found->is_string()) return fail(Code::invalid, fmt::format("{}: expected a string", name));
  return std::string(found->get_string());
}

Result<std::int64_t> go_integer(const json::value& value, std::string_view name) {
  const json::value* found = go_field(value, name);
  if (found == nullptr) return 0;
  if (!found->is_int64()) return fail(Code::invalid, fmt::format("{}: expected an integer", name));
  return found->get_int64();
}

Result<void> check_error(const json::value& answer) {
  PLIM_TRY(const std::string error, go_text(answer, "Error"));
  if (!error.empty()) return fail(Code::unknown, error);
  return {};
}

constexpr std::string_view kAnswer = "the extender's answer";

Result<json::value> read_answer(std::string_view text, std::string_view source = kAnswer) {
  PLIM_TRY(json::value answer, parse_json(text, source));
  if (!answer.is_object() && !answer.is_null())
    return fail(Code::invalid, fmt::format("{}: expected an object", source));
  return answer;
}

Result<std::vector<std::string>> names_of_nodes(const json::value& answer, bool by_name) {
  std::vector<std::string> out;
  const json::value* names = by_name ? go_field(answer, "NodeNames") : nullptr;
  const json::value* nodes = go_field(answer, "Nodes");
  if (names != nullptr) {
    if (!names->is_array()) return fail(Code::invalid, "NodeNames: expected a list");
    for (const json::value& name : names->get_array()) {
      if (!name.is_string()) return fail(Code::invalid, "NodeNames: expected strings");
      out.emplace_back(name.get_string());
    }
  } else if (nodes != nullptr) {
    const json::value* items = go_field(*nodes, "items");
    if (items == nullptr) return out;
    if (!items->is_array()) return fail(Code::invalid, "Nodes.items: expected a list");
    for (const json::value& node : items->get_array()) {
      const json::value* meta = go_field(node, "metadata");
      PLIM_TRY(out.emplace_back(),
               meta == nullptr ? Result<std::string>("") : go_text(*meta, "name"));
    }
  }
  return out;
}

Result<void> read_failed(const json::value& answer, std::string_view name, RejectCode code,
                         std::map<std::string, placement::ExtenderRejection>& out) {
  const json::value* failed = go_field(answer, name);
  if (failed == nullptr) return {};
  if (!failed->is_object()) return fail(Code::invalid, fmt::format("{}: expected an object", name));
  for (const auto& [node, reason] : failed->get_object()) {
    if (!reason.is_string()) return fail(Code::invalid, fmt::format("{}: expected strings", name));
    const std::string name_of_node(node);
    out[name_of_node] = {
        .node = name_of_node, .code = code, .reason = std::string(reason.get_string())};
  }
  return {};
}

Result<ExtenderVictims> read_victims(std::string_view node, const json::value& given) {
  ExtenderVictims out{.node = std::string(node), .pods = {}};
  PLIM_TRY(out.budget_violations, go_integer(given, "NumPDBViolations"));
  const json::value* pods = go_field(given, "Pods");
  if (pods == nullptr) return out;
  if (!pods->is_array()) return fail(Code::invalid, "Pods: expected a list");
  for (const json::value& pod : pods->get_array()) {
    PLIM_TRY(out.pods.emplace_back(), go_text(pod, "UID"));
  }
  return out;
}

}  // namespace

std::string extender_args_by_name(std::string_view pod, std::span<const std::string> names) {
  json::array list;
  for (const std::string& name : names) list.emplace_back(name);
  return fmt::format(R"({{"Pod":{},"Nodes":null,"NodeNames":{}}})", pod, to_json(list));
}

std::string extender_args_by_object(std::string_view pod, std::span<const std::string> nodes) {
  return fmt::format(R"({{"Pod":{},"Nodes":{{"metadata":{{}},"items":[{}]}},"NodeNames":null}})",
                     pod, fmt::join(nodes, ","));
}

Result<ExtenderFilterAnswer> read_filter_answer(std::string_view text, std::string_view extender,
                                                std::span<const std::string> asked, bool by_name) {
  PLIM_TRY(const json::value answer,
           read_answer(text, fmt::format("the answer of extender {}", extender)));
  PLIM_CHECK(check_error(answer));
  PLIM_TRY(std::vector<std::string> named, names_of_nodes(answer, by_name));
  std::ranges::sort(named);
  std::map<std::string, placement::ExtenderRejection> failed;
  PLIM_CHECK(read_failed(answer, "FailedNodes", RejectCode::unschedulable, failed));
  PLIM_CHECK(read_failed(answer, "FailedAndUnresolvableNodes", RejectCode::unresolvable, failed));
  ExtenderFilterAnswer out;
  for (const std::string& node : asked) {
    if (std::ranges::binary_search(named, node))
      out.passed.push_back(node);
    else if (auto found = failed.find(node); found != failed.end())
      out.rejections.push_back(std::move(found->second));
    else
      out.rejections.push_back({.node = node, .code = RejectCode::unresolvable, .reason = ""});
  }
  std::vector<std::string> sorted(asked.begin(), asked.end());
  std::ranges::sort(sorted);
  for (const std::string& node : named)
    if (!std::ranges::binary_search(sorted, node))
      return fail(Code::invalid,
                  fmt::format("extender \"{}\" claims a filtered node \"{}\" which is "
                              "not found in the input node list",
                              extender, node));
  return out;
}

Result<std::vector<std::pair<std::string, std::int64_t>>> read_priorities(std::string_view text) {
  PLIM_TRY(const json::value answer, parse_json(text, kAnswer));
  std::vector<std::pair<std::string, std::int64_t>> out;
  if (answer.is_null()) return out;
  if (!answer.is_array()) return fail(Code::invalid, fmt::format("{}: expected a list", kAnswer));
  for (const json::value& one : answer.get_array()) {
    PLIM_TRY(std::string host, go_text(one, "Host"));
    PLIM_TRY(const std::int64_t score, go_integer(one, "Score"));
    out.emplace_back(std::move(host), std::clamp(score, -kLargestScore, kLargestScore));
  }
  return out;
}

std::string extender_binding(std::string_view name, std::string_view ns, std::string_view uid,
                             std::string_view node) {
  return to_json(
      json::object{{"PodName", name}, {"PodNamespace", ns}, {"PodUID", uid}, {"Node", node}});
}

Result<void> read_binding_answer(std::string_view text) {
  PLIM_TRY(const json::value answer, read_answer(text));
  return check_error(answer);
}

std::string extender_preemption(std::string_view pod, std::vector<ExtenderVictims> victims,
                                VictimForm form) {
  std::ranges::sort(victims, {}, &ExtenderVictims::node);
  std::string nodes;
  for (const ExtenderVictims& one : victims) {
    std::vector<std::string> pods = one.pods;
    if (form == VictimForm::uid)
      for (std::string& text : pods)
        text = fmt::format(R"({{"UID":{}}})", to_json(json::value(text)));
    nodes +=
        fmt::format(R"({}{}:{{"Pods":[{}],"NumPDBViolations":{}}})", nodes.empty() ? "" : ",",
                    to_json(json::value(one.node)), fmt::join(pods, ","), one.budget_violations);
  }
  nodes = fmt::format("{{{}}}", nodes);
  return fmt::format(R"({{"Pod":{},"NodeNameToVictims":{},"NodeNameToMetaVictims":{}}})", pod,
                     form == VictimForm::object ? std::string_view(nodes) : "null",
                     form == VictimForm::uid ? std::string_view(nodes) : "null");
}

Result<std::vector<ExtenderVictims>> read_preemption_answer(std::string_view text) {
  PLIM_TRY(const json::value answer, read_answer(text));
  std::vector<ExtenderVictims> out;
  const json::value* nodes = go_field(answer, "NodeNameToMetaVictims");
  if (nodes == nullptr) return out;
  if (!nodes->is_object()) return fail(Code::invalid, "NodeNameToMetaVictims: expected an object");
  for (const auto& [node, given] : nodes->get_object()) {
    PLIM_TRY(out.emplace_back(), read_victims(std::string_view(node), given));
  }
  return out;
}

}  // namespace plim::sched
