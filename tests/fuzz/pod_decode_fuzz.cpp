// Any bytes as a pod, a node or a list of them: structs or an error.
#include <cstdint>
#include <cstring>

#include "kube/decode.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  using namespace plim::kube;
  // Exactly the padding that is promised and not a byte more, so that reading past it shows.
  std::string text;
  text.reserve(size + JsonText::kPadding);
  text.assign(reinterpret_cast<const char*>(data), size);
  JsonText json(text);
  InternPool pool;
  if (auto pod = decode_pod(json, pool)) PLIM_ASSERT(pod->meta.name.size() <= size);
  static_cast<void>(decode_node(json, pool));
  auto ignore_pod = [](std::shared_ptr<const Pod>) -> Result<void> { return {}; };
  auto as_node = [&](JsonText item) -> Result<void> {
    PLIM_CHECK(decode_node(item, pool));
    return {};
  };
  static_cast<void>(decode_pods(json, pool, ignore_pod));
  static_cast<void>(decode_list(json, as_node));
  return 0;
}
