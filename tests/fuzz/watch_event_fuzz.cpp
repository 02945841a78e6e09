// Any line as a watch event; the object it names lies inside the line.
#include <cstdint>

#include "kube/decode.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim::kube;
  std::string line;
  line.reserve(size + JsonText::kPadding);
  line.assign(reinterpret_cast<const char*>(data), size);
  JsonText text(line);
  if (auto event = decode_watch_event(text)) {
    PLIM_ASSERT(event->object.data() >= line.data());
    PLIM_ASSERT(event->object.data() + event->object.size() <= line.data() + line.size());
    InternPool pool;
    static_cast<void>(decode_meta(text.slice(event->object), pool));
  }
  return 0;
}
