// Regular expressions of schemas: the part of RE2's syntax that patterns use, matched in time
// linear in the text, since both come from strangers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace plim::local::apiserver {

// The characters of UTF-8; a byte that is part of none stands for itself.
std::u32string code_points(std::string_view text);

class Pattern {
 public:
  // Code::invalid for what is no expression or needs more than is supported: no look-around, no
  // back references, no Unicode classes.
  static Result<Pattern> parse(std::string_view text);
  // Somewhere in the text, unless the pattern is anchored.
  bool matches(std::string_view text) const;

  struct Step {
    enum class Kind : std::uint8_t { set, split, jump, begin, end, boundary, no_boundary, match };
    using Range = std::pair<char32_t, char32_t>;

    Kind kind = Kind::match;
    std::size_t to = 0, other = 0;  // of split and jump
    std::vector<Range> ranges = {};
    bool negated = false;

    bool holds(char32_t c) const;
  };

 private:
  explicit Pattern(std::vector<Step> program) : program_(std::move(program)) {}

  std::vector<Step> program_;
};

}  // namespace plim::local::apiserver
