#include "kube/field_reader.hpp"

#include <fmt/format.h>

#include "base/json_pointer.hpp"

namespace plim::kube {
namespace {

std::string_view type_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "nothing";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_:
      return "a number";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "a list";
    case json::kind::object:
      return "a map";
  }
  return "something else";
}

}  // namespace

FieldReader::Path FieldReader::Path::member(std::string_view key) const {
  Path out = *this;
  if (!out.shown.empty()) out.shown += '.';
  out.shown += key;
  append_step(out.pointer, key);
  return out;
}

FieldReader::Path FieldReader::Path::element(std::size_t index) const {
  return {fmt::format("{}[{}]", shown, index), fmt::format("{}/{}", pointer, index)};
}

Result<FieldReader> FieldReader::root_of(const YamlDocument& document) {
  const FieldReader nothing(document, nullptr, {});
  return nothing.object_at({}, document.value());
}

std::vector<std::string> FieldReader::keys() const {
  std::vector<std::string> out;
  if (value_)
    for (const auto& member : *value_) out.emplace_back(member.key());
  return out;
}

const json::value* FieldReader::value(std::string_view key) const {
  const json::value* found = value_ ? value_->if_contains(key) : nullptr;
  return found && !found->is_null() ? found : nullptr;
}

Error FieldReader::error_at(const Path& path, std::string_view message) const {
  if (path.shown.empty()) return document_->error_at(path.pointer, message);
  return document_->error_at(path.pointer, fmt::format("{}: {}", path.shown, message));
}

Error FieldReader::error(std::string_view key, std::string_view message) const {
  return error_at(path_.member(key), message);
}

Error FieldReader::wrong_type(const Path& path, std::string_view expected,
                              const json::value& found) const {
  return error_at(path, fmt::format("expected {}, found {}", expected, type_name(found)));
}

Result<std::string> FieldReader::text(std::string_view key) const {
  const json::value* found = value(key);
  if (!found) return std::string();
  if (!found->is_string()) return wrong_type(path_.member(key), "a string", *found);
  return std::string(found->get_string());
}

Result<bool> FieldReader::flag(std::string_view key) const {
  const json::value* found = value(key);
  if (!found) return false;
  if (!found->is_bool()) return wrong_type(path_.member(key), "a boolean", *found);
  return found->get_bool();
}

Result<FieldReader> FieldReader::object_at(Path path, const json::value& value) const {
  if (value.is_null()) return FieldReader(*document_, nullptr, std::move(path));
  if (!value.is_object()) return wrong_type(path, "a map", value);
  return FieldReader(*document_, &value.get_object(), std::move(path));
}

Result<FieldReader> FieldReader::object(std::string_view key) const {
  const json::value* found = value(key);
  if (!found) return FieldReader(*document_, nullptr, path_.member(key));
  return object_at(path_.member(key), *found);
}

Result<const json::array*> FieldReader::array(std::string_view key) const {
  const json::value* found = value(key);
  if (!found) return nullptr;
  if (!found->is_array()) return wrong_type(path_.member(key), "a list", *found);
  return &found->get_array();
}

Result<std::vector<FieldReader>> FieldReader::list(std::string_view key) const {
  std::vector<FieldReader> out;
  PLIM_TRY(const json::array* items, array(key));
  if (!items) return out;
  const Path path = path_.member(key);
  for (std::size_t i = 0; i < items->size(); ++i) {
    PLIM_TRY(FieldReader item, object_at(path.element(i), (*items)[i]));
    out.push_back(std::move(item));
  }
  return out;
}

Result<std::vector<std::string>> FieldReader::texts(std::string_view key) const {
  std::vector<std::string> out;
  PLIM_TRY(const json::array* items, array(key));
  if (!items) return out;
  const Path path = path_.member(key);
  for (std::size_t i = 0; i < items->size(); ++i) {
    const json::value& item = (*items)[i];
    if (!item.is_string()) return wrong_type(path.element(i), "a string", item);
    out.emplace_back(item.get_string());
  }
  return out;
}

}  // namespace plim::kube
