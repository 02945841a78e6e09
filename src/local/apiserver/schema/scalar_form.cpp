#include "local/apiserver/schema/scalar_form.hpp"

#include <cstdint>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/duration.hpp"
#include "base/quantity.hpp"
#include "base/rfc3339.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::string_view kZeroTime = "0001-01-01T00:00:00Z";

std::optional<std::int64_t> integer(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  if (value.is_uint64() && value.get_uint64() <= std::numeric_limits<std::int64_t>::max())
    return static_cast<std::int64_t>(value.get_uint64());
  return std::nullopt;
}

std::optional<std::int64_t> int32_in(const json::value& value) {
  auto number = integer(value);
  if (!number || *number < std::numeric_limits<std::int32_t>::min() ||
      *number > std::numeric_limits<std::int32_t>::max())
    return std::nullopt;
  return number;
}

Result<Fit> fit_integer(json::value& value, std::optional<std::int64_t> number) {
  if (!number) return Fit::wrong_type;
  value = *number;
  return Fit::fits;
}

Result<Fit> fit_quantity(json::value& value) {
  std::string text;
  if (value.is_string()) text = value.get_string();
  if (value.is_number()) text = to_json(value);
  auto quantity = parse_quantity(text);
  if (!quantity)
    return fail(Code::bad_request,
                "quantities must match the regular expression "
                "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  value = quantity->to_string();
  return Fit::fits;
}

Error cannot_decode(const json::value& value, Scalar wanted, std::string_view type) {
  return fail(Code::bad_request, fmt::format("json: cannot unmarshal {} into Go value of type {}",
                                             json_kind(value, wanted), type));
}

Result<Fit> fit_int_or_string(json::value& value) {
  if (value.is_string()) return Fit::fits;
  auto number = int32_in(value);
  if (!number) return cannot_decode(value, Scalar::int32, "int32");
  value = *number;
  return Fit::fits;
}

Result<Fit> fit_time(Scalar scalar, json::value& value) {
  if (!value.is_string()) return cannot_decode(value, Scalar::text, "string");
  std::string text(value.get_string());
  if (text == kZeroTime) return Fit::unset;
  auto time = parse_rfc3339(text);
  if (!time)
    return fail(Code::bad_request,
                fmt::format(R"(parsing time "{0}" as "2006-01-02T15:04:05{1}Z07:00": )"
                            R"(cannot parse "{0}" as "2006")",
                            text, scalar == Scalar::time ? "" : ".000000"));
  value = scalar == Scalar::time ? format_rfc3339(*time) : format_rfc3339_micro(*time);
  return Fit::fits;
}

Result<Fit> fit_duration(json::value& value) {
  if (!value.is_string()) return cannot_decode(value, Scalar::text, "string");
  auto duration = parse_duration(std::string_view(value.get_string()));
  if (!duration)
    return fail(Code::bad_request,
                fmt::format("time: invalid duration \"{}\"", std::string_view(value.get_string())));
  value = format_duration(*duration);
  return Fit::fits;
}

// The message with the position where Go stops reading.
std::string illegal_base64(std::string_view text) {
  std::size_t at = text.find_first_not_of(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n");
  if (at == text.npos) at = text.size() / 4 * 4;
  return fmt::format("illegal base64 data at input byte {}", at);
}

Result<Fit> fit_bytes(json::value& value) {
  if (!value.is_string()) return Fit::wrong_type;
  auto bytes = base64_decode(std::string_view(value.get_string()));
  if (!bytes) return fail(Code::bad_request, illegal_base64(value.get_string()));
  value = base64_encode(*bytes);
  return Fit::fits;
}

}  // namespace

std::string go_type(const Field& field) {
  switch (field.scalar) {
    case Scalar::boolean:
      return "bool";
    case Scalar::int32:
      return "int32";
    case Scalar::int64:
      return "int64";
    case Scalar::number:
      return "float64";
    case Scalar::bytes:
      return "[]uint8";
    case Scalar::object:
      return fmt::format("v1.{}", field.type->name);
    case Scalar::quantity:
      return "resource.Quantity";
    default:
      return "string";
  }
}

std::string go_shape(const Field& field) {
  switch (field.shape) {
    case Shape::list:
      return "[]" + go_type(field);
    case Shape::map:
      return "map[string]" + go_type(field);
    case Shape::one:
      break;
  }
  return go_type(field);
}

std::string json_kind(const json::value& value, Scalar wanted) {
  switch (value.kind()) {
    case json::kind::string:
      return "string";
    case json::kind::bool_:
      return "bool";
    case json::kind::array:
      return "array";
    case json::kind::object:
      return "object";
    case json::kind::null:
      return "null";
    default:
      break;
  }
  bool shows_number =
      wanted == Scalar::int32 || wanted == Scalar::int64 || wanted == Scalar::number;
  return shows_number ? "number " + to_json(value) : "number";
}

Result<Fit> fit_scalar(Scalar scalar, json::value& value) {
  switch (scalar) {
    case Scalar::text:
      return value.is_string() ? Fit::fits : Fit::wrong_type;
    case Scalar::boolean:
      return value.is_bool() ? Fit::fits : Fit::wrong_type;
    case Scalar::number:
      return value.is_number() ? Fit::fits : Fit::wrong_type;
    case Scalar::int32:
      return fit_integer(value, int32_in(value));
    case Scalar::int64:
      return fit_integer(value, integer(value));
    case Scalar::quantity:
      return fit_quantity(value);
    case Scalar::int_or_string:
      return fit_int_or_string(value);
    case Scalar::time:
    case Scalar::micro_time:
      return fit_time(scalar, value);
    case Scalar::duration:
      return fit_duration(value);
    case Scalar::bytes:
      return fit_bytes(value);
    case Scalar::object:
    case Scalar::any:
      break;
  }
  return Fit::fits;
}

json::value zero_scalar(Scalar scalar) {
  switch (scalar) {
    case Scalar::text:
    case Scalar::bytes:
      return "";
    case Scalar::boolean:
      return false;
    case Scalar::int32:
    case Scalar::int64:
    case Scalar::number:
    case Scalar::int_or_string:
      return 0;
    case Scalar::quantity:
      return "0";
    case Scalar::duration:
      return "0s";
    case Scalar::object:
      return json::object();
    case Scalar::time:
    case Scalar::micro_time:
    case Scalar::any:
      break;
  }
  return nullptr;
}

bool is_zero_scalar(Scalar scalar, const json::value& value) {
  switch (scalar) {
    case Scalar::number:
      return value.is_number() && value.to_number<double>() == 0;
    case Scalar::int_or_string:
      return value == json::value(0) || value == json::value("");
    case Scalar::any:
      return value.is_null();
    default:
      return value == zero_scalar(scalar);
  }
}

bool is_unset(const Field& field, const json::value& value) {
  if (value.is_null()) return true;
  if (field.keep_zero) return false;
  if (field.shape == Shape::list) return value.is_array() && value.get_array().empty();
  if (field.shape == Shape::map) return value.is_object() && value.get_object().empty();
  return is_zero_scalar(field.scalar, value);
}

}  // namespace plim::local::apiserver
