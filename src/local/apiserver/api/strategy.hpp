// What the server itself decides about an object that is written: its metadata, which part of it a
// request may change, and when it is gone.
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
  all,     // our own writes, which know what they do
};

// The namespace of the URL; 400 if the object names another one.
ApiResult<void> place_in_namespace(const Kind& kind, std::string_view ns, json::value& object);

// Those that follow from the object alone.
void fill_in_defaults(const Kind& kind, json::value& object);

// uid, times, generation; drops what only the server may set.
void prepare_for_create(const Kind& kind, WallTime now, Random& random, json::value& object);

// Checks resourceVersion, uid and name against what is stored, and takes over what the scope does
// not allow to change.
ApiResult<void> prepare_for_update(const Kind& kind, Scope scope, const json::value& before,
                                   json::value& object);

// What is wrong with it; `before` is null on creates.
std::vector<Cause> check_object(const Kind& kind, const json::value& object,
                                const json::value* before);

// Raises metadata.generation if the change counts.
void count_generation(const Kind& kind, const json::value& before, json::value& object);

// Being deleted, and nobody holds it back any more.
bool may_go_now(const Kind& kind, const json::value& object);

}  // namespace plim::local::apiserver
