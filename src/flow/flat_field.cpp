#include "flow/flat_field.hpp"

#include <cstring>

#include "base/text.hpp"

namespace plim::flow {
namespace {

// Nothing opened or escaped so far, and outside of any text: what follows belongs to the top level.
// One pass without branches, which compilers turn into vector instructions.
bool is_flat(const char* bytes, std::size_t size) {
  unsigned char inside = 0, nested = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto c = static_cast<unsigned char>(bytes[i]);
    inside ^= static_cast<unsigned char>(c == '"');
    // [ ] \ and, with that bit set anyway, { } and |, which is taken for one of them.
    nested |= static_cast<unsigned char>(static_cast<unsigned char>((c | 0x20) - '{') <= 2);
  }
  return inside == 0 && nested == 0;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

const char* skip_blanks(const char* at, const char* end) {
  while (at < end && is_blank(*at)) ++at;
  return at;
}

bool ends_value(const char* at, const char* end) {
  at = skip_blanks(at, end);
  return at < end && (*at == ',' || *at == '}');
}

// A number or a text without escapes; everything else is left to the parser.
Field simple_value(const char* at, const char* end) {
  const char* from = at;
  if (at < end && *at == '"') {
    const auto* quote =
        static_cast<const char*>(std::memchr(at + 1, '"', static_cast<std::size_t>(end - at - 1)));
    if (quote == nullptr || !ends_value(quote + 1, end)) return {};
    std::string_view raw(from, quote + 1);
    if (raw.find('\\') != raw.npos) return {};
    return {.kind = FieldKind::text, .raw = raw};
  }
  if (at < end && *at == '-') ++at;
  if (at == end || !is_digit(*at)) return {};
  while (at < end &&
         (is_digit(*at) || *at == '.' || *at == 'e' || *at == 'E' || *at == '+' || *at == '-'))
    ++at;
  if (!ends_value(at, end)) return {};
  return {.kind = FieldKind::number, .raw = {from, at}};
}

}  // namespace

Field find_flat(Record record, std::string_view quoted, std::size_t& from_end) {
  const char* begin = record.data();
  const char* end = begin + record.size();
  if (record.size() < quoted.size() + 2 || *begin != '{') return {};
  const char* key = nullptr;
  if (from_end >= quoted.size() && from_end < record.size() &&
      std::memcmp(end - from_end, quoted.data(), quoted.size()) == 0)
    key = end - from_end;
  else
    key = static_cast<const char*>(
        ::memmem(begin + 1, record.size() - 1, quoted.data(), quoted.size()));
  if (key == nullptr) return {};
  from_end = static_cast<std::size_t>(end - key);
  const char* colon = skip_blanks(key + quoted.size(), end);
  if (colon == end || *colon != ':') return {};
  if (!is_flat(begin + 1, static_cast<std::size_t>(key - begin - 1))) return {};
  return simple_value(skip_blanks(colon + 1, end), end);
}

}  // namespace plim::flow
