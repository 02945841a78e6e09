#include "flow/jq_native.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/json.hpp"
#include "base/text.hpp"

namespace plim::flow {
namespace {

using Answer = Condition::Answer;

enum class Compare { equal, unequal, less, less_equal, greater, greater_equal };

// jq also orders values of different kinds.
int rank(FieldKind kind, std::string_view raw) {
  switch (kind) {
    case FieldKind::boolean:
      return raw == "true" ? 2 : 1;
    case FieldKind::number:
      return 3;
    case FieldKind::text:
      return 4;
    case FieldKind::array:
      return 5;
    case FieldKind::object:
      return 6;
    default:
      return 0;  // a missing field is null
  }
}

bool holds(Compare compare, int order) {
  switch (compare) {
    case Compare::equal:
      return order == 0;
    case Compare::unequal:
      return order != 0;
    case Compare::less:
      return order < 0;
    case Compare::less_equal:
      return order <= 0;
    case Compare::greater:
      return order > 0;
    case Compare::greater_equal:
      return order >= 0;
  }
  return false;
}

class Comparison final : public Condition {
 public:
  Comparison(std::string_view field, Compare compare, Field literal, double number)
      : path_(field), compare_(compare), literal_(literal), number_(number) {
    text_ = std::string(literal.raw);
    literal_.raw = text_;
  }

  Answer test(Record record, FieldReader& reader) override {
    Field field = reader.find(record, path_);
    if (field.kind == FieldKind::broken) return Answer::broken;
    return holds(compare_, order(field)) ? Answer::yes : Answer::no;
  }

 private:
  int order(const Field& field) {
    int kinds = rank(field.kind, field.raw) - rank(literal_.kind, literal_.raw);
    if (kinds != 0) return kinds;
    if (literal_.kind == FieldKind::number) {
      double value = 0;
      if (!number_of(field, value)) return -1;
      return value < number_ ? -1 : value > number_ ? 1 : 0;
    }
    if (literal_.kind == FieldKind::text)
      return text_of(field, scratch_).compare(literal_.raw.substr(1, literal_.raw.size() - 2));
    return 0;
  }

  FieldPath path_;
  Compare compare_;
  Field literal_;
  std::string text_;  // owns the text of the literal
  double number_;
  std::string scratch_;
};

class Joined final : public Condition {
 public:
  Joined(std::unique_ptr<Condition> left, std::unique_ptr<Condition> right, bool both)
      : left_(std::move(left)), right_(std::move(right)), both_(both) {}

  Answer test(Record record, FieldReader& reader) override {
    Answer left = left_->test(record, reader);
    if (left == Answer::broken || (left == Answer::yes) != both_) return left;
    return right_->test(record, reader);
  }

 private:
  std::unique_ptr<Condition> left_, right_;
  bool both_;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  std::unique_ptr<Condition> whole() {
    auto out = any(0);
    return rest_.empty() ? std::move(out) : nullptr;
  }

 private:
  static constexpr int kDeepest = 50;

  std::unique_ptr<Condition> any(int depth) {
    auto left = all(depth);
    while (left != nullptr && word("or")) left = join(std::move(left), all(depth), false);
    return left;
  }

  std::unique_ptr<Condition> all(int depth) {
    auto left = one(depth);
    while (left != nullptr && word("and")) left = join(std::move(left), one(depth), true);
    return left;
  }

  static std::unique_ptr<Condition> join(std::unique_ptr<Condition> left,
                                         std::unique_ptr<Condition> right, bool both) {
    if (right == nullptr) return nullptr;
    return std::make_unique<Joined>(std::move(left), std::move(right), both);
  }

  std::unique_ptr<Condition> one(int depth) {
    if (depth > kDeepest) return nullptr;
    if (symbol("(")) {
      auto inner = any(depth + 1);
      return inner != nullptr && symbol(")") ? std::move(inner) : nullptr;
    }
    std::string_view name = field();
    auto compare = name.empty() ? std::nullopt : comparison();
    if (!compare) return nullptr;
    return literal(name, *compare);
  }

  std::string_view field() {
    skip();
    std::size_t size = 1;
    auto is_letter = [](char c) {
      return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    while (size < rest_.size() && (is_letter(rest_[size]) || (size > 1 && is_digit(rest_[size]))))
      ++size;
    if (rest_.empty() || rest_[0] != '.' || size == 1) return {};
    return take(size).substr(1);
  }

  std::optional<Compare> comparison() {
    constexpr std::pair<std::string_view, Compare> kSymbols[] = {
        {"==", Compare::equal},         {"!=", Compare::unequal}, {"<=", Compare::less_equal},
        {">=", Compare::greater_equal}, {"<", Compare::less},     {">", Compare::greater}};
    for (auto [text, compare] : kSymbols)
      if (symbol(text)) return compare;
    return std::nullopt;
  }

  std::unique_ptr<Condition> literal(std::string_view name, Compare compare) {
    skip();
    Field value;
    if (word("null")) {
      value = {.kind = FieldKind::null, .raw = "null"};
    } else if (word("true")) {
      value = {.kind = FieldKind::boolean, .raw = "true"};
    } else if (word("false")) {
      value = {.kind = FieldKind::boolean, .raw = "false"};
    } else if (rest_.starts_with('"')) {
      std::size_t end = rest_.find('"', 1);
      // Escapes and \(…) need libjq.
      if (end == rest_.npos || rest_.substr(0, end).find('\\') != rest_.npos) return nullptr;
      value = {.kind = FieldKind::text, .raw = take(end + 1)};
    } else {
      std::size_t size = 0;
      while (size < rest_.size() && (is_digit(rest_[size]) || rest_[size] == '.')) ++size;
      value = {.kind = FieldKind::number, .raw = take(size)};
    }
    double number = 0;
    if (value.kind == FieldKind::number && !number_of(value, number)) return nullptr;
    return std::make_unique<Comparison>(name, compare, value, number);
  }

  void skip() { rest_.remove_prefix(std::min(rest_.size(), rest_.find_first_not_of(" \t\r\n"))); }

  bool symbol(std::string_view text) {
    skip();
    if (!rest_.starts_with(text)) return false;
    take(text.size());
    return true;
  }

  bool word(std::string_view text) {
    skip();
    if (!rest_.starts_with(text)) return false;
    if (rest_.size() > text.size()) {
      char next = rest_[text.size()];
      if (next == '_' || is_digit(next) || std::isalpha(static_cast<unsigned char>(next)))
        return false;
    }
    take(text.size());
    return true;
  }

  std::string_view take(std::size_t size) {
    std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }

  std::string_view rest_;
};

}  // namespace

std::unique_ptr<Condition> recognise_condition(std::string_view program) {
  return Parser(trim(program)).whole();
}

}  // namespace plim::flow
