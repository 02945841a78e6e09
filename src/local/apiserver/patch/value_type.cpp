#include "local/apiserver/patch/value_type.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::local::apiserver {

ValueType ValueType::root(const Type* type) {
  ValueType out(type ? Kind::object : Kind::free, nullptr, type);
  out.root_ = true;
  return out;
}

ValueType ValueType::of(const Field& field) {
  if (field.shape == Shape::list) {
    if (field.list == ListKind::set) return {Kind::set, &field, nullptr};
    if (field.list == ListKind::map) return {Kind::keyed, &field, field.type};
    return {Kind::whole, &field, nullptr};
  }
  if (field.atomic) return {Kind::whole, &field, nullptr};
  if (field.shape == Shape::map) return {Kind::map, &field, field.type};
  return ValueType(Kind::whole, &field, nullptr).single();
}

// The type of a single value of the field.
ValueType ValueType::single() const {
  if (field_->scalar != Scalar::object) return {Kind::whole, field_, nullptr};
  return {field_->type ? Kind::object : Kind::free, field_, field_->type};
}

ValueType::Kind ValueType::kind_for(const json::value& value) const {
  switch (kind_) {
    case Kind::object:
    case Kind::map:
    case Kind::free:
      return value.is_object() ? kind_ : Kind::whole;
    case Kind::set:
    case Kind::keyed:
      return value.is_array() ? kind_ : Kind::whole;
    case Kind::whole:
      break;
  }
  return Kind::whole;
}

bool ValueType::knows(std::string_view member) const {
  if (kind_ != Kind::object) return true;
  if (root_ && (member == "metadata" || member == "apiVersion" || member == "kind")) return true;
  return type_->find(member) != nullptr;
}

ValueType ValueType::member(std::string_view name) const {
  if (kind_ == Kind::map) return single();
  if (type_) {
    if (const Field* field = type_->find(name)) return of(*field);
  }
  if (root_ && name == "metadata") return {Kind::object, nullptr, &object_meta_type()};
  return {Kind::free, nullptr, nullptr};
}

ValueType ValueType::element() const {
  return single();
}

Result<std::string> ValueType::path_element(const json::value& element) const {
  if (kind_ == Kind::set) return "v:" + to_json(element);
  json::object keys;
  for (std::string_view key : split(field_->list_keys, ',')) {
    if (const json::value* found = plim::find(element, {key})) {
      keys.emplace(key, *found);
      continue;
    }
    const Field* field = type_ ? type_->find(key) : nullptr;
    const auto fallback = parse_json(field ? field->fallback : "");
    if (!fallback)
      return fail(Code::bad_request,
                  fmt::format("associative list with keys has an element that omits key field {}",
                              quote(key)));
    keys.emplace(key, *fallback);
  }
  json::value sorted = std::move(keys);
  sort_keys(sorted);
  return "k:" + to_json(sorted);
}

}  // namespace plim::local::apiserver
