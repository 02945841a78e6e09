#include <fmt/format.h>

#include "base/text.hpp"
#include "local/apiserver/admission/cel.hpp"
#include "local/apiserver/admission/cel_tree.hpp"

namespace plim::local::apiserver {
namespace {

using cel::Node;
using cel::Op;

// Bytes that one evaluation may look at or copy. Nested exists() and comparisons of large objects
// would otherwise delay every write.
constexpr std::size_t kMaxCost = 10'000'000;
constexpr std::size_t kCostOfStep = 50;
constexpr std::size_t kCostOfValue = 16;

Error wrong(std::string message) {
  return fail(Code::invalid, std::move(message));
}

bool both_numbers(const json::value& a, const json::value& b) {
  return a.is_number() && b.is_number();
}

bool equal(const json::value& a, const json::value& b) {
  return both_numbers(a, b) ? a.to_number<double>() == b.to_number<double>() : a == b;
}

// Refers to values in place; computed values are kept here until the end.
class Evaluator {
 public:
  explicit Evaluator(const CelExpression::Variables& variables) : variables_(variables) {}

  using Value = Result<const json::value*>;

  Value evaluate(const Node& node) {
    PLIM_CHECK(pay(kCostOfStep));
    switch (node.op) {
      case Op::literal:
        return &node.value;
      case Op::list:
        return evaluate_list(node);
      case Op::variable:
        return variable(node.text);
      case Op::field: {
        PLIM_TRY(const json::value* target, evaluate(node.args[0]));
        return member(*target, node.text);
      }
      case Op::index:
        return index(node);
      case Op::has: {
        PLIM_TRY(const json::value* target, evaluate(node.args[0]));
        if (!target->is_object()) return wrong(no_fields(node.text));
        return truth(target->get_object().contains(node.text));
      }
      case Op::exists:
        return exists(node);
      case Op::logical_not: {
        PLIM_TRY(bool inner, boolean(node.args[0]));
        return truth(!inner);
      }
      case Op::logical_and:
        return either(node, false);
      case Op::logical_or:
        return either(node, true);
      default:
        return compare(node);
    }
  }

  Result<bool> boolean(const Node& node) {
    PLIM_TRY(const json::value* value, evaluate(node));
    if (!value->is_bool()) return wrong("the value is not a boolean");
    return value->get_bool();
  }

 private:
  static const json::value* truth(bool value) {
    static const json::value yes = true;
    static const json::value no = false;
    return value ? &yes : &no;
  }

  Result<void> pay(std::size_t bytes) {
    cost_ += bytes;
    if (cost_ > kMaxCost) return wrong("the expression takes too long");
    return {};
  }

  Result<void> pay_for(const json::value& value) {
    PLIM_CHECK(pay(kCostOfValue));
    if (const json::string* text = value.if_string()) return pay(text->size());
    if (const json::array* list = value.if_array()) {
      for (const json::value& element : *list) PLIM_CHECK(pay_for(element));
    } else if (const json::object* map = value.if_object()) {
      for (const json::key_value_pair& entry : *map) {
        PLIM_CHECK(pay(entry.key().size()));
        PLIM_CHECK(pay_for(entry.value()));
      }
    }
    return {};
  }

  Result<bool> same(const json::value& a, const json::value& b) {
    PLIM_CHECK(pay_for(a));
    PLIM_CHECK(pay_for(b));
    return equal(a, b);
  }

  static std::string no_fields(std::string_view name) {
    return fmt::format("there is no object with the field {}", quote(name));
  }

  Value variable(std::string_view name) {
    for (auto local = locals_.rbegin(); local != locals_.rend(); ++local)
      if (local->first == name) return local->second;
    auto found = variables_.find(name);
    if (found == variables_.end()) return wrong(fmt::format("{} is not set", name));
    return found->second;
  }

  static Value member(const json::value& target, std::string_view name) {
    if (!target.is_object()) return wrong(no_fields(name));
    const json::value* found = target.get_object().if_contains(name);
    if (!found) return wrong(fmt::format("no such key: {}", name));
    return found;
  }

  Value evaluate_list(const Node& node) {
    json::array out;
    for (const Node& element : node.args) {
      PLIM_TRY(const json::value* value, evaluate(element));
      PLIM_CHECK(pay_for(*value));
      out.push_back(*value);
    }
    computed_.push_back(std::make_unique<json::value>(std::move(out)));
    return computed_.back().get();
  }

  Value index(const Node& node) {
    PLIM_TRY(const json::value* target, evaluate(node.args[0]));
    PLIM_TRY(const json::value* key, evaluate(node.args[1]));
    if (key->is_string()) return member(*target, key->get_string());
    if (!target->is_array() || !key->is_int64()) return wrong("this cannot be indexed");
    const auto place = key->get_int64();
    if (place < 0 || place >= static_cast<std::int64_t>(target->get_array().size()))
      return wrong(fmt::format("index out of bounds: {}", place));
    return &target->get_array()[static_cast<std::size_t>(place)];
  }

  // Iterates over the elements of a list, or the keys of a map.
  Value exists(const Node& node) {
    PLIM_TRY(const json::value* range, evaluate(node.args[0]));
    std::optional<Error> failed;
    auto holds = [&](const json::value* element) {
      locals_.emplace_back(node.text, element);
      auto result = boolean(node.args[1]);
      locals_.pop_back();
      if (!result) failed = result.error();
      return result && *result;
    };
    if (const json::array* list = range->if_array()) {
      for (const json::value& element : *list)
        if (holds(&element)) return truth(true);
    } else if (const json::object* map = range->if_object()) {
      for (const json::key_value_pair& entry : *map) {
        PLIM_CHECK(pay(entry.key().size()));
        computed_.push_back(std::make_unique<json::value>(entry.key()));
        if (holds(computed_.back().get())) return truth(true);
      }
    } else {
      return wrong("exists() needs a list or a map");
    }
    if (failed) return *failed;
    return truth(false);
  }

  // If one side has the value `decisive`, that is the result, even if the other side fails.
  Value either(const Node& node, bool decisive) {
    auto left = boolean(node.args[0]);
    if (left && *left == decisive) return truth(decisive);
    auto right = boolean(node.args[1]);
    if (right && *right == decisive) return truth(decisive);
    if (!left) return left.error();
    if (!right) return right.error();
    return truth(!decisive);
  }

  Value compare(const Node& node) {
    PLIM_TRY(const json::value* left, evaluate(node.args[0]));
    if (node.op == Op::in && node.args[1].op == Op::list) return is_listed(*left, node.args[1]);
    PLIM_TRY(const json::value* right, evaluate(node.args[1]));
    if (node.op == Op::equal || node.op == Op::not_equal) {
      PLIM_TRY(const bool are_same, same(*left, *right));
      return truth(are_same == (node.op == Op::equal));
    }
    if (node.op == Op::in) return contains(*right, *left);
    for (const json::value* side : {left, right})
      if (side->is_string()) PLIM_CHECK(pay(side->get_string().size()));
    if (node.op == Op::starts_with) {
      if (!left->is_string() || !right->is_string()) return wrong("startsWith() needs strings");
      return truth(
          std::string_view(left->get_string()).starts_with(std::string_view(right->get_string())));
    }
    PLIM_TRY(int order, order_of(*left, *right));
    switch (node.op) {
      case Op::less:
        return truth(order < 0);
      case Op::less_equal:
        return truth(order <= 0);
      case Op::greater:
        return truth(order > 0);
      default:
        return truth(order >= 0);
    }
  }

  // Looks at the elements where they are: a list would copy them.
  Value is_listed(const json::value& element, const Node& list) {
    bool found = false;
    for (const Node& candidate : list.args) {
      PLIM_TRY(const json::value* value, evaluate(candidate));
      PLIM_TRY(const bool is_it, same(*value, element));
      found = found || is_it;
    }
    return truth(found);
  }

  Value contains(const json::value& range, const json::value& element) {
    if (const json::object* map = range.if_object())
      return truth(element.is_string() && map->contains(element.get_string()));
    if (!range.is_array()) return wrong("in needs a list or a map");
    for (const json::value& candidate : range.get_array()) {
      PLIM_TRY(const bool is_it, same(candidate, element));
      if (is_it) return truth(true);
    }
    return truth(false);
  }

  static Result<int> order_of(const json::value& a, const json::value& b) {
    if (both_numbers(a, b)) {
      const double left = a.to_number<double>();
      const double right = b.to_number<double>();
      return left < right ? -1 : left > right ? 1 : 0;
    }
    if (a.is_string() && b.is_string())
      return std::string_view(a.get_string()).compare(std::string_view(b.get_string()));
    return wrong("values of these types cannot be compared");
  }

  const CelExpression::Variables& variables_;
  std::vector<std::pair<std::string_view, const json::value*>> locals_;
  std::vector<std::unique_ptr<json::value>> computed_;
  std::size_t cost_ = 0;
};

}  // namespace

Result<bool> CelExpression::evaluate(const Variables& variables) const {
  return Evaluator(variables).boolean(*root_);
}

}  // namespace plim::local::apiserver
