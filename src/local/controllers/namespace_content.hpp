// Counts what is left in a namespace that is being deleted, and writes its conditions. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::local::controllers {

struct NamespaceContent {
  std::map<std::string, std::int64_t> resources = {};   // "pods." and the number of objects
  std::map<std::string, std::int64_t> finalizers = {};  // the number of objects with each finalizer
  std::optional<Error> discovery_error = {};
  std::optional<Error> deletion_error = {};

  // Adds the items of a list of that resource.
  void add(const std::string& plural, const std::string& group, const json::value& list);

  bool is_empty() const { return resources.empty() && !discovery_error && !deletion_error; }
};

// The status with the five conditions of a namespace that is being deleted.
json::value namespace_status(const json::value& before, const NamespaceContent& content,
                             WallTime now);

}  // namespace plim::local::controllers
