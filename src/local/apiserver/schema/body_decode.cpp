#include "local/apiserver/schema/body_decode.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "local/apiserver/schema/duplicate_keys.hpp"
#include "local/apiserver/schema/member_order.hpp"
#include "local/apiserver/schema/scalar_form.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::size_t kMaxMistakes = 100;  // as upstream

void note(FieldMistakes& mistakes, std::string_view what, std::string_view path) {
  if (mistakes.size() >= kMaxMistakes) return;
  std::string text = fmt::format("{} field \"{}\"", what, path);
  if (std::find(mistakes.begin(), mistakes.end(), text) == mistakes.end())
    mistakes.push_back(std::move(text));
}

// Walks over an object and its type. Keeps two paths: type errors contain only the fields
// ("spec.containers.ports"), mistakes also the indices ("spec.containers[0].ports").
class Conformer {
 public:
  explicit Conformer(FieldMistakes& mistakes) : mistakes_(mistakes) {}

  Result<void> object(const Type& type, json::value& value) {
    json::object members = std::move(value.get_object());
    for (auto& member : members) PLIM_CHECK(member_of(type, member));
    json::object ordered(members.storage());
    ordered.reserve(members.size());
    for (const Field& field : type.fields) {
      json::value* found = members.if_contains(field.name);
      if (found != nullptr && stays(field, *found)) {
        ordered.emplace(field.name, std::move(*found));
      } else if (field.required_zero) {
        PLIM_TRY(json::value zero, zero_of(field));
        ordered.emplace(field.name, std::move(zero));
      }
    }
    value = std::move(ordered);
    return {};
  }

 private:
  // Unknown members stay where they are; only known ones are copied afterwards.
  Result<void> member_of(const Type& type, json::key_value_pair& member) {
    const Field* field = type.find(member.key());
    std::size_t before = path_.size();
    if (!path_.empty()) path_ += '.';
    path_ += std::string_view(member.key());
    Result<void> outcome;
    if (field == nullptr) {
      note(mistakes_, "unknown", path_);
    } else if (!member.value().is_null()) {
      names_.push_back(field->name);
      outcome = whole(type, *field, member.value());
      names_.pop_back();
    }
    path_.resize(before);
    return outcome;
  }

  Result<void> whole(const Type& owner, const Field& field, json::value& value) {
    if (field.shape == Shape::list) {
      if (!value.is_array()) return wrong_type(owner, value, Scalar::text, go_shape(field));
      std::size_t index = 0;
      for (json::value& element : value.get_array()) {
        std::size_t before = path_.size();
        path_ += fmt::format("[{}]", index++);
        PLIM_CHECK(element_of(owner, field, element));
        path_.resize(before);
      }
      return {};
    }
    if (field.shape == Shape::map) {
      if (!value.is_object()) return wrong_type(owner, value, Scalar::text, go_shape(field));
      for (auto& member : value.get_object()) {
        std::size_t before = path_.size();
        path_ += '.';
        path_ += std::string_view(member.key());
        PLIM_CHECK(element_of(owner, field, member.value()));
        path_.resize(before);
      }
      sort_map(value.get_object());
      return {};
    }
    return single(owner, field, value);
  }

  // A null in a list or map is the empty value of its type.
  Result<void> element_of(const Type& owner, const Field& field, json::value& value) {
    if (value.is_null()) value = zero_scalar(field.scalar);
    return value.is_null() ? Result<void>() : single(owner, field, value);
  }

  Result<void> single(const Type& owner, const Field& field, json::value& value) {
    if (field.scalar == Scalar::object) {
      if (!value.is_object()) return wrong_type(owner, value, field.scalar, go_type(field));
      return object(*field.type, value);
    }
    PLIM_TRY(Fit fit, fit_scalar(field.scalar, value));
    if (fit == Fit::wrong_type) return wrong_type(owner, value, field.scalar, go_type(field));
    if (fit == Fit::unset) value = nullptr;
    return {};
  }

  Error wrong_type(const Type& owner, const json::value& value, Scalar scalar,
                   std::string_view wanted) const {
    return fail(Code::bad_request,
                fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}",
                            json_kind(value, scalar), owner.name, fmt::join(names_, "."), wanted));
  }

  static bool stays(const Field& field, const json::value& value) {
    if (field.required_zero) return !value.is_null();
    return !is_unset(field, value);
  }

  Result<json::value> zero_of(const Field& field) {
    json::value zero = zero_scalar(field.scalar);
    if (field.scalar == Scalar::object) PLIM_CHECK(object(*field.type, zero));
    return zero;
  }

  FieldMistakes& mistakes_;
  std::string path_;
  std::vector<std::string_view> names_;
};

}  // namespace

Result<json::value> parse_body(std::string_view text, FieldMistakes& mistakes) {
  auto parsed = parse_json(text);
  if (!parsed) return fail(Code::bad_request, std::move(parsed).error().message);
  for (const std::string& path : find_duplicate_keys(text, *parsed))
    note(mistakes, "duplicate", path);
  return std::move(*parsed);
}

Result<void> conform(const Type& type, json::value& object, FieldMistakes& mistakes) {
  if (!object.is_object())
    return fail(Code::bad_request,
                fmt::format("json: cannot unmarshal {} into Go value of type v1.{}",
                            json_kind(object, Scalar::text), type.name));
  return Conformer(mistakes).object(type, object);
}

}  // namespace plim::local::apiserver
