#include "kube/tokens_decode.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/utf8.hpp"

namespace plim::kube {
namespace {

constexpr std::size_t kNoDepth = 1;  // only simdjson's second stage, unused here, needs depth

// Removes "u" and four digits from the front of `rest`.
std::optional<char32_t> take_unit(std::string_view& rest) {
  std::uint32_t unit = 0;
  if (rest.size() < 5 || rest.front() != 'u') return std::nullopt;
  const char* last = rest.data() + 5;
  auto read = std::from_chars(rest.data() + 1, last, unit, 16);
  if (read.ec != std::errc() || read.ptr != last) return std::nullopt;
  rest.remove_prefix(5);
  return unit;
}

// Removes the text after the backslash of \u1234, or of both halves of \ud83d\ude00.
std::optional<char32_t> take_point(std::string_view& rest) {
  auto first = take_unit(rest);
  if (!first || *first < 0xd800 || *first > 0xdfff) return first;
  if (*first > 0xdbff || !rest.starts_with('\\')) return std::nullopt;
  rest.remove_prefix(1);
  auto second = take_unit(rest);
  if (!second || *second < 0xdc00 || *second > 0xdfff) return std::nullopt;
  return 0x10000 + ((*first - 0xd800) << 10) + (*second - 0xdc00);
}

}  // namespace

TokenIndex::TokenIndex() = default;
TokenIndex::~TokenIndex() = default;

Result<void> TokenIndex::build(std::string_view text) {
  simdjson::error_code broken = simdjson::SUCCESS;
  if (!parser_) {
    const simdjson::implementation& fastest = *simdjson::get_active_implementation();
    broken = fastest.create_dom_parser_implementation(text.size(), kNoDepth, parser_);
  } else if (parser_->capacity() < text.size()) {
    broken = parser_->allocate(text.size(), kNoDepth);
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  if (!broken) broken = parser_->stage1(bytes, text.size(), simdjson::stage1_mode::regular);
  if (broken)
    return fail(Code::invalid, fmt::format("broken JSON: {}", simdjson::error_message(broken)));
  begin_ = parser_->structural_indexes.get();
  end_ = begin_ + parser_->n_structural_indexes;
  parser_->structural_indexes[parser_->n_structural_indexes] =
      static_cast<std::uint32_t>(text.size());
  return {};
}

Result<std::size_t> TokenIndex::build_part(std::string_view text, std::size_t at_least) {
  // Inside a string the quote would be escaped, unless the string ends there: then build() reports
  // an unclosed string.
  std::size_t end = at_least < text.size() ? text.find(R"(},{")", at_least) : text.npos;
  if (end != text.npos && build(text.substr(0, end + 1))) return end + 1;
  PLIM_CHECK(build(text));
  return text.size();
}

void TokenIndex::keep_at_most(std::size_t text_size) {
  if (!parser_ || parser_->capacity() <= text_size) return;
  parser_.reset();
  begin_ = end_ = nullptr;
}

bool unescape(std::string_view inside, std::string& out) {
  constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  out.clear();
  for (;;) {
    std::size_t plain = std::min(inside.find('\\'), inside.size());
    out += inside.substr(0, plain);
    if (plain == inside.size()) return true;
    inside.remove_prefix(plain + 1);
    std::size_t known = inside.empty() ? kNames.npos : kNames.find(inside.front());
    if (known != kNames.npos) {
      out += kMeanings[known];
      inside.remove_prefix(1);
      continue;
    }
    auto point = take_point(inside);
    if (!point) return false;
    append_utf8(out, *point);
  }
}

}  // namespace plim::kube
