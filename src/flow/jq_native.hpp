// The part of jq that is mostly used as a filter, run on raw records: comparisons of single fields
// with literals, joined by and, or and parentheses. Everything else is libjq's.
#pragma once

#include <memory>
#include <string_view>

#include "flow/fields.hpp"

namespace plim::flow {

// One comparison, or two conditions that are joined.
class Condition {
 public:
  virtual ~Condition() = default;

  enum class Answer { no, yes, broken };  // broken: the record is no JSON object
  virtual Answer test(Record record, FieldReader& reader) = 0;
};

// Null: not of this kind.
std::unique_ptr<Condition> recognise_condition(std::string_view program);

}  // namespace plim::flow
