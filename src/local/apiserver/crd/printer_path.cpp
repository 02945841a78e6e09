#include "local/apiserver/crd/printer_path.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::local::apiserver {
namespace {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }

  bool take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  void skip_space() {
    while (take(" ")) {
    }
  }

  // A name up to the next dot, bracket or operator; a backslash escapes the next character.
  Result<std::string> name() {
    constexpr std::string_view kEnds = ".[]()=!<> ";
    std::string out;
    while (!at_end() && kEnds.find(text_[at_]) == kEnds.npos) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_++];
    }
    if (out.empty()) return wrong("expected a name");
    return out;
  }

  // A string in either kind of quotes, a number, true or false.
  Result<json::value> literal() {
    const char quote_mark = at_end() ? '\0' : text_[at_];
    if (quote_mark == '"' || quote_mark == '\'') {
      const std::size_t end = text_.find(quote_mark, at_ + 1);
      if (end == text_.npos) return wrong("missing closing quote");
      json::value out(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return out;
    }
    const std::size_t end = std::min(text_.find_first_of(") ", at_), text_.size());
    auto out = parse_json(text_.substr(at_, end - at_));
    if (!out || out->is_structured()) return wrong("expected a value");
    at_ = end;
    return *out;
  }

  Result<std::int64_t> integer() {
    const std::size_t end = std::min(text_.find(']', at_), text_.size());
    const auto out = parse_int<std::int64_t>(text_.substr(at_, end - at_));
    if (!out) return wrong("expected an index");
    at_ = end;
    return *out;
  }

  Error wrong(std::string_view what) const {
    return fail(Code::invalid, fmt::format("{} at offset {}", what, at_));
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<PrinterPath> PrinterPath::parse(std::string_view text) {
  constexpr std::size_t kMaxSteps = 64;
  PrinterPath out;
  Cursor cursor(text);
  if (text.empty() || (text.front() != '.' && text.front() != '['))
    return cursor.wrong("a path begins with a dot");
  while (!cursor.at_end()) {
    Step step;
    if (cursor.take(".")) {
      PLIM_TRY(std::string name, cursor.name());
      step.names.push_back(std::move(name));
    } else if (cursor.take("[?(")) {
      step.kind = Step::Kind::filter;
      cursor.skip_space();
      if (!cursor.take("@")) return cursor.wrong("expected @");
      while (cursor.take(".")) {
        PLIM_TRY(std::string name, cursor.name());
        step.names.push_back(std::move(name));
      }
      cursor.skip_space();
      step.equals = cursor.take("==");
      if (!step.equals && !cursor.take("!=")) return cursor.wrong("expected == or !=");
      cursor.skip_space();
      PLIM_TRY(step.value, cursor.literal());
      cursor.skip_space();
      if (!cursor.take(")]")) return cursor.wrong("expected )]");
    } else if (cursor.take("[*]")) {
      step.kind = Step::Kind::every;
    } else if (cursor.take("[")) {
      step.kind = Step::Kind::index;
      PLIM_TRY(step.index, cursor.integer());
      if (!cursor.take("]")) return cursor.wrong("expected ]");
    } else {
      return cursor.wrong("expected a dot or a bracket");
    }
    out.steps_.push_back(std::move(step));
    if (out.steps_.size() > kMaxSteps) return cursor.wrong("too long");
  }
  return out;
}

bool PrinterPath::holds(const Step& filter, const json::value& element) {
  const json::value* here = &element;
  for (const std::string& name : filter.names) {
    here = find(*here, {name});
    if (!here) return false;
  }
  return (*here == filter.value) == filter.equals;
}

const json::value* PrinterPath::find_from(std::size_t at, const json::value& value) const {
  if (at == steps_.size()) return &value;
  const Step& step = steps_[at];
  if (step.kind == Step::Kind::member) {
    const json::value* member = find(value, {step.names[0]});
    return member ? find_from(at + 1, *member) : nullptr;
  }
  const json::array* array = value.if_array();
  if (!array) return nullptr;
  if (step.kind == Step::Kind::index) {
    const auto size = static_cast<std::int64_t>(array->size());
    const std::int64_t place = step.index < 0 ? step.index + size : step.index;
    if (place < 0 || place >= size) return nullptr;
    return find_from(at + 1, (*array)[static_cast<std::size_t>(place)]);
  }
  for (const json::value& element : *array) {
    if (step.kind == Step::Kind::filter && !holds(step, element)) continue;
    if (const json::value* found = find_from(at + 1, element)) return found;
  }
  return nullptr;
}

const json::value* PrinterPath::find_in(const json::value& object) const {
  return find_from(0, object);
}

}  // namespace plim::local::apiserver
