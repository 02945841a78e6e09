// The values of a command's flags, resolved from command line, environment, file and default.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace plim::cli {

enum class Origin { fallback, file, environment, flag };

struct Value {
  std::string text;
  Origin origin = Origin::fallback;
  std::string where = {};  // "--timeout", "PLIMSOLL_RAW_TIMEOUT", "/…/config.yaml: raw.timeout"
};

// The values are checked against the table before a command runs, so the typed getters cannot fail.
// To ask for a flag that the command does not have is a bug.
class Values {
 public:
  void set(std::string_view name, Value value);
  const std::string& text(std::string_view name) const;
  bool boolean(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  std::chrono::milliseconds duration(std::string_view name) const;
  bool given(std::string_view name) const;  // by flag, environment or file

 private:
  const Value& at(std::string_view name) const;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace plim::cli
