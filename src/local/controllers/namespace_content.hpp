// What is left in a namespace that is being deleted, and how its conditions say so. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::local::controllers {

struct NamespaceContent {
  std::map<std::string, std::int64_t> resources = {};   // "pods." and how many
  std::map<std::string, std::int64_t> finalizers = {};  // and how many objects wait for each
  std::optional<Error> discovery_error = {};
  std::optional<Error> deletion_error = {};

  // The items of a list of that resource.
  void add(const std::string& plural, const std::string& group, const json::value& list);

  bool is_empty() const { return resources.empty() && !discovery_error && !deletion_error; }
};

// The status with the five conditions of a namespace that goes away.
json::value namespace_status(const json::value& before, const NamespaceContent& content,
                             WallTime now);

}  // namespace plim::local::controllers
