#include "cli/jsonpath.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/jsonpath_parts.hpp"

namespace plim::cli {
namespace {

using namespace jsonpath;  // NOLINT(google-build-using-namespace): its types are for this file

using Found = std::vector<const json::value*>;

// Several '..' in a row multiply the values. The limit keeps a small template from using up the
// memory.
constexpr std::size_t kMaxFound = 4'000'000;

class Evaluation {
 public:
  explicit Evaluation(const json::value& root) : root_(root) {}

  Found follow(const Path& path, const json::value& current) {
    Found here{path.from_root ? &root_ : &current};
    for (const Step& step : path.steps) {
      Found next;
      for (const json::value* value : here) {
        std::visit([&](const auto& one) { take(one, *value, next); }, step);
        if (next.size() > kMaxFound) overflow_ = true;
        if (overflow_) return {};
      }
      here = std::move(next);
    }
    return here;
  }

  void render(const std::vector<Piece>& pieces, const json::value& current, std::string& out) {
    for (const Piece& piece : pieces) {
      if (!piece.path) {
        out += piece.text;
      } else if (piece.range) {
        for (const json::value* value : follow(*piece.path, current))
          render(piece.body, *value, out);
      } else {
        const char* separator = "";
        for (const json::value* value : follow(*piece.path, current)) {
          out += separator;
          out += plain_text(*value);
          separator = " ";
        }
      }
    }
  }

  bool overflow() const { return overflow_; }

 private:
  void take(const Field& field, const json::value& value, Found& out) {
    if (const json::object* object = value.if_object())
      if (const json::value* found = object->if_contains(field.name)) out.push_back(found);
  }

  void take(const Fields& fields, const json::value& value, Found& out) {
    for (const std::string& name : fields.names) take(Field{name}, value, out);
  }

  void take(const Every&, const json::value& value, Found& out) {
    if (const json::array* array = value.if_array())
      for (const json::value& item : *array) out.push_back(&item);
    else if (const json::object* object = value.if_object())
      for (const auto& item : *object) out.push_back(&item.value());
  }

  void take(const Descend&, const json::value& value, Found& out) {
    if (out.size() > kMaxFound) return;
    out.push_back(&value);
    Found children;
    take(Every{}, value, children);
    for (const json::value* child : children)
      if (child->is_structured()) take(Descend{}, *child, out);
  }

  void take(const Slice& slice, const json::value& value, Found& out) {
    const json::array* array = value.if_array();
    if (array == nullptr) return;
    auto size = static_cast<std::int64_t>(array->size());
    auto clamp = [&](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
    };
    std::int64_t last = clamp(slice.last.value_or(size));
    for (std::int64_t i = clamp(slice.first.value_or(0)); i < last; i += std::min(slice.step, size))
      out.push_back(&(*array)[static_cast<std::size_t>(i)]);
  }

  void take(const Indices& indices, const json::value& value, Found& out) {
    const json::array* array = value.if_array();
    if (array == nullptr) return;
    auto size = static_cast<std::int64_t>(array->size());
    for (std::int64_t index : indices.at) {
      std::int64_t at = index < 0 ? index + size : index;
      if (at >= 0 && at < size) out.push_back(&(*array)[static_cast<std::size_t>(at)]);
    }
  }

  void take(const std::shared_ptr<Filter>& filter, const json::value& value, Found& out) {
    Found candidates;
    take(Every{}, value, candidates);
    for (const json::value* candidate : candidates)
      if (holds(*filter, *candidate)) out.push_back(candidate);
  }

  bool holds(const Filter& filter, const json::value& current) {
    Found left = operand(filter.left, current);
    if (filter.op == Operator::exists) return !left.empty();
    Found right = operand(filter.right, current);
    if (left.empty() || right.empty()) return false;
    return compare(*left.front(), filter.op, *right.front());
  }

  Found operand(const Operand& side, const json::value& current) {
    if (const auto* path = std::get_if<Path>(&side)) return follow(*path, current);
    return {&std::get<json::value>(side)};
  }

  // Values of different kinds are never equal, and no order between them holds.
  static bool compare(const json::value& a, Operator op, const json::value& b) {
    if (a.is_number() && b.is_number()) return in_order(number(a), op, number(b));
    if (a.is_string() && b.is_string())
      return in_order(std::string_view(a.get_string()), op, std::string_view(b.get_string()));
    if (op == Operator::equal) return a == b;
    if (op == Operator::not_equal) return a != b;
    return false;
  }

  static double number(const json::value& value) {
    if (const auto* i = value.if_int64()) return static_cast<double>(*i);
    if (const auto* u = value.if_uint64()) return static_cast<double>(*u);
    return value.get_double();
  }

  template <class T>
  static bool in_order(const T& a, Operator op, const T& b) {
    switch (op) {
      case Operator::equal:
        return a == b;
      case Operator::not_equal:
        return a != b;
      case Operator::less:
        return a < b;
      case Operator::less_equal:
        return a <= b;
      case Operator::greater:
        return a > b;
      case Operator::greater_equal:
        return a >= b;
      case Operator::exists:
        break;
    }
    return true;
  }

  const json::value& root_;
  bool overflow_ = false;
};

Error too_many() {
  return fail(Code::too_large, fmt::format("jsonpath: more than {} values match", kMaxFound));
}

}  // namespace

JsonPath::JsonPath(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}

JsonPath::~JsonPath() = default;
JsonPath::JsonPath(JsonPath&&) noexcept = default;
JsonPath& JsonPath::operator=(JsonPath&&) noexcept = default;

Result<JsonPath> JsonPath::parse(std::string_view text) {
  bool bare = !text.empty() && text.find('{') == text.npos &&
              std::string_view(".$@").find(text.front()) != std::string_view::npos;
  if (bare) return parse_column(text);
  PLIM_TRY(auto pieces, parse_template(text));
  return JsonPath(std::move(pieces));
}

Result<JsonPath> JsonPath::parse_column(std::string_view text) {
  if (!text.empty() && text.front() == '{') return parse(text);
  PLIM_TRY(auto pieces, parse_template(fmt::format("{{{}}}", text), 0));
  return JsonPath(std::move(pieces));
}

Result<std::string> JsonPath::render(const json::value& value) const {
  Evaluation evaluation(value);
  std::string out;
  evaluation.render(pieces_, value, out);
  if (evaluation.overflow()) return too_many();
  return out;
}

Result<std::vector<const json::value*>> JsonPath::find(const json::value& value) const {
  Evaluation evaluation(value);
  Found out;
  for (const Piece& piece : pieces_) {
    if (!piece.path || piece.range) continue;
    Found found = evaluation.follow(*piece.path, value);
    out.insert(out.end(), found.begin(), found.end());
  }
  if (evaluation.overflow()) return too_many();
  return out;
}

std::string plain_text(const json::value& value) {
  if (const json::string* text = value.if_string()) return std::string(*text);
  return to_json(value);
}

}  // namespace plim::cli
