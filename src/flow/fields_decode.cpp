#include <charconv>

#include <simdjson.h>

#include "base/json.hpp"
#include "base/text.hpp"
#include "flow/fields.hpp"
#include "flow/flat_field.hpp"

namespace plim::flow {
namespace {

namespace od = simdjson::ondemand;

FieldKind kind_of(od::json_type type) {
  switch (type) {
    case od::json_type::array:
      return FieldKind::array;
    case od::json_type::object:
      return FieldKind::object;
    case od::json_type::number:
      return FieldKind::number;
    case od::json_type::string:
      return FieldKind::text;
    case od::json_type::boolean:
      return FieldKind::boolean;
    case od::json_type::null:
      return FieldKind::null;
  }
  return FieldKind::broken;
}

// The bytes of the value only. simdjson's token of a scalar includes the white space after it.
bool raw_of(od::value value, od::json_type type, std::string_view& out) {
  if (type == od::json_type::object) {
    od::object inner;
    return !value.get_object().get(inner) && !inner.raw_json().get(out);
  }
  if (type == od::json_type::array) {
    od::array inner;
    return !value.get_array().get(inner) && !inner.raw_json().get(out);
  }
  out = trim(value.raw_json_token());
  return !out.empty();
}

bool literal_fits(FieldKind kind, std::string_view raw) {
  switch (kind) {
    case FieldKind::boolean:
      return raw == "true" || raw == "false";
    case FieldKind::null:
      return raw == "null";
    case FieldKind::text:
      return raw.size() >= 2 && raw.back() == '"';
    default:
      return true;
  }
}

Field field_of(od::value value) {
  od::json_type type{};
  Field out;
  if (value.type().get(type) || !raw_of(value, type, out.raw)) return {.kind = FieldKind::broken};
  out.kind = kind_of(type);
  if (!literal_fits(out.kind, out.raw)) return {.kind = FieldKind::broken};
  return out;
}

FieldKind kind_of_text(std::string_view json) {
  switch (json.empty() ? ' ' : json.front()) {
    case '{':
      return FieldKind::object;
    case '[':
      return FieldKind::array;
    case '"':
      return FieldKind::text;
    case 't':
    case 'f':
      return FieldKind::boolean;
    case 'n':
      return FieldKind::null;
    default:
      return FieldKind::number;
  }
}

// The quote that ends the key; null if there is none.
const char* end_of_key(const char* at, const char* end) {
  while (at < end && *at != '"') at += *at == '\\' ? 2 : 1;
  return at < end ? at : nullptr;
}

}  // namespace

struct FieldReader::Impl {
  od::parser parser;
  std::size_t from_end = 0;  // position of the field in the last record

  bool open(Record record, od::document& document) {
    simdjson::padded_string_view view(record.data(), record.size(), record.size() + kReadAhead);
    return !parser.iterate(view).get(document);
  }
};

FieldReader::FieldReader() : impl_(std::make_unique<Impl>()) {}

FieldReader::~FieldReader() = default;
FieldReader::FieldReader(FieldReader&&) noexcept = default;

void FieldReader::forget() {
  impl_->from_end = 0;
}

Field FieldReader::find(Record record, const FieldPath& path) {
  static_assert(kReadAhead >= simdjson::SIMDJSON_PADDING);
  if (!path.quoted().empty()) {
    Field field = find_flat(record, path.quoted(), impl_->from_end);
    if (field.kind != FieldKind::missing) return field;
  }
  const auto& steps = path.steps();
  od::document document;
  od::object object;
  if (!impl_->open(record, document) || document.get_object().get(object))
    return {.kind = FieldKind::broken};
  od::value value;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    auto error = object.find_field_unordered(steps[i]).get(value);
    if (error == simdjson::NO_SUCH_FIELD)
      return record.find('\\') == record.npos ? Field{} : find_escaped(record, path);
    if (error) return {.kind = FieldKind::broken};
    if (i + 1 == steps.size()) break;
    od::json_type type{};
    if (value.type().get(type)) return {.kind = FieldKind::broken};
    if (type != od::json_type::object) return {};
    if (value.get_object().get(object)) return {.kind = FieldKind::broken};
  }
  return field_of(value);
}

// find() compares keys byte by byte. This one also decodes escapes: "\u00fc" equals "ü".
Field FieldReader::find_escaped(Record record, const FieldPath& path) {
  std::string_view value = record;
  std::vector<Member> found;
  for (const std::string& step : path.steps()) {
    if (!value.starts_with('{') && value.data() != record.data()) return {};
    if (!members(value, found)) return {.kind = FieldKind::broken};
    const Member* member = find_member(found, step);
    if (member == nullptr) return {};
    value = member->value;
  }
  return {.kind = kind_of_text(value), .raw = value};
}

bool FieldReader::members(Record record, std::vector<Member>& out) {
  out.clear();
  od::document document;
  od::object object;
  if (!impl_->open(record, document) || document.get_object().get(object)) return false;
  for (auto member : object) {
    od::field field;
    if (std::move(member).get(field)) return false;
    const char* key = field.key().raw();
    const char* end = end_of_key(key, record.data() + record.size());
    if (end == nullptr) return false;
    Field value = field_of(field.value());
    if (value.kind == FieldKind::broken) return false;
    out.push_back(
        {.key = {key, static_cast<std::size_t>(end - key)}, .value = value.raw, .begin = key - 1});
  }
  return true;
}

std::string_view plain_key(const Member& member, std::string& scratch) {
  if (member.key.find('\\') == member.key.npos) return member.key;
  return text_of(
      {.kind = FieldKind::text, .raw = {member.begin, member.key.data() + member.key.size() + 1}},
      scratch);
}

const Member* find_member(const std::vector<Member>& members, std::string_view name) {
  std::string scratch;
  for (const Member& member : members)
    if (plain_key(member, scratch) == name) return &member;
  return nullptr;
}

FieldPath FieldPath::of_key(std::string_view key) {
  FieldPath out;
  out.steps_.emplace_back(key);
  return out;
}

FieldPath::FieldPath(std::string_view dotted) {
  for (std::string_view step : split(dotted, '.')) steps_.emplace_back(step);
  if (steps_.size() == 1 && dotted.find_first_of("\"\\") == dotted.npos)
    quoted_ = "\"" + steps_[0] + "\"";
}

std::string_view text_of(const Field& field, std::string& scratch) {
  if (field.kind != FieldKind::text) return {};
  std::string_view inner = field.raw.substr(1, field.raw.size() - 2);
  if (inner.find('\\') == inner.npos) return inner;
  auto parsed = parse_json(field.raw);
  if (!parsed || !parsed->is_string()) return inner;
  scratch = std::string(parsed->as_string());
  return scratch;
}

bool number_of(const Field& field, double& out) {
  if (field.kind != FieldKind::number) return false;
  const char* begin = field.raw.data();
  const char* last = begin + field.raw.size();
  // Most numbers are integers, which are much faster to parse.
  std::int64_t whole = 0;
  if (auto [end, error] = std::from_chars(begin, last, whole);
      error == std::errc{} && end == last) {
    out = static_cast<double>(whole);
    return true;
  }
  auto [end, error] = std::from_chars(begin, last, out);
  return error == std::errc{} && end == last;
}

}  // namespace plim::flow
