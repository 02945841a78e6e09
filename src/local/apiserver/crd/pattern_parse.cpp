// From the text of a pattern to the program that matches it.

#include <fmt/format.h>

#include "base/text.hpp"
#include "local/apiserver/crd/pattern.hpp"

namespace plim::local::apiserver {
namespace {

using Step = Pattern::Step;
using StepKind = Step::Kind;
using Range = Step::Range;

constexpr int kMaxDepth = 50;
constexpr int kMaxRepeat = 1000;
constexpr std::size_t kMaxProgram = 20'000;

struct Node {
  enum class Type : std::uint8_t { step, sequence, choice, repeat };

  Type type = Type::sequence;
  Step step = {};
  std::vector<Node> parts = {};
  int least = 0;
  int most = -1;  // -1: any number
};

Node one_of(std::vector<Range> ranges, bool negated = false) {
  Node out{.type = Node::Type::step};
  out.step = {.kind = StepKind::set, .ranges = std::move(ranges), .negated = negated};
  return out;
}

Node assertion(StepKind kind) {
  Node out{.type = Node::Type::step};
  out.step.kind = kind;
  return out;
}

const std::vector<Range>* class_ranges(char name) {
  static const std::vector<Range> digits{{'0', '9'}};
  static const std::vector<Range> words{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
  static const std::vector<Range> spaces{{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
  switch (name) {
    case 'd':
    case 'D':
      return &digits;
    case 'w':
    case 'W':
      return &words;
    case 's':
    case 'S':
      return &spaces;
    default:
      return nullptr;
  }
}

std::vector<Range> complement(const std::vector<Range>& sorted) {
  std::vector<Range> out;
  char32_t next = 0;
  for (const auto& [low, high] : sorted) {
    if (low > next) out.emplace_back(next, low - 1);
    next = high + 1;
  }
  out.emplace_back(next, 0x10ffff);
  return out;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Node> parse() {
    PLIM_TRY(Node out, parse_choice());
    if (at_ < text_.size()) return wrong("unexpected )");
    return out;
  }

 private:
  Error wrong(std::string_view what) const {
    return fail(Code::invalid, fmt::format("{} at offset {}", what, at_));
  }

  bool take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  Result<Node> parse_choice() {
    if (++depth_ > kMaxDepth) return wrong("nested too deeply");
    Node out{.type = Node::Type::choice};
    do {
      PLIM_TRY(Node part, parse_sequence());
      out.parts.push_back(std::move(part));
    } while (take("|"));
    --depth_;
    return out;
  }

  Result<Node> parse_sequence() {
    Node out;
    while (at_ < text_.size() && text_[at_] != '|' && text_[at_] != ')') {
      PLIM_TRY(Node atom, parse_atom());
      PLIM_TRY(Node repeated, parse_repeats(std::move(atom)));
      out.parts.push_back(std::move(repeated));
    }
    return out;
  }

  Result<Node> parse_repeats(Node atom) {
    for (int nested = 0; at_ < text_.size(); ++nested) {
      int least = 0;
      int most = -1;
      const std::size_t begin = at_;
      if (take("+")) {
        least = 1;
      } else if (take("?")) {
        most = 1;
      } else if (!take("*")) {
        PLIM_TRY(bool counted, take_count(least, most));
        if (!counted) break;
      }
      if (nested > 0) {
        at_ = begin;
        return wrong("invalid nested repetition operator");
      }
      take("?");  // which of several matches is found does not matter here
      Node out{.type = Node::Type::repeat, .least = least, .most = most};
      out.parts.push_back(std::move(atom));
      atom = std::move(out);
    }
    return atom;
  }

  // {2}, {2,} or {2,5}; a brace that is none of these stands for itself.
  Result<bool> take_count(int& least, int& most) {
    const std::string_view rest = text_.substr(at_);
    const std::size_t end = rest.find('}');
    if (!rest.starts_with('{') || end == rest.npos) return false;
    const std::string_view inside = rest.substr(1, end - 1);
    const auto [low, high] = cut(inside, ',');
    const auto first = parse_int<int>(low);
    if (!first || *first < 0) return false;
    least = *first;
    most = inside.find(',') == inside.npos ? least : -1;
    if (!high.empty()) {
      const auto last = parse_int<int>(high);
      if (!last) return false;
      most = *last;
    }
    if (least > kMaxRepeat || most > kMaxRepeat || (most >= 0 && most < least))
      return wrong("invalid repeat count");
    at_ += end + 1;
    return true;
  }

  Result<Node> parse_atom() {
    if (take("(")) return parse_group();
    if (take("[")) return parse_set();
    if (take(".")) return one_of({{'\n', '\n'}}, true);
    if (take("^")) return assertion(StepKind::begin);
    if (take("$")) return assertion(StepKind::end);
    if (text_[at_] == '*' || text_[at_] == '+' || text_[at_] == '?')
      return wrong("missing argument to repetition operator");
    if (text_[at_] == '\\') return parse_escape();
    PLIM_TRY(char32_t c, take_character());
    return one_of({{c, c}});
  }

  Result<Node> parse_group() {
    if (take("?")) {
      const bool named = take("P<") || take("<");
      if (named) {
        const std::size_t end = text_.find('>', at_);
        // (?<= and (?<! look behind.
        if (end == text_.npos || text_[at_] == '=' || text_[at_] == '!')
          return wrong("this kind of group is not supported");
        at_ = end + 1;
      } else if (!take(":")) {
        return wrong("this kind of group is not supported");
      }
    }
    PLIM_TRY(Node inner, parse_choice());
    if (!take(")")) return wrong("missing closing )");
    return inner;
  }

  Result<Node> parse_escape() {
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (const auto* ranges = class_ranges(next)) {
      at_ += 2;
      return one_of(*ranges, next < 'a');
    }
    constexpr std::pair<char, StepKind> kAssertions[] = {{'A', StepKind::begin},
                                                         {'z', StepKind::end},
                                                         {'b', StepKind::boundary},
                                                         {'B', StepKind::no_boundary}};
    for (const auto& [letter, kind] : kAssertions) {
      if (next != letter) continue;
      at_ += 2;
      return assertion(kind);
    }
    PLIM_TRY(char32_t c, take_character());
    return one_of({{c, c}});
  }

  // One character, escaped or not.
  Result<char32_t> take_character() {
    if (take("\\")) {
      if (at_ >= text_.size()) return wrong("trailing backslash");
      if (static_cast<unsigned char>(text_[at_]) >= 0x80) return take_code_point();
      const char c = text_[at_++];
      constexpr std::string_view kLetters = "nrtfva";
      constexpr std::string_view kMeaning = "\n\r\t\f\v\a";
      if (const std::size_t which = kLetters.find(c); which != kLetters.npos)
        return static_cast<char32_t>(kMeaning[which]);
      if (c == 'x') return take_hex();
      const bool is_word = is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (is_word) return wrong("this escape is not supported");
      return static_cast<char32_t>(c);
    }
    return take_code_point();
  }

  // The whole of it, whose first byte alone would leave broken UTF-8 behind.
  char32_t take_code_point() {
    const std::size_t length = utf8_length(text_.substr(at_));
    const std::u32string one = code_points(text_.substr(at_, length));
    at_ += length;
    return one[0];
  }

  Result<char32_t> take_hex() {
    std::string_view digits = text_.substr(at_, 2);
    std::size_t length = 2;
    if (text_.substr(at_).starts_with('{')) {
      const std::size_t end = text_.find('}', at_);
      if (end == text_.npos) return wrong("invalid escape");
      digits = text_.substr(at_ + 1, end - at_ - 1);
      length = digits.size() + 2;
    }
    const auto value = parse_int<std::uint32_t>(digits, 16);
    const bool complete = at_ + length <= text_.size();
    if (!value || *value > 0x10ffff || !complete) return wrong("invalid escape");
    at_ += length;
    return static_cast<char32_t>(*value);
  }

  Result<Node> parse_set() {
    const bool negated = take("^");
    std::vector<Range> ranges;
    for (bool first = true; first || !take("]"); first = false) {
      if (at_ >= text_.size()) return wrong("missing closing ]");
      if (take("[:")) {
        PLIM_CHECK(take_named_class(ranges));
        continue;
      }
      const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
      const auto* known = text_[at_] == '\\' ? class_ranges(next) : nullptr;
      if (known) {
        at_ += 2;
        const auto added = next < 'a' ? complement(*known) : *known;
        ranges.insert(ranges.end(), added.begin(), added.end());
        continue;
      }
      PLIM_TRY(char32_t low, take_character());
      char32_t high = low;
      const std::string_view rest = text_.substr(at_);
      if (rest.size() > 1 && rest[0] == '-' && rest[1] != ']') {
        ++at_;
        PLIM_TRY(high, take_character());
        if (high < low) return wrong("invalid character class range");
      }
      ranges.emplace_back(low, high);
    }
    return one_of(std::move(ranges), negated);
  }

  Result<void> take_named_class(std::vector<Range>& ranges) {
    static const std::pair<std::string_view, std::vector<Range>> kClasses[] = {
        {"alnum:]", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
        {"alpha:]", {{'A', 'Z'}, {'a', 'z'}}},
        {"digit:]", {{'0', '9'}}},
        {"lower:]", {{'a', 'z'}}},
        {"upper:]", {{'A', 'Z'}}},
        {"space:]", {{'\t', '\r'}, {' ', ' '}}},
        {"xdigit:]", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
        {"word:]", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
        {"punct:]", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
    };
    for (const auto& [name, members] : kClasses) {
      if (!take(name)) continue;
      ranges.insert(ranges.end(), members.begin(), members.end());
      return {};
    }
    return wrong("invalid character class");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

class Emitter {
 public:
  bool emit(const Node& node) {
    if (program.size() > kMaxProgram) return false;
    switch (node.type) {
      case Node::Type::step:
        program.push_back(node.step);
        return true;
      case Node::Type::sequence:
        for (const Node& part : node.parts)
          if (!emit(part)) return false;
        return true;
      case Node::Type::choice:
        return emit_choice(node);
      case Node::Type::repeat:
        return emit_repeat(node);
    }
    return true;
  }

  std::vector<Step> program;

 private:
  std::size_t add(StepKind kind) {
    program.push_back({.kind = kind});
    return program.size() - 1;
  }

  bool emit_choice(const Node& node) {
    std::vector<std::size_t> jumps;
    for (std::size_t i = 0; i < node.parts.size(); ++i) {
      const bool last = i + 1 == node.parts.size();
      const std::size_t split = last ? 0 : add(StepKind::split);
      if (!last) program[split].to = program.size();
      if (!emit(node.parts[i])) return false;
      if (last) break;
      jumps.push_back(add(StepKind::jump));
      program[split].other = program.size();
    }
    for (std::size_t jump : jumps) program[jump].to = program.size();
    return true;
  }

  bool emit_repeat(const Node& node) {
    const Node& part = node.parts[0];
    for (int i = 0; i < node.least; ++i)
      if (!emit(part)) return false;
    if (node.most < 0) {
      const std::size_t split = add(StepKind::split);
      program[split].to = program.size();
      if (!emit(part)) return false;
      program[add(StepKind::jump)].to = split;
      program[split].other = program.size();
      return true;
    }
    std::vector<std::size_t> splits;
    for (int i = node.least; i < node.most; ++i) {
      splits.push_back(add(StepKind::split));
      program[splits.back()].to = program.size();
      if (!emit(part)) return false;
    }
    for (std::size_t split : splits) program[split].other = program.size();
    return true;
  }
};

}  // namespace

Result<Pattern> Pattern::parse(std::string_view text) {
  if (find_invalid_utf8(text)) return fail(Code::invalid, "the pattern is not valid UTF-8");
  PLIM_TRY(Node root, Parser(text).parse());
  Emitter emitter;
  if (!emitter.emit(root) || emitter.program.size() > kMaxProgram)
    return fail(Code::invalid, "the pattern is too large");
  emitter.program.push_back({.kind = StepKind::match});
  return Pattern(std::move(emitter.program));
}

}  // namespace plim::local::apiserver
