#include "flow/filter_tests.hpp"

#include <algorithm>
#include <arpa/inet.h>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/text.hpp"

namespace plim::flow {
namespace {

struct Address {
  int family = 0;
  std::array<std::uint8_t, 16> bytes = {};

  unsigned size_in_bits() const { return family == AF_INET ? 32 : 128; }
};

bool read_address(std::string_view text, Address& out) {
  if (text.size() > INET6_ADDRSTRLEN) return false;
  const std::string copy(text);  // inet_pton() needs a terminating zero
  for (int family : {AF_INET, AF_INET6}) {
    out.family = family;
    if (::inet_pton(family, copy.c_str(), out.bytes.data()) == 1) return true;
  }
  return false;
}

// Converts "/a\/b/i" to a call of jq's test().
Result<std::string> test_call(const std::string& pattern) {
  const std::size_t last = pattern.rfind('/');
  if (!pattern.starts_with('/') || last == 0)
    return fail(Code::invalid, fmt::format("expected /pattern/flags, got {}", quote(pattern)));
  std::string flags;
  for (char flag : pattern.substr(last + 1)) {
    if (flag == 'i') flags += "i";
    // The other flags make no difference to whether a text matches.
    if (std::string_view("igu").find(flag) == std::string_view::npos)
      return fail(Code::invalid, fmt::format("{}: unknown flag {}", quote(pattern), flag));
  }
  return fmt::format("test({};\"{}\")", to_json(json::value(pattern.substr(1, last - 1))), flags);
}

// A record in which the program finds an empty string.
json::value record_with_text(const std::vector<std::string>& steps, std::int64_t array_index) {
  json::value out = "";
  constexpr std::int64_t kLargestSample = 1000;
  if (array_index >= 0)
    out = json::array(static_cast<std::size_t>(std::min(array_index, kLargestSample)) + 1, out);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    out = json::object{{*step, std::move(out)}};
  return out;
}

}  // namespace

Result<IpRange> IpRange::parse(std::string_view text) {
  auto [address_text, bits_text] = cut(text, '/');
  Address address;
  if (!read_address(address_text, address))
    return fail(Code::invalid, fmt::format("{} is not a range of addresses", quote(text)));
  IpRange out;
  out.family_ = address.family;
  out.bytes_ = address.bytes;
  out.bits_ = address.size_in_bits();
  if (text.find('/') == text.npos) return out;
  auto bits = parse_int<unsigned>(bits_text);
  if (!bits || *bits > address.size_in_bits())
    return fail(Code::invalid, fmt::format("{} is not a range of addresses", quote(text)));
  out.bits_ = *bits;
  return out;
}

bool IpRange::contains(std::string_view text) const {
  Address address;
  if (!read_address(text, address) || address.family != family_) return false;
  for (unsigned bit = 0; bit < bits_; bit += 8) {
    const unsigned used = std::min(8u, bits_ - bit);
    const auto mask = static_cast<std::uint8_t>(0xff00u >> used);
    if (((address.bytes[bit / 8] ^ bytes_[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

Result<JqProgram> compile_patterns(const std::vector<std::string>& steps, std::int64_t array_index,
                                   const std::vector<std::string>& patterns) {
  std::vector<std::string> tests;
  for (const std::string& pattern : patterns) {
    PLIM_TRY(std::string call, test_call(pattern));
    tests.push_back(std::move(call));
  }
  // Does not use `try`: in jq 1.6 it also catches later errors.
  std::string program_text;
  for (const std::string& step : steps)
    program_text += fmt::format("if type == \"object\" then .[{}] else null end | ",
                                to_json(json::value(step)));
  const bool any = array_index < 0;
  program_text += fmt::format(
      "[if type == \"array\" then {} else {} end | select(. != null) | tostring] "
      "| any(.[]; [{}] | any)",
      any ? ".[]" : fmt::format(".[{}]", array_index), any ? "." : "empty", fmt::join(tests, ", "));
  PLIM_TRY(JqProgram program, JqProgram::compile(program_text));
  // jq reports an error in a pattern only when it tests a text.
  std::vector<std::string> ignored;
  PLIM_CHECK(program.run(to_json(record_with_text(steps, array_index)), ignored));
  return program;
}

}  // namespace plim::flow
