#include "net/router.hpp"

namespace plim::net {
namespace {

// 0: no match; more specific patterns get higher values.
std::size_t specificity(std::string_view pattern, std::string_view path) {
  if (pattern == "*") return 1;
  if (pattern.ends_with("/*")) {
    std::string_view prefix = pattern.substr(0, pattern.size() - 1);
    return path.starts_with(prefix) ? 1 + prefix.size() : 0;
  }
  return pattern == path ? std::string_view::npos / 2 : 0;
}

int method_rank(std::string_view wanted, std::string_view method) {
  if (wanted == method) return 3;
  if (wanted == "GET" && method == "HEAD") return 2;
  return wanted == "*" ? 1 : 0;
}

}  // namespace

Router::Router(std::vector<Route> routes) : routes_(std::move(routes)) {
  for (Route& route : routes_)
    if (route.method == "GET") route.options.max_body = 0;
}

const Route* Router::find(std::string_view method, std::string_view path) const {
  const Route* best = nullptr;
  std::pair<std::size_t, int> best_rank{0, 0};
  for (const Route& route : routes_) {
    std::pair rank(specificity(route.pattern, path), method_rank(route.method, method));
    if (rank.first == 0 || rank.second == 0 || rank <= best_rank) continue;
    best = &route;
    best_rank = rank;
  }
  return best;
}

std::string Router::allowed_methods(std::string_view path) const {
  std::string out;
  for (const Route& route : routes_) {
    if (specificity(route.pattern, path) == 0) continue;
    if (!out.empty()) out += ", ";
    out += route.method;
  }
  return out;
}

}  // namespace plim::net
