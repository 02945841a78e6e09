// Matching: all states that the program can be in advance together, one character at a time.
#include "local/apiserver/crd/pattern.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace plim::local::apiserver {
namespace {

using Step = Pattern::Step;
using Kind = Step::Kind;

bool is_word(char32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

class Matcher {
 public:
  Matcher(const std::vector<Step>& program, std::u32string text)
      : program_(program), text_(std::move(text)), seen_(program.size(), 0) {}

  bool run() {
    for (place_ = 0;; ++place_) {
      ++round_;
      std::vector<std::size_t> now;
      now.swap(next_);
      states_.clear();
      for (std::size_t state : now)
        if (follow(state)) return true;
      if (follow(0)) return true;
      if (place_ == text_.size()) return false;
      for (std::size_t state : states_)
        if (program_[state].holds(text_[place_])) next_.push_back(state + 1);
    }
  }

 private:
  // Adds the states that need a character; true when the pattern has matched.
  bool follow(std::size_t first) {
    std::vector<std::size_t> open{first};
    while (!open.empty()) {
      const std::size_t state = open.back();
      open.pop_back();
      if (seen_[state] == round_) continue;
      seen_[state] = round_;
      const Step& step = program_[state];
      switch (step.kind) {
        case Kind::match:
          return true;
        case Kind::set:
          states_.push_back(state);
          break;
        case Kind::jump:
          open.push_back(step.to);
          break;
        case Kind::split:
          open.push_back(step.other);
          open.push_back(step.to);
          break;
        default:
          if (holds_here(step.kind)) open.push_back(state + 1);
      }
    }
    return false;
  }

  bool holds_here(Kind kind) const {
    if (kind == Kind::begin) return place_ == 0;
    if (kind == Kind::end) return place_ == text_.size();
    const bool before = place_ > 0 && is_word(text_[place_ - 1]);
    const bool after = place_ < text_.size() && is_word(text_[place_]);
    return (before != after) == (kind == Kind::boundary);
  }

  const std::vector<Step>& program_;
  std::u32string text_;
  std::vector<std::size_t> seen_;
  std::vector<std::size_t> states_, next_;
  std::size_t place_ = 0;
  std::size_t round_ = 0;
};

}  // namespace

std::u32string code_points(std::string_view text) {
  std::u32string out;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(utf8_length(text), 1);
    const auto lead = static_cast<unsigned char>(text[0]);
    char32_t c = length == 1 ? lead : lead & (0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i)
      c = (c << 6) | (static_cast<unsigned char>(text[i]) & 0x3fu);
    out.push_back(c);
    text.remove_prefix(length);
  }
  return out;
}

bool Pattern::Step::holds(char32_t c) const {
  const bool inside = std::any_of(ranges.begin(), ranges.end(), [c](const Range& range) {
    return c >= range.first && c <= range.second;
  });
  return inside != negated;
}

bool Pattern::matches(std::string_view text) const {
  return Matcher(program_, code_points(text)).run();
}

}  // namespace plim::local::apiserver
