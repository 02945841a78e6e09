#include "local/apiserver/schema/place.hpp"

#include <fmt/format.h>

namespace plim::local::apiserver {
namespace {

const json::value kNothing;

const json::value& member_of(const json::value& value, std::string_view path) {
  const json::value* found = &value;
  while (!path.empty()) {
    auto dot = path.find('.');
    found = found->is_object() ? found->get_object().if_contains(path.substr(0, dot)) : nullptr;
    if (found == nullptr) return kNothing;
    path.remove_prefix(dot == path.npos ? path.size() : dot + 1);
  }
  return *found;
}

}  // namespace

Place Place::in(std::string_view field) const& {
  return {*this, Step::member, field, 0, member(field)};
}

Place Place::at(std::size_t index) const& {
  return {*this, Step::element, "", index, value_->get_array()[index]};
}

Place Place::of_key(std::string_view key) const& {
  return {*this, Step::key, key, 0, *value_->get_object().if_contains(key)};
}

Place Place::under(std::string_view name, const json::value& value) const& {
  return {*this, Step::member, name, 0, value};
}

std::string Place::path() const {
  if (outer_ == nullptr) return "";
  if (step_ == Step::member) return outer_->path(name_);
  if (step_ == Step::element) return fmt::format("{}[{}]", outer_->path(), index_);
  return fmt::format("{}[{}]", outer_->path(), name_);
}

std::string Place::path(std::string_view field) const {
  std::string out = path();
  if (!out.empty()) out += '.';
  return out += field;
}

const json::value& Place::member(std::string_view field) const {
  return member_of(*value_, field);
}

std::string_view Place::text(std::string_view field) const {
  const json::value& value = member(field);
  return value.is_string() ? std::string_view(value.get_string()) : std::string_view();
}

std::optional<std::int64_t> Place::number(std::string_view field) const {
  return int_at(member(field), {});
}

const json::array& Place::list(std::string_view field) const {
  static const json::array kNone;
  const json::value& value = member(field);
  return value.is_array() ? value.get_array() : kNone;
}

const json::object& Place::map(std::string_view field) const {
  static const json::object kNone;
  const json::value& value = member(field);
  return value.is_object() ? value.get_object() : kNone;
}

bool Place::has(std::string_view field) const {
  return !member(field).is_null();
}

bool is_empty_value(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return true;
    case json::kind::string:
      return value.get_string().empty();
    case json::kind::array:
      return value.get_array().empty();
    case json::kind::int64:
      return value.get_int64() == 0;
    case json::kind::uint64:
      return value.get_uint64() == 0;
    default:
      return false;
  }
}

}  // namespace plim::local::apiserver
