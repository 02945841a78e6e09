#include "sched/config_fields.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/duration.hpp"
#include "base/json_kind.hpp"
#include "base/json_pointer.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"

namespace plim::sched {
namespace {

constexpr std::size_t kMostUnknown = 20;  // per object; with more it is probably another kind

}  // namespace

Fields::Fields(const YamlDocument& document, FieldNotes& notes) : Fields(document, "", "", notes) {}

Fields::Fields(const YamlDocument& document, std::string pointer, std::string path,
               FieldNotes& notes)
    : document_(&document), pointer_(std::move(pointer)), path_(std::move(path)), notes_(&notes) {
  boost::system::error_code nowhere;
  const json::value* value = document.value().find_pointer(pointer_, nowhere);
  if (value == nullptr || value->is_null()) return;
  if (value->is_object())
    members_ = &value->get_object();
  else
    error_here(fmt::format("expected an object, found {}", json_kind(*value)));
}

std::string Fields::pointer_of(std::string_view key) const {
  std::string out = pointer_;
  append_step(out, key);
  return out;
}

std::string Fields::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const json::value* Fields::get(const std::string& key) {
  known_.insert(key);
  if (members_ == nullptr) return nullptr;
  const json::value* value = members_->if_contains(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool Fields::has(std::string_view key) const {
  if (members_ == nullptr) return false;
  const json::value* value = members_->if_contains(key);
  return value != nullptr && !value->is_null();
}

const json::value* Fields::raw(const std::string& key) {
  return get(key);
}

std::string Fields::text(const std::string& key, std::string fallback) {
  const json::value* value = get(key);
  if (value == nullptr) return fallback;
  if (value->is_string()) return std::string(value->get_string());
  error(key, fmt::format("expected a string, found {}", json_kind(*value)));
  return fallback;
}

std::int64_t Fields::integer(const std::string& key, std::int64_t fallback, IntRange range) {
  const json::value* value = get(key);
  if (value == nullptr) return fallback;
  std::int64_t number = 0;
  if (const auto* whole = value->if_int64()) {
    number = *whole;
  } else {
    error(key, fmt::format("expected an integer, found {}", to_json(*value)));
    return fallback;
  }
  if (number >= range.low && number <= range.high) return number;
  if (range.high == std::numeric_limits<std::int64_t>::max())
    error(key, fmt::format("{} is too small, the least is {}", number, range.low));
  else
    error(key, fmt::format("{} is not between {} and {}", number, range.low, range.high));
  return fallback;
}

double Fields::number(const std::string& key, double fallback) {
  const json::value* value = get(key);
  if (value == nullptr) return fallback;
  boost::system::error_code no_number;
  const double number = value->to_number<double>(no_number);
  if (!no_number && std::isfinite(number)) return number;
  error(key, fmt::format("expected a number, found {}", to_json(*value)));
  return fallback;
}

bool Fields::boolean(const std::string& key, bool fallback) {
  const json::value* value = get(key);
  if (value == nullptr) return fallback;
  if (value->is_bool()) return value->get_bool();
  error(key, fmt::format("expected true or false, found {}", to_json(*value)));
  return fallback;
}

Nanos Fields::duration(const std::string& key, Nanos fallback) {
  const json::value* value = get(key);
  if (value == nullptr) return fallback;
  // As in kube-scheduler: a number has no unit, and nobody can know which one was meant.
  if (value->is_number()) {
    error(key, fmt::format("expected a duration with a unit, found {0}; write {0}s for seconds",
                           to_json(*value)));
    return fallback;
  }
  if (value->is_string())
    if (const auto parsed = parse_duration(value->get_string())) return *parsed;
  error(key, fmt::format("expected a duration such as 15s, found {}", to_json(*value)));
  return fallback;
}

std::vector<std::string> Fields::texts(const std::string& key) {
  std::vector<std::string> out;
  const json::value* value = get(key);
  if (value == nullptr) return out;
  if (!value->is_array()) {
    error(key, fmt::format("expected a list of strings, found {}", json_kind(*value)));
    return out;
  }
  for (const json::value& item : value->get_array()) {
    if (item.is_string())
      out.emplace_back(item.get_string());
    else
      error(key, fmt::format("expected a list of strings, found {} in it", to_json(item)));
  }
  return out;
}

std::size_t Fields::choice(const std::string& key, std::span<const std::string_view> words,
                           std::size_t fallback) {
  if (get(key) == nullptr) return fallback;
  const std::string given = text(key);
  for (std::size_t index = 0; index < words.size(); ++index)
    if (words[index] == given) return index;
  error(key, fmt::format("expected one of {}, found {}", fmt::join(words, ", "), quote(given)));
  return fallback;
}

std::optional<Fields> Fields::object(const std::string& key) {
  if (get(key) == nullptr) return std::nullopt;
  return Fields(*document_, pointer_of(key), path_of(key), *notes_);
}

std::vector<Fields> Fields::objects(const std::string& key) {
  std::vector<Fields> out;
  const json::value* value = get(key);
  if (value == nullptr) return out;
  if (!value->is_array()) {
    error(key, fmt::format("expected a list, found {}", json_kind(*value)));
    return out;
  }
  const std::string pointer = pointer_of(key);
  const std::string path = path_of(key);
  for (std::size_t index = 0; index < value->get_array().size(); ++index)
    out.push_back(Fields(*document_, fmt::format("{}/{}", pointer, index),
                         fmt::format("{}[{}]", path, index), *notes_));
  return out;
}

void Fields::error(std::string_view key, std::string_view message) {
  notes_->errors.push_back(
      document_->error_at(pointer_of(key), fmt::format("{}: {}", path_of(key), message)).message);
}

void Fields::warn(std::string_view key, std::string_view message) {
  notes_->warnings.push_back(
      document_->error_at(pointer_of(key), fmt::format("{}: {}", path_of(key), message)).message);
}

void Fields::error_here(std::string_view message) {
  const std::string text =
      path_.empty() ? std::string(message) : path_ + ": " + std::string(message);
  notes_->errors.push_back(document_->error_at(pointer_, text).message);
}

void Fields::warn_here(std::string_view message) {
  const std::string text =
      path_.empty() ? std::string(message) : path_ + ": " + std::string(message);
  notes_->warnings.push_back(document_->error_at(pointer_, text).message);
}

void Fields::finish() {
  if (members_ == nullptr) return;
  const std::vector<std::string_view> names(known_.begin(), known_.end());
  auto& list = notes_->unknown_is_error ? notes_->errors : notes_->warnings;
  std::size_t unknown = 0;
  for (const auto& [key, value] : *members_) {
    if (known_.contains(key) || ++unknown > kMostUnknown) continue;
    const std::string_view near = nearest(key, names);
    std::string text = fmt::format("unknown field {}", quote(path_of(key)));
    if (!near.empty()) text += fmt::format(", did you mean {}?", near);
    list.push_back(document_->error_at_key(pointer_of(key), text).message);
  }
  if (unknown > kMostUnknown)
    list.push_back(document_
                       ->error_at(pointer_, fmt::format("{}{} more fields are unknown",
                                                        path_.empty() ? "" : path_ + ": ",
                                                        unknown - kMostUnknown))
                       .message);
}

}  // namespace plim::sched
