// Runs the most common jq filters on raw records: comparisons of single fields with literals,
// joined by and, or and parentheses. libjq runs all other programs.
#pragma once

#include <memory>
#include <string_view>

#include "flow/fields.hpp"

namespace plim::flow {

// One comparison, or two conditions joined by an operator.
class Condition {
 public:
  virtual ~Condition() = default;

  enum class Answer { no, yes, broken };  // broken: the record is not a JSON object
  virtual Answer test(Record record, FieldReader& reader) = 0;
};

// Returns null if the program is not such a filter.
std::unique_ptr<Condition> recognise_condition(std::string_view program);

}  // namespace plim::flow
