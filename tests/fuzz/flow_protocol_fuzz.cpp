// Any bytes as frames of a worker or controller: never a crash, and what decodes says the same
// again.
#include <cstdint>
#include <string>
#include <string_view>

#include "flow/protocol.hpp"

namespace {

using namespace plim;

// The frame without its head.
std::string payload(const std::string& frame) {
  return frame.substr(5);
}

void look_at(std::string_view bytes) {
  if (auto hello = flow::decode_hello(bytes)) PLIM_ASSERT(payload(encode(*hello)) == bytes);
  if (auto welcome = flow::decode_welcome(bytes)) PLIM_ASSERT(payload(encode(*welcome)) == bytes);
  if (auto dispatch = flow::decode_dispatch(bytes))
    PLIM_ASSERT(payload(encode(*dispatch)) == bytes);
  if (auto cancel = flow::decode_cancel(bytes)) PLIM_ASSERT(payload(encode(*cancel)) == bytes);
  if (auto beat = flow::decode_heartbeat(bytes)) PLIM_ASSERT(payload(encode(*beat)) == bytes);
  if (auto report = flow::decode_report(bytes)) PLIM_ASSERT(payload(encode(*report)) == bytes);
  if (auto broken = flow::decode_broken(bytes))
    PLIM_ASSERT(payload(flow::encode_broken(*broken)) == bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  look_at(bytes);
  flow::FrameSplitter splitter;
  for (std::size_t at = 0; at < size; at += 7) {
    splitter.feed(bytes.substr(at, 7));
    while (true) {
      auto frame = splitter.next();
      if (!frame) return 0;
      if (!*frame) break;
      look_at((*frame)->payload);
    }
  }
  return 0;
}
