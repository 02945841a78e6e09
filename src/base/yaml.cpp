#include "base/yaml.hpp"

namespace plim {

YamlDocument::Found YamlDocument::find_node(std::string_view pointer) const {
  const Node* node = &root_;
  const json::value* value = &value_;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);  // the slash
    std::string key;
    for (; !pointer.empty() && pointer.front() != '/'; pointer.remove_prefix(1)) {
      bool escaped = pointer.starts_with("~0") || pointer.starts_with("~1");
      key += !escaped ? pointer.front() : pointer[1] == '0' ? '~' : '/';
      if (escaped) pointer.remove_prefix(1);
    }
    std::size_t index = 0;
    if (const json::object* object = value->if_object()) {
      auto member = object->find(key);
      if (member == object->end()) return {*node, false};
      index = static_cast<std::size_t>(member - object->begin());
      value = &member->value();
    } else {
      const json::array* array = value->if_array();
      auto parsed = parse_int<std::size_t>(key);
      if (!array || !parsed || *parsed >= array->size()) return {*node, false};
      index = *parsed;
      value = &(*array)[index];
    }
    node = &node->children[index];
  }
  return {*node, true};
}

TextPosition YamlDocument::position(std::string_view pointer) const {
  return find_node(pointer).node.at;
}

TextPosition YamlDocument::key_position(std::string_view pointer) const {
  return find_node(pointer).node.key_at;
}

std::string_view YamlDocument::local_tag(std::string_view pointer) const {
  auto [node, exact] = find_node(pointer);
  return exact && node.tag ? std::string_view(*node.tag) : std::string_view();
}

Error YamlDocument::error_at(std::string_view pointer, std::string_view message) const {
  return fail(Code::invalid, located(source_, position(pointer), message));
}

Error YamlDocument::error_at_key(std::string_view pointer, std::string_view message) const {
  return fail(Code::invalid, located(source_, key_position(pointer), message));
}

}  // namespace plim
