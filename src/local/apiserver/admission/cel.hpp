// The part of the Common Expression Language that match conditions need: field access, indexing,
// comparisons, `in`, && || !, has(), exists() and startsWith(). An expression that needs more is
// refused when it is parsed, so that nobody relies on what is not evaluated.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::local::apiserver {

namespace cel {
struct Node;
}  // namespace cel

class CelExpression {
 public:
  // Variables by their names: object, oldObject, request.
  using Variables = std::map<std::string, const json::value*, std::less<>>;

  // Code::invalid says what is not understood and where.
  static Result<CelExpression> parse(std::string_view text);

  // Code::invalid: a field is missing, types do not fit, the result is no boolean, or it takes too
  // long. As in CEL, && and || give an answer that one side decides even if the other one fails.
  Result<bool> evaluate(const Variables& variables) const;

 private:
  explicit CelExpression(std::shared_ptr<const cel::Node> root) : root_(std::move(root)) {}

  std::shared_ptr<const cel::Node> root_;
};

}  // namespace plim::local::apiserver
