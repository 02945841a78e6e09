// kubectl's JSONPath templates: text with expressions in braces.
//   {.items[*].metadata.name}   {range .items[*]}{.kind}{"\n"}{end}   {.spec..name}
//   ['x.y']  [0]  [-1]  [1:3]  [::2]  ['a','b']  [*]  .*  ..  [?(@.type=="Ready")]  $  @  "text"
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::cli {

namespace jsonpath {
struct Piece;
struct Path;
}  // namespace jsonpath

class JsonPath {
 public:
  // Errors name the column, counted from 1. A template without braces that begins with '.', '$' or
  // '@' is one expression.
  static Result<JsonPath> parse(std::string_view text);
  // Parses one expression in each form that kubectl accepts for columns: x.y, .x.y, {x.y}, {.x.y}.
  static Result<JsonPath> parse_column(std::string_view text);

  ~JsonPath();
  JsonPath(JsonPath&&) noexcept;
  JsonPath& operator=(JsonPath&&) noexcept;

  // Missing fields produce no text. Several values of one expression are joined by a space.
  Result<std::string> render(const json::value& value) const;
  // The values that the expressions find, in order, without texts and ranges. Used for columns.
  Result<std::vector<const json::value*>> find(const json::value& value) const;

 private:
  explicit JsonPath(std::vector<jsonpath::Piece> pieces);
  std::vector<jsonpath::Piece> pieces_;
};

// Formats a value as kubectl does: strings without quotes, everything else as JSON.
std::string plain_text(const json::value& value);

}  // namespace plim::cli
