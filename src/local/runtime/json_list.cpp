#include "local/runtime/json_list.hpp"

namespace plim::local {

const json::array& list_at(const json::value& value, std::initializer_list<std::string_view> path) {
  static const json::array kNone;
  const json::value* found = find(value, path);
  return found != nullptr && found->is_array() ? found->as_array() : kNone;
}

std::vector<std::string> texts_at(const json::value& value,
                                  std::initializer_list<std::string_view> path) {
  std::vector<std::string> out;
  for (const json::value& item : list_at(value, path))
    if (item.is_string()) out.emplace_back(item.as_string());
  return out;
}

}  // namespace plim::local
