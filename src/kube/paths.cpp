#include "kube/paths.hpp"

namespace plim::kube {
namespace {

const json::value* follow(const json::value& value, std::string_view keys) {
  const json::value* here = &value;
  while (true) {
    const std::size_t end = keys.find('.');
    const json::object* object = here->if_object();
    here = object ? object->if_contains(keys.substr(0, end)) : nullptr;
    if (!here || end == keys.npos) return here;
    keys.remove_prefix(end + 1);
  }
}

const json::value& follow_or_null(const json::value& value, std::string_view keys) {
  static const json::value null;
  const json::value* found = follow(value, keys);
  return found ? *found : null;
}

}  // namespace

const json::value* find(const json::value& value, AnyPath path) {
  return follow(value, path.keys());
}

const json::value* find(const json::value& value, MapPath path, std::string_view key) {
  return find(follow_or_null(value, path.keys()), {key});
}

std::string_view text_at(const json::value& value, TextPath path) {
  return text_at(follow_or_null(value, path.keys()), {});
}

std::optional<std::int64_t> int_at(const json::value& value, IntPath path) {
  return int_at(follow_or_null(value, path.keys()), {});
}

bool bool_at(const json::value& value, BoolPath path) {
  return bool_at(follow_or_null(value, path.keys()), {});
}

const json::array& list_at(const json::value& value, ListPath path) {
  return list_at(follow_or_null(value, path.keys()), {});
}

std::vector<std::string> texts_at(const json::value& value, ListPath path) {
  return texts_at(follow_or_null(value, path.keys()), {});
}

json::object& make_object(json::value& value, StructPath path) {
  json::value* here = &value;
  std::string_view keys = path.keys();
  while (true) {
    const std::size_t end = keys.find('.');
    here = &make_object(*here, {})[keys.substr(0, end)];
    if (end == keys.npos) return make_object(*here, {});
    keys.remove_prefix(end + 1);
  }
}

}  // namespace plim::kube
