// Two lines of JSON, a pod and a configuration: what is applied once is not applied twice.
#include <cstdint>

#include "base/text.hpp"
#include "local/apiserver/patch/server_side_apply.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  const auto [first, second] = cut({reinterpret_cast<const char*>(data), size}, '\n');
  auto object = parse_json(first);
  auto configuration = parse_json(second);
  if (!object || !configuration) return 0;
  const local::apiserver::ApplyRequest request{
      .manager = "fuzz", .api_version = "v1", .subresource = "", .force = true, .now = {}};
  for (const local::apiserver::Type* type :
       {local::apiserver::find_type("", "v1", "Pod"), (const local::apiserver::Type*)nullptr}) {
    auto once = local::apiserver::apply_server_side(type, *object, *configuration, request);
    if (!once) continue;
    auto twice = local::apiserver::apply_server_side(type, *once, *configuration, request);
    PLIM_ASSERT(twice && *twice == *once);
  }
  return 0;
}
