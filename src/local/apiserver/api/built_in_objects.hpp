// Objects that every cluster has from its start.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/task.hpp"
#include "local/apiserver/api/core.hpp"
#include "local/apiserver/api/writes.hpp"

namespace plim::local::apiserver {

// Namespaces, priority classes, the Service `kubernetes`. Belongs to the store's loop.
class BuiltInObjects {
 public:
  explicit BuiltInObjects(Core& core) : core_(core), writer_(core) {}

  // Creates the missing ones; existing ones stay as they are.
  Task<Result<void>> create();

 private:
  Task<Result<void>> ensure(std::string group, std::string plural, std::string ns,
                            json::value object);

  Core& core_;
  Writer writer_;
};

}  // namespace plim::local::apiserver
