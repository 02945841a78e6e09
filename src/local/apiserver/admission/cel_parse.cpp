#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "local/apiserver/admission/cel.hpp"
#include "local/apiserver/admission/cel_tree.hpp"

namespace plim::local::apiserver {
namespace {

using cel::Node;
using cel::Op;

constexpr int kMaxDepth = 64;
constexpr int kMaxOperators = 500;  // chains of operators nest in the tree
constexpr std::size_t kMaxLength = 16 << 10;

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Recursive descent; every function stops after what it has read.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Node> parse() {
    PLIM_TRY(Node root, parse_or());
    skip_space();
    if (at_ < text_.size()) return unexpected();
    return root;
  }

 private:
  Error error(std::string_view what) const {
    const TextPosition position = position_of(text_, std::min(at_, text_.size()));
    return fail(Code::invalid, located("", position, what));
  }

  Error unexpected() const {
    if (at_ >= text_.size()) return error("the expression ends early");
    return error(fmt::format("unexpected {}", quote(text_.substr(at_, 1))));
  }

  void skip_space() {
    constexpr std::string_view kSpace = " \t\r\n";
    while (at_ < text_.size() && kSpace.find(text_[at_]) != kSpace.npos) ++at_;
  }

  bool take(std::string_view token) {
    skip_space();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  // A name, or "" if there is none.
  std::string_view take_name() {
    skip_space();
    const std::size_t begin = at_;
    if (at_ < text_.size() && starts_name(text_[at_]))
      while (at_ < text_.size() && (starts_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Result<void> expect(std::string_view token) {
    if (take(token)) return {};
    return unexpected();
  }

  Result<Node> combine(Op op, Node left, Node right) {
    if (++operators_ > kMaxOperators) return error("too many operators");
    Node out{.op = op};
    out.args.push_back(std::move(left));
    out.args.push_back(std::move(right));
    return out;
  }

  Result<Node> parse_or() {
    // Every nested expression is parsed here.
    if (++depth_ > kMaxDepth) return error("nested too deeply");
    PLIM_TRY(Node left, parse_and());
    while (take("||")) {
      PLIM_TRY(Node right, parse_and());
      PLIM_TRY(left, combine(Op::logical_or, std::move(left), std::move(right)));
    }
    --depth_;
    return left;
  }

  Result<Node> parse_and() {
    PLIM_TRY(Node left, parse_relation());
    while (take("&&")) {
      PLIM_TRY(Node right, parse_relation());
      PLIM_TRY(left, combine(Op::logical_and, std::move(left), std::move(right)));
    }
    return left;
  }

  Result<Node> parse_relation() {
    PLIM_TRY(Node left, parse_unary());
    constexpr std::pair<std::string_view, Op> kOperators[] = {
        {"==", Op::equal},         {"!=", Op::not_equal}, {"<=", Op::less_equal},
        {">=", Op::greater_equal}, {"<", Op::less},       {">", Op::greater},
    };
    for (;;) {
      const std::size_t before = at_;
      Op op = Op::literal;
      for (const auto& [token, candidate] : kOperators)
        if (op == Op::literal && take(token)) op = candidate;
      if (op == Op::literal && take_name() == "in") op = Op::in;
      if (op == Op::literal) {
        at_ = before;
        return left;
      }
      PLIM_TRY(Node right, parse_unary());
      PLIM_TRY(left, combine(op, std::move(left), std::move(right)));
    }
  }

  Result<Node> parse_unary() {
    skip_space();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with("!") || rest.starts_with("!=")) return parse_member();
    ++at_;
    if (++depth_ > kMaxDepth) return error("nested too deeply");
    PLIM_TRY(Node inner, parse_unary());
    --depth_;
    Node out{.op = Op::logical_not};
    out.args.push_back(std::move(inner));
    return out;
  }

  Result<Node> parse_member() {
    PLIM_TRY(Node out, parse_primary());
    for (int length = 0;; ++length) {
      if (length > kMaxDepth) return error("nested too deeply");
      if (take("[")) {
        PLIM_TRY(Node index, parse_or());
        PLIM_CHECK(expect("]"));
        PLIM_TRY(out, combine(Op::index, std::move(out), std::move(index)));
      } else if (take(".")) {
        const std::string name(take_name());
        if (name.empty()) return unexpected();
        if (take("(")) {
          PLIM_TRY(out, parse_call(std::move(out), name));
        } else {
          Node field{.op = Op::field, .text = name};
          field.args.push_back(std::move(out));
          out = std::move(field);
        }
      } else {
        return out;
      }
    }
  }

  // Parses what follows `target.name(`.
  Result<Node> parse_call(Node target, const std::string& name) {
    if (name == "startsWith") {
      PLIM_TRY(Node prefix, parse_or());
      PLIM_CHECK(expect(")"));
      return combine(Op::starts_with, std::move(target), std::move(prefix));
    }
    if (name != "exists") return error(fmt::format("{}() is not supported", name));
    const std::string variable(take_name());
    if (variable.empty()) return unexpected();
    PLIM_CHECK(expect(","));
    variables_.push_back(variable);
    PLIM_TRY(Node condition, parse_or());
    variables_.pop_back();
    PLIM_CHECK(expect(")"));
    PLIM_TRY(Node out, combine(Op::exists, std::move(target), std::move(condition)));
    out.text = variable;
    return out;
  }

  Result<Node> parse_primary() {
    skip_space();
    if (at_ >= text_.size()) return unexpected();
    const char c = text_[at_];
    if (c == '"' || c == '\'') return parse_string();
    if (is_digit(c) || c == '-') return parse_number();
    if (take("(")) {
      PLIM_TRY(Node inner, parse_or());
      PLIM_CHECK(expect(")"));
      return inner;
    }
    if (take("[")) return parse_list();
    const std::size_t begin = at_;
    const std::string name(take_name());
    if (name == "true" || name == "false") return Node{.value = name == "true"};
    if (name == "null") return Node{};
    if (name == "has" && take("(")) return parse_has();
    const bool known = name == "object" || name == "oldObject" || name == "request" ||
                       std::find(variables_.begin(), variables_.end(), name) != variables_.end();
    if (known) return Node{.op = Op::variable, .text = name};
    at_ = begin;
    return name.empty() ? unexpected() : error(fmt::format("{} is not supported", quote(name)));
  }

  Result<Node> parse_has() {
    PLIM_TRY(Node argument, parse_or());
    PLIM_CHECK(expect(")"));
    if (argument.op != Op::field) return error("has() takes a field");
    argument.op = Op::has;
    return argument;
  }

  Result<Node> parse_list() {
    Node out{.op = Op::list};
    while (!take("]")) {
      if (!out.args.empty()) PLIM_CHECK(expect(","));
      PLIM_TRY(Node element, parse_or());
      out.args.push_back(std::move(element));
    }
    return out;
  }

  Result<Node> parse_string() {
    const char end = text_[at_++];
    std::string out;
    while (at_ < text_.size() && text_[at_] != end) {
      char c = text_[at_++];
      if (c == '\n') return error("a string must end on its line");
      if (c == '\\') {
        constexpr std::string_view kEscapes = "\\\"'`?nrt";
        constexpr std::string_view kMeaning = "\\\"'`?\n\r\t";
        const std::size_t which = at_ < text_.size() ? kEscapes.find(text_[at_]) : kEscapes.npos;
        if (which == kEscapes.npos) return error("this escape is not supported");
        c = kMeaning[which];
        ++at_;
      }
      out += c;
    }
    if (at_ == text_.size()) return unexpected();
    ++at_;
    return Node{.value = json::value(out)};
  }

  Result<Node> parse_number() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() &&
           (is_digit(text_[at_]) || starts_name(text_[at_]) || text_[at_] == '.'))
      ++at_;
    const std::string_view number = text_.substr(begin, at_ - begin);
    if (const auto integer = parse_int<std::int64_t>(number)) return Node{.value = *integer};
    if (const auto real = parse_double(number)) return Node{.value = *real};
    return error(fmt::format("{} is not a number", quote(number)));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int operators_ = 0;
  std::vector<std::string> variables_;  // variables of the enclosing exists()
};

}  // namespace

Result<CelExpression> CelExpression::parse(std::string_view text) {
  if (text.size() > kMaxLength) return fail(Code::invalid, "the expression is too long");
  PLIM_TRY(Node root, Parser(text).parse());
  return CelExpression(std::make_shared<const Node>(std::move(root)));
}

}  // namespace plim::local::apiserver
