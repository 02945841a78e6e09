// What filter asks of a field beyond equality and order: patterns and ranges of addresses.
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
  // False for what is no address, or one of the other family.
  bool contains(std::string_view address) const;

 private:
  int family_ = 0;
  unsigned bits_ = 0;
  std::array<std::uint8_t, 16> bytes_ = {};
};

// A program that says for a record whether any of the patterns, each "/…/" with flags behind it,
// fits the field: one element of an array, or with a negative index any. It is jq's own test(),
// which is safe with any pattern and any text.
Result<JqProgram> compile_patterns(const std::vector<std::string>& steps, std::int64_t array_index,
                                   const std::vector<std::string>& patterns);

}  // namespace plim::flow
