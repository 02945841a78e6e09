// Any bytes as a protobuf body, and as an object of the busiest kinds: refused, or a tree that the
// type either accepts or has something to say about, and that JSON can tell.
#include <cstdint>
#include <string_view>

#include "local/apiserver/api/protobuf_body.hpp"
#include "local/apiserver/schema/body_decode.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  using namespace plim::local::apiserver;
  static const Type* const types[] = {
      find_type("", "v1", "Pod"),
      find_type("", "v1", "Secret"),
      find_type("", "v1", "Event"),
      find_type("apps", "v1", "Deployment"),
      find_type("coordination.k8s.io", "v1", "Lease"),
      find_type("apiextensions.k8s.io", "v1", "CustomResourceDefinition")};
  std::string_view message(reinterpret_cast<const char*>(data), size);
  if (const auto envelope = open_protobuf(message)) message = envelope->object;
  for (const Type* type : types) {
    auto object = decode_protobuf(*type, message);
    if (!object) continue;
    PLIM_ASSERT(parse_json(to_json(*object)));
    FieldMistakes mistakes;
    (void)conform(*type, *object, mistakes);
  }
  return 0;
}
