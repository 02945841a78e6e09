#include "local/apiserver/api/protobuf_body.hpp"

#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/duration.hpp"
#include "base/rfc3339.hpp"
#include "base/text.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::string_view kMagic{"k8s\0", 4};
constexpr int kMaxDepth = 100;

Error malformed(std::string_view what) {
  return fail(Code::bad_request, fmt::format("the protobuf body is malformed: {}", what));
}

// One encoded field.
struct WireField {
  enum class Form : std::uint8_t { varint, fixed64, bytes, fixed32 };

  std::uint32_t number = 0;
  Form form = Form::varint;
  std::uint64_t value = 0;      // for numbers
  std::string_view bytes = {};  // for Form::bytes
};

class WireMessage {
 public:
  explicit WireMessage(std::string_view bytes) : rest_(bytes) {}

  // Nothing at the end.
  Result<std::optional<WireField>> next() {
    if (rest_.empty()) return std::optional<WireField>();
    PLIM_TRY(std::uint64_t tag, varint());
    WireField out{.number = static_cast<std::uint32_t>(tag >> 3)};
    if (out.number == 0 || tag >> 32 != 0) return malformed("a field number out of range");
    switch (tag & 7) {
      case 0: {
        PLIM_TRY(out.value, varint());
        break;
      }
      case 1: {
        out.form = WireField::Form::fixed64;
        PLIM_TRY(out.value, fixed(8));
        break;
      }
      case 2: {
        out.form = WireField::Form::bytes;
        PLIM_TRY(std::uint64_t size, varint());
        if (size > rest_.size()) return malformed("it is cut off");
        out.bytes = rest_.substr(0, size);
        rest_.remove_prefix(size);
        break;
      }
      case 5: {
        out.form = WireField::Form::fixed32;
        PLIM_TRY(out.value, fixed(4));
        break;
      }
      default:
        return malformed("an unknown wire type");
    }
    return std::optional(out);
  }

  bool empty() const { return rest_.empty(); }

  Result<std::uint64_t> varint() {
    std::uint64_t out = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return malformed("it is cut off");
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      out |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return out;
    }
    return malformed("a number is too long");
  }

  Result<std::uint64_t> fixed(std::size_t size) {
    if (rest_.size() < size) return malformed("it is cut off");
    std::uint64_t out = 0;
    std::memcpy(&out, rest_.data(), size);
    rest_.remove_prefix(size);
    return out;
  }

 private:
  std::string_view rest_;
};

// Calls `visit` for each field; stops at its first error.
template <class Visit>
Result<void> each_field(std::string_view message, const Visit& visit) {
  WireMessage wire(message);
  for (;;) {
    PLIM_TRY(std::optional<WireField> field, wire.next());
    if (!field) return {};
    PLIM_CHECK(visit(*field));
  }
}

// The fields of Go's wrapper types: strings and raw JSON have number 1, numbers 1 and 2.
struct Wrapped {
  std::uint64_t first = 0, second = 0;
  std::string_view bytes = {}, third = {};
};

Result<Wrapped> unwrap(std::string_view message) {
  Wrapped out;
  PLIM_CHECK(each_field(message, [&](const WireField& field) -> Result<void> {
    const bool is_bytes = field.form == WireField::Form::bytes;
    if (field.number == 1 && is_bytes) out.bytes = field.bytes;
    if (field.number == 1 && !is_bytes) out.first = field.value;
    if (field.number == 2 && !is_bytes) out.second = field.value;
    if (field.number == 3 && is_bytes) out.third = field.bytes;
    return {};
  }));
  return out;
}

Result<json::value> text_of(std::string_view bytes) {
  if (find_invalid_utf8(bytes)) return malformed("a text is not UTF-8");
  return json::value(bytes);
}

Result<json::value> time_of(std::string_view message, bool micro) {
  if (message.empty()) return json::value();  // Go's zero time
  PLIM_TRY(Wrapped parts, unwrap(message));
  const auto seconds = static_cast<std::int64_t>(parts.first);
  constexpr std::int64_t kFarthest = 9'000'000'000;  // the largest WallTime
  if (seconds < -kFarthest || seconds > kFarthest) return malformed("a time out of range");
  const auto nanos = static_cast<std::int32_t>(parts.second);
  const WallTime time{std::chrono::seconds(seconds) + Nanos(nanos)};
  return json::value(micro ? format_rfc3339_micro(time) : format_rfc3339(time));
}

Result<json::value> int_or_string(std::string_view message) {
  PLIM_TRY(Wrapped parts, unwrap(message));
  if (parts.first == 1) return text_of(parts.third);
  return json::value(static_cast<std::int64_t>(static_cast<std::int32_t>(parts.second)));
}

class Decoder {
 public:
  // `inside` is the path to this message through messages that JSON does not show, `depth` their
  // number.
  Result<void> message(const Type& type, std::string_view bytes, std::uint16_t inside, int depth,
                       json::object& out) {
    if (++nesting_ > kMaxDepth) return malformed("it is nested too deeply");
    auto visit = [&](const WireField& wire) -> Result<void> {
      for (const Field& field : type.fields)
        if (field.number == wire.number && field.inside == inside) return add(field, wire, out);
      if (wire.form != WireField::Form::bytes || depth == 2 || wire.number > 0xff) return {};
      const auto deeper = static_cast<std::uint16_t>(inside | (wire.number << (8 * depth)));
      const auto mask = static_cast<std::uint16_t>(depth == 0 ? 0xff : 0xffff);
      for (const Field& field : type.fields)
        if ((field.inside & mask) == deeper)
          return message(type, wire.bytes, deeper, depth + 1, out);
      return {};
    };
    auto done = each_field(bytes, visit);
    --nesting_;
    return done;
  }

 private:
  Result<void> add(const Field& field, const WireField& wire, json::object& out) {
    if (field.shape == Shape::map) return add_entry(field, wire, out);
    if (field.shape == Shape::list) return add_element(field, wire, out);
    // A message may come in parts; later numbers and strings replace earlier ones.
    PLIM_TRY(json::value made, value(field, wire));
    if (!made.is_null()) out[field.name] = std::move(made);
    return {};
  }

  Result<void> add_element(const Field& field, const WireField& wire, json::object& out) {
    json::value& list = out[field.name];
    if (!list.is_array()) list.emplace_array();
    const bool is_number = field.scalar == Scalar::int32 || field.scalar == Scalar::int64 ||
                           field.scalar == Scalar::boolean;
    if (is_number && wire.form == WireField::Form::bytes) {  // packed
      WireMessage packed(wire.bytes);
      while (!packed.empty()) {
        PLIM_TRY(std::uint64_t number, packed.varint());
        PLIM_TRY(json::value made, value(field, {.number = wire.number, .value = number}));
        list.get_array().push_back(std::move(made));
      }
      return {};
    }
    PLIM_TRY(json::value made, value(field, wire));
    list.get_array().push_back(std::move(made));
    return {};
  }

  Result<void> add_entry(const Field& field, const WireField& wire, json::object& out) {
    if (wire.form != WireField::Form::bytes) return malformed("an entry of a map is a number");
    std::string_view key;
    WireField held{.number = 2, .form = WireField::Form::bytes};
    PLIM_CHECK(each_field(wire.bytes, [&](const WireField& part) -> Result<void> {
      if (part.number == 1 && part.form == WireField::Form::bytes) key = part.bytes;
      if (part.number == 2) held = part;
      return {};
    }));
    PLIM_TRY(json::value name, text_of(key));
    PLIM_TRY(json::value made, value(field, held));
    json::value& map = out[field.name];
    if (!map.is_object()) map.emplace_object();
    map.get_object()[name.get_string()] = std::move(made);
    return {};
  }

  // Null means absent.
  Result<json::value> value(const Field& field, const WireField& wire) {
    switch (field.scalar) {
      case Scalar::boolean:
        return json::value(wire.value != 0);
      case Scalar::int32:
        return json::value(static_cast<std::int64_t>(static_cast<std::int32_t>(wire.value)));
      case Scalar::int64:
        return json::value(static_cast<std::int64_t>(wire.value));
      case Scalar::number:
        return json::value(std::bit_cast<double>(wire.value));
      default:
        break;
    }
    if (wire.form != WireField::Form::bytes)
      return malformed(fmt::format("{} is a number", field.name));
    return value_of_bytes(field, wire.bytes);
  }

  Result<json::value> value_of_bytes(const Field& field, std::string_view bytes) {
    switch (field.scalar) {
      case Scalar::bytes:
        return json::value(base64_encode(bytes));
      case Scalar::time:
      case Scalar::micro_time:
        return time_of(bytes, field.scalar == Scalar::micro_time);
      case Scalar::int_or_string:
        return int_or_string(bytes);
      case Scalar::quantity: {
        PLIM_TRY(Wrapped quantity, unwrap(bytes));
        return text_of(quantity.bytes);
      }
      case Scalar::duration: {
        PLIM_TRY(Wrapped duration, unwrap(bytes));
        return json::value(format_duration(Nanos(static_cast<std::int64_t>(duration.first))));
      }
      case Scalar::any: {
        PLIM_TRY(Wrapped raw, unwrap(bytes));
        if (raw.bytes.empty()) return json::value();
        auto parsed = parse_json(raw.bytes, field.name);
        if (!parsed) return malformed(parsed.error().message);
        return std::move(*parsed);
      }
      case Scalar::object: {
        json::object out;
        PLIM_CHECK(message(*field.type, bytes, 0, 0, out));
        return json::value(std::move(out));
      }
      default:
        return text_of(bytes);
    }
  }

  int nesting_ = 0;
};

}  // namespace

Result<ProtobufEnvelope> open_protobuf(std::string_view body) {
  if (!body.starts_with(kMagic)) return malformed("it does not begin as one");
  ProtobufEnvelope out;
  auto visit = [&](const WireField& field) -> Result<void> {
    if (field.form != WireField::Form::bytes) return {};
    if (field.number == 2) out.object = field.bytes;
    if (field.number != 1) return {};
    return each_field(field.bytes, [&](const WireField& part) -> Result<void> {
      if (part.form != WireField::Form::bytes) return {};
      if (part.number == 1) out.api_version = part.bytes;
      if (part.number == 2) out.kind = part.bytes;
      return {};
    });
  };
  PLIM_CHECK(each_field(body.substr(kMagic.size()), visit));
  return out;
}

Result<json::value> decode_protobuf(const Type& type, std::string_view message) {
  json::object out;
  PLIM_CHECK(Decoder().message(type, message, 0, 0, out));
  return json::value(std::move(out));
}

}  // namespace plim::local::apiserver
