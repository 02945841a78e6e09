#include "local/apiserver/schema/causes.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::local::apiserver {

void Causes::required(std::string field, std::string_view detail) {
  add("FieldValueRequired", "Required value", detail, std::move(field));
}

void Causes::invalid(std::string field, const json::value& value, std::string_view detail) {
  add("FieldValueInvalid", "Invalid value: " + to_json(value), detail, std::move(field));
}

void Causes::forbidden(std::string field, std::string_view detail) {
  add("FieldValueForbidden", "Forbidden", detail, std::move(field));
}

void Causes::duplicate(std::string field, const json::value& value, std::string_view detail) {
  add("FieldValueDuplicate", "Duplicate value: " + to_json(value), detail, std::move(field));
}

void Causes::not_found(std::string field, std::string_view value) {
  add("FieldValueNotFound", "Not found: " + to_json(json::value(value)), "", std::move(field));
}

void Causes::too_long(std::string field, std::size_t limit) {
  add("FieldValueTooLong", "Too long", fmt::format("may not be more than {} bytes", limit),
      std::move(field));
}

void Causes::unsupported(std::string field, const json::value& value, std::string_view supported) {
  std::string detail;
  for (std::string_view text : split(supported, ','))
    detail += fmt::format("{}\"{}\"", detail.empty() ? "supported values: " : ", ", text);
  add("FieldValueNotSupported", "Unsupported value: " + to_json(value), detail, std::move(field));
}

void Causes::invalid_text(const std::string& field, std::string_view value,
                          const std::vector<std::string>& messages) {
  for (const std::string& message : messages) invalid(field, json::value(value), message);
}

void Causes::add(std::string_view reason, std::string message, std::string_view detail,
                 std::string field) {
  if (!detail.empty()) message += fmt::format(": {}", detail);
  causes_.push_back({std::string(reason), std::move(message), std::move(field)});
}

}  // namespace plim::local::apiserver
