// Two lines of JSON, a pod and a configuration: what is applied once is not applied twice.
#include <cstdint>

#include "base/text.hpp"
#include "local/patch/server_side_apply.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  const auto [first, second] = cut({reinterpret_cast<const char*>(data), size}, '\n');
  auto object = parse_json(first);
  auto configuration = parse_json(second);
  if (!object || !configuration) return 0;
  const local::ApplyRequest request{
      .manager = "fuzz", .api_version = "v1", .subresource = "", .force = true, .now = {}};
  for (const local::Type* type : {local::find_type("", "v1", "Pod"), (const local::Type*)nullptr}) {
    auto once = local::apply_server_side(type, *object, *configuration, request);
    if (!once) continue;
    auto twice = local::apply_server_side(type, *once, *configuration, request);
    PLIM_ASSERT(twice && *twice == *once);
  }
  return 0;
}
