#include "base/regex.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/text.hpp"

namespace plim {
namespace {

// Unicode classes repeated some hundred times, as in [\\p{L}]{1,253}, need about 8 MiB.
constexpr std::int64_t kMostMemory = 32 << 20;
constexpr std::size_t kMostCaptures = 16;

using Pieces = std::array<re2::StringPiece, kMostCaptures>;

std::string_view view(const re2::StringPiece& piece) {
  return {piece.data(), piece.size()};
}

// The texts of Go's regexp/syntax.
std::string_view reason_of(re2::RE2::ErrorCode code) {
  using re2::RE2;
  switch (code) {
    case RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case RE2::ErrorBadCharClass:
      return "invalid character class";
    case RE2::ErrorBadCharRange:
      return "invalid character class range";
    case RE2::ErrorMissingBracket:
      return "missing closing ]";
    case RE2::ErrorMissingParen:
      return "missing closing )";
    case RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    case RE2::ErrorPatternTooLarge:
      return "expression too large";
    default:
      return "regexp/syntax: internal error";
  }
}

// The length of a bracket expression that `text` starts with, or of what there is of it.
std::size_t bracket_length(std::string_view text) {
  std::size_t at = text.starts_with("[^") ? 2 : 1;
  if (text.substr(at).starts_with(']')) ++at;
  while (at < text.size() && text[at] != ']') {
    const std::size_t named =
        text.substr(at).starts_with("[:") ? text.find(":]", at + 2) : text.npos;
    if (named != text.npos)
      at = named + 2;
    else
      at += text[at] == '\\' ? 2 : 1;
  }
  return at + 1;
}

// The length of the part of a pattern at its start in which "(?<" means something else.
std::size_t opaque_length(std::string_view text) {
  if (text.starts_with('[')) return bracket_length(text);
  if (!text.starts_with('\\')) return 0;
  if (!text.starts_with("\\Q")) return 2;
  const std::size_t end = text.find("\\E");
  return end == text.npos ? text.size() : end + 2;
}

// Go writes named groups (?<name>…) or (?P<name>…); the RE2 of Debian 12 knows only the second.
std::string with_old_named_groups(std::string_view pattern) {
  constexpr std::string_view kNamed = "(?<";
  std::string out;
  while (!pattern.empty()) {
    std::size_t length = std::max<std::size_t>(opaque_length(pattern), 1);
    length = std::min(length, pattern.size());
    const char after = pattern.size() > kNamed.size() ? pattern[kNamed.size()] : '\0';
    if (pattern.starts_with(kNamed) && after != '=' && after != '!') {
      out += "(?P<";
      length = kNamed.size();
    } else {
      out += pattern.substr(0, length);
    }
    pattern.remove_prefix(length);
  }
  return out;
}

bool match(const re2::RE2& compiled, std::string_view text, re2::RE2::Anchor anchor,
           Regex::Captures captures) {
  Pieces pieces;
  const std::size_t wanted = std::min(captures.size(), pieces.size());
  if (!compiled.Match({text.data(), text.size()}, 0, text.size(), anchor, pieces.data(),
                      static_cast<int>(wanted)))
    return false;
  std::ranges::transform(pieces.begin(), pieces.begin() + wanted, captures.begin(), view);
  return true;
}

void append_replacement(std::string& out, std::string_view replacement, const Pieces& found) {
  for (std::size_t i = 0; i < replacement.size(); ++i) {
    if (replacement[i] == '\\' && i + 1 < replacement.size()) {
      const char next = replacement[++i];
      if (is_digit(next)) {
        out += view(found[static_cast<std::size_t>(next - '0')]);
        continue;
      }
    }
    out += replacement[i];
  }
}

}  // namespace

Result<Regex> Regex::compile(std::string_view pattern) {
  re2::RE2::Options options(re2::RE2::Quiet);
  options.set_max_mem(kMostMemory);
  const std::string text = with_old_named_groups(pattern);
  auto compiled = std::make_shared<const re2::RE2>(text, options);
  if (!compiled->ok()) {
    const auto code = compiled->error_code();
    const bool names_all = code == re2::RE2::ErrorBadUTF8 || code == re2::RE2::ErrorPatternTooLarge;
    return fail(Code::invalid, fmt::format("error parsing regexp: {}: `{}`", reason_of(code),
                                           names_all ? text : compiled->error_arg()));
  }
  return Regex(std::move(compiled));
}

bool Regex::full_match(std::string_view text) const {
  return full_match(text, {});
}

bool Regex::prefix_match(std::string_view text) const {
  return prefix_match(text, {});
}

bool Regex::partial_match(std::string_view text) const {
  return partial_match(text, {});
}

bool Regex::full_match(std::string_view text, Captures captures) const {
  return match(*compiled_, text, re2::RE2::ANCHOR_BOTH, captures);
}

bool Regex::prefix_match(std::string_view text, Captures captures) const {
  return match(*compiled_, text, re2::RE2::ANCHOR_START, captures);
}

bool Regex::partial_match(std::string_view text, Captures captures) const {
  return match(*compiled_, text, re2::RE2::UNANCHORED, captures);
}

unsigned Regex::groups() const {
  return static_cast<unsigned>(compiled_->NumberOfCapturingGroups());
}

std::string Regex::replace_all(std::string_view text, std::string_view replacement) const {
  std::string out;
  const re2::StringPiece whole(text.data(), text.size());
  std::size_t at = 0;
  while (at <= text.size()) {
    Pieces found;
    if (!compiled_->Match(whole, at, text.size(), re2::RE2::UNANCHORED, found.data(),
                          static_cast<int>(found.size())))
      break;
    const auto begin = static_cast<std::size_t>(found[0].data() - text.data());
    out += text.substr(at, begin - at);
    append_replacement(out, replacement, found);
    at = begin + found[0].size();
    if (found[0].size() > 0) continue;
    if (at == text.size()) return out;
    // An empty match: the character behind it stays.
    const std::size_t length = std::max<std::size_t>(utf8_length(text.substr(at)), 1);
    out += text.substr(at, length);
    at += length;
  }
  return out + std::string(text.substr(at));
}

}  // namespace plim
