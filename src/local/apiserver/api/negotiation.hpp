// Which form of an answer a client asks for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "local/apiserver/api/error.hpp"

namespace plim::local::apiserver {

// One element of an Accept header, or a Content-Type: names in lower case.
struct MediaType {
  std::string type;  // "application/json"
  std::vector<std::pair<std::string, std::string>> parameters = {};

  std::string_view parameter(std::string_view name) const;  // "" when missing
};

std::vector<MediaType> parse_media_types(std::string_view header);

struct Format {
  enum class Shape : std::uint8_t { whole, table, metadata };

  Shape shape = Shape::whole;
  std::string version = "v1";  // of Table and PartialObjectMetadata
  bool yaml = false;
};

// The first of the list that we produce; without a header JSON. 406 when there is none.
ApiResult<Format> negotiate(std::string_view accept);

// "v2", "v2beta1": the form of aggregated discovery that comes before plain JSON; "" for none.
ApiResult<std::string> negotiate_discovery(std::string_view accept);

}  // namespace plim::local::apiserver
