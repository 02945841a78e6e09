// Two lines of JSON, a pod and a patch: a pod or an error, and an empty patch changes nothing.
#include <cstdint>

#include "base/text.hpp"
#include "local/apiserver/patch/patch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  const auto [first, second] = cut({reinterpret_cast<const char*>(data), size}, '\n');
  auto object = parse_json(first);
  auto patch = parse_json(second);
  if (!object || !object->is_object() || !patch) return 0;
  const local::apiserver::Type& type = *local::apiserver::find_type("", "v1", "Pod");
  const json::value nothing = json::object();
  PLIM_ASSERT(*local::apiserver::apply_strategic_merge(type, *object, nothing) == *object);
  if (auto patched = local::apiserver::apply_strategic_merge(type, *object, *patch))
    PLIM_ASSERT(local::apiserver::apply_strategic_merge(type, *patched, nothing).has_value());
  return 0;
}
