// Objects for tests, written as JSON.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/rfc3339.hpp"
#include "kube/decode.hpp"
#include "local/controllers/owned_object.hpp"

namespace plim::local::controllers::testing {

inline ObjectPointer object_from(const json::value& json) {
  kube::InternPool pool;
  std::string text = to_json(json);
  auto made = object_codec(pool).one(kube::JsonText(text));
  PLIM_ASSERT(made);
  return std::make_shared<const Object>(std::move(*made));
}

inline ObjectPointer object_from_text(std::string_view text) {
  auto json = parse_json(text);
  PLIM_ASSERT(json);
  return object_from(*json);
}

inline PodPointer pod_from(const json::value& json) {
  kube::InternPool pool;
  std::string text = to_json(json);
  auto made = kube::decode_pod(kube::JsonText(text), pool);
  PLIM_ASSERT(made);
  return std::make_shared<const kube::Pod>(std::move(*made));
}

inline WallTime at(std::string_view time) {
  auto parsed = parse_rfc3339(time);
  PLIM_ASSERT(parsed);
  return *parsed;
}

}  // namespace plim::local::controllers::testing
