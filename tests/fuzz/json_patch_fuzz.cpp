// Two lines of JSON, a document and a patch: the result is a document that prints and reads back.
#include <cstdint>

#include "base/text.hpp"
#include "local/apiserver/patch/patch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  const auto [first, second] = cut({reinterpret_cast<const char*>(data), size}, '\n');
  auto object = parse_json(first);
  auto patch = parse_json(second);
  if (!object || !patch) return 0;
  if (auto patched = local::apiserver::apply_json_patch(*object, *patch))
    PLIM_ASSERT(parse_json(to_json(*patched)));
  const json::value merged = local::apiserver::apply_merge_patch(*object, *patch);
  PLIM_ASSERT(local::apiserver::apply_merge_patch(merged, *patch) == merged);
  return 0;
}
