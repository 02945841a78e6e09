#include "local/apiserver/api/query.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "net/http.hpp"

namespace plim::local::apiserver {

Query::Query(std::string_view text) : pairs_(net::parse_query(text)) {}

bool Query::has(std::string_view name) const {
  for (const auto& [key, value] : pairs_)
    if (key == name) return true;
  return false;
}

std::string_view Query::text(std::string_view name) const {
  for (const auto& [key, value] : pairs_)
    if (key == name) return value;
  return {};
}

std::vector<std::string> Query::all(std::string_view name) const {
  std::vector<std::string> out;
  for (const auto& [key, value] : pairs_)
    if (key == name) out.push_back(value);
  return out;
}

bool Query::flag(std::string_view name) const {
  const std::string_view value = text(name);
  return has(name) && value != "0" && !equals_ignoring_case(value, "false");
}

ApiResult<std::optional<std::int64_t>> Query::integer(std::string_view name) const {
  const std::string_view value = text(name);
  if (value.empty()) return std::optional<std::int64_t>();
  auto number = parse_int<std::int64_t>(value);
  if (!number)
    return bad_request(fmt::format("strconv.ParseInt: parsing \"{}\": invalid syntax", value));
  return std::optional(*number);
}

}  // namespace plim::local::apiserver
