// Arbitrary JSON for property tests: small trees with strings that are hard to parse.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "base/json.hpp"

namespace plim::testing {

// Random combinations of pieces that have a meaning in JSON, YAML or Unicode.
inline rc::Gen<std::string> awkward_text() {
  auto piece = rc::gen::element<std::string>(
      "a", "b", "z9", "0", "1", "7", "-", "+", ".", "e", "_", "x", " ", "  ", "\n", "\n\n", "\t",
      "\r", ":", ": ", " #", "#", "- ", "? ", "---", "...", "|", ">", "'", "\"", "\\", "{", "}",
      "[", "]", ",", "&a", "*a", "!", "!!str ", "%", "@", "`", "=", "<<", "~", "null", "true",
      "yes", "No", "on", "0x1f", "0o7", "1_0", ".inf", "2024-01-02", "1:30", "é", "\u0085",
      "\u00a0", "\u2028", "\ufeff", "\ufffd", "😀", "\x01", "\x7f", "/", "~1");
  return rc::gen::map(
      rc::gen::resize(6, rc::gen::container<std::vector<std::string>>(std::move(piece))),
      [](const std::vector<std::string>& pieces) {
        std::string text;
        for (const std::string& part : pieces) text += part;
        return text;
      });
}

inline json::value arbitrary_scalar() {
  switch (*rc::gen::inRange(0, 8)) {
    case 0:
      return nullptr;
    case 1:
      return *rc::gen::arbitrary<bool>();
    case 2:
      return *rc::gen::arbitrary<std::int64_t>();
    case 3:
      return *rc::gen::arbitrary<std::uint64_t>();
    case 4: {
      auto number = *rc::gen::arbitrary<double>();
      int power = *rc::gen::inRange(-300, 300);
      return number * std::pow(10.0, power);
    }
    default:
      return json::value(*awkward_text());
  }
}

inline json::value arbitrary_json(int depth = 4) {
  int kind = depth > 0 ? *rc::gen::inRange(0, 4) : 0;
  int size = *rc::gen::inRange(0, 4);
  if (kind == 2) {
    json::array array;
    for (int i = 0; i < size; ++i) array.push_back(arbitrary_json(depth - 1));
    return array;
  }
  if (kind == 3) {
    json::object object;
    for (int i = 0; i < size; ++i) object[*awkward_text()] = arbitrary_json(depth - 1);
    return object;
  }
  return arbitrary_scalar();
}

}  // namespace plim::testing
