#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "cli/jsonpath_parts.hpp"

namespace plim::cli::jsonpath {
namespace {

constexpr int kMaxDepth = 16;  // of ranges and filters inside each other

class Parser {
 public:
  Parser(std::string_view text, std::size_t first_column)
      : text_(text), first_column_(first_column) {}

  // Parses to the end of the text, or to the {end} of the range that was opened at `opened_at`.
  Result<std::vector<Piece>> pieces(int depth, std::size_t opened_at = 0) {
    if (depth > kMaxDepth) return mistake("ranges are nested too deeply");
    std::vector<Piece> out;
    while (at_ < text_.size()) {
      if (text_[at_] != '{') {
        std::size_t brace = std::min(text_.find('{', at_), text_.size());
        out.push_back({.text = std::string(text_.substr(at_, brace - at_))});
        at_ = brace;
        continue;
      }
      std::size_t open = at_++;
      skip_space();
      if (take_word("end")) {
        PLIM_CHECK(expect('}'));
        if (depth == 0) return mistake_at(open, "{end} without {range}");
        return out;
      }
      PLIM_TRY(Piece piece, expression(depth));
      if (piece.range) {
        PLIM_TRY(piece.body, pieces(depth + 1, open));
      }
      out.push_back(std::move(piece));
    }
    if (depth > 0) return mistake_at(opened_at, "{range} without {end}");
    return out;
  }

 private:
  Result<Piece> expression(int depth) {
    Piece piece;
    if (peek() == '"' || peek() == '\'') {
      PLIM_TRY(piece.text, quoted());
    } else {
      piece.range = take_word("range");
      PLIM_TRY(piece.path, path(depth, "}"));
    }
    skip_space();
    PLIM_CHECK(expect('}'));
    return piece;
  }

  // A path ends before any of `stops`, or at white space.
  Result<Path> path(int depth, std::string_view stops) {
    skip_space();
    Path out;
    std::size_t start = at_;
    if (take('$'))
      out.from_root = true;
    else
      take('@');
    bool bare = at_ == start;  // {kind} means {.kind}
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '[') {
        ++at_;
        PLIM_TRY(Step step, bracket(depth));
        out.steps.push_back(std::move(step));
      } else if (c == '.') {
        ++at_;
        if (take('.')) {
          out.steps.push_back(Descend{});
          if (peek() == '[') continue;
          if (at_end_of_path(stops)) return mistake("'..' must be followed by a field");
        } else if (peek() == '[') {
          continue;  // .['x'] means ['x']
        } else if (at_end_of_path(stops)) {
          if (at_ == start + 1) break;  // {.} is the whole value
          return mistake("a field name is missing after '.'");
        }
        PLIM_TRY(Step step, name(stops));
        out.steps.push_back(std::move(step));
      } else if (bare && at_ == start && !at_end_of_path(stops)) {
        PLIM_TRY(Step step, name(stops));
        out.steps.push_back(std::move(step));
      } else {
        break;
      }
    }
    if (at_ == start) return mistake("an expression such as .metadata.name is missing");
    return out;
  }

  bool at_end_of_path(std::string_view stops) const {
    return at_ >= text_.size() || is_space(text_[at_]) ||
           stops.find(text_[at_]) != std::string_view::npos;
  }

  Result<Step> name(std::string_view stops) {
    if (take('*')) return Step(Every{});
    std::string out;
    while (!at_end_of_path(stops) && text_[at_] != '.' && text_[at_] != '[') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;  // app\.kubernetes\.io
      char c = text_[at_];
      if (std::string_view("{}()'\"|?").find(c) != std::string_view::npos && text_[at_ - 1] != '\\')
        return mistake(fmt::format("unexpected '{}' in a field name", c));
      out += c;
      ++at_;
    }
    if (out.empty()) return mistake("a field name is missing");
    return Step(Field{std::move(out)});
  }

  // After '['.
  Result<Step> bracket(int depth) {
    skip_space();
    Result<Step> out = mistake("expected a number, *, 'name' or ?( after '['");
    if (take('*')) {
      out = Step(Every{});
    } else if (take('?')) {
      out = filter(depth + 1);
    } else if (peek() == '\'' || peek() == '"') {
      out = names();
    } else if (peek() == '-' || peek() == ':' || is_digit(peek())) {
      out = numbers();
    }
    if (!out) return out;
    skip_space();
    PLIM_CHECK(expect(']'));
    return out;
  }

  Result<Step> names() {
    Fields out;
    do {
      skip_space();
      PLIM_TRY(std::string one, quoted());
      out.names.push_back(std::move(one));
      skip_space();
    } while (take(','));
    if (out.names.size() == 1) return Step(Field{std::move(out.names[0])});
    return Step(std::move(out));
  }

  Result<Step> numbers() {
    std::optional<std::int64_t> first;
    if (peek() != ':') {
      PLIM_TRY(first, number());
    }
    skip_space();
    if (peek() == ':') return slice(first);
    Indices out{{*first}};
    while (take(',')) {
      skip_space();
      PLIM_TRY(std::int64_t next, number());
      out.at.push_back(next);
      skip_space();
    }
    return Step(std::move(out));
  }

  // At the first ':'.
  Result<Step> slice(std::optional<std::int64_t> first) {
    Slice out{.first = first};
    take(':');
    skip_space();
    if (peek() == '-' || is_digit(peek())) {
      PLIM_TRY(out.last, number());
    }
    skip_space();
    if (take(':')) {
      skip_space();
      if (peek() == '-' || is_digit(peek())) {
        std::size_t start = at_;
        PLIM_TRY(out.step, number());
        if (out.step <= 0) return mistake_at(start, "the step of a slice must be 1 or more");
      }
    }
    return Step(out);
  }

  // After '?'.
  Result<Step> filter(int depth) {
    if (depth > kMaxDepth) return mistake("filters are nested too deeply");
    PLIM_CHECK(expect('('));
    auto out = std::make_shared<Filter>();
    PLIM_TRY(out->left, operand(depth));
    skip_space();
    if (peek() != ')') {
      PLIM_TRY(out->op, comparison());
      PLIM_TRY(out->right, operand(depth));
      skip_space();
    } else if (!std::holds_alternative<Path>(out->left)) {
      return mistake("expected a comparison such as ==");
    }
    PLIM_CHECK(expect(')'));
    return Step(std::move(out));
  }

  Result<Operator> comparison() {
    struct Row {
      std::string_view text;
      Operator op;
    };

    static constexpr Row kRows[] = {{"==", Operator::equal},      {"!=", Operator::not_equal},
                                    {"<=", Operator::less_equal}, {">=", Operator::greater_equal},
                                    {"<", Operator::less},        {">", Operator::greater}};
    for (const Row& row : kRows) {
      if (!text_.substr(at_).starts_with(row.text)) continue;
      at_ += row.text.size();
      return row.op;
    }
    return mistake("expected ==, !=, <, <=, >, >= or )");
  }

  Result<Operand> operand(int depth) {
    skip_space();
    if (peek() == '"' || peek() == '\'') {
      PLIM_TRY(std::string text, quoted());
      return Operand(json::value(text));
    }
    if (take_word("true")) return Operand(json::value(true));
    if (take_word("false")) return Operand(json::value(false));
    if (take_word("null")) return Operand(json::value(nullptr));
    if (peek() == '-' || is_digit(peek())) {
      double value = 0;
      auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (error != std::errc{}) return mistake("not a number");
      at_ = static_cast<std::size_t>(end - text_.data());
      return Operand(json::value(value));
    }
    PLIM_TRY(Path out, path(depth, "=!<>)}]"));
    return Operand(std::move(out));
  }

  Result<std::string> quoted() {
    std::size_t start = at_;
    char quote = peek();
    if (quote != '\'' && quote != '"') return mistake("expected a name in quotes");
    ++at_;
    std::string out;
    while (at_ < text_.size() && text_[at_] != quote) {
      char c = text_[at_++];
      if (c == '\\' && at_ < text_.size()) {
        char escaped = text_[at_++];
        c = escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped == 'r' ? '\r' : escaped;
      }
      out += c;
    }
    if (!take(quote)) return mistake_at(start, "the closing quote is missing");
    return out;
  }

  Result<std::int64_t> number() {
    std::int64_t out = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), out);
    if (error != std::errc{}) return mistake("expected a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    return out;
  }

  // Takes a whole word only, so that the field "ranges" does not start a range.
  bool take_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    std::size_t after = at_ + word.size();
    if (after < text_.size() &&
        (std::isalnum(static_cast<unsigned char>(text_[after])) != 0 ||
         std::string_view("._-").find(text_[after]) != std::string_view::npos))
      return false;
    at_ = after;
    return true;
  }

  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  Result<void> expect(char c) {
    if (take(c)) return {};
    return mistake(fmt::format("expected '{}'", c));
  }

  Error mistake(std::string_view what) const { return mistake_at(at_, what); }

  Error mistake_at(std::size_t at, std::string_view what) const {
    return fail(Code::invalid, fmt::format("jsonpath, column {}: {}", at + first_column_, what));
  }

  std::string_view text_;
  std::size_t first_column_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::vector<Piece>> parse_template(std::string_view text, std::size_t first_column) {
  return Parser(text, first_column).pieces(0);
}

}  // namespace plim::cli::jsonpath
