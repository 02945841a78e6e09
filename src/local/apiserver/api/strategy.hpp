// What the server decides about a written object: its metadata, which part of it a request may
// change, and when it is removed.
#pragma once

#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/random.hpp"
#include "local/apiserver/api/error.hpp"
#include "local/apiserver/api/kinds.hpp"

namespace plim::local::apiserver {

// How much of an object a request may change.
enum class Scope : std::uint8_t {
  main,    // everything but its status
  status,  // its status only
  resize,  // CPU and memory of a pod's containers
  all,     // for our own writes
};

// Sets the namespace of the URL; 400 if the object has another one.
ApiResult<void> place_in_namespace(const Kind& kind, std::string_view ns, json::value& object);

// Sets the defaults that depend on the object alone.
void fill_in_defaults(const Kind& kind, json::value& object);

// Sets UID, times and generation; drops what only the server may set.
void prepare_for_create(const Kind& kind, WallTime now, Random& random, json::value& object);

// Checks resourceVersion, UID and name against the stored object, and restores what the scope does
// not allow to change.
ApiResult<void> prepare_for_update(const Kind& kind, Scope scope, const json::value& before,
                                   json::value& object);

// Validates the object; `before` is null for creations.
std::vector<Cause> check_object(const Kind& kind, const json::value& object,
                                const json::value* before, Scope scope = Scope::main);

// Increments metadata.generation if the change counts.
void count_generation(const Kind& kind, const json::value& before, json::value& object);

// True if it is being deleted and has no finalizer or grace period left.
bool may_go_now(const Kind& kind, const json::value& object);

}  // namespace plim::local::apiserver
