#include "agent/config_reader.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/labels.hpp"
#include "base/json_pointer.hpp"
#include "base/text.hpp"
#include "net/url.hpp"

namespace plim::agent {
namespace {

constexpr std::size_t kMaxText = 400;

bool is_empty_scalar(const json::value& value) {
  return value.is_null() || (value.is_string() && value.get_string().empty());
}

std::string scalar_text(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : to_json(value);
}

std::string objection(const std::string& text, const TextLimits& limits) {
  if (text.size() > kMaxText) return fmt::format("a text of at most {} characters", kMaxText);
  if (!limits.may_be_empty && text.empty()) return "a text that is not empty";
  if (limits.path || limits.absolute_path) {
    if (limits.absolute_path && !text.starts_with('/')) return "an absolute path";
    const auto parts = split(text, '/');
    if (std::ranges::find(parts, "..") != parts.end()) return "a path without \"..\"";
  }
  if (limits.url) {
    auto url = net::parse_url(text);
    if (!url || url->scheme == net::Url::Scheme::unix_socket || url->host.empty())
      return "an http:// or https:// URL with a host";
  }
  return {};
}

void indent(std::string& out, int depth) {
  out.append(static_cast<std::size_t>(depth) * 2, ' ');
}

void print(std::string& out, const Shown& shown, int depth) {
  if (!shown.tag.empty()) out += fmt::format(" !{}", shown.tag);
  if (!shown.members.empty()) {
    out += '\n';
    for (const auto& [key, below] : shown.members) {
      indent(out, depth);
      out += key + ":";
      print(out, below, depth + 1);
    }
    return;
  }
  if (!shown.items.empty()) {
    out += '\n';
    for (const Shown& item : shown.items) {
      indent(out, depth);
      out += '-';
      print(out, item, depth + 1);
    }
    return;
  }
  const bool nested = (shown.plain.is_object() && !shown.plain.get_object().empty()) ||
                      (shown.plain.is_array() && !shown.plain.get_array().empty());
  if (!shown.tag.empty() && shown.plain.is_null()) {
    out += '\n';
    return;
  }
  const std::string text = to_yaml(shown.plain);
  if (!nested) {
    out += " " + text;
    return;
  }
  out += '\n';
  for (std::string_view line : split(trim(text), '\n')) {
    indent(out, depth);
    out += std::string(line) + "\n";
  }
}

}  // namespace

const std::vector<std::string_view>& known_tags() {
  static const std::vector<std::string_view> tags{"AllocationConfiguration",
                                                  "AllocationRunner",
                                                  "CgroupDriverType",
                                                  "ContentionAllocator",
                                                  "ContentionDetector",
                                                  "DetectionRunner",
                                                  "Env",
                                                  "FilterStorage",
                                                  "KafkaStorage",
                                                  "KubernetesNode",
                                                  "LogStorage",
                                                  "MeasurementRunner",
                                                  "NOPAllocator",
                                                  "NOPAnomalyDetector",
                                                  "NUMAAllocator",
                                                  "PrometheusEndpoint",
                                                  "SSL",
                                                  "StaticAllocator",
                                                  "StaticNode",
                                                  "TaskLabelRegexGenerator",
                                                  "TaskLabelResourceGenerator"};
  return tags;
}

std::string show_yaml(const Shown& root) {
  std::string out;
  print(out, root, 0);
  return out.starts_with('\n') ? out.substr(1) : out;
}

ConfigPlace::ConfigPlace(const YamlDocument& document, std::string pointer, std::string component,
                         const GetEnv& env, ReaderNotes& notes)
    : document_(&document),
      pointer_(std::move(pointer)),
      component_(std::move(component)),
      env_(&env),
      notes_(&notes) {}

ConfigPlace ConfigPlace::place(std::string pointer, std::string component) const {
  return {*document_, std::move(pointer), std::move(component), *env_, *notes_};
}

const json::value* ConfigPlace::value() const {
  boost::system::error_code nowhere;
  return document_->value().find_pointer(pointer_, nowhere);
}

std::string ConfigPlace::pointer_of(std::string_view key) const {
  std::string out = pointer_;
  append_step(out, key);
  return out;
}

std::string ConfigPlace::tag_of(const std::string& pointer) const {
  return std::string(document_->local_tag(pointer));
}

std::optional<json::value> ConfigPlace::resolve(const std::string& pointer,
                                                const json::value& value) {
  const std::string tag = tag_of(pointer);
  if (tag == "Env") {
    const std::string name = scalar_text(value);
    auto found = (*env_)(name);
    if (!found) warn_at(pointer, fmt::format("environment variable {} is not set", quote(name)));
    return json::value(json::string(found.value_or("")));
  }
  if (!tag.empty() && tag != "CgroupDriverType") {
    const auto& tags = known_tags();
    if (std::ranges::find(tags, tag) == tags.end())
      error_at(pointer, fmt::format("unknown tag !{}; known: !{}", tag, fmt::join(tags, " !")));
    else
      error_at(pointer, fmt::format("!{} is not allowed here", tag));
    return std::nullopt;
  }
  return value;
}

std::string ConfigPlace::with_component(std::string_view message) const {
  return component_.empty() ? std::string(message) : fmt::format("!{}: {}", component_, message);
}

void ConfigPlace::error(const std::string& key, std::string_view message) {
  error_at(pointer_of(key), message);
}

void ConfigPlace::error_at(const std::string& pointer, std::string_view message) {
  notes_->errors.push_back(document_->error_at(pointer, with_component(message)).message);
}

// For tags: the value begins after its tag, possibly on a later line.
void ConfigPlace::error_at_key(const std::string& key, std::string_view message) {
  const std::string text = with_component(message);
  notes_->errors.push_back(document_->error_at_key(pointer_of(key), text).message);
}

void ConfigPlace::error_here(std::string_view message) {
  notes_->errors.push_back(document_->error_at(pointer_, message).message);
}

void ConfigPlace::warn(const std::string& key, std::string_view message) {
  warn_at(pointer_of(key), message);
}

void ConfigPlace::warn_at(const std::string& pointer, std::string_view message) {
  notes_->warnings.push_back(document_->error_at(pointer, message).message);
}

Options::Options(ConfigPlace place) : ConfigPlace(std::move(place)) {
  shown_.tag = component_name();
  const json::value* given = value();
  if (given == nullptr || is_empty_scalar(*given)) return;  // all defaults
  members_ = given->if_object();
  if (members_ != nullptr) return;
  if (given->is_array())
    error_here(fmt::format("!{}: expected options, got a list", component_name()));
  else
    warn_at(pointer(),
            fmt::format("!{}: value {} is ignored", component_name(), quote(scalar_text(*given))));
}

bool Options::has(std::string_view key) const {
  const json::value* value = members_ == nullptr ? nullptr : members_->if_contains(key);
  return value != nullptr && !value->is_null();
}

const json::value* Options::raw(const std::string& key) {
  known_.insert(key);
  return has(key) ? members_->if_contains(key) : nullptr;
}

std::optional<json::value> Options::scalar(const std::string& key) {
  const json::value* value = raw(key);
  return value == nullptr ? std::nullopt : resolve(pointer_of(key), *value);
}

std::vector<std::pair<std::string, json::value>> Options::scalars(const std::string& key,
                                                                  std::string_view expected) {
  std::vector<std::pair<std::string, json::value>> out;
  const json::value* value = raw(key);
  if (value == nullptr) return out;
  if (!value->is_object()) {
    wrong_type(key, expected);
    return out;
  }
  for (const auto& [name, member] : value->get_object()) {
    std::string pointer = pointer_of(key);
    append_step(pointer, name);
    if (member.is_structured())
      error_at(pointer, fmt::format("{}: {}: expected a scalar", key, quote(name)));
    else if (auto resolved = resolve(pointer, member))
      out.emplace_back(name, std::move(*resolved));
  }
  return out;
}

void Options::wrong_type(const std::string& key, std::string_view expected) {
  const json::value* value = members_->if_contains(key);
  error(key, fmt::format("{}: {} given, expected {}", key,
                         value == nullptr ? "nothing" : quote(scalar_text(*value)), expected));
}

std::optional<std::string> Options::optional_text(const std::string& key, TextLimits limits) {
  auto value = scalar(key);
  if (!value) {
    show(key, json::value());
    return std::nullopt;
  }
  if (!value->is_string()) {
    wrong_type(key, "a text");
    show(key, json::value());
    return std::nullopt;
  }
  std::string out(value->get_string());
  if (std::string why = objection(out, limits); !why.empty()) wrong_type(key, why);
  show(key, json::value(json::string(out)));
  return out;
}

std::string Options::text(const std::string& key, std::string fallback, TextLimits limits) {
  auto found = optional_text(key, limits);
  if (found) return std::move(*found);
  shown_.members.pop_back();
  show(key, json::value(json::string(fallback)));
  return fallback;
}

std::optional<double> Options::optional_number(const std::string& key, double low, double high) {
  auto value = scalar(key);
  if (!value) {
    show(key, json::value());
    return std::nullopt;
  }
  std::optional<double> out;
  if (value->is_number()) out = value->to_number<double>();
  if (value->is_string() && tag_of(pointer_of(key)) == "Env")
    if (auto parsed = parse_double(value->get_string())) out = *parsed;
  if (!out || !(*out >= low && *out <= high)) {
    wrong_type(key, fmt::format("a number from {} to {}", low, high));
    out = std::nullopt;
  }
  show(key, out ? json::value(*out) : json::value());
  return out;
}

double Options::number(const std::string& key, double low, double high, double fallback) {
  const double out = optional_number(key, low, high).value_or(fallback);
  shown_.members.pop_back();
  show(key, json::value(out));
  return out;
}

std::optional<bool> Options::optional_boolean(const std::string& key) {
  auto value = scalar(key);
  if (!value) {
    show(key, json::value());
    return std::nullopt;
  }
  if (!value->is_bool()) {
    wrong_type(key, "true or false");
    show(key, json::value());
    return std::nullopt;
  }
  show(key, *value);
  return value->get_bool();
}

bool Options::boolean(const std::string& key, bool fallback) {
  const bool out = optional_boolean(key).value_or(fallback);
  shown_.members.pop_back();
  show(key, json::value(out));
  return out;
}

std::optional<std::vector<std::string>> Options::optional_texts(const std::string& key) {
  const json::value* value = raw(key);
  if (value == nullptr) {
    show(key, json::value());
    return std::nullopt;
  }
  std::vector<std::string> out;
  const json::array* list = value->if_array();
  if (list == nullptr) wrong_type(key, "a list of texts");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const std::string pointer = fmt::format("{}/{}", pointer_of(key), i);
    auto item = resolve(pointer, (*list)[i]);
    if (!item) continue;
    if (item->is_string() && item->get_string().size() <= kMaxText)
      out.emplace_back(item->get_string());
    else
      error_at(pointer, fmt::format("{}: {} given, expected a text of at most {} characters", key,
                                    quote(scalar_text(*item)), kMaxText));
  }
  show(key, json::value_from(out));
  return out;
}

std::vector<std::string> Options::texts(const std::string& key, std::vector<std::string> fallback) {
  auto out = optional_texts(key);
  if (out) return std::move(*out);
  shown_.members.pop_back();
  show(key, json::value_from(fallback));
  return fallback;
}

Labels Options::labels(const std::string& key) {
  Labels out;
  for (const auto& [name, value] : scalars(key, "a map of labels")) {
    std::string text = value.is_null() ? "" : scalar_text(value);
    if (text.size() > kMaxText)
      error(key, fmt::format("{}: {}: expected a text of at most {} characters", key, quote(name),
                             kMaxText));
    out[sanitise_label(name)] = std::move(text);
  }
  show(key, json::value_from(out));
  return out;
}

std::string Options::component(const std::string& key, const std::vector<std::string_view>& choices,
                               bool required) {
  known_.insert(key);
  const bool given = members_ != nullptr && members_->contains(key);
  const std::string tag = given ? tag_of(pointer_of(key)) : "";
  if (std::ranges::find(choices, tag) != choices.end()) return tag;
  std::string expected = fmt::format("!{}", fmt::join(choices, ", !"));
  if (!given) {
    if (required)
      error_here(fmt::format("!{}: {} is missing, expected {}", component_name(), key, expected));
    return {};
  }
  if (tag.empty()) {
    if (required || has(key))
      error_at_key(key, fmt::format("{}: no tag given, expected {}", key, expected));
    return {};
  }
  const auto& tags = known_tags();
  if (tag == "MesosNode")
    error_at_key(key, "!MesosNode: Mesos is not supported");
  else if (std::ranges::find(tags, tag) == tags.end())
    error_at_key(key, fmt::format("unknown tag !{}; known: !{}", tag, fmt::join(tags, " !")));
  else
    error_at_key(key, fmt::format("{}: !{} given, expected {}", key, tag, expected));
  return {};
}

Options Options::below(const std::string& key, std::string component) const {
  return Options(place(pointer_of(key), std::move(component)));
}

Options Options::item(const std::string& key, std::size_t index, std::string component) const {
  return Options(place(fmt::format("{}/{}", pointer_of(key), index), std::move(component)));
}

void Options::finish() {
  if (members_ == nullptr) return;
  for (const auto& [key, value] : *members_) {
    if (known_.contains(key)) continue;
    error_at_key(std::string(key),
                 fmt::format("unknown key {}; known: {}", quote(key), fmt::join(known_, ", ")));
  }
}

void Options::show(const std::string& key, Shown value) {
  shown_.members.emplace_back(key, std::move(value));
}

void Options::show(const std::string& key, json::value value) {
  show(key, Shown{.plain = std::move(value)});
}

}  // namespace plim::agent
