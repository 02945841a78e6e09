// Finds the route of a request. For .cpp files of this folder only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/server.hpp"

namespace plim::net {

// An exact pattern wins over a prefix, a longer prefix over a shorter one, and "*" is last. Among
// equals, a named method wins over "*". The route of GET serves HEAD, and takes no body.
class Router {
 public:
  explicit Router(std::vector<Route> routes);

  const Route* find(std::string_view method, std::string_view path) const;
  // "GET, POST" for a known path, "" otherwise.
  std::string allowed_methods(std::string_view path) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace plim::net
