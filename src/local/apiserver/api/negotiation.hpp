// Negotiates the form of the response.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "local/apiserver/api/error.hpp"

namespace plim::local::apiserver {

// One element of an Accept header, or a Content-Type; names are in lower case.
struct MediaType {
  std::string type;  // "application/json"
  std::vector<std::pair<std::string, std::string>> parameters = {};

  std::string_view parameter(std::string_view name) const;  // "" if missing
};

std::vector<MediaType> parse_media_types(std::string_view header);

struct Format {
  enum class Shape : std::uint8_t { whole, table, metadata };

  Shape shape = Shape::whole;
  std::string version = "v1";  // for Table and PartialObjectMetadata
  bool yaml = false;
};

// The first type of the list that we support; JSON without a header. 406 if there is none.
ApiResult<Format> negotiate(std::string_view accept);

// "v2" or "v2beta1" if the client prefers aggregated discovery to plain JSON; otherwise "".
ApiResult<std::string> negotiate_discovery(std::string_view accept);

}  // namespace plim::local::apiserver
