// The parsed form of a JSONPath template, shared by its parser and its evaluation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::cli::jsonpath {

struct Filter;

struct Field {
  std::string name;
};

struct Fields {  // ['a','b']
  std::vector<std::string> names;
};

struct Every {};  // * : the elements of a list, the values of an object

struct Descend {};  // .. : the value itself and everything below it

struct Slice {
  std::optional<std::int64_t> first = {}, last = {};
  std::int64_t step = 1;
};

struct Indices {  // [0] or [0,2]
  std::vector<std::int64_t> at;
};

using Step = std::variant<Field, Fields, Every, Descend, Slice, Indices, std::shared_ptr<Filter>>;

struct Path {
  bool from_root = false;  // $, else the value of the innermost range or filter
  std::vector<Step> steps;
};

enum class Operator { exists, equal, not_equal, less, less_equal, greater, greater_equal };

using Operand = std::variant<Path, json::value>;

struct Filter {
  Operand left;
  Operator op = Operator::exists;
  Operand right;
};

struct Piece {
  std::string text = {};          // literal
  std::optional<Path> path = {};  // or an expression
  bool range = false;             // or a range over `path` with this body
  std::vector<Piece> body = {};
};

// Columns in errors count from `first_column`. It is 0 if the caller put a brace before the text.
Result<std::vector<Piece>> parse_template(std::string_view text, std::size_t first_column = 1);

}  // namespace plim::cli::jsonpath
