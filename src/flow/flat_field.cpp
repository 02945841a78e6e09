#include "flow/flat_field.hpp"

#include <cstdint>
#include <cstring>

#include "base/text.hpp"

namespace plim::flow {
namespace {

// Sixteen bytes at a time: every supported machine has such registers.
using Bytes = unsigned char __attribute__((vector_size(16)));

constexpr std::size_t kWidth = sizeof(Bytes);
constexpr std::size_t kGuesses = 3;

Bytes load(const void* from) {
  Bytes out;
  std::memcpy(&out, from, kWidth);
  return out;
}

// True if the bytes open nothing, have no escapes and end outside of a string, so that the text
// after them is on the top level. Reads up to kWidth - 1 bytes past the end and ignores them: see
// kReadAhead.
bool is_flat(const char* bytes, std::size_t size) {
  static_assert(kReadAhead >= kWidth);
  static constexpr unsigned char kKeep[2 * kWidth] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                      255, 255, 255, 255, 255, 255, 255, 255};
  constexpr unsigned char kQuote = '"', kOpen = '{', kBit = 0x20, kTwo = 2;
  Bytes inside = {}, nested = {};
  auto look = [&](Bytes c) {
    inside ^= reinterpret_cast<Bytes>(c == kQuote);
    // Finds [ ] \ and, since the bit is set, also { } and |. A | is taken for one of them.
    nested |= reinterpret_cast<Bytes>(((c | kBit) - kOpen) <= kTwo);
  };
  std::size_t at = 0;
  for (; at + kWidth <= size; at += kWidth) look(load(bytes + at));
  if (at < size) look(load(bytes + at) & load(kKeep + kWidth - (size - at)));
  std::uint64_t quotes[2], brackets[2];
  std::memcpy(quotes, &inside, kWidth);
  std::memcpy(brackets, &nested, kWidth);
  std::uint64_t odd = quotes[0] ^ quotes[1];
  odd ^= odd >> 32;
  odd ^= odd >> 16;
  odd ^= odd >> 8;
  return (odd & 1) == 0 && (brackets[0] | brackets[1]) == 0;
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

// Reads a number or a string without escapes. The parser reads everything else.
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

// Finds the start of the key. It is usually at the same distance from the end as in the last
// record, because only a few numbers after it change their length. Otherwise finds the first
// occurrence.
const char* find_key(Record record, std::string_view quoted, std::size_t from_end) {
  const char* end = record.data() + record.size();
  auto is_there = [&](std::size_t distance) {
    return distance >= quoted.size() && distance < record.size() &&
           std::memcmp(end - distance, quoted.data(), quoted.size()) == 0;
  };
  if (from_end > 0) {
    for (std::size_t off = 0; off <= kGuesses; ++off) {
      if (is_there(from_end + off)) return end - from_end - off;
      if (off < from_end && is_there(from_end - off)) return end - from_end + off;
    }
  }
  return static_cast<const char*>(
      ::memmem(record.data() + 1, record.size() - 1, quoted.data(), quoted.size()));
}

}  // namespace

Field find_flat(Record record, std::string_view quoted, std::size_t& from_end) {
  const char* begin = record.data();
  const char* end = begin + record.size();
  if (record.size() < quoted.size() + 2 || *begin != '{') return {};
  const char* key = find_key(record, quoted, from_end);
  if (key == nullptr) return {};
  from_end = static_cast<std::size_t>(end - key);
  const char* colon = skip_blanks(key + quoted.size(), end);
  if (colon == end || *colon != ':') return {};
  if (!is_flat(begin + 1, static_cast<std::size_t>(key - begin - 1))) return {};
  return simple_value(skip_blanks(colon + 1, end), end);
}

}  // namespace plim::flow
