// The tree of a parsed expression, between parser and evaluator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace plim::local::apiserver::cel {

enum class Op : std::uint8_t {
  literal,      // value
  list,         // args: the elements
  variable,     // text
  field,        // args[0].text
  index,        // args[0][args[1]]
  has,          // has(args[0].text)
  exists,       // args[0].exists(text, args[1])
  starts_with,  // args[0].startsWith(args[1])
  logical_not,
  logical_and,
  logical_or,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
};

struct Node {
  Op op = Op::literal;
  std::string text = {};
  json::value value = {};
  std::vector<Node> args = {};
};

}  // namespace plim::local::apiserver::cel
