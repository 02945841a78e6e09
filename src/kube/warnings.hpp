// Warning headers of an API server: deprecated versions, ignored fields, doubtful values.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "net/http.hpp"

namespace plim::kube {

// The texts of one Warning header (RFC 7234, 5.5). Malformed parts are left out.
std::vector<std::string> parse_warning_header(std::string_view value);

// Filters out warnings seen before. Belongs to one loop.
class Warnings {
 public:
  // The warnings of this answer that were not seen before.
  std::vector<std::string> unseen(const net::Headers& headers);

 private:
  std::set<std::string> seen_;
};

}  // namespace plim::kube
