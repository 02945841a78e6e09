// The part of the Common Expression Language that match conditions need: field access, indexing,
// comparisons, `in`, && || !, has(), exists() and startsWith(). The parser rejects expressions that
// need more, so that no condition is stored that cannot be evaluated.
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
  // Variables by name: object, oldObject, request.
  using Variables = std::map<std::string, const json::value*, std::less<>>;

  // Code::invalid says what is not supported and where.
  static Result<CelExpression> parse(std::string_view text);

  // Code::invalid: a field is missing, types do not match, the result is not a boolean, or it takes
  // too long. As in CEL, if one side of && or || decides, errors of the other side are ignored.
  Result<bool> evaluate(const Variables& variables) const;

 private:
  explicit CelExpression(std::shared_ptr<const cel::Node> root) : root_(std::move(root)) {}

  std::shared_ptr<const cel::Node> root_;
};

}  // namespace plim::local::apiserver
