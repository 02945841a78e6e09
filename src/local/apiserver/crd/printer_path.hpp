// The simple JSONPath of printer columns: `.a.b[0].c`, `.conditions[?(@.type=="Ready")].status`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::local::apiserver {

class PrinterPath {
 public:
  // Code::invalid for anything but names, indices, `[*]` and comparisons with a string or number.
  static Result<PrinterPath> parse(std::string_view text);

  // The first value at this path; null if there is none.
  const json::value* find_in(const json::value& object) const;

 private:
  struct Step {
    enum class Kind { member, index, every, filter };

    Kind kind = Kind::member;
    std::vector<std::string> names = {};  // one, or those after the @ of a filter
    std::int64_t index = 0;               // negative ones count from the end
    bool equals = true;
    json::value value = {};  // the filter compares with this
  };

  static bool holds(const Step& filter, const json::value& element);
  const json::value* find_from(std::size_t step, const json::value& value) const;

  std::vector<Step> steps_;
};

}  // namespace plim::local::apiserver
