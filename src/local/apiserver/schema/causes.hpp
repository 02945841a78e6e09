// Collects validation errors of an object, with upstream's messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "local/apiserver/schema/validation.hpp"

namespace plim::local::apiserver {

inline constexpr std::string_view kImmutable = "field is immutable";
inline constexpr std::string_view kNotNegative = "must be greater than or equal to 0";

class Causes {
 public:
  void required(std::string field, std::string_view detail = "");
  void invalid(std::string field, const json::value& value, std::string_view detail);
  void forbidden(std::string field, std::string_view detail);
  void duplicate(std::string field, const json::value& value, std::string_view detail = "");
  void not_found(std::string field, std::string_view value);
  void too_long(std::string field, std::size_t limit);
  // The supported values are separated by commas.
  void unsupported(std::string field, const json::value& value, std::string_view supported);

  // One entry for each of the messages about `value`.
  void invalid_text(const std::string& field, std::string_view value,
                    const std::vector<std::string>& messages);

  std::vector<Cause> take() { return std::move(causes_); }

 private:
  void add(std::string_view reason, std::string message, std::string_view detail,
           std::string field);

  std::vector<Cause> causes_;
};

}  // namespace plim::local::apiserver
