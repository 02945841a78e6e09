// Conditions of the operation filter other than equality and order: patterns and IP ranges.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "flow/jq_engine.hpp"

namespace plim::flow {

// "10.0.0.0/8", "2001:db8::/32", or one address.
class IpRange {
 public:
  static Result<IpRange> parse(std::string_view text);
  // Returns false if the text is not an address, or an address of the other family.
  bool contains(std::string_view address) const;

 private:
  int family_ = 0;
  unsigned bits_ = 0;
  std::array<std::uint8_t, 16> bytes_ = {};
};

// Compiles a jq program that tells whether a field matches one of the patterns. A pattern is "/…/"
// followed by flags. If the field is an array, the program tests the element at `array_index`, or
// any element if it is negative. The program calls jq's test(), which is safe for any pattern and
// text.
Result<JqProgram> compile_patterns(const std::vector<std::string>& steps, std::int64_t array_index,
                                   const std::vector<std::string>& patterns);

}  // namespace plim::flow
