#include "base/json.hpp"

#include <cmath>
#include <utility>

namespace plim {

const json::value* find(const json::value& value, std::initializer_list<std::string_view> path) {
  const json::value* here = &value;
  for (std::string_view key : path) {
    const json::object* object = here->if_object();
    here = object ? object->if_contains(key) : nullptr;
    if (!here) return nullptr;
  }
  return here;
}

std::string_view text_at(const json::value& value, std::initializer_list<std::string_view> path) {
  const json::value* found = find(value, path);
  const json::string* text = found ? found->if_string() : nullptr;
  return text ? std::string_view(text->data(), text->size()) : std::string_view();
}

std::optional<std::int64_t> int_at(const json::value& value,
                                   std::initializer_list<std::string_view> path) {
  const json::value* found = find(value, path);
  if (!found) return std::nullopt;
  if (found->is_int64()) return found->get_int64();
  // Our own code may store unsigned numbers; the parser does so only for values that need it.
  if (const std::uint64_t* number = found->if_uint64();
      number && std::in_range<std::int64_t>(*number))
    return static_cast<std::int64_t>(*number);
  // Kubernetes accepts 3.0 as an integer; 2^63 as a double does not fit.
  if (const double* number = found->if_double()) {
    if (std::trunc(*number) == *number && *number >= -0x1p63 && *number < 0x1p63)
      return static_cast<std::int64_t>(*number);
  }
  return std::nullopt;
}

bool bool_at(const json::value& value, std::initializer_list<std::string_view> path) {
  const json::value* found = find(value, path);
  return found && found->is_bool() && found->get_bool();
}

const json::array& list_at(const json::value& value, std::initializer_list<std::string_view> path) {
  static const json::array kNone;
  const json::value* found = find(value, path);
  return found && found->is_array() ? found->get_array() : kNone;
}

std::vector<std::string> texts_at(const json::value& value,
                                  std::initializer_list<std::string_view> path) {
  std::vector<std::string> out;
  for (const json::value& item : list_at(value, path))
    if (item.is_string()) out.emplace_back(item.get_string());
  return out;
}

json::object& make_object(json::value& value, std::initializer_list<std::string_view> path) {
  auto as_object = [](json::value& here) -> json::object& {
    return here.is_object() ? here.get_object() : here.emplace_object();
  };
  json::object* object = &as_object(value);
  for (std::string_view key : path) object = &as_object((*object)[key]);
  return *object;
}

void sort_keys(json::value& value) {
  if (json::array* array = value.if_array()) {
    for (json::value& element : *array) sort_keys(element);
  }
  json::object* object = value.if_object();
  if (!object) return;
  std::vector<json::string_view> keys;
  for (json::key_value_pair& member : *object) {
    sort_keys(member.value());
    keys.push_back(member.key());
  }
  if (std::is_sorted(keys.begin(), keys.end())) return;
  std::sort(keys.begin(), keys.end());
  json::object sorted(object->storage());
  sorted.reserve(keys.size());
  for (json::string_view key : keys) sorted.emplace(key, std::move(*object->if_contains(key)));
  *object = std::move(sorted);
}

}  // namespace plim
