// The query parameters of a request, as Kubernetes reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "local/apiserver/api/error.hpp"

namespace plim::local::apiserver {

class Query {
 public:
  Query() = default;
  explicit Query(std::string_view text);

  bool has(std::string_view name) const;
  std::string_view text(std::string_view name) const;  // "" if missing
  std::vector<std::string> all(std::string_view name) const;
  // Absent, "0" and "false" in any case are false; everything else, even an empty value, is true.
  bool flag(std::string_view name) const;
  // Nothing if absent or empty; 400 if it is not a number.
  ApiResult<std::optional<std::int64_t>> integer(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace plim::local::apiserver
