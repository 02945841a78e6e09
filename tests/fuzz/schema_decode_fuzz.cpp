// Any bytes as a body of the busiest kinds: an error, or an object that conforms to its type.
#include <cstdint>

#include "local/apiserver/schema/body_decode.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  using namespace plim::local::apiserver;
  static const Type* const types[] = {
      find_type("", "v1", "Pod"), find_type("apps", "v1", "Deployment"),
      find_type("batch", "v1", "Job"), find_type("", "v1", "Service")};
  std::string_view text(reinterpret_cast<const char*>(data), size);
  FieldMistakes mistakes;
  auto body = parse_body(text, mistakes);
  if (!body) return 0;
  for (const Type* type : types) {
    json::value object = *body;
    if (!conform(*type, object, mistakes)) continue;
    FieldMistakes none;
    json::value again = object;
    PLIM_ASSERT(conform(*type, again, none) && none.empty());
    PLIM_ASSERT(to_json(again) == to_json(object));
  }
  return 0;
}
